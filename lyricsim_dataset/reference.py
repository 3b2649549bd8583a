"""Upstream's own filtered means, with which a build is compared; nothing is built from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lyricsim_dataset.delimited import Problems, read_delimited
from lyricsim_dataset.records import Pair

_COLUMNS = ("pair_id", "sim_rating")


@dataclass(frozen=True)
class Agreement:
    """How the kept pairs compare with upstream's list.

    Args:
        upstream: pairs in upstream's list.
        kept: pairs that we keep.
        shared: pairs in both.
        equal: of these, how many have exactly upstream's label.
    """

    upstream: int
    kept: int
    shared: int
    equal: int


def read_reference(path: Path) -> dict[str, float]:
    """Upstream's label of each filtered pair, by pair id.

    Raises:
        UserError: a label is not a number.
    """
    problems = Problems(path)
    labels: dict[str, float] = {}
    for row in read_delimited(path, ",", _COLUMNS):
        try:
            labels[row["pair_id"]] = float(row["sim_rating"])
        except ValueError:
            problems.add(row.number, "sim_rating", row["sim_rating"], "not a number")
    problems.raise_if_any("a mean rating in every row")
    return labels


def compare(kept: Sequence[Pair], labels: Mapping[str, float]) -> Agreement:
    """Compare the kept pairs with upstream's labels."""
    shared = [pair for pair in kept if pair.pair_id in labels]
    equal = sum(pair.score == labels[pair.pair_id] for pair in shared)
    return Agreement(len(labels), len(kept), len(shared), equal)
