"""What an encoder is: token lists in, one vector a sentence out, and an identity that a cache can trust."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np

from lyricsim_tools.errors import UserError

Kind = Literal["transformer", "sentence-transformers", "sent2vec", "elmo", "characters"]
KINDS: tuple[Kind, ...] = ("transformer", "sentence-transformers", "sent2vec", "elmo", "characters")
Protocol_ = Literal["compatible", "corrected"]

# The shipped encoders of the literature put a full stop where a sentence has no token (specification, 1.4).
EMPTY_SENTENCE = "."

Tokens = Sequence[str]
Batcher = Callable[[Any, Sequence[Tokens]], np.ndarray]


@dataclass(frozen=True)
class EncoderOptions:
    """Everything about an encoder that changes its vectors, besides its weights.

    Args:
        protocol: "compatible" encodes as the published figures did; "corrected" as the model was trained.
        layer: "avg" (all hidden states), "last", "pooler" or a hidden-state number;
            None: the protocol's default.
        pooling: "mean" over tokens or "cls", the first token; None: the protocol's default.
        prompt: text put before every sentence, such as "query: " for E5 models.
        precision: "float32", or "bfloat16" for autocast.
        device: where the encoder runs, "cpu", "cuda", "cuda:1", "mps".
        batch_size: sentences a forward pass.
        revision: branch, tag or commit of a model on the Hub.
        model_path: the file or folder of a sent2vec or ELMo model.
    """

    protocol: Protocol_ = "compatible"
    layer: str | None = None
    pooling: Literal["mean", "cls"] | None = None
    prompt: str = ""
    precision: Literal["float32", "bfloat16"] = "float32"
    device: str = "cpu"
    batch_size: int = 16
    revision: str | None = None
    model_path: str | None = None


@dataclass(frozen=True)
class Identity:
    """What a result must say about its encoder, and what a cache is keyed by.

    Args:
        name: as the user gave it.
        kind: one of :data:`KINDS`.
        source: Hub id or path that was loaded.
        fingerprint: hexadecimal digest over weights and tokeniser; equal weights, equal digest.
        revision: the commit of a model from the Hub, if known.
        settings: every option that changes the vectors.
    """

    name: str
    kind: Kind
    source: str
    fingerprint: str
    revision: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)

    def key(self) -> dict[str, object]:
        """The part that decides whether two encoders give the same vectors: no names, no paths."""
        return {"kind": self.kind, "fingerprint": self.fingerprint, "settings": dict(self.settings)}


class Encoder(Protocol):
    """An encoder by name: the command caches its vectors under its identity."""

    identity: Identity

    def encode(self, sentences: Sequence[Tokens]) -> np.ndarray:
        """Vectors of token lists, shape (len(sentences), d), float32, rows in the order given."""


def as_batcher(encoder: Encoder) -> Batcher:
    """The encoder as the ``batcher(params, batch)`` that both engines take."""

    def batcher(params: object, batch: Sequence[Tokens]) -> np.ndarray:
        return encoder.encode(batch)

    return batcher


def text_of(tokens: Tokens, lower: bool = False) -> str:
    """The tokens joined by single spaces; a full stop where there are none."""
    text = " ".join(tokens)
    return (text.lower() if lower else text) or EMPTY_SENTENCE


def missing_library(library: str, install: str, kind: str) -> UserError:
    """The message for an encoder whose library is not installed."""
    return UserError(
        f"a {kind} model was asked for, but the Python package {library!r} is not installed",
        f"{library} importable in this environment",
        install,
    )
