"""The leaderboard's section on where a system is good (pure)."""

from collections import Counter
from collections.abc import Callable, Sequence

from lyricsim_reports.benchmark import Benchmark
from lyricsim_reports.measured import Measured
from lyricsim_reports.page import Heading, Part, Table, Text
from lyricsim_reports.plain import percent, two_decimals
from lyricsim_reports.result_file import BLOCKS
from lyricsim_reports.standings import Standing
from lyricsim_reports.strengths import Slice, Strengths, songs_seen, strengths

_NOTE = (
    "On the same predictions as the ranking above. Beyond overlap: correlation of predictions and scores "
    "once the number of shared words is taken out of both; beyond text-free: once lengths, overlaps and "
    "line counts are. These two say what a system knows that counting does not."
)


def strength_parts(
    ranked: Sequence[Standing], results: Sequence[Measured], benchmark: Benchmark
) -> list[Part]:
    """By length, by score, beyond overlap, by songs seen, and learning curves."""
    found = [(standing.measured, strengths(standing.measured)) for standing in ranked]
    if not found:
        return []
    return [
        Heading("Where a system is good"),
        Text(_NOTE),
        _beyond_table(found),
        _slice_table(
            found, lambda s: s.by_length, "Pearson's correlation by the words of both lyrics.", _pearson
        ),
        _slice_table(
            found, lambda s: s.by_length, "Zero against non-zero (AUC) by the words of both lyrics.", _auc
        ),
        _slice_table(
            found,
            lambda s: s.by_level,
            "Mean percentile of the predictions by score level: a good system rises from column to column.",
            lambda s: f"{s.percentile:.0f}",
        ),
        *_seen_parts(results, benchmark),
        *_curve_parts(results),
    ]


def _beyond_table(found: Sequence[tuple[Measured, Strengths]]) -> Table:
    rows = tuple(
        (
            m.result.title,
            two_decimals(m.scores["zero_auc"]),
            two_decimals(m.scores["nonzero_pearson"]),
            two_decimals(s.beyond_overlap),
            two_decimals(s.beyond_lexical),
        )
        for m, s in found
    )
    return Table(("system", "AUC zero", "non-zero r", "beyond overlap", "beyond text-free"), rows)


def _slice_table(
    found: Sequence[tuple[Measured, Strengths]],
    choose: Callable[[Strengths], Sequence[Slice]],
    caption: str,
    show: Callable[[Slice], str],
) -> Table:
    slices = choose(found[0][1])
    columns = ("system", *[f"{s.name} ({s.pairs})" for s in slices])
    rows = tuple((m.result.title, *map(show, choose(s))) for m, s in found)
    return Table(columns, rows, f"{caption} In brackets: pairs.")


def _seen_parts(results: Sequence[Measured], benchmark: Benchmark) -> list[Part]:
    whole = [m for m in results if m.result.training_share == 1]
    counts = Counter(m.result.system for m in whole)
    rows = [
        (
            m.result.title,
            m.result.config,
            "blocks" if m.result.protocol == BLOCKS else "test",
            *_seen_cells(s),
        )
        for m in whole
        if counts[m.result.system] > 1
        for s in _seen(m, benchmark)
    ]
    if not rows:
        return []
    columns = ("system", "configuration", "protocol", "songs seen", "pairs", "Pearson", "AUC zero")
    caption = "By how many songs of a pair training had, for systems with several results."
    return [Table(columns, tuple(rows), caption)]


def _seen(m: Measured, benchmark: Benchmark) -> Sequence[Slice]:
    training = benchmark.splits[m.result.config]["train"]
    # Each block is predicted by a model that saw neither song.
    return songs_seen(m, training.take([]) if m.result.protocol == BLOCKS else training)


def _seen_cells(s: Slice) -> tuple[object, ...]:
    return (s.name.split()[0], s.pairs, _pearson(s), _auc(s))


def _curve_parts(results: Sequence[Measured]) -> list[Part]:
    partial = {
        (m.result.system, m.result.config, m.result.protocol) for m in results if m.result.training_share < 1
    }
    rows = [
        (
            m.result.title,
            m.result.config,
            f"{100 * m.result.training_share:g} %",
            percent(m.scores["combined_score"]),
        )
        for m in sorted(results, key=lambda m: (m.result.system, m.result.config, m.result.training_share))
        if (m.result.system, m.result.config, m.result.protocol) in partial
    ]
    if not rows:
        return [
            Text(
                "No result file of a smaller training set is given, so there is no learning curve of a model."
            )
        ]
    columns = ("system", "configuration", "training pairs", "combined")
    return [Table(columns, tuple(rows), "Learning curves: the same recipe on a share of each training set.")]


def _pearson(s: Slice) -> str:
    return two_decimals(s.pearson)


def _auc(s: Slice) -> str:
    return two_decimals(s.zero_auc)
