"""ELMo models, through elmoformanylangs, which is imported only when one is used."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from spanish_sentence_eval.encoders.base import (
    EMPTY_SENTENCE,
    EncoderOptions,
    Identity,
    Tokens,
    missing_library,
)
from spanish_sentence_eval.encoders.fingerprint import fingerprint_of_files
from spanish_sentence_eval.encoders.sent2vec import required_path

_INSTALL = "pip install elmoformanylangs"


class ElmoEncoder:
    """The mean over tokens of the default ELMo output of lower-cased tokens (specification, section 6).

    Args:
        name: what the user called the model.
        source: the same; the model is found by its path.
        options: ``model_path`` is the model's folder.

    Raises:
        UserError: the folder or the library is absent.
    """

    def __init__(self, name: str, source: str, options: EncoderOptions) -> None:
        path = required_path(options, "ELMo", "the folder of an elmoformanylangs model")
        self._model = _load(path)
        self.identity = Identity(
            name=name,
            kind="elmo",
            source=str(path),
            fingerprint=fingerprint_of_files(path, [p for p in path.rglob("*") if p.is_file()]),
            settings={"lower": "yes", "pooling": "mean"},
        )

    def encode(self, sentences: Sequence[Tokens]) -> np.ndarray:
        """Vectors of token lists, shape (len(sentences), d), float32."""
        lowered = [[token.lower() for token in tokens] or [EMPTY_SENTENCE] for tokens in sentences]
        layers = self._model.sents2elmo(lowered)
        return np.stack([np.mean(tokens, axis=0) for tokens in layers]).astype(np.float32)


def _load(path: Path) -> Any:
    try:
        from elmoformanylangs import Embedder
    except ImportError as error:
        raise missing_library("elmoformanylangs", _INSTALL, "ELMo") from error
    return Embedder(str(path))
