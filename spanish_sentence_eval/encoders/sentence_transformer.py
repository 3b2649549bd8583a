"""Models of the sentence-transformers library, pooled and normalised as they declare themselves."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lyricsim_tools.errors import UserError
from spanish_sentence_eval.encoders.base import EncoderOptions, Identity, Tokens, missing_library, text_of
from spanish_sentence_eval.encoders.fingerprint import fingerprint_of_files
from spanish_sentence_eval.encoders.transformer import (
    autocast,
    cannot_load,
    commit_of,
    loading_errors,
    require_padding,
)

_FILES_THAT_MATTER = frozenset({".json", ".safetensors", ".bin", ".model", ".txt"})


class SentenceTransformersEncoder:
    """A sentence-transformers model; layers and pooling are the model's own, under either protocol.

    Args:
        name: what the user called the model.
        source: Hub id or folder.
        options: ``prompt``, ``precision``, ``device``, ``batch_size`` and ``revision`` are used.

    Raises:
        UserError: the library is absent, the model cannot be loaded, or ``layer``/``pooling`` were given.
    """

    def __init__(self, name: str, source: str, options: EncoderOptions) -> None:
        if options.layer or options.pooling:
            raise UserError(
                f"layer {options.layer!r}, pooling {options.pooling!r} for a sentence-transformers model",
                "neither: such a model declares its own pooling",
                "leave them out, or use --encoder transformer to read the model's layers",
            )
        self._options = options
        self._model = _load(source, options)
        self.identity = Identity(
            name=name,
            kind="sentence-transformers",
            source=source,
            fingerprint=_fingerprint(source, options.revision),
            revision=commit_of(source, options.revision),
            settings={"prompt": options.prompt, "precision": options.precision},
        )

    def encode(self, sentences: Sequence[Tokens]) -> np.ndarray:
        """Vectors of token lists joined by spaces after the prompt, shape (len(sentences), d), float32."""
        texts = [text_of(tokens) for tokens in sentences]
        with autocast(self._options):
            vectors = self._model.encode(
                texts,
                prompt=self._options.prompt,
                batch_size=self._options.batch_size,
                show_progress_bar=False,
            )
        return np.asarray(vectors, dtype=np.float32)


def _load(source: str, options: EncoderOptions) -> Any:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise missing_library(
            "sentence_transformers", "pip install 'lyricsim[sentence-transformers]'", "sentence-transformers"
        ) from error
    import torch

    try:
        with torch.random.fork_rng(devices=[]):
            model = SentenceTransformer(
                source,
                device=options.device,
                revision=options.revision,
                model_kwargs={"dtype": torch.float32},
            )
    except loading_errors() as error:
        raise cannot_load(source, error) from error
    # Those of models without layers have no padding.
    if hasattr(model.tokenizer, "pad_token"):
        require_padding(source, model.tokenizer)
    return model


def _fingerprint(source: str, revision: str | None) -> str:
    """Over the files and not the loaded weights: a pooler that no checkpoint holds is random at each load."""
    from huggingface_hub import snapshot_download

    folder = Path(source)
    if not folder.is_dir():
        folder = Path(snapshot_download(source, revision=revision, local_files_only=True))
    return fingerprint_of_files(folder, [p for p in folder.rglob("*") if p.suffix in _FILES_THAT_MATTER])
