"""What is read: upstream's files, pinned by commit, path, size and SHA-256, and where they come from."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lyricsim_tools.atomic import sha256_of
from lyricsim_tools.errors import UserError
from lyricsim_tools.pinned import PinnedFile, difference, download

UPSTREAM_REPOSITORY = "linhd-postdata/lyricsim"
UPSTREAM_COMMIT = "5f82932ddea9b8f2366bd351d95f5aef124d9a5b"

RATINGS_FILE = "data/raw/annotation_results.csv"
LYRICS_FILE = "data/raw/full_lyrics.tsv"
ANNOTATED_LYRICS_FILE = "data/raw/lyrics_pairs.csv"
# Upstream's own filtered means: nothing is built from them, but a build is compared with them.
REFERENCE_FILE = "data/processed/avg_ratings.csv"

PINS = (
    PinnedFile(RATINGS_FILE, 204_607, "dc9d795e0733579f45cb92b53eaa4deb408221803d7326bfc99fe248fff9e634"),
    PinnedFile(LYRICS_FILE, 35_006, "13def8fd7031e2ca411056bbc1bcb62df9151731f7a0c2e4a28309e62044edb9"),
    PinnedFile(
        ANNOTATED_LYRICS_FILE, 2_547_976, "da9e5dfdcc0d5814d6b88f98f6a7cc579ad629b04989ea043bddd9bc9d3b06e2"
    ),
    PinnedFile(REFERENCE_FILE, 26_707, "ed46805dbcf8196226105ee146897093d2422f830fd5094917f81cd2c39b55c0"),
)

#: In a tree of somebody's own annotation: the campaign's name and the SHA-256 of each file.
CAMPAIGN_FILE = "annotation.json"

SOURCE_VARIABLE = "LYRICSIM_SOURCE"
BASE_ADDRESS_VARIABLE = "LYRICSIM_BASE_URL"
CACHE_VARIABLE = "LYRICSIM_CACHE"
BASE_ADDRESS = f"https://raw.githubusercontent.com/{UPSTREAM_REPOSITORY}/{UPSTREAM_COMMIT}"

SAMPLE_FOLDER = Path(__file__).parent / "sample"

_BOTH_WAYS = (
    f"give a local copy in upstream's layout with --source DIR or {SOURCE_VARIABLE}=DIR, "
    f"or make the files of {UPSTREAM_REPOSITORY} at commit {UPSTREAM_COMMIT} reachable over the network"
)


@dataclass(frozen=True)
class SourceTree:
    """A folder in upstream's layout that may be read.

    Args:
        folder: the tree's root.
        fingerprint: hexadecimal SHA-256 over the paths and contents of its files.
        modified: paths of the files that differ from what they should be; empty for an untouched tree.
        sample: whether this is the embedded sample and not LyricSIM at all.
        campaign: name of the annotation campaign that the tree comes from; empty: it is upstream's.
    """

    folder: Path
    fingerprint: str
    modified: tuple[str, ...] = ()
    sample: bool = False
    campaign: str = ""

    @property
    def is_upstreams(self) -> bool:
        """Whether the tree is LyricSIM's, and neither the sample nor a campaign's."""
        return not (self.sample or self.campaign)

    def path(self, relative: str) -> Path:
        """The place of one of upstream's files."""
        return self.folder / relative


def sample_tree() -> SourceTree:
    """The embedded sample: original verses with made-up ratings, in upstream's layout."""
    return SourceTree(SAMPLE_FOLDER, fingerprint(SAMPLE_FOLDER), sample=True)


def locate(source: Path | None = None, allow_modified: bool = False) -> SourceTree:
    """Find upstream's files: the folder given, else the one the environment names, else a download.

    Args:
        source: a folder in upstream's layout; None: ``LYRICSIM_SOURCE``, else the download cache.
        allow_modified: accept files that differ from the pinned ones; the result is marked.

    Raises:
        UserError: a file is missing, differs from upstream's, or cannot be downloaded.
    """
    folder = named_folder(source)
    if folder is None:
        return SourceTree(downloaded(), pinned_fingerprint())
    return local_tree(folder, allow_modified)


def named_folder(source: str | Path | None = None) -> Path | None:
    """The local tree that the caller names, else the environment; None: there is none, so download."""
    named = source or os.environ.get(SOURCE_VARIABLE)
    return Path(named).expanduser() if named else None


def local_tree(folder: Path, allow_modified: bool = False) -> SourceTree:
    """Verify a local tree: upstream's by our pins, a campaign's by those that its own export wrote.

    Raises:
        UserError: ``folder`` is no folder, a file is missing, or one differs and that is not allowed.
    """
    if not folder.is_dir():
        raise UserError(f"the source {folder} is not a folder", "a folder in upstream's layout", _BOTH_WAYS)
    _require_files(folder)
    campaign, pins = _campaign(folder)
    wrong = [pin for pin in pins if _differs(folder, pin)]
    if wrong and not allow_modified:
        commit = f"the files of {UPSTREAM_REPOSITORY} at commit {UPSTREAM_COMMIT}"
        raise UserError(
            "\n".join(describe_difference(folder / pin.path, pin, bool(campaign)) for pin in wrong),
            f"the files as {CAMPAIGN_FILE} records them" if campaign else commit,
            f"{'export' if campaign else 'fetch'} those files again; if the change is meant, "
            "add --allow-modified (the result says so)",
        )
    return SourceTree(folder, fingerprint(folder), tuple(pin.path for pin in wrong), campaign=campaign)


def campaign_record(name: str, contents: Mapping[str, bytes]) -> dict[str, object]:
    """What ``CAMPAIGN_FILE`` must hold for a tree to be accepted as a campaign's own.

    Args:
        name: the campaign's.
        contents: path to content of the tree's files.
    """
    return {
        "campaign": name,
        "files": {path: hashlib.sha256(content).hexdigest() for path, content in contents.items()},
    }


def _campaign(folder: Path) -> tuple[str, tuple[PinnedFile, ...]]:
    path = folder / CAMPAIGN_FILE
    if not path.is_file():
        return "", PINS
    try:
        record = json.loads(path.read_text("utf-8"))
        name, files = str(record["campaign"]), dict(record["files"])
        pins = tuple(PinnedFile(pin.path, sha256=str(files[pin.path])) for pin in PINS if pin.path in files)
    except (ValueError, KeyError, TypeError) as error:
        raise _bad_campaign(path, f"{type(error).__name__}: {error}") from error
    missing = [pin.path for pin in PINS if (folder / pin.path).is_file() and pin.path not in files]
    if missing or not name:
        raise _bad_campaign(path, f"no record of {', '.join(missing) or 'the name'}")
    return name, pins


def _bad_campaign(path: Path, what: str) -> UserError:
    return UserError(
        f"{path} cannot be used: {what}", "what `lyricsim-annotate export` wrote", "export the ratings again"
    )


def describe_difference(path: Path, pin: PinnedFile, campaign: bool = False) -> str:
    """Name a file that is not the pinned one, with both sizes (where known) and both hashes."""
    size = path.stat().st_size
    short = " (cut off?)" if pin.size is not None and size < pin.size else ""
    expected = "" if pin.size is None else f"{pin.size} bytes, "
    whose = "the exported" if campaign else "upstream's"
    return (
        f"{path} is not {whose} {pin.path}:\n"
        f"    found    {size} bytes{short}, SHA-256 {sha256_of(path)}\n"
        f"    expected {expected}SHA-256 {pin.sha256}"
    )


def downloaded() -> Path:
    """The cached download of upstream's tree, completed and verified first.

    Raises:
        UserError: the network or the server does not give the pinned files.
    """
    base = os.environ.get(BASE_ADDRESS_VARIABLE, BASE_ADDRESS).rstrip("/")
    folder = cache_folder() / UPSTREAM_COMMIT
    for pin in PINS:
        try:
            download(f"{base}/{pin.path}", pin, folder / pin.path)
        except UserError as error:
            raise UserError(error.given, error.expected, _BOTH_WAYS) from error
    return folder


def cache_folder() -> Path:
    """Where downloads are kept: ``LYRICSIM_CACHE``, else the user's cache folder."""
    if named := os.environ.get(CACHE_VARIABLE):
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lyricsim"


def fingerprint(folder: Path) -> str:
    """SHA-256 over the paths and contents of the files in ``folder`` that upstream's layout names."""
    present = [pin.path for pin in PINS if (folder / pin.path).is_file()]
    return _combined({path: sha256_of(folder / path) for path in present})


def pinned_fingerprint() -> str:
    """The fingerprint of upstream's untouched tree."""
    return _combined({pin.path: str(pin.sha256) for pin in PINS})


def _combined(digests: dict[str, str]) -> str:
    lines = "".join(f"{digest}  {path}\n" for path, digest in sorted(digests.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def _differs(folder: Path, pin: PinnedFile) -> bool:
    path = folder / pin.path
    return path.is_file() and difference(path, pin) is not None


def _require_files(folder: Path) -> None:
    missing = [pin.path for pin in PINS if pin.path != REFERENCE_FILE and not (folder / pin.path).is_file()]
    if missing:
        raise UserError(
            f"the source {folder} lacks {', '.join(missing)}", "a folder in upstream's layout", _BOTH_WAYS
        )
