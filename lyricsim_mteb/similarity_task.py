"""What all our mteb tasks share: pairs from a place of ours, cosines by our own rule, one more score."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from datasets import Dataset, DatasetDict
from mteb.abstasks.sts import AbsTaskSTS

from lyricsim_metric.scores import score
from lyricsim_mteb.recorded_model import RecordedModel

#: Two columns of texts and one of scores, all equally long.
Pairs = tuple[Sequence[str], Sequence[str], Sequence[float]]


class SimilarityTask(AbsTaskSTS):
    """An mteb similarity task whose data are not on mteb's Hub.

    Each subset's scores are mteb's, with two differences: ``cosine_pearson`` and ``cosine_spearman`` are
    computed as this project's own scoring does, and ``combined_score`` is their mean, as everywhere here.

    Args:
        source: folder or Hub id of the data; None: what the environment names, else ``default_source``.
        seed: handed to mteb; nothing here is drawn.
        options: handed to mteb.
    """

    #: Environment variable that names the data.
    source_variable: ClassVar[str]
    #: Where the data are looked for when nobody says.
    default_source: ClassVar[str]

    def __init__(self, source: str | None = None, seed: int = 42, **options: Any) -> None:
        super().__init__(seed=seed, **options)
        named = str(source or os.environ.get(self.source_variable) or self.default_source)
        self.source = str(Path(named).expanduser())

    def _say_other_data(self, fingerprint: str) -> None:
        """Results on other data must not be taken for the original's, by mteb's cache least of all."""
        dataset = {"path": Path(self.source).name, "revision": fingerprint}
        self.metadata = self.metadata.model_copy(update={"dataset": dataset})

    def subset_pairs(self) -> Mapping[str, Pairs]:
        """The test pairs of each subset that the metadata name.

        Raises:
            UserError: the data are not there or not as they should be.
        """
        raise NotImplementedError

    def load_data(self, num_proc: int | None = None, **options: Any) -> None:
        """Read the data once, from their own place and not by mteb's loader."""
        if not self.data_loaded:
            parts = {subset: self._by_split(pairs) for subset, pairs in self.subset_pairs().items()}
            # mteb wants no level of subsets where there is a single one.
            self.dataset = parts if self.metadata.is_multilingual else parts["default"]
            self.data_loaded = True

    def _by_split(self, pairs: Pairs) -> DatasetDict:
        (split,) = self.metadata.eval_splits
        columns = dict(zip(("sentence1", "sentence2", "score"), map(list, pairs), strict=True))
        return DatasetDict({split: Dataset.from_dict(columns)})

    def cosines(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Cosine of each pair of vectors, shape (n,), computed as our own scoring of these data does.

        mteb's way, half the squared distance of float32 vectors, differs in the seventh digit and ranks pairs
        of equal texts otherwise.
        """
        raise NotImplementedError

    def _evaluate_subset(self, model: Any, data_split: Dataset, **options: Any) -> Any:
        recorded = RecordedModel(model)
        scores = super()._evaluate_subset(recorded, data_split, **options)
        found = score(self.cosines(*recorded.encoded), data_split["score"])
        ours = {"cosine_pearson": found["pearson"], "cosine_spearman": found["spearmanr"]}
        return {**scores, **ours, "combined_score": found["combined_score"]}
