"""A trained model folder as a function of pairs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from lyricsim_models.batches import Rows, split_rows
from lyricsim_models.config import Architecture, Recipe
from lyricsim_models.encoders import Loaded, SentenceScorer, load
from lyricsim_models.model_files import optional_file, optional_json
from lyricsim_models.pairs import TokenRows, collate
from lyricsim_models.registry import Model, is_pair_model, resolve
from lyricsim_models.run_folder import RUN_FILE
from lyricsim_models.sentence_folder import CALIBRATION_FILE, read_line
from lyricsim_models.vectors import embed_rows, score_distinct
from lyricsim_tools.errors import UserError


@dataclass(frozen=True)
class PairScorer:
    """A model that scores pairs in one process.

    Args:
        loaded: the model, in evaluation mode on ``device``.
        device: where it computes.
        symmetric: a score is the mean of both orders.
    """

    loaded: Loaded
    device: torch.device
    symmetric: bool = False

    def predict(
        self, first: Sequence[str], second: Sequence[str], batch_size: int = 32
    ) -> NDArray[np.float32]:
        """Similarity of each pair on the 0–5 scale.

        Args:
            first: n lyrics.
            second: n lyrics.
            batch_size: most pairs computed at once.

        Returns:
            shape (n,), in the order given; not clipped to the scale.
        """
        forward = self.score_rows(self.loaded.tokenize(list(first), list(second)), batch_size)
        if not self.symmetric or self.loaded.architecture == "bi-encoder":
            return forward
        backward = self.score_rows(self.loaded.tokenize(list(second), list(first)), batch_size)
        return (forward + backward) * np.float32(0.5)

    def score_rows(self, rows: TokenRows, batch_size: int = 32) -> NDArray[np.float32]:
        """Scores of tokenised pairs, shape (n,); neighbours in length share a batch."""
        scorer = self.loaded.scorer
        if isinstance(scorer, SentenceScorer):
            return score_distinct(scorer, rows, np.arange(len(rows)), self._collated, batch_size)
        scores = np.zeros(len(rows), dtype=np.float32)
        if not len(rows):
            return scores
        for (batch,) in split_rows(np.arange(len(rows)), rows.lengths, 1, batch_size):
            with torch.inference_mode():
                found = scorer(**self._collated(rows, batch.rows))
            scores[batch.rows] = found.float().cpu().numpy()
        return scores

    def _collated(self, rows: TokenRows, chosen: Rows) -> dict[str, torch.Tensor]:
        inputs = collate(rows, chosen, self.loaded.pad_id)
        return {name: tensor.to(self.device) for name, tensor in inputs.items()}

    def embed(self, texts: Sequence[str], batch_size: int = 32) -> NDArray[np.float32]:
        """Unit vectors of lyrics, shape (n, width), so that a catalogue is embedded once.

        Raises:
            UserError: the model is a cross-encoder, which knows pairs only.
        """
        scorer = self.loaded.scorer
        if not isinstance(scorer, SentenceScorer):
            raise UserError("a cross-encoder has no embeddings", "a bi-encoder", "score pairs instead")
        rows = self.loaded.tokenize(list(texts), list(texts))
        single = TokenRows(rows.sides[:1], rows.lengths, rows.truncated)
        return np.asarray(embed_rows(scorer, single, self._collated, batch_size), dtype=np.float32)


def load_scorer(
    model: str, *, device: str | torch.device = "cpu", symmetric: bool | None = None, max_length: int = 10**9
) -> PairScorer:
    """Load a trained model for scoring.

    Args:
        model: a folder that training wrote, a registry name or a Hub id.
        device: where to compute.
        symmetric: mean of both orders; None: as the model was trained to be used.
        max_length: most tokens of a sequence; the model's own limit may be lower.

    Raises:
        UserError: no such model, or a folder whose weights are not whole.
    """
    found = resolve(model)
    loaded = load_trained(found, max_length)
    loaded.scorer.to(device).eval()
    used = trained_symmetric(found) if symmetric is None else symmetric
    return PairScorer(loaded, torch.device(device), used)


def load_trained(model: Model, max_length: int = 10**9) -> Loaded:
    """The module of a trained folder in float32; its kind is read off the folder's files.

    Raises:
        UserError: no such model, one that was never trained to score, or weights that are not whole.
    """
    architecture = architecture_of(model)
    if architecture == "cross-encoder" and not is_pair_model(model):
        raise UserError(
            f"{model.reference} is an encoder that was not trained to score pairs",
            "a model with a head on both lyrics, or a bi-encoder that training wrote",
            "train it with training/finetune.py, or take its cosine: svm_baseline.py --baseline zero-shot",
        )
    recipe = Recipe(architecture=architecture, max_length=max_length)
    loaded = load(model, recipe, seed=0, trained=True)
    if isinstance(loaded.scorer, SentenceScorer):
        loaded.scorer.line.data = torch.tensor(read_line(model))
    return loaded


def architecture_of(model: Model) -> Architecture:
    """Which kind of model a folder or repository holds."""
    return "cross-encoder" if optional_file(model, CALIBRATION_FILE) is None else "bi-encoder"


def trained_symmetric(model: Model) -> bool:
    """Whether the run that wrote a folder or repository scored both orders."""
    run = optional_json(model, RUN_FILE)
    return run is not None and bool(run["settings"]["recipe"]["symmetric"])
