"""Two results files are compared pair by pair where they can be, and not at all where they cannot."""

import json

import numpy as np
import pytest

from spanish_sentence_eval import cli
from spanish_sentence_eval.compare import compare_documents
from spanish_sentence_eval.headline import group_averages, headline_of, mean_correlation
from spanish_sentence_eval.intervals import difference_of_shares
from spanish_sentence_eval.results import FORMAT
from spanish_sentence_eval.tasks import TASKS

SETTINGS = {"protocol": "compatible", "usepytorch": True, "kfold": 10, "classifier": {"nhid": 0}}


def accuracy_record(hits, digest="d"):
    return {
        "headline": {"value": 100 * hits.count("1") / len(hits), "n": len(hits)},
        "data": {"digest": digest},
        "hits": hits,
    }


def similarity_record(scores, gold):
    value = mean_correlation({"s": np.array(scores)}, {"s": np.array(gold)})
    return {
        "headline": {"value": value, "n": len(gold)},
        "data": {"digest": "d"},
        "scores": {"s": list(scores)},
        "gold": {"s": list(gold)},
    }


def document(**tasks):
    return {"format": FORMAT, "settings": SETTINGS, "tasks": tasks}


def compare(first, second, task="TASS1"):
    [row] = compare_documents(document(**{task: first}), document(**{task: second}), seed=1)
    return row


def test_accuracies_are_tested_item_by_item():
    row = compare(accuracy_record("1" * 80 + "0" * 20), accuracy_record("1" * 90 + "0" * 10))
    assert row.difference == pytest.approx(10)
    assert row.p == pytest.approx(2 / 2**10)
    assert row.interval.low < 10 < row.interval.high
    assert "exact McNemar" in row.method


def test_without_items_accuracies_are_tested_as_independent_and_said_so():
    first, second = accuracy_record("1" * 80 + "0" * 20), accuracy_record("1" * 90 + "0" * 10)
    del second["hits"]
    row = compare(first, second)
    assert row.method.startswith("unpaired")
    assert row.p == pytest.approx(0.0477, abs=1e-3)


def test_correlations_are_tested_over_the_same_pairs():
    generator = np.random.default_rng(0)
    gold = generator.normal(size=100)
    noise = generator.normal(size=(2, 100))
    close, far = similarity_record(gold + 0.1 * noise[0], gold), similarity_record(gold + 2 * noise[1], gold)
    row = compare(far, close, "STS17")
    assert row.method == "paired bootstrap over pairs"
    assert row.p < 0.01
    assert row.interval.low > 0
    same = compare(far, far, "STS17")
    assert (same.difference, same.p) == (0, 1.0)


def test_without_items_correlations_are_tested_as_independent():
    gold = np.arange(50.0)
    first, second = similarity_record(gold % 7, gold), similarity_record(gold % 11, gold)
    del first["scores"]
    assert compare(first, second, "STS17").method == "unpaired: Fisher z"


def test_other_data_are_not_compared():
    row = compare(accuracy_record("10"), accuracy_record("10", digest="other"))
    assert row.p is None
    assert "the data differ" in row.remark


@pytest.mark.parametrize(("key", "value"), [("protocol", "corrected"), ("kfold", 5), ("usepytorch", False)])
def test_other_settings_are_not_compared(key, value):
    first, second = document(TASS1=accuracy_record("10")), document(TASS1=accuracy_record("10"))
    second["settings"] = {**SETTINGS, key: value}
    [row] = compare_documents(first, second, seed=1)
    assert row.p is None
    assert key in row.remark


def test_an_undefined_figure_is_not_compared():
    first = accuracy_record("10")
    first["headline"]["value"] = None
    assert "undefined" in compare(first, accuracy_record("10")).remark


def test_p_values_are_adjusted_over_the_tasks_that_have_one():
    tasks = {"TASS1": accuracy_record("1" * 80 + "0" * 20), "TASS2": accuracy_record("1" * 50 + "0" * 50)}
    better = {"TASS1": accuracy_record("1" * 90 + "0" * 10), "TASS2": accuracy_record("1" * 57 + "0" * 43)}
    first, second = compare_documents(document(**tasks), document(**better), seed=1)
    assert first.p_holm == pytest.approx(2 * first.p)
    assert second.p_holm == pytest.approx(second.p)


def test_both_orders_of_a_pair_are_named_as_dependent():
    assert "both orders" in compare(accuracy_record("1100"), accuracy_record("1110"), "BSOwiki").remark


def test_items_that_two_seeds_put_in_other_orders_are_not_paired():
    record = {**accuracy_record("1100" * 20), "headline": {"value": 50.0, "n": 40}}
    better = {**accuracy_record("1110" * 20), "headline": {"value": 75.0, "n": 40}}
    first, second = document(BSOwiki=record, TASS1=record), document(BSOwiki=better, TASS1=better)
    first["settings"], second["settings"] = {**SETTINGS, "seed": 1}, {**SETTINGS, "seed": 2}
    ordering, other = compare_documents(first, second, seed=1)
    assert ordering.method.startswith("unpaired")
    assert ordering.p == pytest.approx(difference_of_shares(0.5, 40, 0.75, 40)[1])
    assert "another seed" in ordering.remark
    assert other.method.startswith("paired")
    assert not other.remark


def test_a_figure_of_independent_pairs_is_not_said_to_count_them_twice():
    first, second = accuracy_record("1100"), accuracy_record("1110")
    del second["hits"]
    row = compare(first, second, "BSOwiki")
    assert row.method.startswith("unpaired")
    assert not row.remark


def test_the_command_prints_rows_or_json(tmp_path, capsys):
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path, hits in zip(paths, ("1" * 80 + "0" * 20, "1" * 90 + "0" * 10), strict=True):
        path.write_text(json.dumps(document(TASS1=accuracy_record(hits))))
    assert cli.main(["compare", *map(str, paths)]) == 0
    shown = capsys.readouterr().out
    assert "b.json against a.json" in shown
    assert "+10.00" in shown
    assert cli.main(["compare", "--json", *map(str, paths)]) == 0
    assert json.loads(capsys.readouterr().out)[0]["difference"] == pytest.approx(10)


def test_files_without_a_common_task_are_one_clear_message(tmp_path, capsys):
    for name, task in (("a", "TASS1"), ("b", "TASS2")):
        (tmp_path / f"{name}.json").write_text(json.dumps(document(**{task: accuracy_record("10")})))
    assert cli.main(["compare", str(tmp_path / "a.json"), str(tmp_path / "b.json")]) == 1
    assert "no task in common" in capsys.readouterr().err


def test_a_missing_file_is_one_clear_message(tmp_path, capsys):
    assert cli.main(["compare", str(tmp_path / "a.json"), str(tmp_path / "b.json")]) == 1
    assert "there is no file" in capsys.readouterr().err
    assert cli.main(["compare", "--seed", "-1", str(tmp_path / "a.json"), str(tmp_path / "b.json")]) == 1
    assert "--seed -1" in capsys.readouterr().err


def test_an_undefined_correlation_is_no_number():
    figures = {"track3.es-es": {"nsamples": 250}, "all": {"pearson": {"mean": float("nan")}}}
    headline = headline_of(TASKS["STS17"], figures, None, seed=1)
    assert headline.value is None
    assert headline.interval is None


def test_group_averages_say_how_many_of_their_tasks_were_run():
    averages = group_averages({"STS14": 0.6, "STS17": 0.8, "STS15": None, "RST": 30.0})
    assert averages == {"SS": (pytest.approx(0.7), 2, 4), "DR": (30.0, 1, 1)}
