"""What every run leaves behind, trained or fitted: its files, and what they say of its pairs; no torch."""

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy import float64
from numpy.typing import NDArray

from lyricsim_models.pair_table import PairTable
from lyricsim_models.provenance import digest, seen_of

METRICS_FILE, PREDICTIONS_FILE = "metrics.json", "predictions.csv"

# Split → predictions, shape (pairs,).
Predictions = Mapping[str, NDArray[float64]]


def read_metrics(folder: Path) -> dict[str, Any]:
    """The scores of a complete run."""
    metrics: dict[str, Any] = json.loads((folder / METRICS_FILE).read_text("utf-8"))
    return metrics


def prediction_rows(splits: Mapping[str, PairTable], predictions: Predictions) -> str:
    """``pair_id,prediction`` of all splits as CSV text, each pair once, without ratings or lyrics."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["pair_id", "prediction"])
    written: set[str] = set()
    for name, table in splits.items():
        for pair_id, prediction in zip(table.pair_ids, predictions[name], strict=True):
            if pair_id not in written:
                writer.writerow([pair_id, repr(float(prediction))])
                written.add(pair_id)
    return stream.getvalue()


def describe_pairs(table: PairTable) -> dict[str, Any]:
    """Number and digests of a split's pairs and songs, as every run records them."""
    seen = seen_of(table)
    return {
        "pairs": len(table),
        "pair_ids_sha256": digest(table.pair_ids),
        "songs_sha256": digest(seen.songs),
        "pairs_sha256": digest(seen.pairs),
    }
