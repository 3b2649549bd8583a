"""The paper's five figures, drawn.

Colours are those of all our pictures and a cut of viridis, which colour-blind readers tell apart; a series
also differs from its neighbour in line, marker or place.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from lyricsim_dataset.records import RATING_MAX, RATING_MIN
from lyricsim_reports.figure_data import BUCKET, Curve, FigureData, Point
from lyricsim_tools.pictures import BLACK, BLUE, GREEN, RED, as_png_and_svg, draw_picture

_SERIES = (BLUE, RED, GREEN)
_DASHES = ("-", "--", ":")
_Draw = Callable[[Any, FigureData], None]


def require_plots() -> None:
    """Raise now what drawing would raise after everything was computed.

    Raises:
        UserError: matplotlib is not installed.
    """
    draw_picture(lambda figure: None, (), (1, 1))


def draw_all(data: FigureData, folder: Path, name: str) -> dict[str, str]:
    """Draw every figure as PNG and SVG.

    Args:
        data: what they show.
        folder: where ``figure-1.png``, ``figure-1.svg`` and so on are written.
        name: of the data, where they stand beside others.

    Returns:
        The text of each SVG file, by the picture's name.

    Raises:
        UserError: matplotlib is not installed.
    """
    figures: Mapping[str, _Draw] = {
        "figure-1": _lengths,
        "figure-2": _composition,
        "figure-3": _label_counts,
        "figure-4": partial(_densities, name=name),
        "figure-5": _length_and_score,
    }
    return {file: _save(draw, data, folder / file) for file, draw in figures.items()}


def _save(draw: _Draw, data: FigureData, path: Path) -> str:
    draw_picture(lambda figure: draw(figure, data), as_png_and_svg(path), (7.5, 4.5))
    return path.with_suffix(".svg").read_text("utf-8")


def _lengths(figure: Any, data: FigureData) -> None:
    shown = data.histogram
    axes = figure.subplots()
    widths = [right - left for left, right in zip(shown.edges, shown.edges[1:], strict=False)]
    axes.bar(shown.edges[:-1], shown.counts, widths, align="edge", color=BLUE, edgecolor="white")
    axes.axvline(shown.mean, color=RED, linestyle="--", label=f"mean {shown.mean:.2f}")
    for side in (-1, 1):
        label = f"± standard deviation {shown.deviation:.2f}" if side == 1 else None
        axes.axvline(shown.mean + side * shown.deviation, color=BLACK, linestyle=":", label=label)
    axes.set(xlabel="words of a lyric", ylabel="lyrics", title="Length of the lyrics")
    # Beside the bars a legend would cover one of the lines.
    figure.legend(loc="outside lower center", ncols=2, frameon=False)


def _composition(figure: Any, data: FigureData) -> None:
    from matplotlib import colormaps, patheffects
    from matplotlib.colors import LinearSegmentedColormap

    figure.set_size_inches(7.5, 6.5)
    axes = figure.subplots()
    viridis = colormaps["viridis"]
    # White numbers can't be read on the yellow end.
    dark = LinearSegmentedColormap.from_list("dark", viridis([0.0, 0.2, 0.4, 0.6, 0.8]))
    most = max((c.pairs for c in data.cells), default=1)
    drawn = axes.scatter(
        [c.shorter for c in data.cells],
        [c.longer for c in data.cells],
        [250 + 1150 * c.pairs / most for c in data.cells],
        [c.score for c in data.cells],
        cmap=dark,
        vmin=0,
    )
    outline = [patheffects.withStroke(linewidth=1.8, foreground="black")]
    for c in data.cells:
        axes.text(
            c.shorter, c.longer, str(c.pairs), color="white", ha="center", va="center", path_effects=outline
        )
    figure.colorbar(drawn, label="mean score of the pairs (0 to 5)")
    axes.margins(0.1)
    axes.set(xlabel=f"words of the shorter lyric (buckets of {BUCKET})", ylabel="words of the longer lyric")
    axes.set_title("Composition of the filtered pairs: size and number = pairs")


def _label_counts(figure: Any, data: FigureData) -> None:
    panels = figure.subplots(1, 2, sharey=True)
    for axes, (name, counts), colour in zip(panels, data.counts.items(), (BLUE, RED), strict=True):
        bars = axes.bar(range(RATING_MIN, RATING_MAX + 1), counts, color=colour)
        axes.bar_label(bars, padding=2)
        axes.set(xlabel="rating", title=f"{'before' if name == 'raw' else 'after'} filtering ({name})")
    panels[0].set_ylabel("ratings")


def _densities(figure: Any, data: FigureData, name: str) -> None:
    sets = [(name, data.lyrics_curves)]
    if data.sts_curves:
        sets.insert(0, ("Spanish STS, gold scores (means of raters)", data.sts_curves))
        figure.set_size_inches(10, 4.5)
    panels = figure.subplots(1, len(sets), sharey=True, squeeze=False)[0]
    for axes, (title, curves) in zip(panels, sets, strict=True):
        for curve, colour, dash in _styled(curves):
            label = f"{curve.name} ({curve.count:,})"
            axes.plot(curve.x, curve.y, color=colour, linestyle=dash, linewidth=2, label=label)
        axes.set(xlabel="rating", title=title)
        axes.legend(frameon=False)
    panels[0].set_ylabel("density")


def _styled(curves: tuple[Curve, ...]) -> Iterator[tuple[Curve, str, str]]:
    for number, curve in enumerate(curves):
        yield curve, _SERIES[number % len(_SERIES)], _DASHES[number % len(_DASHES)]


def _length_and_score(figure: Any, data: FigureData) -> None:
    axes = figure.subplots()
    styles = {"raw": (BLUE, "o", -1.5), "filtered": (RED, "s", 1.5)}
    for name, points in data.points.items():
        colour, marker, shift = styles[name]
        known = [point for point in points if point.interval]
        alone = [point for point in points if not point.interval]
        label = f"{name} pairs (Pearson {data.correlations[name]:.3f})"
        axes.errorbar(
            [point.words + shift for point in known],
            [point.score for point in known],
            [list(side) for side in zip(*map(_bar, known), strict=True)],
            color=colour,
            marker=marker,
            capsize=3,
            linewidth=1,
            label=label,
        )
        axes.plot(
            [p.words + shift for p in alone],
            [p.score for p in alone],
            marker,
            color=colour,
            markerfacecolor="none",
        )
    axes.set(xlabel=f"words of both lyrics (buckets of {BUCKET})", ylabel="mean score, 95 % interval")
    axes.set_title("Score and length")
    axes.legend(frameon=False, loc="upper left")


def _bar(point: Point) -> tuple[float, float]:
    """Lengths of an error bar; an interval of few pairs may reach out of the scale, a mean can't."""
    low, high = point.interval or (point.score, point.score)
    return point.score - max(low, RATING_MIN), min(high, RATING_MAX) - point.score
