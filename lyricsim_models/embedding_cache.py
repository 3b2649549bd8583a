"""Vectors of texts, each text encoded once."""

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from lyricsim_models.features import Embed

#: Texts remembered: at 1,024 numbers each, 200 MB.
LIMIT = 50_000


class EmbeddingCache:
    """An embedding function that remembers the texts it was asked for last.

    Args:
        embed: distinct texts to vectors, shape (texts, width).
        limit: texts remembered between two calls.
    """

    def __init__(self, embed: Embed, limit: int = LIMIT) -> None:
        self.embed = embed
        self._limit = limit
        self._known: OrderedDict[str, np.ndarray] = OrderedDict()

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors of texts that may repeat, shape (texts, width), in the order given."""
        asked = dict.fromkeys(texts)
        if new := sorted(text for text in asked if text not in self._known):
            self._known.update(zip(new, self.embed(new), strict=True))
        for text in asked:
            self._known.move_to_end(text)
        found = np.stack([self._known[text] for text in texts])
        while len(self._known) > self._limit:
            self._known.popitem(last=False)
        return found
