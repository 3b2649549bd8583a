"""Several runs of one recipe, summed up."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lyricsim_models.evaluation import SCORE_KEYS, mean_and_deviation
from lyricsim_tools.atomic import write_json

SUMMARY_FILE = "summary.json"


def summarise(results: Mapping[int, Mapping[str, Any]]) -> dict[str, Any]:
    """Scores of every seed, and mean and sample standard deviation over them.

    Args:
        results: seed → split → scores.
    """
    splits = next(iter(results.values()))
    means = {
        split: {key: mean_and_deviation([run[split][key] for run in results.values()]) for key in SCORE_KEYS}
        for split in splits
    }
    return {"seeds": {str(seed): dict(metrics) for seed, metrics in results.items()}, "mean": means}


def write_summary(folder: Path, results: Mapping[int, Mapping[str, Any]]) -> dict[str, Any]:
    """Write and return the summary of several seeds."""
    summary = summarise(results)
    write_json(folder / SUMMARY_FILE, summary)
    return summary
