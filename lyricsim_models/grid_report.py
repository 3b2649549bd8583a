"""A grid search as table rows, JSON, a picture and the command of its winner."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lyricsim_models.grid import GridRun, PointSummary, winner
from lyricsim_tools.atomic import atomic_file
from lyricsim_tools.errors import UserError

KINDS = (".pdf", ".png", ".svg")
COLUMNS = ("model", "batch", "decay", "rate", "seeds", "development", "sd", "test", "failed")


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


def best_command(rows: Sequence[PointSummary], shared: Sequence[str], output: Path) -> str:
    """The command that trains the best point again, with the seeds it was chosen by.

    Args:
        rows: of a grid search, best first.
        shared: options of ``training/finetune.py`` that all runs of the search have.
        output: folder of the search.

    Raises:
        UserError: no run has finished.
    """
    best = _winner(rows)
    run = GridRun(best.model, best.point, best.seeds[0])
    settings = run.options()[:-1] + [str(seed) for seed in best.seeds]
    launcher = ["accelerate", "launch", "training/finetune.py"]
    return shlex.join([*launcher, *shared, *settings, "--output", str(output / "best")])


def draw_grid(rows: Sequence[PointSummary], path: Path) -> None:
    """Development score by learning rate: a panel a model, a line a batch size and weight decay.

    Args:
        rows: of a grid search.
        path: of the picture; its ending names the format.

    Raises:
        UserError: no run has finished, or an unknown ending.
    """
    _winner(rows)
    if path.suffix not in KINDS:
        raise UserError(f"--plot {path}", f"a name ending in {', '.join(KINDS)}", "rename the picture")
    # Figure without pyplot: no global state, no window system.
    from matplotlib.figure import Figure

    models = sorted({row.model for row in rows if row.development is not None})
    figure = Figure(figsize=(4.5 * len(models), 4), layout="constrained")
    for axes, model in zip(
        figure.subplots(1, len(models), sharey=True, squeeze=False)[0], models, strict=True
    ):
        _draw_model(axes, [row for row in rows if row.model == model])
        axes.set(title=model, xlabel="learning rate", xscale="log")
    figure.axes[0].set_ylabel("development combined score (%)")
    lines, labels = figure.axes[-1].get_legend_handles_labels()
    figure.legend(lines, labels, loc="outside lower center", ncols=3, fontsize="small")
    with atomic_file(path) as partial:
        figure.savefig(partial, format=path.suffix[1:])


def _winner(rows: Sequence[PointSummary]) -> PointSummary:
    best = winner(rows)
    if best is None:
        raise UserError(
            "no run has a development score", "at least one finished run", "let a worker finish one"
        )
    return best


def _draw_model(axes: Any, rows: Sequence[PointSummary]) -> None:
    for batch, decay in sorted({(row.point.batch_size, row.point.weight_decay) for row in rows}):
        line = sorted(
            (row.point.learning_rate, 100 * row.development, 100 * (row.development_deviation or 0))
            for row in rows
            if (row.point.batch_size, row.point.weight_decay) == (batch, decay)
            and row.development is not None
        )
        if line:
            rates, scores, deviations = zip(*line, strict=True)
            axes.errorbar(
                rates, scores, deviations, marker="o", capsize=3, label=f"batch {batch}, decay {decay:g}"
            )
