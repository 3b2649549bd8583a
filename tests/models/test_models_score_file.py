import json

import numpy as np
import pytest

from lyricsim_models.score_file import ScoreFile, held, refuse_own_input
from lyricsim_tools.errors import UserError


def test_windows_are_appended_and_the_file_appears_when_it_is_whole(tmp_path):
    path = tmp_path / "out" / "scores.csv"
    file = ScoreFile(path, {"model": "m"})
    file.append(["a", "b"], np.array([1.0, 2.5]))
    assert not path.exists()
    file.append(["c,d"], np.array([-0.125]))
    file.finish()
    assert path.read_text() == 'pair_id,prediction\na,1.0\nb,2.5\n"c,d",-0.125\n'
    assert [p.name for p in path.parent.iterdir()] == ["scores.csv"]


def test_json_lines_hold_numbers(tmp_path):
    file = ScoreFile(tmp_path / "scores.jsonl", {})
    file.append(["ñ"], np.array([1 / 3]))
    file.finish()
    assert json.loads((tmp_path / "scores.jsonl").read_text()) == {"pair_id": "ñ", "prediction": 1 / 3}


def test_what_was_written_after_the_last_progress_does_not_count(tmp_path):
    whole = ScoreFile(tmp_path / "whole.csv", {})
    whole.append(["a"], np.ones(1))
    whole.append(["b"], np.ones(1))
    whole.finish()
    path = tmp_path / "scores.csv"
    ScoreFile(path, {}).append(["a"], np.ones(1))
    with (tmp_path / ".scores.csv.partial").open("a") as stream:
        stream.write("b,9\nhalf a li")
    resumed = ScoreFile(path, {}, resume=True)
    assert resumed.rows == 1
    resumed.append(["b"], np.ones(1))
    resumed.finish()
    assert path.read_bytes() == (tmp_path / "whole.csv").read_bytes()


def test_without_resume_an_earlier_part_is_begun_anew(tmp_path):
    ScoreFile(tmp_path / "scores.csv", {"model": "old"}).append(["a"], np.ones(1))
    file = ScoreFile(tmp_path / "scores.csv", {"model": "new"})
    assert file.rows == 0
    file.append(["z"], np.zeros(1))
    file.finish()
    assert (tmp_path / "scores.csv").read_text() == "pair_id,prediction\nz,0.0\n"


def test_what_an_earlier_run_left_does_not_vouch_for_the_bytes_of_a_later_one(tmp_path, monkeypatch):
    ScoreFile(tmp_path / "scores.csv", {"model": "old"}).append(["a"], np.ones(1))

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("lyricsim_models.score_file.write_json", killed)
        with pytest.raises(KeyboardInterrupt):
            ScoreFile(tmp_path / "scores.csv", {"model": "new"}).append(["a"], np.zeros(1))
    assert ScoreFile(tmp_path / "scores.csv", {"model": "old"}, resume=True).rows == 0


def test_a_part_of_another_input_or_model_is_not_gone_on_with(tmp_path):
    ScoreFile(tmp_path / "scores.csv", {"model": "m", "input": 1}).append(["a"], np.ones(1))
    with pytest.raises(UserError, match="had another input"):
        ScoreFile(tmp_path / "scores.csv", {"model": "m", "input": 2}, resume=True)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_no_number_is_named_and_its_window_not_written(tmp_path, value):
    file = ScoreFile(tmp_path / "scores.csv", {})
    file.append(["a", "b"], np.ones(2))
    before = (tmp_path / ".scores.csv.partial").read_bytes()
    with pytest.raises(UserError, match=r"row 4 \(pair d\) got the score"):
        file.append(["c", "d"], np.array([1.0, value]))
    assert (tmp_path / ".scores.csv.partial").read_bytes() == before
    assert not (tmp_path / "scores.csv").exists()


def test_an_existing_file_is_kept_unless_told_otherwise(tmp_path):
    (tmp_path / "scores.csv").write_text("mine")
    with pytest.raises(UserError, match="--overwrite"):
        ScoreFile(tmp_path / "scores.csv", {})
    assert (tmp_path / "scores.csv").read_text() == "mine"
    file = ScoreFile(tmp_path / "scores.csv", {}, overwrite=True)
    file.append(["a"], np.ones(1))
    assert (tmp_path / "scores.csv").read_text() == "mine"
    file.finish()
    assert (tmp_path / "scores.csv").read_text() == "pair_id,prediction\na,1.0\n"


def test_another_kind_of_output_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"ending in \.csv or \.jsonl"):
        ScoreFile(tmp_path / "scores.parquet", {})


@pytest.mark.parametrize("progress", ["{", "[]", '{"rows": 1}', '{"settings": {}, "rows": 1, "bytes": 99}'])
def test_a_progress_that_does_not_fit_is_not_gone_on_with(tmp_path, progress):
    ScoreFile(tmp_path / "scores.csv", {}).append(["a"], np.ones(1))
    (tmp_path / ".scores.csv.progress.json").write_text(progress)
    with pytest.raises(UserError, match="leave --resume out"):
        ScoreFile(tmp_path / "scores.csv", {}, resume=True)


def test_a_folder_is_never_replaced(tmp_path):
    (tmp_path / "scores.csv").mkdir()
    with pytest.raises(UserError, match="is a folder"):
        ScoreFile(tmp_path / "scores.csv", {}, overwrite=True)


def test_one_process_at_a_time_holds_an_output(tmp_path):
    path = tmp_path / "scores.csv"
    with held(path), pytest.raises(UserError, match="another run is writing"), held(path):
        pass
    with held(path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_what_is_read_is_never_written_over_whatever_its_name(tmp_path):
    (tmp_path / "pairs.csv").write_text("mine")
    (tmp_path / "link.csv").symlink_to(tmp_path / "pairs.csv")
    for name in ("pairs.csv", "link.csv"):
        with pytest.raises(UserError, match="is the file that is read"):
            refuse_own_input(tmp_path / name, tmp_path / "pairs.csv")
    refuse_own_input(tmp_path / "other.csv", tmp_path / "pairs.csv")
