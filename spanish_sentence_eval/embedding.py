"""Each distinct sentence is encoded once, in order of length, and kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from tqdm import tqdm

from lyricsim_tools.errors import UserError
from spanish_sentence_eval.cache import VectorStore, sentence_key
from spanish_sentence_eval.encoders.base import Encoder, Tokens
from spanish_sentence_eval.processes import Processes

# Sentences between two writes: what a kill can lose.
CHUNK = 512


@dataclass
class Encoded:
    """How much work the store saved.

    Args:
        asked: sentences that tasks asked for.
        encoded: sentences that went through the encoder.
    """

    asked: int = 0
    encoded: int = 0


@dataclass
class StoredEncoder:
    """An encoder behind a store.

    Args:
        encoder: makes the vectors.
        store: keeps them.
        processes: share the work.
        quiet: no progress bar.
    """

    encoder: Encoder
    store: VectorStore
    processes: Processes = field(default_factory=Processes)
    quiet: bool = False
    counts: Encoded = field(default_factory=Encoded)

    def encode(self, sentences: Sequence[Tokens]) -> np.ndarray:
        """Vectors of token lists, shape (len(sentences), d), float32, rows in the order given.

        Raises:
            UserError: the encoder gives another number of rows, no matrix, or a value that is not finite.
        """
        keys = [sentence_key(tokens) for tokens in sentences]
        self.counts.asked += len(keys)
        self._encode_missing(dict(zip(keys, sentences, strict=True)))
        return self.store.rows(keys)

    def batcher(self, params: object, batch: Sequence[Tokens]) -> np.ndarray:
        """The engines' ``batcher``."""
        return self.encode(batch)

    def _encode_missing(self, asked: Mapping[bytes, Tokens]) -> None:
        keys = self._missing(sorted(asked, key=lambda key: (sum(map(len, asked[key])), key)))
        with tqdm(
            total=len(keys), desc="encode", unit="sentence", leave=False, disable=self.quiet or not keys
        ) as bar:
            for start in range(0, len(keys), CHUNK):
                chunk = keys[start : start + CHUNK]
                self._encode_chunk({key: asked[key] for key in self._missing(chunk)})
                bar.update(len(chunk))

    def _encode_chunk(self, chunk: Mapping[bytes, Tokens]) -> None:
        if chunk:
            sentences = list(chunk.values())
            vectors = self.processes.encode(self.encoder.encode, sentences)
            self.store.add(list(chunk), _checked(vectors, sentences))
            self.counts.encoded += len(chunk)

    def _missing(self, keys: Sequence[bytes]) -> list[bytes]:
        """Those without a vector, looking again at the disk: another run may have made some meanwhile."""
        if all(key in self.store for key in keys):
            return []
        self.store.refresh()
        return [key for key in keys if key not in self.store]


def _checked(vectors: np.ndarray, sentences: Sequence[Tokens]) -> np.ndarray:
    if vectors.ndim != 2 or len(vectors) != len(sentences):
        raise UserError(
            f"the encoder gave an array of shape {vectors.shape} for {len(sentences)} sentences",
            f"shape ({len(sentences)}, d)",
            "correct the encoder",
        )
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(bad):
        raise UserError(
            f"the encoder gave values that are not finite for {len(bad)} sentences, "
            f"the first of them with {len(sentences[bad[0]])} tokens",
            "finite vectors",
            "use --precision float32, or another model",
        )
    return vectors
