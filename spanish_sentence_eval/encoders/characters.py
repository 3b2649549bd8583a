"""An encoder that needs no model: counts of characters, for tests and for trying the command."""

from collections.abc import Sequence

import numpy as np

from spanish_sentence_eval.encoders.base import EncoderOptions, Identity, Tokens

_DIMENSION = 64


class CharacterEncoder:
    """The encoder "chars64": relative frequency of code points modulo 64 (specification, section 9).

    >>> CharacterEncoder().encode([["a", "a"]])[0, [33, 32]].round(3).tolist()
    [0.667, 0.333]
    """

    def __init__(
        self, name: str = "chars64", source: str = "chars64", options: EncoderOptions | None = None
    ) -> None:
        self.identity = Identity(name=name, kind="characters", source=source, fingerprint="chars64-1")

    def encode(self, sentences: Sequence[Tokens]) -> np.ndarray:
        """Frequencies in [0, 1], shape (n, 64), float32; zeros for an empty sentence."""
        return np.stack([_frequencies(" ".join(tokens)) for tokens in sentences]).astype(np.float32)


def _frequencies(text: str) -> np.ndarray:
    points = np.array([ord(character) % _DIMENSION for character in text], dtype=np.int64)
    return np.bincount(points, minlength=_DIMENSION) / max(len(text), 1)
