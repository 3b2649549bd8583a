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
