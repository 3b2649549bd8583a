"""Files whose exact content is known before they are read: verify them, or download and verify them."""

import hashlib
import os
import time
from dataclasses import dataclass
from pathlib import Path

import requests
from filelock import FileLock
from tqdm import tqdm

from lyricsim_tools.atomic import sha256_of
from lyricsim_tools.errors import UserError

# A cut connection loses at most one block of what had arrived.
_BLOCK = 1 << 13
# Seconds to wait after each failed attempt; None: give up.
_PAUSES = (0.2, 0.4, 0.8, None)


@dataclass(frozen=True)
class PinnedFile:
    """One file of a pinned upstream tree.

    Args:
        path: POSIX path inside the upstream tree.
        size: length in bytes; None where only the git blob id is known.
        sha256: hexadecimal SHA-256; None where only the git blob id is known.
        git_blob_sha1: hexadecimal git object id, for files known only by it.
    """

    path: str
    size: int | None = None
    sha256: str | None = None
    git_blob_sha1: str | None = None

    def __post_init__(self) -> None:
        if self.sha256 is None and self.git_blob_sha1 is None:
            raise ValueError(f"{self.path}: a pin needs a SHA-256 or a git blob id")


def difference(path: Path, pin: PinnedFile) -> str | None:
    """What is wrong with the file at ``path``, in words with sizes and hashes; None if it is right."""
    if not path.is_file():
        return f"{path} is missing"
    size = path.stat().st_size
    if pin.size is not None and size != pin.size:
        return f"{path} has {size} bytes; the pinned {pin.path} has {pin.size} (SHA-256 {pin.sha256})"
    if pin.sha256 is not None:
        found = sha256_of(path)
        return (
            None
            if found == pin.sha256
            else f"{path} has SHA-256 {found}; pinned is {pin.sha256} ({size} bytes)"
        )
    blob = git_blob_sha1(path)
    return (
        None if blob == pin.git_blob_sha1 else f"{path} has git blob id {blob}; pinned is {pin.git_blob_sha1}"
    )


def git_blob_sha1(path: Path) -> str:
    """The object id that ``git hash-object`` prints for a file."""
    digest = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def download(url: str, pin: PinnedFile, destination: Path) -> Path:
    """Fetch a pinned file, continuing an earlier partial download, and verify it before it gets its name.

    Args:
        url: the address of the file.
        pin: what must arrive.
        destination: final path; ``destination`` + ``.partial`` holds what has arrived so far.

    Returns:
        ``destination``.

    Raises:
        UserError: the server refuses, cannot be reached, or sends other content.
    """
    destination.parent.mkdir(parents=True, exist_ok=True)
    partial = destination.with_name(destination.name + ".partial")
    with FileLock(destination.with_name(destination.name + ".lock")):
        if difference(destination, pin) is None:
            return destination
        _receive_with_retries(url, pin, partial)
        if wrong := difference(partial, pin):
            partial.unlink()
            raise UserError(
                f"{url} sent other content: {wrong}", "the pinned content", "try again, or use a local copy"
            )
        os.replace(partial, destination)
    return destination


def _receive_with_retries(url: str, pin: PinnedFile, partial: Path) -> None:
    for pause in _PAUSES:
        try:
            _receive(url, pin, partial)
            return
        except requests.RequestException as error:
            status = error.response.status_code if error.response is not None else 0
            cannot_continue = status == requests.codes.requested_range_not_satisfiable
            if cannot_continue or isinstance(error, requests.exceptions.ContentDecodingError):
                partial.unlink(missing_ok=True)
            if pause is None or (400 <= status < 500 and not cannot_continue):
                raise UserError(
                    f"could not download {url}: {error}",
                    "a reachable server that has the file",
                    "check the network and run the command again (what can be used of what arrived is kept), "
                    "or use a local copy",
                ) from error
            time.sleep(pause)


def _receive(url: str, pin: PinnedFile, partial: Path) -> None:
    have = partial.stat().st_size if partial.exists() else 0
    if pin.size is not None and have >= pin.size:
        partial.unlink()
        have = 0
    # Ranges count the bytes that travel, the partial file those of the content: a coding would part the two.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    with requests.get(url, headers=headers, stream=True, timeout=30) as response:
        response.raise_for_status()
        resumed = response.status_code == 206
        with (
            partial.open("ab" if resumed else "wb") as stream,
            tqdm(
                total=pin.size, initial=have if resumed else 0, unit="B", unit_scale=True, desc=pin.path
            ) as bar,
        ):
            for block in response.iter_content(_BLOCK):
                stream.write(block)
                bar.update(len(block))
    arrived = partial.stat().st_size
    if pin.size is not None and arrived < pin.size:
        raise requests.ConnectionError(f"the connection ended after {arrived} of {pin.size} bytes")
