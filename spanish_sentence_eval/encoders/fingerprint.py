"""Digests by which two encoders are known to be the same."""

import hashlib
import json
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from lyricsim_tools.atomic import sha256_of

if TYPE_CHECKING:
    import torch


def fingerprint_of_module(module: "torch.nn.Module", tokenizer: object, without: Collection[str] = ()) -> str:
    """SHA-256 over every weight's name, type, shape and bytes, and over the tokeniser's vocabulary.

    Args:
        module: the loaded model; moving it between devices does not change the digest.
        tokenizer: a Hugging Face tokeniser, or None.
        without: weight names to leave out: those that were not in the checkpoint and are not used.
    """
    digest = hashlib.sha256()
    for name, value in sorted(module.state_dict().items()):
        if name not in without:
            digest.update(f"{name}|{value.dtype}|{tuple(value.shape)}|".encode())
            digest.update(_bytes_of(value))
    digest.update(_tokenizer_text(tokenizer).encode())
    return digest.hexdigest()


def fingerprint_of_files(folder: Path, paths: Iterable[Path]) -> str:
    """SHA-256 over the contents of files and their names below ``folder``, wherever that lies."""
    digest = hashlib.sha256()
    for name, path in sorted((path.relative_to(folder).as_posix(), path) for path in paths):
        digest.update(f"{name}|{sha256_of(path)}|".encode())
    return digest.hexdigest()


def _bytes_of(value: "torch.Tensor") -> bytes:
    import torch

    flat = value.detach().cpu().contiguous().reshape(-1)
    return flat.view(torch.uint8).numpy().tobytes()


def _tokenizer_text(tokenizer: object) -> str:
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is not None:
        # The last call's padding and truncation are state, not identity.
        parts = json.loads(backend.to_str())
        return json.dumps({**parts, "padding": None, "truncation": None}, sort_keys=True)
    vocabulary: dict[str, int] = getattr(tokenizer, "get_vocab", dict)()
    return repr(sorted(vocabulary.items()))
