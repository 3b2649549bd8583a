"""The leaderboard: results checked, ranked, and laid out as one document (pure but for reading files)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm

from lyricsim_dataset.configurations import DEFAULT_CONFIG
from lyricsim_reports.benchmark import Benchmark
from lyricsim_reports.leaderboard_quoted import quoted_parts
from lyricsim_reports.leaderboard_strengths import strength_parts
from lyricsim_reports.measured import Measured, measure
from lyricsim_reports.page import Heading, Page, Part, Table, Text
from lyricsim_reports.plain import percent, two_decimals
from lyricsim_reports.result_file import BLOCKS, Result, read_result
from lyricsim_reports.standings import SIGNIFICANCE, Separation, Standing, standings
from lyricsim_tools.errors import UserError

_SHORT_DIGEST = 12
_PROVENANCE_NOTE = (
    "data: the start of the fingerprint of all that the run saw; split: of the digest of its splits or "
    "groups."
)
_RANKED_FIGURES = ("pairs drawn", "Pearson", "Spearman", "AUC zero", "non-zero r", "seeds")
_SPLIT_FIGURES = ("combined", "songs drawn", "pairs drawn", "AUC zero", "non-zero r")


@dataclass(frozen=True)
class Leaderboard:
    """Everything that is printed.

    Args:
        benchmark: the dataset.
        results: every result, recomputed, in the order of their files' names.
        ranked: systems by block-cross-validated score on unseen songs.
        separations: the paired test of each two of these.
        resamples: behind ranks and tests.
    """

    benchmark: Benchmark
    results: tuple[Measured, ...]
    ranked: tuple[Standing, ...]
    separations: tuple[Separation, ...]
    resamples: int

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values: places, scores and tests, without the predictions."""
        return {
            "dataset": self.benchmark.origin.name,
            "source": self.benchmark.origin.fingerprint,
            "resamples": self.resamples,
            "ranked": [
                {
                    "rank": s.rank,
                    "rank_interval": list(s.rank_interval),
                    "groups": s.groups,
                    "below": list(s.below),
                    **_summary(s.measured),
                }
                for s in self.ranked
            ],
            "results": [_summary(m) for m in self.results],
            "separations": [asdict(s) for s in self.separations],
        }


def _summary(m: Measured) -> dict[str, Any]:
    names = ("system", "title", "kind", "protocol", "config", "training_share", "seeds")
    known = {name: getattr(m.result, name) for name in names}
    return {**known, "file": m.result.file_name, "pairs": len(m.pairs), "scores": dict(m.scores)}


def read_results(folder: Path) -> list[Result]:
    """Every result file of a folder.

    Raises:
        UserError: no folder, no file in it, or a broken one.
    """
    paths = sorted(Path(folder).glob("*.json"))
    if not paths:
        raise UserError(
            f"{folder} holds no result", "files *.json", "add one: `lyricsim-leaderboard add RUN_FOLDER`"
        )
    return [read_result(path) for path in paths]


def make_leaderboard(results: Sequence[Result], benchmark: Benchmark, resamples: int) -> Leaderboard:
    """Recompute and rank.

    Args:
        results: checked by ``read_results``.
        benchmark: the dataset.
        resamples: behind ranks and tests.

    Raises:
        UserError: a result that does not fit the dataset or does not follow from its predictions.
    """
    bar = tqdm(results, desc="results", unit="file", leave=False)
    measured = tuple(measure(result, benchmark) for result in bar)
    ranked, separations = standings([m for m in measured if is_ranked(m)], resamples)
    return Leaderboard(benchmark, measured, tuple(ranked), tuple(separations), resamples)


def is_ranked(m: Measured) -> bool:
    """Whether a result counts: unseen songs, the default pairs, all training pairs, a defined score."""
    headline = m.result.protocol == BLOCKS and m.result.config == DEFAULT_CONFIG
    return headline and m.result.training_share == 1 and m.scores["combined_score"] is not None


def leaderboard_page(board: Leaderboard) -> Page:
    """The document."""
    origin = board.benchmark.origin
    parts: list[Part] = [
        *([] if origin.is_upstreams else [Text(origin.warning)]),
        Text(_introduction(board)),
        Heading("Songs never seen: block cross-validation"),
        _ranked_table(board.ranked),
        Text(_legend(board)),
        *_separation_parts(board.separations),
        Heading("Fixed splits"),
        *_split_parts(board),
        *strength_parts(board.ranked, board.results, board.benchmark),
        *(quoted_parts() if origin.is_upstreams else []),
        Heading("Where each row comes from"),
        *_provenance_parts(board.results),
    ]
    title = f"A leaderboard of {origin.described}, which is not LyricSIM"
    return Page("LyricSIM leaderboard" if origin.is_upstreams else title, tuple(parts))


def _introduction(board: Leaderboard) -> str:
    origin = board.benchmark.origin
    return (
        "Every figure is recomputed from predictions and the dataset; a file whose stated score differs "
        "is rejected. Scores are in per cent; combined is the mean of Pearson's and Spearman's "
        "correlation. Intervals are 95 % (BCa): songs drawn, since pairs that share a song are not "
        f"independent, and pairs drawn beside them. Data: {origin.name}, source fingerprint "
        f"{origin.fingerprint[:_SHORT_DIGEST]}."
    )


def _ranked_table(ranked: Sequence[Standing]) -> Table:
    rows = tuple(_ranked_row(standing) for standing in ranked)
    columns = (
        "system",
        "rank",
        "rank 95 %",
        "groups",
        "combined",
        "songs drawn",
        "under a floor",
        *_RANKED_FIGURES,
    )
    floors = frozenset(i for i, s in enumerate(ranked) if s.measured.result.kind == "floor")
    return Table(columns, rows, marked=floors)


def _ranked_row(standing: Standing) -> tuple[object, ...]:
    m, scores = standing.measured, standing.measured.scores
    low, high = standing.rank_interval
    return (
        f"{m.result.title}{' (floor)' if m.result.kind == 'floor' else ''}",
        standing.rank,
        f"{low} to {high}",
        standing.groups,
        percent_with_deviation(scores),
        bounds(scores["combined_score_song_ci"]),
        f"yes: {standing.below[0]}" if standing.below else None,
        bounds(scores["combined_score_ci"]),
        percent(scores["pearson"]),
        percent(scores["spearmanr"]),
        two_decimals(scores["zero_auc"]),
        two_decimals(scores["nonzero_pearson"]),
        len(m.result.seeds),
    )


def _legend(board: Leaderboard) -> str:
    pairs = len(board.ranked[0].measured.pairs) if board.ranked else 0
    return (
        f"Each of the {pairs} pairs is predicted by a model that saw neither of its songs. AUC zero: zero "
        "against non-zero pairs, 0.5 is chance; non-zero r: Pearson within the non-zero pairs. Most of a "
        "score is the former. Rank 95 %: ranks over resampled songs. Two systems that share a letter "
        f"under groups are not separated at {SIGNIFICANCE:g} by the paired bootstrap of songs after Holm's "
        f"correction over all {len(board.separations)} pairs. Resampled songs err on the wide side, since a "
        "pair's own noise is counted with both its songs': that two systems are not separated is weak "
        "evidence that they are equal. Floors, marked so, know no meaning; a system "
        "under one is marked with the highest floor above it. A floor that predicts one value a block, as "
        "song identity must, has a pooled score that only reflects how block means differ. With several "
        "seeds a score is their mean ± deviation."
    )


def _separation_parts(separations: Sequence[Separation]) -> list[Part]:
    found = [s for s in separations if s.p_value < SIGNIFICANCE]
    if not found:
        return [Text("No two systems are separated by the paired test.")]
    rows = tuple((s.better, s.worse, f"{100 * s.difference:.1f}", _p_value(s)) for s in found)
    caption = f"The {len(found)} of {len(separations)} pairs of systems that the paired test separates."
    return [Table(("better", "than", "difference", "p (Holm)"), rows, caption)]


def _p_value(separation: Separation) -> str:
    """With a sign where fewer resamples would have given a larger one and more might give a smaller one."""
    sign = "≤ " if math.isclose(separation.p_value, separation.smallest) else ""
    return f"{sign}{separation.p_value:.3f}"


def _split_parts(board: Leaderboard) -> list[Part]:
    results = [m for m in board.results if not is_ranked(m) and m.result.training_share == 1]
    if not results:
        return [Text("No result yet.")]
    order = sorted(results, key=lambda m: (m.result.config, -(m.scores["combined_score"] or -1)))
    rows = tuple(_split_row(m) for m in order)
    columns = ("system", "configuration", "protocol", "pairs", *_SPLIT_FIGURES)
    note = (
        "A test split of 65 to 68 pairs leaves wide intervals. Both songs of every test pair of filtered are "
        "known from training; filtered-paper-split has every test pair in training or validation too and is "
        "for reproduction only."
    )
    floors = frozenset(i for i, m in enumerate(order) if m.result.kind == "floor")
    notes = [Text(note)] if board.benchmark.origin.is_upstreams else []
    return [Table(columns, rows, marked=floors), *notes]


def _split_row(m: Measured) -> tuple[object, ...]:
    return (
        f"{m.result.title}{' (floor)' if m.result.kind == 'floor' else ''}",
        m.result.config,
        "blocks" if m.result.protocol == BLOCKS else "test",
        len(m.pairs),
        percent_with_deviation(m.scores),
        bounds(m.scores["combined_score_song_ci"]),
        bounds(m.scores["combined_score_ci"]),
        two_decimals(m.scores["zero_auc"]),
        two_decimals(m.scores["nonzero_pearson"]),
    )


def _provenance_parts(results: Sequence[Measured]) -> list[Part]:
    rows = tuple(
        (
            m.result.file_name,
            m.result.model + (f" at {m.result.revision}" if m.result.revision else ""),
            ", ".join(map(str, m.result.seeds)),
            m.result.data_fingerprint[:_SHORT_DIGEST],
            m.result.split_digest[:_SHORT_DIGEST],
            m.result.versions.get("lyricsim", "–"),
            m.result.command,
        )
        for m in results
    )
    columns = ("file", "model", "seeds", "data", "split", "lyricsim", "command")
    return [Table(columns, rows, _PROVENANCE_NOTE)]


def percent_with_deviation(scores: Mapping[str, Any]) -> str:
    """The combined score, with its deviation over seeds where there are several."""
    deviation = scores["combined_score_sd"]
    return percent(scores["combined_score"]) + ("" if deviation is None else f" ± {100 * deviation:.1f}")


def bounds(interval: Sequence[float | None]) -> str:
    """An interval in per cent."""
    return "undefined" if None in interval else " to ".join(percent(bound) for bound in interval)
