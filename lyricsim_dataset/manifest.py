"""What a build wrote and what it was made of, as records and as the JSON that lies in the built folder."""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import datasets

from lyricsim_dataset.configurations import PAIR_CONFIGS
from lyricsim_dataset.leaks import leaks
from lyricsim_dataset.lyricsim import VERSION, Column, LyricSIM
from lyricsim_dataset.reference import compare, read_reference
from lyricsim_dataset.release import Release
from lyricsim_dataset.sources import REFERENCE_FILE, UPSTREAM_COMMIT, UPSTREAM_REPOSITORY
from lyricsim_dataset.splits import membership_digest
from lyricsim_tools.versions import installed_versions

#: What decides the rows or the bytes of the files.
_PACKAGES = ("lyricsim", "datasets", "pyarrow", "numpy", "scipy", "krippendorff")


@dataclass(frozen=True)
class BuiltFile:
    """One file of one split.

    Args:
        split: the split's name.
        path: POSIX path inside the built folder.
        rows: how many.
        size: bytes.
        sha256: of the file.
        content: SHA-256 of the rows, whatever library wrote the file.
    """

    split: str
    path: str
    rows: int
    size: int
    sha256: str
    content: str


@dataclass(frozen=True)
class BuiltConfig:
    """One configuration as written.

    Args:
        name: the configuration.
        summary: one sentence.
        columns: in order.
        info: what ``datasets`` knows of it: features, splits, sizes.
        files: one a split.
    """

    name: str
    summary: str
    columns: tuple[Column, ...]
    info: datasets.DatasetInfo
    files: tuple[BuiltFile, ...]

    @property
    def digest(self) -> str:
        """Hexadecimal SHA-256 of all rows of all splits."""
        lines = "".join(f"{file.split}\t{file.content}\n" for file in self.files)
        return hashlib.sha256(lines.encode()).hexdigest()


def build_record(builder: LyricSIM, built: Sequence[BuiltConfig]) -> dict[str, Any]:
    """Where the data came from, what wrote what, how it is split and what splits share, as plain JSON."""
    source, release = builder.source, builder.release
    return {
        "dataset": builder.dataset_name,
        "version": str(VERSION),
        "sample": source.sample,
        "with_lyrics": builder.config.with_lyrics,
        "min_raters": builder.config.min_raters,
        "source": {
            "repository": UPSTREAM_REPOSITORY if source.is_upstreams else None,
            "commit": UPSTREAM_COMMIT if source.is_upstreams else None,
            "campaign": source.campaign or None,
            "fingerprint": source.fingerprint,
            "modified": list(source.modified),
        },
        "versions": installed_versions(_PACKAGES),
        "compared_with_upstream": _compared(builder),
        "seed": release.seed,
        "test_songs": sorted(release.test_songs),
        "splits": {c.name: _split_record(release, c.name) for c in PAIR_CONFIGS},
        "configurations": {
            config.name: {"digest": config.digest, "files": [asdict(file) for file in config.files]}
            for config in built
        },
    }


def _compared(builder: LyricSIM) -> dict[str, int] | None:
    path = builder.source.path(REFERENCE_FILE)
    if not path.is_file():
        return None
    return asdict(compare(builder.release.filtered, read_reference(path)))


def _split_record(release: Release, name: str) -> dict[str, Any]:
    splits = release.splits[name]
    return {
        "rows": {split: len(pairs) for split, pairs in splits.items()},
        "digest": membership_digest({split: [p.pair_id for p in pairs] for split, pairs in splits.items()}),
        "left_out": release.straddling.get(name, 0),
        "shared": [
            {"splits": list(leak.splits), "pairs": len(leak.pairs), "songs": len(leak.songs)}
            for leak in leaks(splits)
        ],
    }
