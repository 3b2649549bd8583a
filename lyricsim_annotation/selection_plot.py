"""A selection drawn: what the candidates were like, what was chosen.

The two series differ in colour and in how they are drawn.
"""

from pathlib import Path
from typing import Any

import numpy as np

from lyricsim_annotation.selection import Scored, bin_counts, song_counts
from lyricsim_dataset.records import RATING_MAX, RATING_MIN
from lyricsim_tools.pictures import BLUE, RED, as_png_and_svg, draw_picture

NAME = "selection"
_BEFORE, _AFTER = RED, BLUE
# Counts that differ by more than this are drawn on a logarithmic axis.
_WIDE = 100


def draw_selection(
    folder: Path, candidates: Scored, chosen: Scored, songs: int, bins: int, seed: int
) -> None:
    """Write ``selection.png`` and ``selection.svg``.

    Args:
        folder: where to.
        candidates: all scored pairs.
        chosen: those that were chosen.
        songs: of the catalogue.
        bins: of the scale.
        seed: of the pairs drawn at random for comparison.

    Raises:
        UserError: matplotlib is not installed.
    """

    def draw(figure: Any) -> None:
        scores, coverage = figure.subplots(1, 2)
        _draw_scores(scores, candidates, chosen, bins)
        rows = np.random.default_rng(seed).permutation(len(candidates))[: len(chosen)]
        _draw_coverage(coverage, candidates.take(rows), chosen, songs)

    draw_picture(draw, as_png_and_svg(folder / NAME), (11, 4.5))


def _draw_scores(axes: Any, candidates: Scored, chosen: Scored, bins: int) -> None:
    edges = np.linspace(RATING_MIN, RATING_MAX, bins + 1)
    before, after = (100 * np.array(bin_counts(s.predicted, bins)) / len(s) for s in (candidates, chosen))
    axes.bar(
        edges[:-1],
        after,
        np.diff(edges),
        align="edge",
        color=_AFTER,
        edgecolor="white",
        label=f"after: the {len(chosen):,} chosen pairs",
    )
    axes.stairs(before, edges, color=_BEFORE, linewidth=2, label=f"before: {len(candidates):,} candidates")
    axes.set(xlabel="predicted score", ylabel="per cent of the pairs", title="Predicted scores")
    axes.margins(y=0.25)
    axes.legend(frameon=False, loc="upper right")


def _draw_coverage(axes: Any, drawn: Scored, chosen: Scored, songs: int) -> None:
    before, after = (np.bincount(song_counts(pairs, songs)) for pairs in (drawn, chosen))
    axes.bar(np.arange(len(after)), after, color=_AFTER, edgecolor="white", label="after: the chosen pairs")
    axes.plot(
        np.arange(len(before)),
        before,
        color=_BEFORE,
        marker="o",
        linewidth=2,
        label="before: as many candidates, drawn at random",
    )
    seen = np.concatenate([before, after])
    if seen.max() > _WIDE * max(1, np.median(seen[seen > 0])):
        axes.set_yscale("log")
        axes.set_ylim(bottom=0.7)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set(xlabel="pairs of a song", ylabel="songs", title=f"Coverage of the {songs:,} songs")
    axes.margins(y=0.25)
    axes.legend(frameon=False, loc="upper right")
