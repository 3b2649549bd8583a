"""Folders as complete runs leave them, without training anything."""

import json
from pathlib import Path

from lyricsim_cards.measure import GoldPair
from lyricsim_metric.scores import score

OVERLAP = {"features": ["shared_words"], "estimator": "none", "encoder": None, "prompt": None}
RECIPE = {
    "architecture": "cross-encoder",
    "global_batch_size": 8,
    "learning_rate": 5e-05,
    "dropout": None,
    "symmetric": False,
    "line_breaks": "keep",
}
GOLD = [
    GoldPair(
        f"{first}-{second}", float((first * second) % 6), 40 + 7 * first + second, (str(first), str(second))
    )
    for first in range(1, 6)
    for second in range(first + 1, 7)
]


def run_folder(
    folder: Path, config: str = "filtered", revision: str | None = "c0ffee", **changes: object
) -> Path:
    """A cross-encoder's run on LyricSIM with scores of its predictions; ``changes`` go into its settings."""
    predictions = {pair.pair_id: pair.score * 0.8 + (pair.words % 3) * 0.3 for pair in GOLD}
    found = score([predictions[p.pair_id] for p in GOLD], [p.score for p in GOLD])
    scores = {**found, "pairs": len(GOLD), "asymmetry": {"mean": 0.25, "max": 1.5}, "seen_song_share": 1.0}
    settings = {"model": "maria-base", "dataset": "lyricsim", "config": config, "seed": 42, "recipe": RECIPE}
    run = {
        "status": "complete",
        "settings": {**settings, "data_fingerprint": "ab" * 32, **changes},
        "base_model_revision": revision,
        "truncated_pairs": {"train": 1, "test": 0},
        "data": {"test": {"pairs": len(GOLD), "pair_ids_sha256": "cd" * 32}},
        "topology": {"world_size": 2, "device": "NVIDIA H200"},
        "seconds": 12.5,
        "versions": {"python": "3.11.7", "torch": "2.13.0"},
    }
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps(run))
    (folder / "metrics.json").write_text(json.dumps({"validation": scores, "test": scores}))
    rows = [f"{pair_id},{value:.7g}" for pair_id, value in predictions.items()]
    (folder / "predictions.csv").write_text("\n".join(["pair_id,prediction", *rows]) + "\n")
    return folder


def floor_folder(folder: Path, **changes: object) -> Path:
    """A run of training/svm_baseline.py on the same data."""
    return run_folder(folder, **{"model": "word-overlap", "recipe": OVERLAP, **changes})
