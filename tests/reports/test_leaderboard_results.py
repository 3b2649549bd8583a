"""Result files: what is refused, and how a run becomes one."""

import dataclasses
import json
import shlex

import numpy as np
import pytest
from reported import RESAMPLES, noisy, result, write, write_run

from lyricsim_models import cross_validation
from lyricsim_models.baseline_run import BaselineJob, run_baseline
from lyricsim_models.baselines import find_baseline
from lyricsim_reports.measured import measure
from lyricsim_reports.plain import without_nan
from lyricsim_reports.result_file import BLOCK_SPLIT, BLOCKS, parse_result, read_result
from lyricsim_reports.run_result import Naming, command, read_runs, result_of
from lyricsim_tools.errors import UserError


@pytest.fixture(scope="module")
def good(sample):
    return result(sample, "good", noisy(sample, 0.5, 1), noisy(sample, 0.5, 2))


def changed(good, **others):
    return {**json.loads(json.dumps(without_nan(good.to_dict()))), **others}


def test_a_result_survives_its_file_and_its_scores_are_recomputed(sample, good, tmp_path):
    read = read_result(write(tmp_path, good))
    assert read == dataclasses.replace(good, settings={}, versions=dict(good.versions))
    again = measure(read, sample)
    assert again.scores == good.scores
    assert again.predictions.shape == (2, len(again.pairs))


def test_scores_are_the_means_over_seeds(sample, good):
    each = [result(sample, "one", good.predictions[seed]).scores["pearson"] for seed in ("1", "2")]
    assert good.scores["pearson"] == pytest.approx(np.mean(each))
    assert good.scores["pearson_sd"] == pytest.approx(np.std(each, ddof=1))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("schema", 2),
        ("kind", "winner"),
        ("system", "Upper Case"),
        ("protocol", "my own"),
        ("data_fingerprint", "abc"),
        ("seeds", []),
        ("seeds", [1, 1]),
        ("resamples", 99),
        ("training_share", 0),
        ("title", " "),
        ("scores", {"pearson": "high"}),
        ("predictions", {"1": {"a": None}, "2": {"a": 1}}),
        ("predictions", {"1": {"a": 1}}),
        ("versions", {"lyricsim": 1}),
        ("ratings", [0, 1, 2]),
        ("predictions", {"1": {"a": 10**400}, "2": {"a": 1}}),
    ],
)
def test_a_value_that_can_not_be_is_refused(good, tmp_path, key, value):
    with pytest.raises(UserError) as error:
        parse_result(changed(good, **{key: value}), tmp_path / good.file_name)
    assert good.file_name in error.value.given


def test_files_that_are_no_json_lack_a_key_or_have_another_name_are_refused(good, tmp_path):
    path = tmp_path / good.file_name
    for content in ("{", "[]", json.dumps(changed(good)).replace('"settings": {}, ', ""), '{"schema": NaN}'):
        path.write_text(content)
        with pytest.raises(UserError):
            read_result(path)
    with pytest.raises(UserError, match="its name is"):
        parse_result(changed(good), tmp_path / "other.json")


def test_a_pair_predicted_twice_is_refused_though_json_would_keep_the_last(good, tmp_path):
    path = tmp_path / good.file_name
    pair = next(iter(good.predictions["1"]))
    text = json.dumps(changed(good)).replace(f'"{pair}": ', f'"{pair}": 1, "{pair}": ', 1)
    path.write_text(text)
    with pytest.raises(UserError, match=f"{pair!r} stands twice"):
        read_result(path)


@pytest.mark.parametrize("name", ["combined_score", "zero_auc", "combined_score_song_ci"])
def test_a_stated_score_that_does_not_follow_is_refused(sample, good, name):
    value = good.scores[name]
    other = [bound + 0.05 for bound in value] if isinstance(value, list) else value + 0.001
    with pytest.raises(UserError, match=f"states {name}"):
        measure(dataclasses.replace(good, scores={**good.scores, name: other}), sample)


def test_a_score_that_is_missing_or_unknown_is_refused(sample, good):
    for scores in ({**good.scores, "accuracy": 1.0}, {"pearson": good.scores["pearson"]}):
        with pytest.raises(UserError, match="states or lacks"):
            measure(dataclasses.replace(good, scores=scores), sample)


@pytest.mark.parametrize("key", ["data_fingerprint", "split_digest"])
def test_a_result_of_other_data_or_other_splits_is_refused(sample, good, key):
    with pytest.raises(UserError, match=key.split("_")[0]):
        measure(dataclasses.replace(good, **{key: "0" * 64}), sample)


def test_a_pair_without_a_prediction_or_of_another_set_is_refused(sample, good):
    _, *others = good.predictions["1"].items()
    for predicted in (dict(others), {**dict(others), "of_another": 1.0}):
        broken = dataclasses.replace(good, predictions={**good.predictions, "1": predicted})
        with pytest.raises(UserError, match="1 pairs without a prediction"):
            measure(broken, sample)


def test_constant_predictions_have_undefined_scores_and_no_number(sample):
    constant = result(sample, "constant", dict.fromkeys(noisy(sample, 0, 1), 2.0))
    assert {constant.scores[n] for n in ("pearson", "spearmanr", "combined_score")} == {None}
    assert constant.scores["combined_score_ci"] == [None, None]
    assert constant.scores["zero_auc"] == 0.5


def test_a_cross_validation_becomes_a_result_without_a_folder_of_the_machine(sample, tmp_path):
    folders = [
        write_run(tmp_path / f"seed-{seed}", sample, noisy(sample, 0.5, seed), seed=seed) for seed in (3, 4)
    ]
    made = result_of(read_runs([tmp_path]), sample, Naming(title="Mine"), RESAMPLES)
    assert (made.seeds, made.system, made.title, made.kind) == ((3, 4), "encoder-bi-encoder", "Mine", "model")
    assert "/" not in json.dumps(without_nan(made.to_dict())).replace("some/encoder", "").replace(
        "training/", ""
    ).replace("runs/", "")
    assert "--seeds 3 4" in made.command
    assert "--symmetric" in made.command
    parse_result(without_nan(made.to_dict()), write(tmp_path / "results", made))
    assert len(read_runs(folders)) == 2


def test_the_command_of_a_result_can_be_typed_as_it_stands(sample, tmp_path):
    recipe = {"architecture": "bi-encoder", "prompt": "query: "}
    protocol = {"name": BLOCKS, "groups_sha256": "", "training_share": 0.25}
    predictions = noisy(sample, 0.5, 1)
    folder = write_run(tmp_path / "run", sample, predictions, recipe=recipe, protocol=protocol)
    words = shlex.split(command("some/encoder", read_runs([folder])[0].settings, [7]))
    assert words[words.index("--prompt") + 1] == "query: "
    assert words[words.index("--training-share") + 1] == "0.25"
    baseline = {"recipe": {"encoder": "e5-small", "prompt": "query: "}, "dataset": "d", "config": "filtered"}
    words = shlex.split(command("zero-shot", baseline, []))
    assert words[words.index("--prompt") + 1] == "query: "


def test_block_cross_validation_is_known_by_what_training_calls_it(sample):
    assert BLOCK_SPLIT == cross_validation.SPLIT
    assert sample.whole("filtered") == cross_validation.all_pairs(sample.splits["filtered"])


def test_a_baselines_run_becomes_a_floor_on_the_test_split(sample, tmp_path):
    job = BaselineJob(
        "word-overlap", find_baseline("word-overlap"), None, "lyricsim", "filtered", tmp_path / "run"
    )
    metrics = run_baseline(job, sample.splits["filtered"])
    made = result_of(read_runs([tmp_path / "run"]), sample, resamples=RESAMPLES)
    assert (made.kind, made.file_name) == ("floor", "word-overlap.filtered.test.json")
    assert made.scores["combined_score"] == pytest.approx(metrics["test"]["combined_score"])
    assert len(made.predictions["0"]) == len(sample.splits["filtered"]["test"])


def test_a_run_whose_metrics_do_not_follow_from_its_predictions_is_refused(sample, tmp_path):
    folder = write_run(tmp_path / "run", sample, noisy(sample, 0.5, 1))
    metrics = json.loads((folder / "metrics.json").read_text())
    metrics["cross_validation"]["pearson"] += 0.01
    (folder / "metrics.json").write_text(json.dumps(metrics))
    with pytest.raises(UserError, match=r"metrics\.json states pearson"):
        result_of(read_runs([folder]), sample, resamples=RESAMPLES)


def test_runs_that_are_incomplete_mixed_or_twice_the_same_are_refused(sample, tmp_path):
    predictions = noisy(sample, 0.5, 1)
    one = write_run(tmp_path / "one", sample, predictions)
    other = write_run(
        tmp_path / "other", sample, predictions, seed=8, recipe={"architecture": "cross-encoder"}
    )
    with pytest.raises(UserError, match="differ in recipe"):
        result_of(read_runs([one, other]), sample)
    later = write_run(tmp_path / "later", sample, predictions, seed=8)
    record = json.loads((later / "run.json").read_text())
    (later / "run.json").write_text(json.dumps({**record, "base_model_revision": "c0ffee"}))
    with pytest.raises(UserError, match="differ in base_model_revision"):
        result_of(read_runs([one, later]), sample)
    lines = (later / "predictions.csv").read_text().splitlines(keepends=True)
    (later / "predictions.csv").write_text("".join([*lines, lines[-1]]))
    with pytest.raises(UserError, match="has a pair twice"):
        read_runs([later])
    with pytest.raises(UserError, match="two runs of the same seed"):
        result_of(read_runs([one, one]), sample)
    (one / "metrics.json").unlink()
    for folder in (one, tmp_path / "nowhere"):
        with pytest.raises(UserError, match="no complete run"):
            read_runs([folder])
