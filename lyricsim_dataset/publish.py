"""From the builder to a Hub-ready folder: Parquet, card, Croissant metadata, and a record of the build."""

import errno
import hashlib
import json
import shlex
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import datasets
from tqdm import tqdm

from lyricsim_dataset.card import published_card, render_card
from lyricsim_dataset.configurations import CONFIG_NAMES, DEFAULT_CONFIG
from lyricsim_dataset.croissant import croissant
from lyricsim_dataset.lyricsim import DATASET_NAME, SAMPLE_NAME, LyricSIM
from lyricsim_dataset.manifest import BuiltConfig, BuiltFile, build_record
from lyricsim_dataset.release import Release, empty_splits
from lyricsim_dataset.verify import BUILD_RECORD, CARD, CROISSANT, require_intact
from lyricsim_tools.atomic import atomic_folder, refuse_foreign_files, sha256_of, write_json, write_text
from lyricsim_tools.card_blocks import keeping_edits
from lyricsim_tools.errors import UserError
from lyricsim_tools.hub import PushResult, push_folder

_ROOM = "room for about 10 MB, part of it in the folder for temporary files"
_EXPECTED_OF_DISKS = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), _ROOM),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "a place that you may write to"),
}


@dataclass(frozen=True)
class BuildOptions:
    """What is built from what.

    Args:
        source: a folder in upstream's layout; None: ``LYRICSIM_SOURCE``, else a download.
        sample: build the embedded sample instead, which is not LyricSIM.
        allow_modified: accept files that differ from upstream's.
        min_raters: accept pairs with this many ratings or more; None: exactly three.
        with_lyrics: False leaves ids and ratings only.
    """

    source: Path | None = None
    sample: bool = False
    allow_modified: bool = False
    min_raters: int | None = None
    with_lyrics: bool = True

    def builder(self, config: str, cache: Path) -> LyricSIM:
        """The builder of one configuration."""
        return LyricSIM(
            cache_dir=str(cache),
            config_name=config,
            data_dir=str(self.source) if self.source else None,
            sample=self.sample,
            allow_modified=self.allow_modified,
            min_raters=self.min_raters,
            with_lyrics=self.with_lyrics,
        )

    def default_output(self) -> Path:
        """The folder that is written where none is named."""
        return Path(SAMPLE_NAME if self.sample else DATASET_NAME)


def build(options: BuildOptions, out: Path | None = None) -> Path:
    """Write the whole dataset folder, or nothing.

    Args:
        options: what is built.
        out: the folder; an earlier build there is replaced, anything else is left alone.

    Returns:
        The folder.

    Raises:
        UserError: bad source files, a folder that isn't ours, none for a campaign's data, a full disk.
    """
    target = Path(out) if out is not None else options.default_output()
    _require_honest_name(target, options.sample)
    refuse_foreign_files(target)
    with _disk_errors(target), tempfile.TemporaryDirectory() as cache:
        # The source's faults end the build here, before anything is created beside the user's files.
        first = options.builder(DEFAULT_CONFIG, Path(cache))
        if out is None and first.source.campaign:
            raise UserError(
                f"data of the campaign {first.source.campaign!r} without a folder to write",
                "a name of its own, which cannot be taken for LyricSIM's",
                "pass --out",
            )
        release = first.release
        _require_full_splits(release)
        pairs = len(release.tables.pairs)
        with atomic_folder(target) as folder:
            built = [
                _write_config(options.builder(name, Path(cache)), folder)
                for name in tqdm(CONFIG_NAMES, desc=f"{target.name}, {pairs} pairs", unit="configuration")
            ]
            builder = options.builder(DEFAULT_CONFIG, Path(cache))
            _write_papers(builder, built, folder, target)
    return target


def push(
    folder: Path,
    repo_id: str,
    *,
    message: str,
    public: bool = False,
    revision: str | None = None,
    overwrite: bool = False,
    dry_run: bool = False,
) -> PushResult:
    """Publish a built folder on the Hub, private unless asked otherwise.

    Args:
        folder: what ``build`` wrote.
        repo_id: ``owner/name``.
        message: the commit's message.
        public: let everybody see the repository.
        revision: a branch, created if need be; None: ``main``.
        overwrite: replace files that others wrote.
        dry_run: say what would be sent, and send nothing.

    Raises:
        UserError: the folder is not an untouched build, the sample or a campaign's data would get LyricSIM's
            name, or the Hub refuses.
    """
    record = require_intact(folder)
    _require_honest_name(Path(repo_id), bool(record["sample"]))
    campaign = record["source"].get("campaign")
    if campaign and Path(repo_id).name.lower() == DATASET_NAME:
        raise UserError(
            f"data of the campaign {campaign!r} would be published as {repo_id}",
            "a name that cannot be taken for LyricSIM's",
            "choose such a name",
        )
    with _as_published(folder, repo_id) as copy:
        return push_folder(
            copy,
            repo_id,
            repo_type="dataset",
            message=message,
            public=public,
            revision=revision,
            overwrite=overwrite,
            dry_run=dry_run,
        )


@contextmanager
def _as_published(folder: Path, repo_id: str) -> Iterator[Path]:
    """A copy of the folder whose card names the repository; errors name the folder and our own command."""
    with tempfile.TemporaryDirectory() as place:
        copy = shutil.copytree(folder, Path(place) / "copy")
        card = copy / CARD
        write_text(card, published_card(card.read_text("utf-8"), repo_id))
        generic = shlex.join(["lyricsim-push", str(copy), repo_id, "--type", "dataset"])
        own = shlex.join(["lyricsim-dataset", "push", repo_id, "--folder", str(folder)])

        def said(text: str) -> str:
            return text.replace(generic, own).replace(str(copy), str(folder))

        try:
            yield copy
        except UserError as error:
            raise UserError(said(error.given), said(error.expected), said(error.remedy)) from error


def _write_papers(builder: LyricSIM, built: Sequence[BuiltConfig], folder: Path, target: Path) -> None:
    record = build_record(builder, built)
    write_json(folder / BUILD_RECORD, record)
    write_json(folder / CROISSANT, croissant(builder, built))
    card = render_card(builder, built, record, target.absolute().name)
    write_text(folder / CARD, keeping_edits(card, target / CARD))


def _write_config(builder: LyricSIM, folder: Path) -> BuiltConfig:
    with _quiet():
        builder.download_and_prepare()
        splits = builder.as_dataset()
        files = [_write_split(builder.config.name, str(name), data, folder) for name, data in splits.items()]
    info = builder.info.copy()
    info.download_size = sum(file.size for file in files)
    return BuiltConfig(
        builder.config.name, builder.configuration.summary, builder.columns, info, tuple(files)
    )


def _write_split(config: str, split: str, data: datasets.Dataset, folder: Path) -> BuiltFile:
    # The name that the Hub's own clients give the only shard of a split.
    path = folder / config / f"{split}-00000-of-00001.parquet"
    path.parent.mkdir(exist_ok=True)
    data.to_parquet(path)
    return BuiltFile(
        split=split,
        path=path.relative_to(folder).as_posix(),
        rows=data.num_rows,
        size=path.stat().st_size,
        sha256=sha256_of(path),
        content=rows_digest(data.to_list()),
    )


def rows_digest(rows: Iterable[Mapping[str, object]]) -> str:
    """Hexadecimal SHA-256 of the rows as JSON lines: the content, whatever library wrote the file."""
    digest = hashlib.sha256()
    for row in rows:
        digest.update(json.dumps(row, ensure_ascii=False, sort_keys=True).encode() + b"\n")
    return digest.hexdigest()


def _require_full_splits(release: Release) -> None:
    """``datasets`` neither writes nor reads a split without rows."""
    empty = empty_splits(release)
    if empty:
        named = ", ".join(f"{split} of {name}" for name, split in empty)
        kept = f"{len(release.filtered)} of {len(release.tables.pairs)} pairs"
        raise UserError(
            f"the consensus rule keeps {kept}, which leaves no pair for {named}",
            "at least one pair in every split: ten kept pairs for `filtered`, more for the song-disjoint",
            "build when more pairs have been rated; nothing was written",
        )


def _require_honest_name(target: Path, sample: bool) -> None:
    if sample and "sample" not in target.name:
        raise UserError(
            f"the embedded sample would be written to {target}, a name that could be taken for LyricSIM's",
            f"a name with 'sample' in it, such as {SAMPLE_NAME}",
            "choose such a name",
        )


@contextmanager
def _quiet() -> Iterator[None]:
    """The library's own bars would bury ours: seven configurations with three splits each."""
    shown = not datasets.are_progress_bars_disabled()
    datasets.disable_progress_bars()
    try:
        yield
    finally:
        if shown:
            datasets.enable_progress_bars()


@contextmanager
def _disk_errors(target: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, datasets.exceptions.DatasetsError) as error:
        cause = _os_error(error)
        expected = _EXPECTED_OF_DISKS.get(cause.errno or 0) if cause else None
        if cause is None or expected is None:
            raise
        raise UserError(
            f"{target} could not be written: {cause.strerror}",
            expected,
            "free some space or get the right to write there, or choose another place with --out; "
            "nothing was changed",
        ) from error


def _os_error(error: BaseException | None) -> OSError | None:
    """The first error of the operating system in a chain of causes."""
    while error is not None and not isinstance(error, OSError):
        error = error.__cause__ or error.__context__
    return error
