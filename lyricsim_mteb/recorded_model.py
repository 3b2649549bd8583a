"""An mteb model that keeps the vectors it gave, so that they can be compared by our own rule too."""

from typing import Any

import numpy as np


class RecordedModel:
    """Passes everything on to a model and keeps what ``encode`` returned.

    Args:
        model: any model that mteb can encode with.

    Attributes:
        encoded: the vectors of each call, shape (texts, width), in the order of the calls.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self.encoded: list[np.ndarray] = []

    def encode(self, *arguments: Any, **options: Any) -> Any:
        """The model's vectors."""
        vectors = self._model.encode(*arguments, **options)
        self.encoded.append(np.asarray(vectors.float().cpu() if hasattr(vectors, "cpu") else vectors))
        return vectors

    def similarity(self, first: Any, second: Any) -> Any:
        """The model's own similarity of all pairs."""
        return self._model.similarity(first, second)

    def similarity_pairwise(self, first: Any, second: Any) -> Any:
        """The model's own similarity of corresponding vectors."""
        return self._model.similarity_pairwise(first, second)

    @property
    def mteb_model_meta(self) -> Any:
        """What mteb knows of the model."""
        return self._model.mteb_model_meta
