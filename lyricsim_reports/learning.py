"""Learning curves of models without meaning: the same blocks, fewer training pairs (scikit-learn)."""

from collections.abc import Mapping, Sequence

import numpy as np
from tqdm import tqdm

from lyricsim_dataset.configurations import DEFAULT_CONFIG
from lyricsim_dataset.song_splits import block_folds
from lyricsim_dataset.splits import draw
from lyricsim_models.baselines import find_baseline, fit_baseline
from lyricsim_reports.benchmark import Benchmark
from lyricsim_reports.probes import combined

SHARES = (0.1, 0.25, 0.5, 0.75, 1.0)
CURVES = ("length-only", "lexical", "ridge", "svr")
# Fewer training pairs than this fit nothing.
_FEWEST = 5


def learning_curves(
    benchmark: Benchmark, seed: int, shares: Sequence[float] = SHARES
) -> Mapping[str, tuple[float, ...]]:
    """Combined scores under block cross-validation by share of each block's training pairs.

    Args:
        benchmark: the dataset.
        seed: of the stratified draw of training pairs.
        shares: above 0, up to 1.

    Returns:
        Title of a baseline to a score for each share; NaN where undefined.
    """
    return {
        find_baseline(name).title: tuple(score_at(benchmark, name, share, seed) for share in shares)
        for name in tqdm(CURVES, desc="learning curves", leave=False)
    }


def score_at(benchmark: Benchmark, name: str, share: float, seed: int) -> float:
    """One point of a curve."""
    table = benchmark.whole(DEFAULT_CONFIG)
    place = {pair_id: row for row, pair_id in enumerate(table.pair_ids)}
    known = {pair.pair_id: pair for pair in benchmark.tables.pairs if pair.pair_id in place}
    predicted = np.full(len(table), np.nan)
    for fold in block_folds(list(known.values()), benchmark.groups):
        if not fold.test:
            continue
        training = [known[pair_id] for pair_id in fold.train]
        size = max(round(share * len(training)), min(_FEWEST, len(training)))
        chosen = [place[pair.pair_id] for pair in draw(training, size, seed)]
        rows = [place[pair_id] for pair_id in fold.test]
        predicted[rows] = fit_baseline(find_baseline(name), table.take(chosen))(table.take(rows))
    return combined(predicted, table.gold)
