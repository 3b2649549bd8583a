from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lyricsim_tools.errors import UserError
from spanish_sentence_eval.encoding import Batcher
from spanish_sentence_eval.engine import SE
from spanish_sentence_eval.params import Classifier, Params, read_classifier, read_settings


def test_defaults_are_upstreams() -> None:
    settings = read_settings(Params({"task_path": "data"}))
    assert (settings.usepytorch, settings.seed, settings.batch_size, settings.kfold) == (True, 1111, 128, 5)
    assert settings.task_path == Path("data")
    assert settings.classifier == Classifier(0, "adam", 64, 5, 4, 200, 0.0)
    assert (settings.protocol, settings.device) == ("compatible", "cpu")


def test_a_batcher_finds_upstreams_defaults_in_its_params(characters: Batcher) -> None:
    params = SE({"task_path": "data", "kfold": 10}, characters).params
    assert (params.batch_size, params.seed, params.usepytorch, params.nhid) == (128, 1111, True, 0)
    assert params.classifier == {"nhid": 0}
    assert params.kfold == 10
    assert SE({"task_path": "data", "classifier": {}}, characters).params.classifier == {"nhid": 0}


def test_none_is_as_good_as_absent() -> None:
    absent = read_settings({"task_path": "data"})
    assert read_settings({"task_path": "data", "seed": None, "classifier": None, "device": None}) == absent


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"task_path": None}, "params has no task_path"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"kfold": 1}, "kfold is 1"),
        ({"kfold": 2.5}, "kfold is 2.5"),
        ({"seed": -1}, "seed is -1"),
        ({"seed": True}, "seed is True"),
        ({"seed": 2**32}, r"seed is 4294967296[\s\S]*at most 4294967295"),
        ({"task_path": 5}, "task_path is 5"),
        ({"usepytorch": "no"}, "usepytorch is 'no'"),
        ({"return_predictions": "yes"}, "return_predictions is 'yes'"),
        ({"similarity": 5}, "similarity is 5"),
        ({"threads": 0}, "threads is 0"),
        ({"protocol": "fixed"}, "protocol is 'fixed'"),
        ({"path": "quick"}, "path is 'quick'"),
        ({"device": "abacus"}, "device 'abacus'"),
        ({"classifier": {"nhid": -1}}, r"classifier\['nhid'\] is -1"),
        ({"classifier": {"epoch_size": 0}}, r"classifier\['epoch_size'\] is 0"),
        ({"classifier": {"max_epoch": "many"}}, r"classifier\['max_epoch'\] is 'many'"),
        ({"classifier": {"dropout": 1.0}}, r"classifier\['dropout'\] is 1.0"),
        ({"classifier": {"optim": 5}}, r"classifier\['optim'\] is 5"),
        ({"classifier": 5}, "classifier is 5"),
    ],
)
def test_a_setting_outside_its_range_is_refused(
    small: dict[str, Any], characters: Batcher, change: dict[str, object], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        SE({**small, **change}, characters).eval("TASS1")


def test_an_unread_classifier_key_is_warned_of() -> None:
    with pytest.warns(UserWarning, match="'tenacty'"):
        assert read_classifier({"tenacty": 3}) == Classifier()


@pytest.mark.parametrize("path", ["fast", "exact"])
@pytest.mark.parametrize("task", ["TASS1", "SICKRelatedness"])
def test_numpy_numbers_are_numbers(small: dict[str, Any], characters: Batcher, task: str, path: str) -> None:
    plain = {**small, "seed": 5, "path": path, "threads": 1}
    classifier = {**small["classifier"], "nhid": np.int64(3), "dropout": np.float32(0.5)}
    counts = {key: np.int64(plain[key]) for key in ("seed", "batch_size", "kfold", "threads")}
    found = SE({**plain, **counts, "classifier": classifier}, characters).eval(task)
    classifier = {**small["classifier"], "nhid": 3, "dropout": 0.5}
    assert found == SE({**plain, "classifier": classifier}, characters).eval(task)
    assert type(read_settings({**plain, **counts}).seed) is int


def test_more_folds_than_members_of_a_class_are_refused(small: dict[str, Any], characters: Batcher) -> None:
    with pytest.raises(UserError, match="kfold: 300 folds"):
        SE({**small, "kfold": 300}, characters).eval("MC")
