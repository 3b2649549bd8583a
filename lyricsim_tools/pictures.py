"""Pictures as PNG, SVG or PDF: the same data give the same files. Matplotlib is imported when one is drawn.

Colours are Okabe and Ito's, which colour-blind readers tell apart.
"""

from collections.abc import Callable, Sequence
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


# What a file would else say of the day and the program that drew it.
_NO_TRACE = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
KINDS = tuple(_NO_TRACE)


def as_png_and_svg(path: Path) -> list[Path]:
    """The two files of a picture that a page shows and a paper prints; ``path`` has no ending."""
    return [path.with_suffix(kind) for kind in (".png", ".svg")]


def draw_picture(draw: Callable[[Any], None], paths: Sequence[Path], size: tuple[float, float]) -> None:
    """Write one picture into each of ``paths``.

    Args:
        draw: draws into the figure that it is given.
        paths: of the files; their endings, of ``KINDS``, name the formats.
        size: width and height in inches.

    Raises:
        UserError: an unknown ending, or matplotlib is not installed.
    """
    for path in paths:
        if path.suffix not in KINDS:
            raise UserError(f"a picture named {path}", f"a name ending in {', '.join(KINDS)}", "rename it")
    matplotlib = _matplotlib()
    # Not pyplot: it would keep every figure and choose a window system.
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        for path in paths:
            with atomic_file(path) as partial:
                figure.savefig(partial, format=path.suffix[1:], dpi=150, metadata=_NO_TRACE[path.suffix])


def _matplotlib() -> Any:
    try:
        import matplotlib
    except ModuleNotFoundError as error:
        raise UserError(
            "matplotlib is not installed", "matplotlib, for the figures", "pip install 'lyricsim[plots]'"
        ) from error
    return matplotlib
