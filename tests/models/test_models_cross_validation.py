import dataclasses
import json

import numpy as np
import pytest
from invented import invented_rows

from lyricsim_models.cross_validation import Fold, Plan, all_pairs, cross_validate
from lyricsim_models.evaluation import three_scores
from lyricsim_models.pair_table import pair_table
from lyricsim_tools.errors import UserError


def small_table():
    rows = list(invented_rows(6))
    return pair_table({name: [row[name] for row in rows] for name in rows[0]}, "rows")


PAIRS = small_table()
GROUPS = {song: int(song[1:]) % 2 for song in {*PAIRS.song_ids_1, *PAIRS.song_ids_2}}


def folds():
    """Two groups of three songs: both within, and across; the last one has nothing to train on but within."""
    place = dict(zip(PAIRS.pair_ids, zip(PAIRS.song_ids_1, PAIRS.song_ids_2, strict=True), strict=True))
    inside = [tuple(i for i, songs in place.items() if {GROUPS[s] for s in songs} == {g}) for g in (0, 1)]
    return inside, tuple(i for i in place if i not in {*inside[0], *inside[1]})


def two_folds():
    inside, _ = folds()
    kept = sorted({*inside[0], *inside[1]})
    table = PAIRS.take([PAIRS.pair_ids.index(i) for i in kept])
    return table, [Fold("0-0", inside[1], (), inside[0]), Fold("1-1", inside[0], (), inside[1])]


def constant_runner(calls, fail_at=None):
    """Predicts the number of letters of the first lyric; keeps a list of the folders it was called for."""

    def run_fold(splits, folder):
        if (folder / "predictions.csv").exists():
            return
        if folder.name == fail_at:
            raise UserError("interrupted", "nothing", "resume")
        calls.append(folder.name)
        folder.mkdir(parents=True)
        rows = [
            f"{i},{len(text)}"
            for i, text in zip(splits["test"].pair_ids, splits["test"].lyrics_1, strict=True)
        ]
        (folder / "predictions.csv").write_text("\n".join(["pair_id,prediction", *rows]))

    return run_fold


def test_every_pair_is_scored_with_its_own_folds_prediction(tmp_path):
    pairs, two = two_folds()
    metrics = cross_validate(Plan(pairs, two, tmp_path / "cv", {"recipe": {}}), constant_runner([]))
    expected = three_scores([len(text) for text in pairs.lyrics_1], pairs.gold)
    found = metrics["cross_validation"]
    assert {key: found[key] for key in expected} == pytest.approx(expected)
    assert found["pairs"] == len(pairs) == 6
    assert found["blocks"] == 2
    low, high = found["combined_score_ci"]
    assert low <= found["combined_score"] <= high
    predictions = np.loadtxt(tmp_path / "cv" / "predictions.csv", delimiter=",", skiprows=1, usecols=1)
    assert predictions.tolist() == [len(text) for text in pairs.lyrics_1]
    record = json.loads((tmp_path / "cv" / "run.json").read_text())
    assert record["status"] == "complete"


def test_an_interrupted_cross_validation_goes_on_at_the_first_block_that_is_not_complete(tmp_path):
    pairs, two = two_folds()
    calls = []
    plan = Plan(pairs, two, tmp_path / "cv", {"recipe": {"rate": 1}})
    with pytest.raises(UserError, match="interrupted"):
        cross_validate(plan, constant_runner(calls, fail_at="1-1"))
    with pytest.raises(UserError, match="--resume"):
        cross_validate(plan, constant_runner(calls))
    resumed = dataclasses.replace(plan, resume=True)
    metrics = cross_validate(resumed, constant_runner(calls))
    assert calls == ["0-0", "1-1"]
    assert cross_validate(resumed, constant_runner(calls)) == metrics
    assert calls == ["0-0", "1-1"]


def test_a_cross_validation_with_other_settings_is_not_gone_on_with(tmp_path):
    pairs, two = two_folds()
    cross_validate(Plan(pairs, two, tmp_path / "cv", {"recipe": {"rate": 1}}), constant_runner([]))
    with pytest.raises(UserError, match="rate was 1, is 2"):
        cross_validate(
            Plan(pairs, two, tmp_path / "cv", {"recipe": {"rate": 2}}, resume=True), constant_runner([])
        )


def test_a_finished_cross_validation_is_replaced_when_asked(tmp_path):
    pairs, two = two_folds()
    cross_validate(Plan(pairs, two, tmp_path / "cv", {"recipe": {}}), constant_runner([]))
    calls = []
    cross_validate(Plan(pairs, two, tmp_path / "cv", {"recipe": {}}, overwrite=True), constant_runner(calls))
    assert calls == ["0-0", "1-1"]


def test_folds_must_test_every_pair_once(tmp_path):
    pairs, two = two_folds()
    for wrong in (two[:1], [*two, two[0]]):
        with pytest.raises(UserError, match="miss or repeat"):
            Plan(pairs, wrong, tmp_path, {})


@pytest.mark.parametrize("side", ["train", "validation"])
def test_a_song_on_both_sides_is_refused(tmp_path, side):
    pairs, two = two_folds()
    leaking = dataclasses.replace(two[0], **{side: (*getattr(two[0], side), two[0].test[0])})
    with pytest.raises(UserError, match="block 0-0 trains on songs it tests"):
        Plan(pairs, [leaking, two[1]], tmp_path, {})


def test_a_block_without_training_pairs_is_refused(tmp_path):
    pairs, two = two_folds()
    with pytest.raises(UserError, match="0 to train on"):
        Plan(pairs, [dataclasses.replace(two[0], train=()), two[1]], tmp_path, {})


def test_a_lost_prediction_is_named(tmp_path):
    pairs, two = two_folds()

    def forgetful(splits, folder):
        constant_runner([])(splits, folder)
        lines = (folder / "predictions.csv").read_text().splitlines()
        (folder / "predictions.csv").write_text("\n".join(lines[:-1]))

    with pytest.raises(UserError, match=r"predictions.csv lacks"):
        cross_validate(Plan(pairs, two, tmp_path / "cv", {"recipe": {}}), forgetful)


def test_splits_become_one_sorted_table_and_may_not_overlap():
    parts = {"train": PAIRS.take([3, 1]), "test": PAIRS.take([0])}
    assert all_pairs(parts).pair_ids == tuple(sorted(PAIRS.pair_ids[i] for i in (3, 1, 0)))
    with pytest.raises(UserError, match="share pairs"):
        all_pairs({"train": PAIRS.take([0, 1]), "test": PAIRS.take([1])})
