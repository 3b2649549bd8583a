"""The audit of a split: what its parts share, and what models without meaning score on it (pure)."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm

from lyricsim_dataset.configurations import DEFAULT_CONFIG
from lyricsim_dataset.leaks import Leak, leaks
from lyricsim_dataset.records import SPLITS, Pair
from lyricsim_dataset.song_balance import balanced_groups
from lyricsim_dataset.song_splits import songs_of
from lyricsim_dataset.splits import draw, hash_order
from lyricsim_models.pair_table import PairTable
from lyricsim_models.provenance import seen_of, seen_pairs
from lyricsim_reports.benchmark import Benchmark
from lyricsim_reports.near_duplicates import NearDuplicate, near_duplicates
from lyricsim_reports.probes import ProbeScore, combined_scores, summarise
from lyricsim_tools.errors import UserError

SplitPairs = Mapping[str, Sequence[Pair]]
_COLUMNS = ("pair_id", "split")
#: Draws that show what chance does to the songs of a split; one at random is outside all of them in 1 of 50.
_LOOKS = 99
_NO_RULE = (
    "not drawn: the split is neither song-disjoint, with validation drawn at random beside train, nor does "
    "train have as many of the test pairs' songs as it has where pairs are drawn at random"
)


@dataclass(frozen=True)
class Audit:
    """What was found out about one split.

    Args:
        name: of the split.
        sizes: pairs of each part.
        population: different pairs in all parts together.
        leaks: what each two parts share, by id.
        same_texts: test pairs that train has under any id, in any order, whatever the punctuation.
        duplicates: songs of train and of test under different ids with nearly the same text.
        songs_seen: test pairs by how many of their songs train has: none, one, both.
        rule: how the split was drawn anew, in words, or why it was not.
        probes: what models without meaning score.
    """

    name: str
    sizes: Mapping[str, int]
    population: int
    leaks: tuple[Leak, ...]
    same_texts: int
    duplicates: tuple[NearDuplicate, ...]
    songs_seen: tuple[int, int, int]
    rule: str
    probes: tuple[ProbeScore, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)


def config_split(benchmark: Benchmark, config: str) -> SplitPairs:
    """The pairs of a configuration's parts.

    Raises:
        UserError: there is no such configuration.
    """
    if config not in benchmark.splits:
        raise UserError(f"no configuration {config!r}", ", ".join(benchmark.splits), "choose one of these")
    known = {pair.pair_id: pair for pair in benchmark.tables.pairs}
    parts = benchmark.splits[config]
    return {name: tuple(known[pair_id] for pair_id in table.pair_ids) for name, table in parts.items()}


def read_split(path: Path, benchmark: Benchmark) -> SplitPairs:
    """A user's split of the dataset's pairs.

    Args:
        path: CSV with the columns ``pair_id`` and ``split`` (train, validation, test); a pair may be in
            several.
        benchmark: the dataset.

    Raises:
        UserError: missing columns, an unknown pair or part, a row twice, or no train or test pair.
    """
    known = {pair.pair_id: pair for pair in benchmark.tables.pairs}
    found: dict[str, dict[str, Pair]] = {name: {} for name in SPLITS}
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = list(csv.DictReader(stream))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(
            f"{path} cannot be read: {error}", "a CSV file in UTF-8", "check the path and the file"
        ) from error
    for number, row in enumerate(rows, start=2):
        pair_id, part = (row.get(column) for column in _COLUMNS)
        if pair_id not in known or part not in found or pair_id in found[part]:
            raise UserError(
                f"{path}, line {number}: pair_id {pair_id!r}, split {part!r}",
                f"columns {' and '.join(_COLUMNS)}: a pair of the dataset, one of {', '.join(SPLITS)}, "
                "each row once",
                "correct the row",
            )
        found[part][pair_id] = known[pair_id]
    for part in ("train", "test"):
        if not found[part]:
            raise UserError(f"{path} has no {part} pair", "at least one", "name the parts train and test")
    return {name: tuple(pairs.values()) for name, pairs in found.items() if pairs}


def audit(name: str, split: SplitPairs, benchmark: Benchmark, draws: int, seed: int) -> Audit:
    """Look at a split from all sides.

    Args:
        name: for people.
        split: ``train`` and ``test``, perhaps ``validation``.
        benchmark: the dataset, for the lyrics.
        draws: how often the split is drawn anew; 0 for not at all.
        seed: of the draws.
    """
    train, test = (pair_table(split[part], benchmark) for part in ("train", "test"))
    rule = rule_of(split, benchmark, seed)
    drawn = []
    for parts in tqdm(_redraws(rule, draws, seed), f"draws of {name}", draws, leave=False):
        drawn.append(combined_scores(*[pair_table(parts[part], benchmark) for part in ("train", "test")]))
    lyrics = {song.song_id: song.lyrics for song in benchmark.tables.songs}
    return Audit(
        name=name,
        sizes={part: len(pairs) for part, pairs in split.items()},
        population=len({pair.pair_id for pairs in split.values() for pair in pairs}),
        leaks=tuple(leaks(split)),
        same_texts=len(seen_pairs(test, seen_of(train))),
        duplicates=tuple(_crossing(split, lyrics)),
        songs_seen=_songs_seen(split["train"], split["test"]),
        rule=rule.describe() if rule else _NO_RULE,
        probes=tuple(summarise(combined_scores(train, test), drawn)),
    )


def pair_table(pairs: Sequence[Pair], benchmark: Benchmark) -> PairTable:
    """Pairs with their published lyrics and scores."""
    lyrics = {song.song_id: song.lyrics for song in benchmark.tables.songs}
    return PairTable(
        tuple(pair.pair_id for pair in pairs),
        tuple(pair.song_id_1 for pair in pairs),
        tuple(pair.song_id_2 for pair in pairs),
        tuple(lyrics[pair.song_id_1] for pair in pairs),
        tuple(lyrics[pair.song_id_2] for pair in pairs),
        tuple(pair.score for pair in pairs),
    )


@dataclass(frozen=True)
class Rule:
    """How a split looks, so that others like it can be drawn.

    Args:
        pairs: those it is drawn from.
        train: how many train has.
        test: how many test has.
        shared: how many of the test pairs train has too.
        test_songs: songs of the test pairs, if train has none of them; None if it has.
    """

    pairs: tuple[Pair, ...]
    train: int
    test: int
    shared: int
    test_songs: int | None

    def describe(self) -> str:
        """The rule in words."""
        if self.test_songs is not None:
            return (
                f"{self.test_songs} test songs chosen anew with balanced labels; test: the pairs of two of "
                "them, train: the pairs of two others"
            )
        left = f", {self.shared} of them left in train" if self.shared else ", none of them in train"
        return f"{self.test} test pairs drawn anew, stratified by label{left}; {self.train} training pairs"


def rule_of(split: SplitPairs, benchmark: Benchmark, seed: int) -> Rule | None:
    """Read off a split how it looks.

    Two kinds are known. Song-disjoint: no other part has a song of test, and validation is drawn at random
    beside train. It leaves out the pairs of one test song and one other, so it is drawn anew from all
    filtered pairs, or from all pairs if it holds others. At random: pairs are drawn, whatever their songs.

    Args:
        split: ``train`` and ``test``, perhaps ``validation``.
        benchmark: the dataset.
        seed: of the draws that show how many songs train lacks by chance.

    Returns:
        The rule; None where the split is of neither kind.
    """
    train, test, validation = (split.get(part, ()) for part in ("train", "test", "validation"))
    others = [*train, *validation]
    if songs_of(test).isdisjoint(songs_of(others)):
        pairs = _population([*others, *test], benchmark)
        rule = Rule(pairs, len(train), len(test), 0, len(songs_of(test)))
        return rule if _is_at_random(_random_rule(train, validation), train, validation, seed) else None
    rule = _random_rule(train, test, validation)
    return rule if _is_at_random(rule, train, test, seed) else None


def _random_rule(train: Sequence[Pair], test: Sequence[Pair], validation: Sequence[Pair] = ()) -> Rule:
    everyone = {pair.pair_id: pair for pairs in (train, test, validation) for pair in pairs}
    shared = {pair.pair_id for pair in train} & {pair.pair_id for pair in test}
    pairs = tuple(everyone[pair_id] for pair_id in sorted(everyone))
    return Rule(pairs, len(train), len(test), len(shared), None)


def _is_at_random(rule: Rule, train: Sequence[Pair], test: Sequence[Pair], seed: int) -> bool:
    """Whether train lacks as many of the test pairs' songs as it does in draws by the rule."""
    drawn = [_unseen(parts["train"], parts["test"]) for parts in _redraws(rule, _LOOKS, seed)]
    return min(drawn) <= _unseen(train, test) <= max(drawn)


def _unseen(train: Sequence[Pair], test: Sequence[Pair]) -> int:
    none, one, _ = _songs_seen(train, test)
    return 2 * none + one


def _population(pairs: Sequence[Pair], benchmark: Benchmark) -> tuple[Pair, ...]:
    parts = benchmark.splits[DEFAULT_CONFIG].values()
    filtered = {pair_id for table in parts for pair_id in table.pair_ids}
    whole = {pair.pair_id for pair in pairs} <= filtered
    found = [p for p in benchmark.tables.pairs if not whole or p.pair_id in filtered]
    return tuple(sorted(found, key=lambda pair: pair.pair_id))


def _redraws(rule: Rule | None, draws: int, seed: int) -> Iterator[dict[str, list[Pair]]]:
    # The seed itself made the published splits.
    if rule:
        yield from (redraw(rule, seed + number) for number in range(1, draws + 1))


def redraw(rule: Rule, seed: int) -> dict[str, list[Pair]]:
    """Another split by the same rule.

    Returns:
        ``train`` and ``test``; a song-disjoint one has about as many pairs as the rule's own.
    """
    if rule.test_songs is not None:
        return _disjoint(rule, seed)
    test = draw(rule.pairs, rule.test, seed)
    ids = {pair.pair_id for pair in test}
    shared = sorted(test, key=lambda pair: hash_order(pair.pair_id, seed + 1))[: rule.shared]
    others = [pair for pair in rule.pairs if pair.pair_id not in ids]
    # A drawn pair's order must not follow from the order in which test pairs were drawn.
    train = draw(others, rule.train - rule.shared, seed + 1)
    return {"train": [*train, *shared], "test": test}


def _disjoint(rule: Rule, seed: int) -> dict[str, list[Pair]]:
    songs = songs_of(rule.pairs)
    tested = rule.test_songs or 0
    groups = balanced_groups(rule.pairs, songs, [tested, len(songs) - tested], seed)
    places = [(pair, {groups[pair.song_id_1], groups[pair.song_id_2]}) for pair in rule.pairs]
    return {
        name: [p for p, place in places if place == {group}] for group, name in ((0, "test"), (1, "train"))
    }


def _crossing(split: SplitPairs, lyrics: Mapping[str, str]) -> list[NearDuplicate]:
    train, test = songs_of(split["train"]), songs_of(split["test"])
    found = near_duplicates({song: lyrics[song] for song in train | test})
    return [
        d
        for d in found
        if (d.songs[0] in train and d.songs[1] in test) or (d.songs[1] in train and d.songs[0] in test)
    ]


def _songs_seen(train: Sequence[Pair], test: Sequence[Pair]) -> tuple[int, int, int]:
    known = songs_of(train)
    counts = [sum(song in known for song in (p.song_id_1, p.song_id_2)) for p in test]
    return counts.count(0), counts.count(1), counts.count(2)
