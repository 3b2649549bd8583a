"""How fast the dataset room is, against the straightforward pandas route: ratios of one run, side by side.

The pandas route groups the table of ratings by pair and asks a Python function about every group. Each
measure is taken several times, the routes in turn, and medians of processor time are compared, so that other
work on the machine counts little. Run from the repository:

    python benchmarks/dataset.py
    python benchmarks/dataset.py --source DIR --largest 1000000 --json
"""

import argparse
import gc
import math
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tqdm import tqdm

from lyricsim_dataset.annotations import group_pairs, read_tables
from lyricsim_dataset.consensus import keep_ratings, kept_pairs
from lyricsim_dataset.records import RATING_MAX, Pair, Rating
from lyricsim_dataset.sources import LYRICS_FILE, RATINGS_FILE, SourceTree, locate, sample_tree
from lyricsim_tools.tables import print_json, print_table

UPSTREAM_PAIRS = 2775
HEAVY_PACKAGES = ("torch", "transformers", "matplotlib")
#: Seconds: a measure below this repeats its route.
SHORTEST_MEASURE = 0.02
ARRAY, PAIRS, RECORDS, PANDAS = "rule on an array", "rule on pairs", "group and filter", "pandas"


@dataclass(frozen=True)
class FilterRatio:
    """One size: how many times longer pandas takes than each of our routes; None where not measured."""

    pairs: int
    pandas_to_group_and_filter: float | None
    pandas_to_rule_on_pairs: float | None
    pandas_to_rule_on_array: float | None


@dataclass(frozen=True)
class Growth:
    """Exponent of time against pairs between two sizes: 1 is linear."""

    route: str
    from_pairs: int
    to_pairs: int
    exponent: float


def interleaved_medians(routes: Mapping[str, Callable[[], object]], repetitions: int) -> dict[str, float]:
    """Median seconds of processor time of one call of each route.

    Routes are measured in turn, so that a busy moment hits all of them, and short ones are called often
    enough for the clock.
    """
    calls = {name: 1 + int(SHORTEST_MEASURE / max(_seconds(f, 1), 1e-6)) for name, f in routes.items()}
    taken: dict[str, list[float]] = {name: [] for name in routes}
    for _ in range(repetitions):
        for name, route in routes.items():
            taken[name].append(_seconds(route, calls[name]))
    return {name: statistics.median(seconds) for name, seconds in taken.items()}


def _seconds(route: Callable[[], object], calls: int) -> float:
    gc.collect()
    start = time.process_time()
    for _ in range(calls):
        route()
    return (time.process_time() - start) / calls


def made_up_ratings(pairs: int) -> np.ndarray:
    """Ratings that agree about as often as LyricSIM's, shape (pairs, 3)."""
    generator = np.random.default_rng(pairs)
    level = generator.choice(RATING_MAX + 1, size=(pairs, 1), p=[0.37, 0.36, 0.13, 0.09, 0.04, 0.01])
    return np.clip(level + generator.integers(-1, 2, size=(pairs, 3)), 0, RATING_MAX)


def agreed(ratings: Sequence[int]) -> bool:
    """The consensus rule as a plain function of one group, the notebook's way."""
    if len(set(ratings)) == 1:
        return True
    return len(set(ratings)) == 2 and max(ratings) - min(ratings) == 1 and 0 not in ratings


def pandas_filter(table: pd.DataFrame) -> pd.DataFrame:
    """Group by pair, ask the function, keep the group's rows."""
    return table.groupby("pair_id").filter(lambda group: agreed(group["rating"].tolist()))


def routes_for(pairs: int, with_pandas: bool, with_records: bool) -> dict[str, Callable[[], object]]:
    """The routes to measure at one size, over equal input in the form that each one reads."""
    ratings = made_up_ratings(pairs)
    values = [tuple(row) for row in ratings.tolist()]
    records = [Pair(f"{i}_x", str(i), "x", three) for i, three in enumerate(values)]
    routes: dict[str, Callable[[], object]] = {
        ARRAY: lambda: keep_ratings(ratings),
        PAIRS: lambda: kept_pairs(records),
    }
    if with_records:
        single = [
            Rating(name, str(i), "x", value)
            for i, three in enumerate(values)
            for name, value in zip("abc", three, strict=True)
        ]
        routes[RECORDS] = lambda: kept_pairs(group_pairs(single))
    if with_pandas:
        ids = np.repeat([record.pair_id for record in records], 3)
        table = pd.DataFrame({"pair_id": ids, "rating": ratings.ravel()})
        routes[PANDAS] = lambda: pandas_filter(table)
    return routes


def measure_filter(
    largest: int, pandas_largest: int, repetitions: int
) -> tuple[list[FilterRatio], list[Growth]]:
    """Measure every size up to the largest: upstream's, then a decade each."""
    sizes = [UPSTREAM_PAIRS] + [10**d for d in range(4, 1 + int(math.log10(max(largest, 1))))]
    medians = {}
    for pairs in tqdm(sizes, desc="filter", unit="size"):
        with_pandas, with_records = pairs <= pandas_largest, pairs <= 100_000
        repeat = max(3, min(repetitions, repetitions * 10_000 // pairs))
        medians[pairs] = interleaved_medians(routes_for(pairs, with_pandas, with_records), repeat)
    return [_ratios(pairs, found) for pairs, found in medians.items()], _growth(medians)


def _ratios(pairs: int, medians: Mapping[str, float]) -> FilterRatio:
    def ratio(route: str) -> float | None:
        return medians[PANDAS] / medians[route] if {PANDAS, route} <= medians.keys() else None

    return FilterRatio(pairs, ratio(RECORDS), ratio(PAIRS), ratio(ARRAY))


def _growth(medians: Mapping[int, Mapping[str, float]]) -> list[Growth]:
    sizes = list(medians)
    return [
        Growth(
            route,
            small,
            large,
            math.log(medians[large][route] / medians[small][route]) / math.log(large / small),
        )
        for route in (ARRAY, PAIRS, RECORDS, PANDAS)
        for small, large in pairwise(sizes)
        if route in medians[small] and route in medians[large]
    ]


def pandas_read_and_filter(source: SourceTree) -> pd.DataFrame:
    """Upstream's tables to means of kept pairs with lengths, without any check of what was read."""
    ratings = pd.read_csv(source.path(RATINGS_FILE), encoding="utf-8-sig", skipinitialspace=True, dtype=str)
    ratings = ratings.assign(pair_id=ratings["id1"] + "_" + ratings["id2"])
    ratings = ratings.assign(rating=ratings["sim_rating"].astype(int))
    songs = pd.read_csv(source.path(LYRICS_FILE), sep="\t", dtype={"song_id": str}).set_index("song_id")
    words = songs["text"].map(lambda text: len(text.split()))
    means = (
        pandas_filter(ratings)
        .groupby("pair_id", as_index=False)
        .agg({"rating": "mean", "id1": "first", "id2": "first"})
    )
    return means.assign(length_1=means["id1"].map(words), length_2=means["id2"].map(words))


def measure_source(source: SourceTree, folder: Path | None, repetitions: int) -> dict[str, float]:
    """Times of our routes over the source, as multiples of the pandas route's."""
    from lyricsim_dataset.publish import BuildOptions, build

    options = BuildOptions(source=folder, sample=source.sample)
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "lyricsim-sample"
        routes: dict[str, Callable[[], object]] = {
            PANDAS: lambda: pandas_read_and_filter(source),
            "read, check all three files and filter": lambda: kept_pairs(read_tables(source).pairs),
            "whole build: seven configurations, card, Croissant": lambda: build(options, out),
        }
        medians = interleaved_medians(routes, repetitions)
    pandas = medians.pop(PANDAS)
    return {name: seconds / pandas for name, seconds in medians.items()}


def heavy_imports() -> list[str]:
    """Which heavy packages a bare ``import lyricsim_dataset`` of every light module brings in."""
    code = (
        "import sys, lyricsim_dataset\n"
        "from lyricsim_dataset import annotations, cli, consensus, facts, leaks, song_splits, splits\n"
        f"print(*[name for name in {HEAVY_PACKAGES!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--source", type=Path, metavar="DIR", help="a folder in upstream's layout (default: the sample)"
    )
    parser.add_argument(
        "--largest", type=int, default=10**6, metavar="N", help="most pairs (default: %(default)s)"
    )
    parser.add_argument(
        "--pandas-largest",
        type=int,
        default=10**4,
        metavar="N",
        help="most pairs that pandas is asked to filter (default: %(default)s)",
    )
    parser.add_argument(
        "--repetitions",
        type=int,
        default=9,
        metavar="N",
        help="measures at the smallest size (default: %(default)s)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    return parser


def main() -> None:
    """Measure and print."""
    options = _parser().parse_args()
    source = locate(options.source) if options.source else sample_tree()
    ratios, growth = measure_filter(options.largest, options.pandas_largest, options.repetitions)
    document = {
        "filter": [asdict(ratio) for ratio in ratios],
        "growth": [asdict(step) for step in growth],
        "sample": source.sample,
        "multiples_of_pandas": measure_source(source, options.source, 3),
        "heavy_imports": heavy_imports(),
    }
    if options.json:
        print_json(document)
    else:
        print_tables(document)


def print_tables(document: Mapping[str, Any]) -> None:
    """Print what was measured for people."""
    print_table(
        "Filter: pandas group-by-filter takes as many times as long",
        ("pairs", "as grouping and filtering records", "as the rule on pairs", "as the rule on an array"),
        [tuple(ratio.values()) for ratio in document["filter"]],
    )
    print_table(
        "Growth: exponent of time against pairs, 1 is linear",
        ("route", "from pairs", "to pairs", "exponent"),
        [tuple(step.values()) for step in document["growth"]],
    )
    print_table(
        f"From files ({'sample' if document['sample'] else 'given source'})",
        ("route", "as many times as long as unchecked pandas"),
        list(document["multiples_of_pandas"].items()),
    )
    heavy = ", ".join(document["heavy_imports"]) or "none"
    print(f"Of {', '.join(HEAVY_PACKAGES)}, importing lyricsim_dataset imports: {heavy}")


if __name__ == "__main__":
    main()
