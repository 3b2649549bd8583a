import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanish_sentence_eval.params import Classifier
from spanish_sentence_eval.protocol import EarlyStop, Schedule


@pytest.mark.parametrize(
    ("epoch_size", "max_epoch", "epochs", "checks"), [(4, 200, 204, 51), (1, 15, 16, 16), (15, 200, 210, 14)]
)
def test_compatible_limit_is_overshot_as_in_the_reference(
    epoch_size: int, max_epoch: int, epochs: int, checks: int
) -> None:
    rounds = list(Schedule(epoch_size, max_epoch, 5, corrected=False).rounds())
    assert (sum(rounds), len(rounds)) == (epochs, checks)


@given(st.integers(1, 20), st.integers(1, 200))
def test_corrected_limit_is_kept_exactly(epoch_size: int, max_epoch: int) -> None:
    assert sum(Schedule(epoch_size, max_epoch, 5, corrected=True).rounds()) == max_epoch


def _checks_until_stop(corrected: bool, scores: list[float]) -> int:
    stop = EarlyStop(Schedule.of(Classifier(tenacity=2), "corrected" if corrected else "compatible"))
    for count, score in enumerate(scores, start=1):
        stop.improves(score)
        if stop.stopped:
            return count
    return -1


def test_compatible_count_is_never_reset_and_one_late() -> None:
    assert _checks_until_stop(False, [0.5, 0.4, 0.6, 0.5, 0.7, 0.6, 0.9]) == 6


def test_corrected_count_starts_anew_at_an_improvement() -> None:
    assert _checks_until_stop(True, [0.5, 0.4, 0.6, 0.5, 0.7, 0.6, 0.6]) == 7


def test_an_equal_score_is_no_improvement() -> None:
    stop = EarlyStop(Schedule(1, 5, 5, corrected=False))
    assert stop.improves(0.0)
    assert not stop.improves(0.0)


def _kept(corrected: bool, scores: list[float]) -> list[bool]:
    stop = EarlyStop(Schedule(1, 9, 9, corrected))
    return [stop.improves(score) for score in scores]


def _best_of(scores: list[float]) -> float:
    stop = EarlyStop(Schedule(1, 9, 9, corrected=True))
    for score in scores:
        stop.improves(score)
    return stop.best


def test_an_undefined_score_is_better_than_none_and_worse_than_every_other() -> None:
    scores = [math.nan, math.nan, -1.0, math.nan, 0.2]
    assert _kept(True, scores) == [True, False, True, False, True]
    assert not math.isnan(_best_of(scores))
    assert math.isnan(_best_of([math.nan, math.nan]))


def test_undefined_scores_count_as_checks_without_improvement() -> None:
    assert _checks_until_stop(True, [math.nan] * 9) == 3
    assert _checks_until_stop(True, [0.5, math.nan, math.nan, 0.9]) == 3


def test_the_compatible_start_is_a_correlation_of_minus_one() -> None:
    assert _kept(False, [-1.0, -0.9]) == [False, True]
