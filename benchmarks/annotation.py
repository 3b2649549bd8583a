"""What choosing pairs costs as the catalogue grows, and what it misses: ratios of one run.

Recall: all pairs of a small catalogue are scored, which gives the truly most similar ones; then the share
of them is counted that would have been scored within a budget, beside the budget's own share of all pairs
(what a random sample would find). On songs invented here and, with --dataset, on LyricSIM's.

Growth: catalogues of invented songs, ten times as large each, every one in a process of its own; pairs scored
as a share of all pairs, processor time and peak memory (the songs' texts included) against the size before.

    python benchmarks/annotation.py --dataset lyricsim
    python benchmarks/annotation.py --sizes 1000 10000 --json
"""

import argparse
import math
import multiprocessing
import resource
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from lyricsim_annotation.candidates import (
    all_pairs,
    encode,
    every_pair,
    forbidden_pairs,
    recalled_pairs,
)
from lyricsim_annotation.catalogue import Catalogue, read_catalogue
from lyricsim_annotation.catalogue_scorers import CatalogueScorer, ScorerOptions
from lyricsim_annotation.recall import neighbours, word_vectors
from lyricsim_annotation.records import SongText
from lyricsim_annotation.select_job import SelectionJob, choose_pairs
from lyricsim_tools.tables import print_json, print_table

# Mean and standard deviation of LyricSIM's lengths in words, shortest and longest.
LENGTHS = (77.6, 34.9, 3, 158)
WORDS, TOPICS, TOPIC_WORDS = 40_000, 200, 150
#: Shares: words of a song from its topic; songs that repeat another one; words changed in these.
FROM_TOPIC, COVERS, CHANGED = 0.3, 0.02, 0.25
BUDGETS = (0.05, 0.1, 0.2)
TOPS = (0.001, 0.01, 0.05)
PAIRS = 1000
Record = dict[str, Any]


def main() -> int:
    """Print what is missed and what it costs."""
    options = _parser().parse_args()
    invented = invented_catalogue(options.recall_songs)
    tables = {f"{len(invented)} invented songs": recall_shares(invented, options)}
    if options.dataset:
        songs = read_catalogue(str(options.dataset))
        tables[f"LyricSIM's {len(songs)} songs"] = recall_shares(songs, options)
    graph = graph_share(options.graph_songs)
    growth = growth_of([run_apart(size) for size in tqdm(options.sizes, desc="sizes", file=sys.stderr)])
    if options.json:
        print_json({"recall": tables, "graph": graph, "growth": growth})
        return 0
    for name, rows in tables.items():
        _print(f"Share of the most similar pairs that is scored: {name}, {options.scorer}", rows)
    _print("Neighbours that the graph finds", [graph])
    _print(f"Growth: {PAIRS} pairs chosen, lexical", growth)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dataset", type=Path, help="built dataset folder, for recall on real songs")
    parser.add_argument("--scorer", default="lexical", help="of the recall tables (default: lexical)")
    parser.add_argument("--recall", help="encoder that recalls, or words (default: as the command)")
    parser.add_argument("--recall-songs", type=int, default=500, help="invented ones (default: 500)")
    parser.add_argument("--graph-songs", type=int, default=10_000, help="default: 10000")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    return parser


def _print(title: str, rows: Sequence[Record]) -> None:
    print_table(title, list(rows[0]), [list(row.values()) for row in rows])


def invented_catalogue(songs: int, seed: int = 0) -> Catalogue:
    """Songs of invented words: frequent ones that all share, topics, and covers that repeat another song."""
    generator = np.random.default_rng(seed)
    mean, deviation, shortest, longest = LENGTHS
    lengths = np.clip(generator.normal(mean, deviation, songs), shortest, longest).astype(int)
    topics = generator.integers(WORDS, size=(TOPICS, TOPIC_WORDS))
    texts: list[np.ndarray] = []
    for place, length in enumerate(lengths):
        words = np.minimum(generator.zipf(1.3, length), WORDS) - 1
        if place and generator.random() < COVERS:
            words, share = texts[generator.integers(place)].copy(), CHANGED
            changed = generator.random(len(words)) < share
            words[changed] = generator.integers(WORDS, size=int(changed.sum()))
        else:
            own = generator.random(length) < FROM_TOPIC
            words[own] = generator.choice(topics[generator.integers(TOPICS)], int(own.sum()))
        texts.append(words)
    width = len(str(songs))
    return Catalogue(
        tuple(SongText(f"{place:0{width}}", "", "", _text(words)) for place, words in enumerate(texts))
    )


def _text(words: np.ndarray) -> str:
    spelled = [f"p{word:x}" for word in words]
    return "\n".join(" ".join(spelled[i : i + 6]) for i in range(0, len(spelled), 6))


def recall_shares(catalogue: Catalogue, options: argparse.Namespace) -> list[Record]:
    """For each budget, the share of the pairs with the highest scores that is scored within it."""
    scorer = CatalogueScorer(
        [song.lyric for song in catalogue.songs], ScorerOptions(options.scorer, options.recall)
    )
    forbidden = forbidden_pairs(catalogue, [])
    codes = every_pair(forbidden).codes
    ranked = codes[np.argsort(-scorer(codes), kind="stable")]
    rows = []
    for share in BUDGETS:
        budget = round(share * len(codes))
        found = recalled_pairs(scorer.recall_vectors, forbidden, budget, 0).codes
        rows.append(
            {"budget, share of all pairs": share}
            | {
                f"of the top {100 * top:g} %": round(
                    float(np.isin(ranked[: round(top * len(codes))], found).mean()), 3
                )
                for top in TOPS
            }
        )
    return rows


def graph_share(songs: int) -> Record:
    """The share of each song's exact neighbours that the graph finds too."""
    vectors = word_vectors([song.lyric for song in invented_catalogue(songs).songs])
    found = [
        np.concatenate([encode(*block, songs) for block in neighbours(vectors, 10, exact_songs=limit)])
        for limit in (songs, 0)
    ]
    exact, graph = (np.unique(codes) for codes in found)
    return {"songs": songs, "share of the exact neighbours": round(float(np.isin(exact, graph).mean()), 4)}


def run_apart(size: int) -> Record:
    """Measure one selection in a process of its own, so that its memory is its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(measure, size).result()


def measure(size: int) -> Record:
    """Processor time, peak memory and pairs scored of one selection with the lexical scorer."""
    catalogue = invented_catalogue(size)
    start = time.process_time()
    chosen = choose_pairs(
        SelectionJob("invented", ScorerOptions("lexical"), PAIRS, Path("none")), catalogue, {}
    )
    return {
        "songs": size,
        "seconds": time.process_time() - start,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
        "scored": len(chosen.candidates),
        "songs used": chosen.record["chosen"]["songs_used"],
        "most": chosen.record["chosen"]["pairs_of_a_song"]["most"],
    }


def growth_of(measured: Sequence[Record]) -> list[Record]:
    """Each size against the one before."""
    rows = []
    for place, row in enumerate(measured):
        before = measured[place - 1] if place else None
        rows.append(
            {
                "songs": row["songs"],
                "scored, share of all pairs": row["scored"] / all_pairs(row["songs"]),
                "time, exponent of growth": before and _exponent(before, row),
                "peak memory, times the one before": before and round(row["memory"] / before["memory"], 2),
                "songs used": row["songs used"],
                "most pairs of a song": row["most"],
            }
        )
    return rows


def _exponent(before: Record, after: Record) -> float:
    return round(
        math.log(after["seconds"] / before["seconds"]) / math.log(after["songs"] / before["songs"]), 2
    )


if __name__ == "__main__":
    sys.exit(main())
