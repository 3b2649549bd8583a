"""How fast and how lean the metric is, against the usual routes: ratios of one run, side by side.

GLUE's STS-B arithmetic is two calls to SciPy, ``pearsonr(predictions, references)[0]`` and
``spearmanr(predictions, references)[0]``. It is measured alone, and inside an evaluate metric with GLUE's
features (single precision), since its own module can only be had from the Hub. The bootstrap is measured
against ``scipy.stats.bootstrap`` twice: as its documentation shows it, Pearson over an axis and Spearman,
which SciPy cannot compute so, resample by resample; and with a Spearman over an axis written by hand.

Each measure is taken several times, the routes in turn, and medians of processor time are compared, so that
other work on the machine counts little; the routes that go resample by resample are measured once. Run from
the repository:

    python benchmarks/metric.py
    python benchmarks/metric.py --repetitions 15 --json
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
import tracemalloc
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats
from tqdm import tqdm

from lyricsim_metric.scores import SCORE_NAMES, score
from lyricsim_tools.tables import print_json, print_table

REPOSITORY = Path(__file__).resolve().parent.parent
SIZES = (10**2, 10**4, 10**6)
TEST_PAIRS = 68
RESAMPLES = 9999
#: Seconds: a measure below this repeats its route.
SHORTEST_MEASURE = 0.02
Route = Callable[[], Any]


def main() -> int:
    """Print the ratios of both comparisons."""
    args = _parser().parse_args()
    with tempfile.TemporaryDirectory() as cache, tqdm(total=2 + 3 * len(SIZES), file=sys.stderr) as bar:
        os.environ |= {"HF_HOME": cache, "HF_EVALUATE_OFFLINE": "1"}
        scoring = [row for size in SIZES for row in scoring_ratios(size, args.repetitions, bar)]
        resampling = bootstrap_ratios(args.repetitions, bar)
        intervals = interval_distances(args.draws, bar)
    if args.json:
        print_json({"scoring": scoring, "bootstrap": resampling, "intervals": intervals})
        return 0
    _print_records("our time and peak memory as a share of GLUE's (below 1: less)", scoring)
    _print_records(f"how many times faster than scipy.stats.bootstrap, n = {TEST_PAIRS}", resampling)
    _print_records("BCa intervals of one table: ours and the mean and spread of SciPy's draws", intervals)
    return 0


def scoring_ratios(size: int, repetitions: int, bar: tqdm) -> list[dict[str, Any]]:
    """Our share of GLUE's time and peak memory, with and without evaluate."""
    predictions, references = tied_table(size)
    whole = np.round(references).astype(np.int64)
    glue, ours = glue_metric(), our_metric()
    inputs = {"predictions": predictions, "references": references}
    pairs: Mapping[str, tuple[Route, Route]] = {
        "arithmetic": (
            lambda: score(predictions, references),
            lambda: glue_arithmetic(predictions, references),
        ),
        "arithmetic, whole references": (
            lambda: score(predictions, whole),
            lambda: glue_arithmetic(predictions, whole),
        ),
        "compute of evaluate": (lambda: ours.compute(**inputs), lambda: glue.compute(**inputs)),
    }
    rows = []
    for label, (route, usual) in pairs.items():
        times = median_times({"ours": route, "usual": usual}, repetitions)
        memory = peak_memory(route) / peak_memory(usual)
        rows.append(
            {"measure": label, "pairs": size, "time": times["ours"] / times["usual"], "memory": memory}
        )
        bar.update()
    return rows


def bootstrap_ratios(repetitions: int, bar: tqdm) -> list[dict[str, Any]]:
    """Times of SciPy's bootstraps over the time of ours, which gives all three intervals at once."""
    x, y = tied_table(TEST_PAIRS)
    ours = median_times({"ours": lambda: score(x, y, confidence_level=0.95)}, repetitions)["ours"]
    rows = []
    for label, statistics_of in (("as documented", DOCUMENTED), ("Spearman by hand", BY_HAND)):
        once = {name: partial(scipy_interval, x, y, *statistics_of[name]) for name in SCORE_NAMES}
        fast = all(vectorised for _, vectorised in statistics_of.values())
        # Resample by resample takes minutes and is hundreds of times slower: once is enough.
        times = median_times(once, repetitions if fast else 1)
        rows.append({"statistic": label} | {name: times[name] / ours for name in SCORE_NAMES})
        rows[-1]["all three"] = sum(times.values()) / ours
    bar.update()
    return rows


def interval_distances(draws: int, bar: tqdm) -> list[dict[str, Any]]:
    """Our bounds beside SciPy's: the mean of several draws and their standard deviation."""
    x, y = tied_table(TEST_PAIRS)
    found = score(x, y, confidence_level=0.95)
    rows = []
    for name in SCORE_NAMES:
        bounds = np.array([scipy_interval(x, y, *BY_HAND[name], seed=seed) for seed in range(draws)])
        for place, end in enumerate(("low", "high")):
            rows.append(
                {
                    "score": name,
                    "bound": end,
                    "ours": found[f"{name}_ci"][place],
                    "SciPy, mean": float(bounds[:, place].mean()),
                    "SciPy, standard deviation": float(bounds[:, place].std(ddof=1)),
                }
            )
    bar.update()
    return rows


def tied_table(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Predictions without ties and gold labels with many, 41 % of them 0, as in LyricSIM."""
    generator = np.random.default_rng(0)
    gold = np.round(np.maximum(generator.normal(0.3, 1.2, rows), 0) * 3) / 3
    return gold + generator.normal(0, 0.5, rows), gold


def glue_arithmetic(predictions: np.ndarray, references: np.ndarray) -> dict[str, float]:
    """What GLUE's metric computes for STS-B."""
    return {
        "pearson": float(stats.pearsonr(predictions, references)[0]),
        "spearmanr": float(stats.spearmanr(predictions, references)[0]),
    }


def glue_metric() -> Any:
    """An evaluate metric with GLUE's features for STS-B and its arithmetic."""
    import datasets
    import evaluate

    class Stsb(evaluate.Metric):
        def _info(self) -> evaluate.MetricInfo:
            return evaluate.MetricInfo(
                description="",
                citation="",
                features=datasets.Features(
                    {"predictions": datasets.Value("float32"), "references": datasets.Value("float32")}
                ),
                format="numpy",
            )

        def _compute(self, predictions: np.ndarray, references: np.ndarray) -> dict[str, float]:
            return glue_arithmetic(predictions, references)

    return Stsb()


def our_metric() -> Any:
    """Our metric as a user loads it."""
    import evaluate

    return evaluate.load(str(REPOSITORY / "lyricsim_metric"))


def _linear(x: np.ndarray, y: np.ndarray, axis: int = -1) -> Any:
    return stats.pearsonr(x, y, axis=axis)[0]


def _ranked_once(x: np.ndarray, y: np.ndarray) -> Any:
    return stats.spearmanr(x, y)[0]


def _combined_once(x: np.ndarray, y: np.ndarray) -> Any:
    return (stats.pearsonr(x, y)[0] + stats.spearmanr(x, y)[0]) / 2


def _ranked(x: np.ndarray, y: np.ndarray, axis: int = -1) -> Any:
    return _linear(stats.rankdata(x, axis=axis), stats.rankdata(y, axis=axis), axis)


def _combined(x: np.ndarray, y: np.ndarray, axis: int = -1) -> Any:
    return (_linear(x, y, axis) + _ranked(x, y, axis)) / 2


#: Each score's statistic, and whether it works over an axis.
DOCUMENTED = {
    "pearson": (_linear, True),
    "spearmanr": (_ranked_once, False),
    "combined_score": (_combined_once, False),
}
BY_HAND = {"pearson": (_linear, True), "spearmanr": (_ranked, True), "combined_score": (_combined, True)}


def scipy_interval(
    x: np.ndarray, y: np.ndarray, statistic: Callable[..., Any], vectorised: bool, seed: int = 0
) -> tuple[float, float]:
    """SciPy's BCa interval of one statistic."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = stats.bootstrap(
            (x, y),
            statistic,
            n_resamples=RESAMPLES,
            paired=True,
            vectorized=vectorised,
            rng=np.random.default_rng(seed),
        )
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


def median_times(routes: Mapping[str, Route], repetitions: int) -> dict[str, float]:
    """Median processor seconds of each route, the routes in turn."""
    repeats = {name: _repeats(route) for name, route in routes.items()}
    taken: dict[str, list[float]] = {name: [] for name in routes}
    for _ in range(repetitions):
        for name, route in routes.items():
            start = time.process_time()
            for _ in range(repeats[name]):
                route()
            taken[name].append((time.process_time() - start) / repeats[name])
    return {name: statistics.median(values) for name, values in taken.items()}


def _repeats(route: Route) -> int:
    """How often a route runs in one measure; finding it out warms the route up."""
    start = time.process_time()
    route()
    return max(1, round(SHORTEST_MEASURE / max(time.process_time() - start, 1e-6)))


def peak_memory(route: Route) -> int:
    """Bytes that NumPy and Python hold at most during a run, beyond the input."""
    tracemalloc.start()
    route()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def _print_records(title: str, records: list[dict[str, Any]]) -> None:
    print_table(title, list(records[0]), [list(record.values()) for record in records])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, default=7, help="measures of each route (default: 7)")
    parser.add_argument("--draws", type=int, default=10, help="SciPy's draws of each interval (default: 10)")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    return parser


if __name__ == "__main__":
    sys.exit(main())
