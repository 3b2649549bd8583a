"""Small files that a model's folder or repository may hold, and what tells its weights from others'."""

import json
from pathlib import Path
from typing import Any

from lyricsim_models.provenance import digest
from lyricsim_models.registry import Model, resolve
from lyricsim_tools.atomic import sha256_of

_WEIGHTS = (".safetensors", ".bin")


def optional_file(model: Model, name: str) -> Path | None:
    """A file of the model, downloaded from the Hub if it is there; None where it has none."""
    from transformers.utils.hub import cached_file

    path = cached_file(
        model.reference,
        name,
        revision=model.revision,
        _raise_exceptions_for_missing_entries=False,
        _raise_exceptions_for_connection_errors=False,
    )
    return None if path is None else Path(path)


def optional_json(model: Model, name: str) -> Any:
    """What a JSON file of the model holds; None where it has none."""
    path = optional_file(model, name)
    return None if path is None else json.loads(path.read_text("utf-8"))


def weights_identity(name: str) -> dict[str, str | None]:
    """What tells a model from another one that later has the same name.

    Args:
        name: a folder, a registry name or a Hub id.

    Returns:
        ``weights_sha256`` of a folder's weights, or ``revision``, the commit of a repository; the other is
        None, and both are where neither is known.

    Raises:
        UserError: no such model.
    """
    model = resolve(name)
    if (folder := Path(model.reference)).is_dir():
        return {"weights_sha256": weights_digest(folder), "revision": None}
    from transformers.utils.hub import extract_commit_hash

    path = optional_file(model, "config.json")
    commit = None if path is None else extract_commit_hash(path.as_posix(), None)
    return {"weights_sha256": None, "revision": commit}


def weights_digest(folder: Path) -> str | None:
    """Digest of a local model's weights, which may change under the same name; None for none there."""
    files = sorted(path for ending in _WEIGHTS for path in folder.glob(f"*{ending}"))
    return digest(f"{path.name} {sha256_of(path)}" for path in files) if files else None
