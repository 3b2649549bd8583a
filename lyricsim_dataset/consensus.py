"""Which pairs are kept: the paper's consensus rule (section 4.1), in both of its published forms."""

import enum
from collections.abc import Sequence

import numpy as np

from lyricsim_dataset.records import Pair
from lyricsim_tools.errors import UserError

RATERS_A_PAIR = 3


class ConsensusRule(enum.Enum):
    """The two readings of the rule; they differ in pairs where a 0 disagrees with two 1s."""

    #: The paper's text: all three equal, or two equal to a score above 0 and the third within 1 of it.
    TEXT = "text"
    #: The paper's notebook: the same, and three ratings that are not all equal must be free of 0.
    NOTEBOOK = "notebook"


def keep_ratings(ratings: np.ndarray, rule: ConsensusRule = ConsensusRule.NOTEBOOK) -> np.ndarray:
    """Apply the rule to many pairs at once.

    Args:
        ratings: shape (n, 3), whole numbers 0 to 5; the order of the raters doesn't matter.
        rule: which reading of the rule.

    Returns:
        Shape (n,), boolean: whether each pair is kept.

    Raises:
        UserError: the array does not hold three ratings a pair.
    """
    if ratings.ndim != 2 or ratings.shape[1] != RATERS_A_PAIR:
        raise _wrong_number_of_raters(f"ratings of shape {ratings.shape}")
    first, second, third = ratings.T
    lowest = np.minimum(np.minimum(first, second), third)
    highest = np.maximum(np.maximum(first, second), third)
    # Whole numbers at most one apart: the middle one equals the lowest or the highest, so two agree on it.
    middle = first + second + third - lowest - highest
    must_be_above_zero = lowest if rule is ConsensusRule.NOTEBOOK else middle
    return (highest == lowest) | ((highest == lowest + 1) & (must_be_above_zero > 0))


def keep_pair(ratings: Sequence[int], rule: ConsensusRule = ConsensusRule.NOTEBOOK) -> bool:
    """Whether one pair's three ratings are kept."""
    return bool(keep_ratings(np.asarray([ratings]), rule)[0])


def kept_pairs(pairs: Sequence[Pair], rule: ConsensusRule = ConsensusRule.NOTEBOOK) -> list[Pair]:
    """The pairs that the rule keeps, in the order given (1,057 by the text, 676 by the notebook)."""
    keep = keep_ratings(ratings_array(pairs), rule)
    return [pair for pair, kept in zip(pairs, keep, strict=True) if kept]


def ratings_array(pairs: Sequence[Pair]) -> np.ndarray:
    """The ratings of all pairs, shape (n, 3), int64; a pair with another number of ratings is refused."""
    for pair in pairs:
        if len(pair.ratings) != RATERS_A_PAIR:
            raise _wrong_number_of_raters(f"pair {pair.pair_id} with {len(pair.ratings)} ratings")
    return np.array([pair.ratings for pair in pairs], dtype=np.int64).reshape(len(pairs), RATERS_A_PAIR)


def _wrong_number_of_raters(given: str) -> UserError:
    return UserError(
        given,
        f"{RATERS_A_PAIR} ratings a pair",
        "the consensus rule is defined on three ratings: select three a pair first",
    )


def agreed_rating(ratings: Sequence[int]) -> int:
    """The rating that at least two of a kept pair's three raters gave."""
    return sorted(ratings)[RATERS_A_PAIR // 2]
