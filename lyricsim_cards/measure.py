"""What a card says beyond its run's scores, from the run's predictions and the dataset's gold scores."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lyricsim_cards.model_folder import PREDICTIONS_FILE, ModelFolder
from lyricsim_metric.correlations import pearson_and_spearman
from lyricsim_metric.scores import SCORE_NAMES, score
from lyricsim_models.diagnostics import beside_scores
from lyricsim_tools.errors import UserError
from lyricsim_tools.loading import dataset_place, fresh_cache

# What rounding to the seven digits of predictions.csv can change.
_TOLERANCE = 1e-4
_LEVEL = 0.95


@dataclass(frozen=True)
class GoldPair:
    """A pair as the card's figures need it.

    Args:
        pair_id: its name.
        score: gold similarity, 0 to 5.
        words: of both lyrics together.
        songs: ids of its two songs; None where the data has none.
    """

    pair_id: str
    score: float
    words: int
    songs: tuple[str, str] | None = None


def measure(predictions: Mapping[str, float], pairs: Sequence[GoldPair]) -> dict[str, Any]:
    """Intervals and biases of one split's predictions.

    Args:
        predictions: pair id → predicted score.
        pairs: the split.

    Returns:
        the three scores with ``_ci`` (95 %, songs resampled where they are known), ``length_correlation``
        (Pearson of prediction and words), ``zero_auc`` (zero against non-zero pairs, 0.5 is chance) and
        ``nonzero_pearson``; None where undefined.

    Raises:
        UserError: a pair has no prediction.
    """
    if missing := [pair.pair_id for pair in pairs if pair.pair_id not in predictions]:
        raise UserError(
            f"{len(missing)} pairs have no prediction, {missing[0]} among them",
            "the dataset and configuration that the run was scored on",
            "name that dataset",
        )
    predicted = np.array([predictions[pair.pair_id] for pair in pairs])
    gold = np.array([pair.score for pair in pairs])
    words = np.array([float(pair.words) for pair in pairs])
    songs = [pair.songs for pair in pairs if pair.songs]
    scores = score(
        predicted, gold, songs if len(songs) == len(pairs) else None, confidence_level=_LEVEL, seed=0
    )
    return {
        **{key: _defined(value) for key, value in scores.items()},
        "length_correlation": _pearson(predicted, words),
        **beside_scores(predicted, gold),
    }


def measure_folder(model: ModelFolder, splits: Mapping[str, Sequence[GoldPair]]) -> dict[str, Any]:
    """``measure`` of a run's validation and test splits, from its ``predictions.csv``.

    Raises:
        UserError: the scores that follow from the predictions differ from those in ``metrics.json``.
    """
    predictions = read_predictions(model.folder / PREDICTIONS_FILE)
    found = {name: measure(predictions, splits[name]) for name in model.metrics if splits.get(name)}
    for name, measured in found.items():
        for key in SCORE_NAMES:
            stated = model.metrics[name].get(key)
            if not agree(stated, measured[key]):
                raise UserError(
                    f"{name} {key} is {stated} in metrics.json, {measured[key]} by the predictions",
                    "the same score",
                    "name the dataset that the run was scored on",
                )
    return found


def read_predictions(path: Path) -> dict[str, float]:
    """Pair id → prediction, as a run writes them."""
    with path.open(encoding="utf-8", newline="") as stream:
        return {row["pair_id"]: float(row["prediction"]) for row in csv.DictReader(stream)}


def read_gold(dataset: str, config: str | None) -> dict[str, list[GoldPair]]:
    """The validation and test pairs of a built dataset folder or Hub id.

    Raises:
        UserError: there is no such folder, and the name is no Hub id.
    """
    from datasets import load_dataset

    place = dataset_place(dataset)
    with fresh_cache(Path(place).is_dir()) as cache:
        splits = load_dataset(place, config, cache_dir=cache)
        return {
            name: [_gold_pair(row) for row in splits[name]]
            for name in ("validation", "test")
            if name in splits
        }


def _gold_pair(row: Mapping[str, Any]) -> GoldPair:
    words = len(str(row["lyrics_1"]).split()) + len(str(row["lyrics_2"]).split())
    songs = (str(row["song_id_1"]), str(row["song_id_2"])) if "song_id_1" in row else None
    return GoldPair(str(row["pair_id"]), float(row["score"]), words, songs)


def _pearson(x: np.ndarray, y: np.ndarray) -> float | None:
    return _defined(pearson_and_spearman(x, y, "nan").pearson) if len(x) > 2 else None


def agree(stated: float | None, found: float | None) -> bool:
    """Whether two statements of a score are the same but for the rounding of ``predictions.csv``."""
    if stated is None or found is None:
        return stated is None and found is None
    return abs(stated - found) <= _TOLERANCE


def _defined(value: Any) -> Any:
    values = value if isinstance(value, list) else [value]
    return value if all(np.isfinite(values)) else None
