"""A grid search as table rows, JSON, a picture and the command of its winner."""

import itertools
import math
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lyricsim_models.grid import GridRun, PointSummary, winner
from lyricsim_tools.errors import UserError
from lyricsim_tools.pictures import BLACK, BLUE, GREEN, RED, draw_picture

COLUMNS = ("model", "batch", "decay", "rate", "seeds", "development", "sd", "test", "failed")

_BY_BATCH = ((BLUE, "o"), (RED, "s"), (GREEN, "^"), (BLACK, "D"))
_BY_DECAY = ("-", "--", ":", "-.")
# Ratio of neighbouring series' places on the axis of learning rates.
_APART = 1.02
_MOST_COLUMNS = 4


def table_row(row: PointSummary) -> list[object]:
    """One line of the table; scores in per cent, as the paper prints them."""
    point = row.point
    scores = [row.development, row.development_deviation, row.test]
    settings = [row.model, point.batch_size, f"{point.weight_decay:g}", f"{point.learning_rate:g}"]
    return [*settings, len(row.seeds), *[None if s is None else f"{100 * s:.2f}" for s in scores], row.failed]


def as_json(row: PointSummary) -> dict[str, object]:
    """One row for machines; scores 0 to 1."""
    return {
        "model": row.model,
        "global_batch_size": row.point.batch_size,
        "weight_decay": row.point.weight_decay,
        "learning_rate": row.point.learning_rate,
        "seeds": list(row.seeds),
        "development": row.development,
        "development_deviation": row.development_deviation,
        "test": row.test,
        "failed": row.failed,
    }


def best_command(
    rows: Sequence[PointSummary],
    shared: Sequence[str],
    output: Path,
    launcher: Sequence[str] = ("accelerate", "launch"),
) -> str:
    """The command that trains the best point again, with the seeds it was chosen by.

    Args:
        rows: of a grid search, best first.
        shared: options of ``training/finetune.py`` that all runs of the search have.
        output: folder of the search.
        launcher: program that starts training, with its first arguments.

    Raises:
        UserError: no run has finished.
    """
    best = _winner(rows)
    run = GridRun(best.model, best.point, best.seeds[0])
    settings = run.options()[:-1] + [str(seed) for seed in best.seeds]
    return shlex.join(
        [*launcher, "training/finetune.py", *shared, *settings, "--output", str(output / "best")]
    )


def draw_grid(rows: Sequence[PointSummary], path: Path) -> None:
    """Development score by learning rate: a panel a model, a line a batch size and weight decay.

    Args:
        rows: of a grid search.
        path: of the picture; its ending names the format.

    Raises:
        UserError: no run has finished, an unknown ending, or matplotlib is not installed.
    """
    _winner(rows)
    scored = [row for row in rows if row.development is not None]
    models = sorted({row.model for row in scored})

    looks = _looks(scored)
    columns = min(len(models), _MOST_COLUMNS)
    lines = math.ceil(len(models) / columns)

    def draw(figure: Any) -> None:
        panels = figure.subplots(lines, columns, sharey=True, squeeze=False)
        for unused in panels.flat[len(models) :]:
            unused.remove()
        shown: dict[tuple[int, float], Any] = {}
        for axes, model in zip(panels.flat, models, strict=False):
            axes.set(title=model, xlabel="learning rate", xscale="log")
            _tick_rates(axes, [row.point.learning_rate for row in scored])
            shown |= _draw_model(axes, [row for row in scored if row.model == model], looks)
        figure.supylabel("development combined score (%)")
        in_order = [shown[settings] for settings in sorted(shown)]
        figure.legend(handles=in_order, loc="outside lower center", ncols=3, fontsize="small")

    draw_picture(draw, [path], (4.5 * columns, 4 * lines))


def _winner(rows: Sequence[PointSummary]) -> PointSummary:
    best = winner(rows)
    if best is None:
        raise UserError(
            "no run has a development score", "at least one finished run", "let a worker finish one"
        )
    return best


def _settings(row: PointSummary) -> tuple[int, float]:
    return row.point.batch_size, row.point.weight_decay


def _looks(rows: Sequence[PointSummary]) -> dict[tuple[int, float], dict[str, Any]]:
    """Colour and marker by batch size, dashes by weight decay: told apart without colours too."""
    batches, decays = (sorted(set(values)) for values in zip(*map(_settings, rows), strict=True))
    by_batch = dict(zip(batches, itertools.cycle(_BY_BATCH), strict=False))
    by_decay = dict(zip(decays, itertools.cycle(_BY_DECAY), strict=False))
    return {
        (batch, decay): {"color": colour, "marker": marker, "linestyle": by_decay[decay]}
        for batch, (colour, marker) in by_batch.items()
        for decay in decays
    }


def _tick_rates(axes: Any, rates: Sequence[float]) -> None:
    """Name the rates that were tried; a logarithmic axis names others."""
    shown = sorted(set(rates))
    axes.set_xticks(shown, [f"{rate:g}" for rate in shown])
    axes.set_xticks([], minor=True)


def _draw_model(
    axes: Any, rows: Sequence[PointSummary], looks: Mapping[tuple[int, float], Mapping[str, Any]]
) -> dict[tuple[int, float], Any]:
    """Draw a line for each batch size and weight decay; returns the lines by these two."""
    drawn = {}
    for place, settings in enumerate(looks):
        line = sorted(
            (row.point.learning_rate, 100 * row.development, 100 * (row.development_deviation or 0))
            for row in rows
            if _settings(row) == settings and row.development is not None
        )
        if line:
            rates, scores, deviations = zip(*line, strict=True)
            # Error bars side by side, not one over another.
            beside = [rate * _APART ** (place - (len(looks) - 1) / 2) for rate in rates]
            label = "batch {}, decay {:g}".format(*settings)
            drawn[settings] = axes.errorbar(
                beside, scores, deviations, capsize=3, label=label, **looks[settings]
            )
    return drawn
