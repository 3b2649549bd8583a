"""Published figures of the encoder "chars64" (specification, section 9)."""

from pathlib import Path
from typing import Any

import pytest

from spanish_sentence_eval.encoding import Batcher
from spanish_sentence_eval.engine import SE

# Some rows take minutes of processor time: many more on a busy machine.
pytestmark = pytest.mark.timeout(3600)

_ACCURACIES = {
    "TASS1": (39.54, 40.95),
    "TASS2": (49.12, 49.07),
    "MC": (52.17, 51.58),
    "FAC": (70.17, 68.36),
    "SQC": (45.56, 42.52),
    "NLI": (42.61, 38.19),
    "SICKEntailment": (60.61, 60.09),
    "BSOwiki": (51.18, 50.85),
    "BSOmlsum": (50.65, 49.54),
    "BSOthesis": (55.58, 54.78),
    "DCgdd": (53.92, 51.56),
    "DCopus": (49.93, 49.80),
    "SSPmlsum": (60.52, 61.08),
    "RST": (26.84, 21.76),
}
_OVER_A_MINUTE = {"MC", "FAC", "SQC", "DCgdd", "DCopus"}
_LOGISTIC = {"TASS1": (42.04, 44.83), "SICKEntailment": (71.31, 70.49), "SSPmlsum": (62.68, 63.12)}
_RELATEDNESS = {
    "devpearson": 0.5990613399,
    "pearson": 0.6275369293,
    "spearman": 0.5976572133,
    "mse": 0.6213448360,
}
_SUBSETS = {
    ("STS14", "news"): (0.6263507522, 0.6949322242),
    ("STS14", "wikipedia"): (0.4902336959, 0.5138876193),
    ("STS15", "newswire"): (0.2080865496, 0.2037172122),
    ("STS15", "wikipedia"): (0.3601904586, 0.3156469025),
    ("STS17", "track3.es-es"): (0.5256134010, 0.6004380087),
}
_MEANS = {
    "STS14": ((0.5582922241, 0.6044099217), (0.5714976101, 0.6219739506)),
    "STS15": ((0.2841384941, 0.2596820573), (0.2589228761, 0.2411264695)),
    "STS17": ((0.5256134010, 0.6004380087), (0.5256134010, 0.6004380087)),
}


@pytest.fixture
def published(sentence_evaluation_source: Path) -> dict[str, Any]:
    """The settings of all shipped examples."""
    classifier = {"nhid": 0, "optim": "adam", "batch_size": 64, "tenacity": 5, "epoch_size": 4}
    return {
        "task_path": str(sentence_evaluation_source / "data"),
        "usepytorch": True,
        "kfold": 10,
        "batch_size": 16,
        "seed": 1111,
        "classifier": classifier,
    }


@pytest.mark.slow
@pytest.mark.parametrize("task", sorted(_ACCURACIES.keys() - _OVER_A_MINUTE))
def test_exact_path_gives_the_published_accuracy(
    published: dict[str, Any], characters: Batcher, task: str
) -> None:
    result = SE({**published, "path": "exact"}, characters).eval(task)
    assert (result["devacc"], result["acc"]) == _ACCURACIES[task]


@pytest.mark.slow
@pytest.mark.parametrize("task", sorted(_ACCURACIES))
def test_fast_path_stays_within_015_points(published: dict[str, Any], characters: Batcher, task: str) -> None:
    result = SE({**published, "path": "fast"}, characters).eval(task)
    assert (result["devacc"], result["acc"]) == pytest.approx(_ACCURACIES[task], abs=0.15)


@pytest.mark.slow
@pytest.mark.parametrize("task", sorted(_LOGISTIC))
def test_scikit_learn_head_gives_the_published_accuracy(
    published: dict[str, Any], characters: Batcher, task: str
) -> None:
    settings = {"task_path": published["task_path"], "usepytorch": False}
    result = SE(settings, characters).eval(task)
    assert (result["devacc"], result["acc"]) == _LOGISTIC[task]


@pytest.mark.slow
@pytest.mark.parametrize(("path", "tolerance"), [("exact", 1e-6), ("fast", 1e-4)])
def test_relatedness_gives_the_published_correlations(
    published: dict[str, Any], characters: Batcher, path: str, tolerance: float
) -> None:
    result = SE({**published, "path": path}, characters).eval("SICKRelatedness")
    assert {key: result[key] for key in _RELATEDNESS} == pytest.approx(_RELATEDNESS, abs=tolerance)


def test_similarity_gives_the_published_correlations(published: dict[str, Any], characters: Batcher) -> None:
    results = SE(published, characters).eval(list(_MEANS))
    for (task, subset), figures in _SUBSETS.items():
        found = results[task][subset]
        assert (found["pearson"], found["spearman"]) == pytest.approx(figures, abs=1e-6)
    for task, pairs in _MEANS.items():
        for kind, values in zip(("mean", "wmean"), pairs, strict=True):
            averages = results[task]["all"]
            found = (averages["pearson"][kind], averages["spearman"][kind])
            assert found == pytest.approx(values, abs=1e-6)
