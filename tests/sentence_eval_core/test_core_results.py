import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lyricsim_tools.errors import UserError
from spanish_sentence_eval import discoeval, senteval
from spanish_sentence_eval.encoding import Batcher
from spanish_sentence_eval.engine import SE
from spanish_sentence_eval.heads.cosine import correlate, cosine
from spanish_sentence_eval.heads.relatedness import Trainer, binned, train_and_score
from spanish_sentence_eval.params import Params
from spanish_sentence_eval.tasks import TASKS

_CLASSIFIED = {"devacc", "acc", "ndev", "ntest", "protocol"}
_PLAIN = (str, int, float)


def _leaves(value: object) -> Iterator[object]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _leaves(inner)
    else:
        yield value


@pytest.mark.slow
@pytest.mark.parametrize("path", ["exact", "fast"])
@pytest.mark.parametrize("protocol", ["compatible", "corrected"])
def test_every_task_runs_and_gives_upstreams_keys_with_plain_numbers(
    small: dict[str, Any], characters: Batcher, path: str, protocol: str
) -> None:
    asked = [[*senteval.NAMES], [*discoeval.NAMES]]
    results = SE({**small, "path": path, "protocol": protocol}, characters).eval(asked)
    assert list(results) == [*senteval.NAMES, *discoeval.NAMES]
    for name, result in results.items():
        assert result["protocol"] == protocol
        assert all(type(leaf) in _PLAIN for leaf in _leaves(result)), name
        assert type(_headline(name, result)) is float
        assert ("deduplicated" in result) == (protocol == "corrected" and bool(TASKS[name].cleaning))
        if TASKS[name].headline == ("acc",):
            assert result.keys() - {"deduplicated", "f1"} == _CLASSIFIED
    json.dumps(results, allow_nan=False)


def _headline(name: str, result: Any) -> object:
    for key in TASKS[name].headline:
        result = result[key]
    return result


def test_bso_counts_both_orders_and_pools_count_all_rows(small: dict[str, Any], characters: Batcher) -> None:
    results = SE(small, characters).eval(["BSOwiki", "MC", "SQC"])
    assert (results["BSOwiki"]["ndev"], results["BSOwiki"]["ntest"]) == (120, 120)
    assert (results["MC"]["ndev"], results["MC"]["ntest"]) == (120, 120)
    assert (results["SQC"]["ndev"], results["SQC"]["ntest"]) == (120, 120)


def test_paws_reports_f1_of_paraphrases(small: dict[str, Any], characters: Batcher) -> None:
    result = SE({**small, "return_predictions": True}, characters).eval("PAWS")
    pairs = result["predictions"]["test"]
    hits = sum(p == g == 1 for p, g in zip(pairs["predicted"], pairs["gold"], strict=True))
    both = sum(pairs["predicted"]) + sum(pairs["gold"])
    assert result["f1"] == round(100 * 2 * hits / both, 2)


def test_relatedness_has_its_own_keys(small: dict[str, Any], characters: Batcher) -> None:
    result = SE(small, characters).eval("SICKRelatedness")
    keys = {"devpearson", "pearson", "spearman", "mse", "yhat", "ndev", "ntest", "protocol"}
    assert result.keys() == keys
    assert len(result["yhat"]) == result["ntest"] == 60


def _zeros(params: Params, batch: list[list[str]]) -> np.ndarray:
    return np.zeros((len(batch), 3), np.float32)


@pytest.mark.parametrize("path", ["exact", "fast"])
@pytest.mark.parametrize("protocol", ["compatible", "corrected"])
def test_a_constant_relatedness_is_0_where_the_reference_says_so_and_undefined_elsewhere(
    small: dict[str, Any], path: str, protocol: str
) -> None:
    result = SE({**small, "path": path, "protocol": protocol}, _zeros).eval("SICKRelatedness")
    assert len(set(result["yhat"])) == 1
    expected = 0.0 if protocol == "compatible" else np.nan
    for figures in (result, *([result["deduplicated"]] if protocol == "corrected" else [])):
        correlations = [figures[key] for key in ("devpearson", "pearson", "spearman")]
        np.testing.assert_equal(correlations, [expected] * 3)
        assert np.isfinite(figures["mse"])


class _Replayed(Trainer):
    """Predicts the given scores, one list a round, whatever the rows."""

    def __init__(self, rounds: list[list[float]]) -> None:
        self._rounds = iter(rounds)

    def round(self, epochs: int) -> None:
        self._now = next(self._rounds)

    def keep(self) -> None:
        self._best = self._now

    def probabilities(self, x: np.ndarray, best: bool = False) -> np.ndarray:
        return binned(np.array(self._best if best else self._now))


def test_a_defined_dev_correlation_is_chosen_over_undefined_ones() -> None:
    flat = [2.0, 2.0, 2.0]
    rounds = [flat, [3.0, 2.0, 1.0], flat, [3.0, 1.0, 2.0], flat, flat, flat]
    rows = (np.zeros((3, 1), np.float32), np.array([1.0, 2.0, 3.0]))
    blocks = {"train": rows, "dev": rows, "test": rows}
    found = train_and_score(blocks, lambda x, targets: _Replayed(rounds), True)
    assert found.predicted.tolist() == [3.0, 1.0, 2.0]
    assert found.dev_pearson == pytest.approx(-0.5)


def test_similarity_has_subsets_and_two_averages(small: dict[str, Any], characters: Batcher) -> None:
    result = SE(small, characters).eval("STS14")
    assert result.keys() == {"news", "wikipedia", "all", "protocol"}
    values = [result[subset]["pearson"] for subset in ("news", "wikipedia")]
    assert result["all"]["pearson"]["mean"] == pytest.approx(sum(values) / 2)
    assert result["all"]["spearman"].keys() == {"mean", "wmean"}
    assert result["news"]["nsamples"] == 60


def test_predictions_are_given_for_each_item_when_asked_for(
    small: dict[str, Any], characters: Batcher
) -> None:
    asked = {**small, "return_predictions": True}
    results = SE(asked, characters).eval(["MC", "TASS1", "STS17", "SICKRelatedness"])
    for name, split in (("MC", "pool"), ("TASS1", "test")):
        pairs = results[name]["predictions"][split]
        hits = np.mean(np.array(pairs["predicted"]) == np.array(pairs["gold"]))
        assert results[name]["acc"] == pytest.approx(100 * hits, abs=0.01)
    assert len(results["STS17"]["predictions"]["track3.es-es"]["predicted"]) == 60
    assert (
        results["SICKRelatedness"]["predictions"]["test"]["predicted"] == results["SICKRelatedness"]["yhat"]
    )


def test_a_single_name_gives_its_result_and_a_list_gives_a_mapping(
    small: dict[str, Any], characters: Batcher
) -> None:
    engine = SE(small, characters)
    alone = engine.eval("STS17")
    assert engine.results == alone
    assert engine.eval(["STS17"]) == {"STS17": alone}
    assert engine.eval([["STS-es-17"]]) == {"STS17": alone}


def test_what_was_finished_before_an_error_is_kept(small: dict[str, Any], characters: Batcher) -> None:
    def batcher(params: Params, batch: list[list[str]]) -> Any:
        return characters(params, batch) if params.current_task == "STS17" else None

    engine = SE(small, batcher)
    with pytest.raises(UserError, match="TASS1"):
        engine.eval(["STS17", "TASS1"])
    assert engine.results == {"STS17": SE(small, characters).eval("STS17")}


def test_scikit_learn_heads_run_and_give_the_same_keys(small: dict[str, Any], characters: Batcher) -> None:
    results = SE({**small, "usepytorch": False}, characters).eval(["MC", "SQC", "TASS1", "RST"])
    assert all(result.keys() == _CLASSIFIED for result in results.values())


def test_own_similarity_replaces_the_cosine(small: dict[str, Any], characters: Batcher) -> None:
    negative = SE({**small, "similarity": lambda u, v: -cosine(u, v)}, characters).eval("STS17")
    plain = SE(small, characters).eval("STS17")
    assert negative["all"]["pearson"]["mean"] == pytest.approx(-plain["all"]["pearson"]["mean"])


@pytest.mark.parametrize("value", [float("nan"), np.ones(2)])
def test_a_similarity_that_is_no_number_is_refused(
    small: dict[str, Any], characters: Batcher, value: object
) -> None:
    with pytest.raises(UserError, match=r"STS17: similarity is .* for row 0"):
        SE({**small, "similarity": lambda u, v: value}, characters).eval("STS17")


def test_a_zero_vector_is_similar_to_nothing() -> None:
    assert cosine(np.zeros(3), np.ones(3)) == 0.0
    assert cosine(np.ones(2), np.array([1.0, 0.0])) == pytest.approx(np.sqrt(0.5))


def test_a_constant_side_has_no_correlation() -> None:
    assert np.isnan(correlate(np.ones(4), np.arange(4.0)).pearson[0])


def test_scores_are_shared_between_neighbouring_bins() -> None:
    assert binned(np.array([1.0, 3.25, 5.0])).tolist() == [
        [1, 0, 0, 0, 0],
        [0, 0, 0.75, 0.25, 0],
        [0, 0, 0, 0, 1],
    ]


def test_corrected_folds_follow_the_users_seed(
    tree: Path, small: dict[str, Any], characters: Batcher
) -> None:
    def folds(protocol: str, seed: int) -> Any:
        from spanish_sentence_eval.protocol import inner_fold_seed

        return inner_fold_seed(protocol, seed)  # type: ignore[arg-type]

    assert [folds("compatible", s) for s in (1, 2)] == [1111, 1111]
    assert [folds("corrected", s) for s in (1, 2)] == [1, 2]
