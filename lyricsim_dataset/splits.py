"""Who is in train, validation and test: a seeded, stratified draw (paper, section 5).

The draw uses no random number generator, whose stream may change with a library's version: within a
stratum pairs are ordered by the SHA-256 of seed and pair id, so the result depends on nothing but these.
"""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction

from lyricsim_dataset.records import SPLITS, Pair

#: Seed of every published split: the year and month of the paper. Fixed before any result was seen.
SEED = 202306
#: A tenth goes to test, so a stratum of this size is the smallest that expects a test pair of its own.
SMALLEST_STRATUM = 10


def split_sizes(n: int) -> dict[str, int]:
    """Sizes of an 85-5-10 split: test a tenth rounded up, validation a twentieth rounded half up.

    676 pairs give 574/34/68, 2,775 give 2,358/139/278.
    """
    test, validation = -(-n // 10), (n + 10) // 20
    return {"train": n - validation - test, "validation": validation, "test": test}


def label_strata(pairs: Iterable[Pair]) -> list[list[Pair]]:
    """Group pairs by label value, rare values pooled with their neighbours.

    From the lowest label upwards, values are gathered until the stratum holds ``SMALLEST_STRATUM`` pairs;
    if the highest values don't reach it, they join the stratum below them. Labels are
    compared as fractions, which are exact.
    """
    by_label: dict[Fraction, list[Pair]] = defaultdict(list)
    for pair in pairs:
        by_label[Fraction(sum(pair.ratings), len(pair.ratings))].append(pair)
    strata: list[list[Pair]] = [[]]
    for label in sorted(by_label):
        if len(strata[-1]) >= SMALLEST_STRATUM:
            strata.append([])
        strata[-1] += by_label[label]
    if len(strata) > 1 and len(strata[-1]) < SMALLEST_STRATUM:
        rare = strata.pop()
        strata[-1] += rare
    return strata


def hash_order(key: str, seed: int) -> bytes:
    """A sort key that shuffles names reproducibly: the SHA-256 of ``seed:key``."""
    return hashlib.sha256(f"{seed}:{key}".encode()).digest()


def largest_remainder(total: int, weights: Sequence[int]) -> list[int]:
    """Share ``total`` out in proportion to whole weights; leftovers go to the largest remainders.

    Equal remainders are served in the order given. No share exceeds its weight if the total does not
    exceed the sum of weights.
    """
    whole = sum(weights) or 1
    shares = [total * weight // whole for weight in weights]
    by_remainder = sorted(range(len(weights)), key=lambda i: (-(total * weights[i] % whole), i))
    for position in by_remainder[: total - sum(shares)]:
        shares[position] += 1
    return shares


def draw(pairs: Iterable[Pair], size: int, seed: int) -> list[Pair]:
    """A stratified draw of ``size`` pairs: proportional to each stratum, the first by ``hash_order``."""
    strata = label_strata(pairs)
    shares = largest_remainder(size, [len(stratum) for stratum in strata])
    return [
        pair
        for stratum, share in zip(strata, shares, strict=True)
        for pair in sorted(stratum, key=lambda p: hash_order(p.pair_id, seed))[:share]
    ]


def assign(pairs: Iterable[Pair], sizes: Mapping[str, int], seed: int) -> dict[str, str]:
    """Draw test, then validation from what is left; the rest is train.

    Args:
        pairs: any order; pair ids are unique.
        sizes: how many pairs validation and test get.
        seed: of the draw.

    Returns:
        Pair id to split, sorted by pair id.
    """
    left = {pair.pair_id: pair for pair in pairs}
    assignment: dict[str, str] = {}
    for split in ("test", "validation"):
        for pair in draw(left.values(), sizes[split], seed):
            assignment[pair.pair_id] = split
            del left[pair.pair_id]
    assignment |= dict.fromkeys(left, "train")
    return dict(sorted(assignment.items()))


def stratified_split(
    pairs: Sequence[Pair], filtered_ids: Collection[str], seed: int = SEED
) -> dict[str, str]:
    """The clean 85-5-10 split of all pairs, which contains that of the filtered pairs.

    The filtered pairs are split first; the others are then drawn by the same rule, with sizes that make
    the whole an 85-5-10 split again. So a pair has one split, whichever configuration it is read from.

    Args:
        pairs: all pairs, in any order.
        filtered_ids: ids of those that the consensus rule keeps.
        seed: of the draw.

    Returns:
        Pair id to split for every pair, sorted by pair id.
    """
    filtered = [pair for pair in pairs if pair.pair_id in filtered_ids]
    others = [pair for pair in pairs if pair.pair_id not in filtered_ids]
    filtered_sizes, sizes = split_sizes(len(filtered)), split_sizes(len(pairs))
    other_sizes = {split: sizes[split] - filtered_sizes[split] for split in SPLITS}
    both = assign(filtered, filtered_sizes, seed) | assign(others, other_sizes, seed)
    return dict(sorted(both.items()))


def paper_split(kept: Sequence[Pair], seed: int = SEED) -> dict[str, list[str]]:
    """The paper's own sizes, 638/38/68, which overlap: for reproduction only.

    They add up to 744 for 676 pairs. They come out exactly if a tenth is drawn for test, but train and
    validation are drawn from all pairs, the test pairs among them: 38 = ceil(676 * 5 / 90), 638 = 676 - 38.
    That is an inference: the paper publishes no split. The test pairs here are those of the clean split, so
    that scores of the two differ by the leak alone.

    Args:
        kept: the filtered pairs, in any order.
        seed: of the draw.

    Returns:
        Sorted pair ids a split; every test pair is also in train or in validation.
    """
    everyone = {pair.pair_id for pair in kept}
    test = {pair.pair_id for pair in draw(kept, split_sizes(len(kept))["test"], seed)}
    # Another order than that of the test draw, else the validation pairs would all be test pairs.
    validation = {pair.pair_id for pair in draw(kept, -(-len(kept) // 18), seed + 1)}
    return {"train": sorted(everyone - validation), "validation": sorted(validation), "test": sorted(test)}


def ids_by_split(assignment: Mapping[str, str]) -> dict[str, list[str]]:
    """Turn pair id → split into split → sorted pair ids."""
    return {split: sorted(pair for pair, its in assignment.items() if its == split) for split in SPLITS}


def assignment_digest(assignment: Mapping[str, str]) -> str:
    """Hexadecimal SHA-256 that names an assignment: equal digests mean equal splits."""
    return membership_digest(ids_by_split(assignment))


def membership_digest(splits: Mapping[str, Iterable[str]]) -> str:
    """The same digest for splits given as lists of pair ids, which may overlap.

    It is taken over the sorted lines ``pair_id<TAB>split<LF>``, in UTF-8.
    """
    lines = sorted(f"{pair}\t{split}\n" for split, pairs in splits.items() for pair in pairs)
    return hashlib.sha256("".join(lines).encode()).hexdigest()
