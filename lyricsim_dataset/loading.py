"""Loading a built folder from any working directory."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from lyricsim_dataset.configurations import CONFIG_NAMES, DEFAULT_CONFIG
from lyricsim_tools.errors import UserError

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict

FOLDER_VARIABLE = "LYRICSIM_FOLDER"
_CARD = "README.md"


def load(
    config: str = DEFAULT_CONFIG, split: str | None = None, folder: str | Path | None = None
) -> "Dataset | DatasetDict":
    """Load a configuration of a folder that ``lyricsim-dataset build`` wrote, wherever one stands.

    ``load_dataset("lyricsim", …)`` looks in the working directory only; elsewhere and offline it may serve an
    old cached copy. This looks in one folder and nowhere else.

    Args:
        config: the configuration's name.
        split: one split, in the library's slicing notation too; None: all of them.
        folder: the built folder; None: ``LYRICSIM_FOLDER``, else ``lyricsim`` in the working directory.

    Raises:
        UserError: there is no such configuration or no built folder.
    """
    if config not in CONFIG_NAMES:
        raise UserError(
            f"there is no configuration {config!r}",
            f"one of {', '.join(CONFIG_NAMES)}",
            "choose one of these",
        )
    place = built_folder(folder)
    # Imported here: it takes a second or two, and most of this package does without.
    import datasets

    return datasets.load_dataset(str(place), config, split=split)


def built_folder(folder: str | Path | None = None) -> Path:
    """The absolute path of the built folder.

    Raises:
        UserError: nothing was built there.
    """
    named = folder or os.environ.get(FOLDER_VARIABLE) or "lyricsim"
    place = Path(named).expanduser().resolve()
    if not (place / _CARD).is_file():
        raise UserError(
            f"{place} is not a built dataset",
            "a folder that `lyricsim-dataset build` wrote",
            f"build it, or name its place with folder=… or {FOLDER_VARIABLE}=…",
        )
    return place
