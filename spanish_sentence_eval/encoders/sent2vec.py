"""sent2vec models, through the library of that name, which is imported only when one is used."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lyricsim_tools.errors import UserError
from spanish_sentence_eval.encoders.base import EncoderOptions, Identity, Tokens, missing_library, text_of
from spanish_sentence_eval.encoders.fingerprint import fingerprint_of_files

_INSTALL = "build and install github.com/epfml/sent2vec (the package of that name on PyPI is another one)"


class Sent2VecEncoder:
    """Sentence vectors of lower-cased, space-joined tokens (specification, section 6).

    Args:
        name: what the user called the model.
        source: the same; the model is found by its path.
        options: ``model_path`` is the model's .bin file.

    Raises:
        UserError: the file or the library is absent.
    """

    def __init__(self, name: str, source: str, options: EncoderOptions) -> None:
        path = required_path(options, "sent2vec", "the model's .bin file")
        self._model = _load(path)
        self.identity = Identity(
            name=name,
            kind="sent2vec",
            source=str(path),
            fingerprint=fingerprint_of_files(path.parent, [path]),
            settings={"lower": "yes"},
        )

    def encode(self, sentences: Sequence[Tokens]) -> np.ndarray:
        """Vectors of token lists, shape (len(sentences), d), float32."""
        texts = [text_of(tokens, lower=True) for tokens in sentences]
        return np.asarray(self._model.embed_sentences(texts), dtype=np.float32)


def required_path(options: EncoderOptions, kind: str, what: str) -> Path:
    """The existing ``model_path`` of an encoder that has no Hub id.

    Raises:
        UserError: none was given, or nothing is there.
    """
    if options.model_path is None:
        raise UserError(f"a {kind} model without --model_path", what, "give it with --model_path")
    path = Path(options.model_path)
    if not path.exists():
        raise UserError(f"--model_path {path} does not exist", what, "correct the path")
    return path


def _load(path: Path) -> Any:
    try:
        from sent2vec import Sent2vecModel
    except ImportError as error:
        raise missing_library("sent2vec", _INSTALL, "sent2vec") from error
    model = Sent2vecModel()
    model.load_model(str(path))
    return model
