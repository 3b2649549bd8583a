"""Upstream's data from its pinned commit, verified file by file."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from lyricsim_tools.pinned import PinnedFile, difference, download
from spanish_sentence_eval.manifest import COMMIT, REPOSITORY, pinned_files

UPSTREAM = f"https://raw.githubusercontent.com/{REPOSITORY}/{COMMIT}/data"
TERMS = (
    "Upstream states no licence for its data. PAWS-X may be used for any purpose; the other sets come\n"
    "under terms of their own (research only, non-commercial, share-alike, or none stated), which\n"
    "'spanish-senteval list' names. None of it is part of this package; most of it must not be passed on."
)


@dataclass(frozen=True)
class Fetched:
    """What a fetch did: paths below the data folder."""

    downloaded: tuple[str, ...]
    kept: tuple[str, ...]


def fetch(folder: Path, paths: Collection[str] | None = None, base_url: str = UPSTREAM) -> Fetched:
    """Bring a data folder to the pinned commit.

    Files that are right already are kept, partial downloads go on where they ended, and nothing gets its
    name before its hash is right.

    Args:
        folder: will hold ``senteval/`` and ``discoeval/``.
        paths: below ``folder``; None: every file of the manifest.
        base_url: address of the folder that holds ``senteval/`` and ``discoeval/``.

    Raises:
        UserError: the server refuses, cannot be reached, or sends other content.
    """
    pins = [pin for path, pin in pinned_files().items() if paths is None or path in paths]
    wanted = [pin for pin in tqdm(pins, desc="verify", unit="file") if difference(folder / pin.path, pin)]
    for pin in tqdm(wanted, desc="fetch", unit="file"):
        _fetch_one(folder, pin, base_url)
    downloaded = tuple(pin.path for pin in wanted)
    return Fetched(downloaded, tuple(pin.path for pin in pins if pin.path not in downloaded))


def _fetch_one(folder: Path, pin: PinnedFile, base_url: str) -> None:
    destination = folder / pin.path
    download(f"{base_url.rstrip('/')}/{pin.path}", pin, destination)
    destination.with_name(destination.name + ".lock").unlink(missing_ok=True)
