"""Pictures as PNG and SVG: the same data give the same files. Matplotlib is imported when one is drawn.

Colours are Okabe and Ito's, which colour-blind readers tell apart.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lyricsim_tools.atomic import atomic_file
from lyricsim_tools.errors import UserError

BLUE, RED, GREEN, BLACK = "#0072B2", "#D55E00", "#009E73", "#000000"
# Settings that make the same data give the same file.
_STYLE = {
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 12,
    "svg.hashsalt": "lyricsim",
    "svg.fonttype": "path",
}


def draw_picture(draw: Callable[[Any], None], path: Path, size: tuple[float, float]) -> None:
    """Write one picture as ``path`` with the endings ``.png`` and ``.svg``.

    Args:
        draw: draws into the figure that it is given.
        path: of the files, without an ending.
        size: width and height in inches.

    Raises:
        UserError: matplotlib is not installed.
    """
    matplotlib = _matplotlib()
    # Not pyplot: it would keep every figure and choose a window system.
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        for ending, metadata in (("png", {"Software": None}), ("svg", {"Date": None, "Creator": None})):
            with atomic_file(path.with_suffix(f".{ending}")) as partial:
                figure.savefig(partial, format=ending, dpi=150, metadata=metadata)


def _matplotlib() -> Any:
    try:
        import matplotlib
    except ModuleNotFoundError as error:
        raise UserError(
            "matplotlib is not installed", "matplotlib, for the figures", "pip install 'lyricsim[plots]'"
        ) from error
    return matplotlib
