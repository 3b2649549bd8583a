"""The Spanish STS gold scores that a user has, for the comparison curves of Figure 4."""

import math
from pathlib import Path

from lyricsim_dataset.records import RATING_MAX, RATING_MIN
from lyricsim_tools.errors import UserError

_PATTERN = "STS.gs.*.txt"


def read_sts(folder: Path) -> dict[str, list[float]]:
    """Gold scores by set, such as ``STS15``.

    Args:
        folder: searched with its subfolders for ``STS.gs.*.txt``, one score a line (0 to 4 or 0 to 5);
            a set is named after the folder its files are in.

    Raises:
        UserError: no such file, or a line that is no score.
    """
    found: dict[str, list[float]] = {}
    for path in sorted(Path(folder).rglob(_PATTERN)):
        scores = [_score(path, number, line) for number, line in _lines(path)]
        found.setdefault(path.parent.name.split("-")[0], []).extend(scores)
    if too_few := [name for name, scores in found.items() if len(scores) < 2] or (
        not found and [str(folder)]
    ):
        raise UserError(
            f"{', '.join(too_few)} holds no gold scores",
            f"files {_PATTERN} of the Spanish STS sets below the folder, one score a line",
            "name the folder senteval/STS that `spanish-senteval fetch` made, or leave --sts out",
        )
    return found


def _lines(path: Path) -> list[tuple[int, str]]:
    lines = path.read_text("utf-8").splitlines()
    return [(number, line.strip()) for number, line in enumerate(lines, start=1) if line.strip()]


def _score(path: Path, number: int, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not RATING_MIN <= value <= RATING_MAX:
        raise UserError(
            f"{path}, line {number}: {text!r}", f"a score, {RATING_MIN} to {RATING_MAX}", "check the file"
        )
    return value
