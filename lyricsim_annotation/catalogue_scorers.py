"""A scorer's name → predictions for pairs of a catalogue's songs, by whichever route costs least."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from tqdm import tqdm

from lyricsim_annotation.candidates import decode, draw_codes, similarity
from lyricsim_annotation.recall import text_vectors, word_vectors
from lyricsim_dataset.records import RATING_MAX, RATING_MIN
from lyricsim_models.model_files import weights_identity
from lyricsim_models.pair_scorers import Score, is_lexical, open_scorer
from lyricsim_models.registry import is_pair_model, resolve
from lyricsim_models.score_file import refuse_non_finite
from lyricsim_models.team import refuse_launcher
from lyricsim_tools.errors import UserError

#: Recall by the words of the lyrics, without an encoder.
WORDS = "words"
_WINDOW = 1024
# Of the cosines of pairs drawn at random: where the scale of an encoder that was never trained on it begins.
_FLOOR_QUANTILE = 0.05
_FLOOR_PAIRS = 20_000


@dataclass(frozen=True)
class ScorerOptions:
    """How models are used.

    Args:
        scorer: any model that ``training/predict.py`` takes, or an encoder that was trained on no pairs.
        recall: encoder whose vectors find candidates, or ``words``; None: the scorer itself where it is an
            encoder, else ``words``.
        batch_size: texts or pairs computed at once.
        max_length: most tokens of a sequence.
        seed: of the word vectors and of the pairs that calibrate an encoder.
    """

    scorer: str
    recall: str | None = None
    batch_size: int = 32
    max_length: int = 512
    seed: int = 0


class CatalogueScorer:
    """Scores pairs of a catalogue, given as codes.

    Args:
        lyrics: of the catalogue's songs, in their order.
        options: which models, and how.

    Raises:
        UserError: no such model, or several processes were launched.
    """

    def __init__(self, lyrics: Sequence[str], options: ScorerOptions) -> None:
        refuse_launcher("a selection")
        self._lyrics = lyrics
        self._options = options
        self._is_encoder = not is_lexical(options.scorer) and _is_encoder(options.scorer)
        self.recall_model = options.recall or (options.scorer if self._is_encoder else WORDS)

    @cached_property
    def recall_vectors(self) -> np.ndarray:
        """Vectors that find candidates, shape (songs, width), float32."""
        if self.recall_model == WORDS:
            return word_vectors(self._lyrics, self._options.seed)
        if self._is_encoder and self.recall_model == self._options.scorer:
            return self._own_vectors
        return self._embedded(self.recall_model)

    @cached_property
    def _own_vectors(self) -> np.ndarray:
        return self._embedded(self._options.scorer)

    def _embedded(self, model: str) -> np.ndarray:
        from lyricsim_models.zero_shot import zero_shot_encoder

        return text_vectors(zero_shot_encoder(model, self._options.batch_size), self._lyrics)

    @cached_property
    def _line(self) -> tuple[float, float]:
        """Slope and intercept from cosine to score: the model's own, else by the catalogue's cosines."""
        from lyricsim_models.sentence_folder import read_line

        model = self._options.scorer
        if _is_calibrated(model):
            return read_line(resolve(model))
        songs = len(self._lyrics)
        drawn = draw_codes(songs, _FLOOR_PAIRS, np.random.default_rng(self._options.seed))
        return stretch(similarity(self._own_vectors, drawn))

    @cached_property
    def _pair_scorer(self) -> tuple[Score, Mapping[str, Any]]:
        options = self._options
        opened = open_scorer(options.scorer, batch_size=options.batch_size, max_length=options.max_length)
        return opened.score, opened.identity

    @cached_property
    def identity(self) -> dict[str, Any]:
        """What tells this scorer from another, as plain JSON values."""
        if not self._is_encoder:
            return dict(self._pair_scorer[1])
        slope, intercept = self._line
        model = self._options.scorer
        return {
            "model": model,
            **weights_identity(model),
            "score_from_cosine": {
                "slope": slope,
                "intercept": intercept,
                "from": "the model" if _is_calibrated(model) else "the catalogue's cosines",
            },
        }

    def __call__(self, codes: np.ndarray) -> np.ndarray:
        """Predicted scores, shape (m,), not clipped to the scale.

        Raises:
            UserError: a score is not finite.
        """
        if self._is_encoder:
            slope, intercept = self._line
            return slope * similarity(self._own_vectors, codes) + intercept
        windows = range(0, len(codes), _WINDOW)
        bar = tqdm(windows, desc=f"scoring {len(codes)} pairs", delay=2, leave=False)
        return np.concatenate([np.empty(0), *(self._scored(codes[w : w + _WINDOW]) for w in bar)])

    def _scored(self, codes: np.ndarray) -> np.ndarray:
        first, second = decode(codes, len(self._lyrics))
        score: Callable[..., np.ndarray] = self._pair_scorer[0]
        found = np.asarray(score([self._lyrics[i] for i in first], [self._lyrics[i] for i in second]))
        refuse_non_finite([f"{a}, {b}" for a, b in zip(first, second, strict=True)], found)
        return found.astype(np.float64)


def stretch(cosines: np.ndarray) -> tuple[float, float]:
    """Slope and intercept that spread an untrained encoder's cosines over the scale.

    Cosines of unrelated texts lie far above 0 for most encoders. The 5 % quantile of pairs drawn at random
    becomes the lowest score, a cosine of 1 the highest.

    Raises:
        UserError: the encoder gives all texts the same vector.
    """
    floor = float(np.quantile(cosines, _FLOOR_QUANTILE))
    if 1 - floor < 1e-6:
        raise UserError(
            "the encoder gives nearly all songs one vector",
            "vectors that differ",
            "choose another model",
        )
    slope = (RATING_MAX - RATING_MIN) / (1 - floor)
    return slope, RATING_MAX - slope


def _is_encoder(model: str) -> bool:
    return not is_pair_model(resolve(model))


def _is_calibrated(model: str) -> bool:
    from lyricsim_models.scoring import architecture_of

    return architecture_of(resolve(model)) == "bi-encoder"
