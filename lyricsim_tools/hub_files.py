"""Which files of a folder are published: one table of rules, a kind of repository a row."""

import fnmatch
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lyricsim_tools.errors import UserError

RepoType = Literal["model", "dataset", "space"]

# What no repository gets: other tools' leftovers, and states that only a resumed training needs.
ALWAYS_IGNORED = (
    "__pycache__/*",
    "*.pyc",
    "*.lock",
    "*.partial",
    "*.log",
    "checkpoint*/*",
    "checkpoints/*",
    "runs/*",
    "wandb/*",
    "optimizer*",
    "scheduler*",
    "rng_state*",
    "random_states*",
    "training_args.bin",
    "trackers/*",
    "metrics.jsonl",
)
# Pickles run code when they are loaded; safetensors do not.
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.pkl", "*.pickle", "*.ckpt", "*.h5", "*.msgpack", "*.joblib")
_IGNORED_BY_TYPE: dict[RepoType, tuple[str, ...]] = {
    # Today's clients refuse a dataset that carries a script of its own name.
    "dataset": ("*.py",),
    "model": ("*.py", *_PICKLES),
    "space": ("tests/*", *_PICKLES),
}
_HIDDEN_BUT_PUBLISHED = (".eval_results/", ".gitattributes")
_TOKEN = re.compile(rb"\bhf_[A-Za-z0-9]{30,}\b|\bapi_org_[A-Za-z0-9]{30,}\b")
_BLOCK = 1 << 20


@dataclass(frozen=True)
class LocalFile:
    """A file to publish.

    Args:
        name: its POSIX path inside the repository.
        path: where it is on this machine.
        size: bytes.
    """

    name: str
    path: Path
    size: int


@dataclass(frozen=True)
class ContentIds:
    """The two names under which the Hub may know a content.

    Args:
        git: hexadecimal git blob id, of files kept in git itself.
        sha256: hexadecimal SHA-256, of large files.
    """

    git: str
    sha256: str


def files_to_publish(folder: Path, repo_type: RepoType, ignore: Sequence[str] = ()) -> list[LocalFile]:
    """The files of a folder that belong into a repository of this kind, sorted by name.

    Args:
        folder: the built dataset, the Space or the exported model.
        repo_type: the kind of repository.
        ignore: more patterns to leave out, matched against the path inside the folder.

    Raises:
        UserError: no such folder, nothing to publish, or a model without safetensors weights.
    """
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder", "the folder to publish", "check the path")
    patterns = (*ALWAYS_IGNORED, *_IGNORED_BY_TYPE[repo_type], *ignore)
    found = [
        LocalFile(name, path, path.stat().st_size)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not _is_left_out(name := path.relative_to(folder).as_posix(), patterns)
    ]
    _require_content(folder, repo_type, found)
    return found


def content_ids(content: Path | bytes) -> ContentIds:
    """Both ids of a content, in one reading."""
    data = content.read_bytes() if isinstance(content, Path) and content.stat().st_size < _BLOCK else content
    if isinstance(data, bytes):
        git = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False)
        return ContentIds(git.hexdigest(), hashlib.sha256(data).hexdigest())
    git = hashlib.sha1(b"blob %d\0" % data.stat().st_size, usedforsecurity=False)
    sha256 = hashlib.sha256()
    with data.open("rb") as stream:
        while block := stream.read(_BLOCK):
            git.update(block)
            sha256.update(block)
    return ContentIds(git.hexdigest(), sha256.hexdigest())


def refuse_tokens(files: Sequence[LocalFile], own_token: str | None) -> None:
    """Raise if a file to be published holds an access token; its value is never shown.

    Args:
        files: what would be published; weights and tables are not read.
        own_token: the token in use, looked for as it is.
    """
    for file in files:
        if file.size >= _BLOCK * 10 or file.name.endswith((".safetensors", ".parquet")):
            continue
        content = file.path.read_bytes()
        if _TOKEN.search(content) or (own_token and own_token.encode() in content):
            raise UserError(
                f"{file.path} holds what looks like a Hub access token",
                "files without secrets",
                "take it out and revoke that token if the file was ever shared; nothing was sent",
            )


def _is_left_out(name: str, patterns: Sequence[str]) -> bool:
    hidden = any(part.startswith(".") for part in name.split("/"))
    if hidden and not name.startswith(_HIDDEN_BUT_PUBLISHED):
        return True
    base = name.rsplit("/", 1)[-1]
    return any(
        fnmatch.fnmatch(name, pattern)
        or fnmatch.fnmatch(name, f"*/{pattern}")
        or fnmatch.fnmatch(base, pattern)
        for pattern in patterns
    )


def _require_content(folder: Path, repo_type: RepoType, files: Sequence[LocalFile]) -> None:
    if not files:
        raise UserError(f"{folder} holds nothing to publish", f"the files of a {repo_type}", "check the path")
    if repo_type == "model" and not any(file.name.endswith(".safetensors") for file in files):
        raise UserError(
            f"{folder} holds no .safetensors weights",
            "a model folder as save_pretrained or training/finetune.py writes it",
            "export the model first; other weight formats can run code when loaded and are not published",
        )
