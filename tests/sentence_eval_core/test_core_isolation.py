"""No global random state, no word between engines, no trace in the caller's dictionaries."""

import copy
import random
from typing import Any

import numpy as np
import pytest
import torch

from spanish_sentence_eval import discoeval, senteval
from spanish_sentence_eval.encoding import Batcher
from spanish_sentence_eval.params import Params

_TASKS = ["TASS1", "SICKEntailment", "SICKRelatedness", "BSOwiki", "DCgdd", "STS17"]


def _states() -> list[object]:
    name, keys, *rest = np.random.get_state()
    return [
        random.getstate(),
        name,
        keys.tolist(),
        rest,
        torch.get_rng_state().tolist(),
        torch.get_num_threads(),
    ]


@pytest.mark.parametrize("path", ["exact", "fast"])
def test_global_generators_and_thread_count_stay_as_they_were(
    small: dict[str, Any], characters: Batcher, path: str
) -> None:
    before = _states()
    senteval.engine.SE({**small, "path": path}, characters).eval(_TASKS)
    assert _states() == before


@pytest.mark.parametrize("path", ["exact", "fast"])
def test_global_generators_that_others_draw_from_change_nothing(
    small: dict[str, Any], characters: Batcher, path: str
) -> None:
    def unruly(params: Params, batch: list[list[str]]) -> Any:
        np.random.seed(len(batch))
        torch.manual_seed(len(batch))
        return characters(params, batch)

    state, torch_state = np.random.get_state(), torch.get_rng_state()
    try:
        found = senteval.engine.SE({**small, "path": path}, unruly).eval(_TASKS)
    finally:
        np.random.set_state(state)
        torch.set_rng_state(torch_state)
    assert found == senteval.engine.SE({**small, "path": path}, characters).eval(_TASKS)


def test_interleaved_engines_do_not_influence_each_other(small: dict[str, Any], characters: Batcher) -> None:
    alone = {
        seed: senteval.engine.SE({**small, "seed": seed}, characters).eval(["BSOwiki", "TASS1"])
        for seed in (1, 2)
    }
    engines = {seed: discoeval.engine.SE({**small, "seed": seed}, characters) for seed in (1, 2)}
    mixed = {(seed, name): engines[seed].eval(name) for name in ("BSOwiki", "TASS1") for seed in (2, 1)}
    assert all(alone[seed][name] == found for (seed, name), found in mixed.items())


def test_a_task_gives_the_same_alone_and_after_others(small: dict[str, Any], characters: Batcher) -> None:
    after = senteval.engine.SE(small, characters).eval(["DCgdd", "NLI", "SSPmlsum"])
    assert after["SSPmlsum"] == senteval.engine.SE(small, characters).eval("SSPmlsum")


def test_the_callers_dictionaries_stay_unchanged(small: dict[str, Any], characters: Batcher) -> None:
    before = copy.deepcopy(small)

    def prepare(params: Params, samples: list[list[str]]) -> None:
        params.vocabulary = len(samples)
        params.classifier["nhid"] = 3

    senteval.engine.SE(small, characters, prepare).eval(["DCgdd", "TASS1"])
    assert small == before


def test_a_caller_may_share_its_objects(small: dict[str, Any], characters: Batcher) -> None:
    model = object()
    engine = senteval.engine.SE({**small, "model": model}, characters)
    assert engine.params.model is model
    assert engine.params.absent is None
