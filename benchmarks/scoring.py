"""How fast scoring is: ratios of one run, side by side, on the same model, texts, threads and batch size.

Scoring: ``predict.py``'s own path (read and check a file, score it in windows, write the output) against
``CrossEncoder.predict`` of sentence-transformers on the same pairs held in memory; unsorted, of lengths as
LyricSIM's songs have them. Ranking: ten queries against a catalogue embedded before, against a cross-encoder
that scores every song for every query. Routes take turns, medians of processor time are compared.

    python benchmarks/scoring.py
    python benchmarks/scoring.py --model runs/cross --pairs 2000 --repetitions 3
"""

import argparse
import csv
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from lyricsim_models.nearest import nearest
from lyricsim_models.pair_scorers import open_scorer
from lyricsim_models.prediction import PredictionJob, predict_file
from lyricsim_models.zero_shot import zero_shot_encoder
from lyricsim_tools.tables import print_json, print_table

CATALOGUES = (25, 100, 400)
QUERIES = 10
# Mean and standard deviation of LyricSIM's lengths in words, shortest and longest.
LENGTHS = (77.6, 34.9, 3, 158)
Pairs = list[tuple[str, str]]


def main() -> int:
    """Print both comparisons."""
    options = _parser().parse_args()
    with tempfile.TemporaryDirectory() as folder:
        generator = np.random.default_rng(0)
        model = options.model or str(write_cross_encoder(Path(folder), options, generator))
        pairs = invented_pairs(generator, options.pairs)
        scoring = compare_scoring(model, pairs, options, Path(folder))
        ranking = [compare_ranking(model, size, options, generator) for size in CATALOGUES]
    if options.json:
        print_json({"scoring": scoring, "ranking": ranking})
        return 0
    print_table(f"{options.pairs} unsorted pairs", list(scoring), [list(scoring.values())])
    print_table(f"{QUERIES} queries", list(ranking[0]), [list(row.values()) for row in ranking])
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", help="trained cross-encoder folder (default: random weights, see below)")
    parser.add_argument("--layers", type=int, default=2, help="of the random model (default: 2)")
    parser.add_argument("--width", type=int, default=64, help="of the random model (default: 64)")
    parser.add_argument("--pairs", type=int, default=10_000, help="default: 10000")
    parser.add_argument("--batch-size", type=int, default=32, help="of both routes (default: 32)")
    parser.add_argument("--repetitions", type=int, default=3, help="default: 3")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    return parser


def invented_text(generator: np.random.Generator) -> str:
    """Lines of invented words; as many words as a song of LyricSIM may have."""
    mean, deviation, shortest, longest = LENGTHS
    count = int(np.clip(generator.normal(mean, deviation), shortest, longest))
    syllables = generator.choice(
        ["ma", "re", "sol", "lu", "na", "ca", "mi", "no", "vi", "en", "to"], (count, 3)
    )
    words = ["".join(own[: 1 + len(own[0]) % 3]) for own in syllables]
    return "\n".join(" ".join(words[i : i + 6]) for i in range(0, count, 6))


def invented_pairs(generator: np.random.Generator, count: int) -> Pairs:
    """Pairs in no order of length, no lyric twice."""
    return [(invented_text(generator), invented_text(generator)) for _ in range(count)]


def write_cross_encoder(folder: Path, options: argparse.Namespace, generator: np.random.Generator) -> Path:
    """A cross-encoder with random weights and a tokenizer learned from invented texts."""
    import torch
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    from lyricsim_models.tiny import write_tiny_model

    target = write_tiny_model(folder / "cross-encoder", [invented_text(generator) for _ in range(200)])
    config = BertConfig(
        vocab_size=len(AutoTokenizer.from_pretrained(target)),
        hidden_size=options.width,
        num_hidden_layers=options.layers,
        num_attention_heads=max(1, options.width // 32),
        intermediate_size=4 * options.width,
    )
    config.num_labels = 1
    config.sentence_transformers = {"activation_fn": "torch.nn.modules.linear.Identity", "version": "5.0.0"}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        BertForSequenceClassification(config).save_pretrained(target)
    return target


def median_times(routes: dict[str, Callable[[], Any]], repetitions: int) -> dict[str, float]:
    """Median processor time of each route; in every repetition each takes its turn."""
    taken: dict[str, list[float]] = {name: [] for name in routes}
    for _ in tqdm(range(repetitions), file=sys.stderr, desc=" / ".join(routes)):
        for name, route in routes.items():
            start = time.process_time()
            route()
            taken[name].append(time.process_time() - start)
    return {name: statistics.median(values) for name, values in taken.items()}


def compare_scoring(model: str, pairs: Pairs, options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Our whole path against ``CrossEncoder.predict`` alone."""
    from sentence_transformers import CrossEncoder

    source = folder / "pairs.csv"
    with source.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([("lyrics_1", "lyrics_2"), *pairs])
    ours = open_scorer(model, batch_size=options.batch_size)
    theirs = CrossEncoder(model, device="cpu", max_length=512)
    job = PredictionJob(source, folder / "scores.csv", overwrite=True)
    first, second = zip(*pairs[:64], strict=True)
    difference = np.abs(ours.score(first, second) - theirs.predict(pairs[:64])).max()
    times = median_times(
        {
            "ours": lambda: predict_file(job, ours),
            "theirs": lambda: theirs.predict(pairs, batch_size=options.batch_size),
        },
        options.repetitions,
    )
    return {
        "times as fast as CrossEncoder.predict": round(times["theirs"] / times["ours"], 2),
        "largest difference of scores": float(f"{difference:.2g}"),
    }


def compare_ranking(
    model: str, size: int, options: argparse.Namespace, generator: np.random.Generator
) -> dict[str, Any]:
    """Nearest songs by vectors kept before, against scoring every song for every query."""
    songs = [invented_text(generator) for _ in range(size)]
    queries = [invented_text(generator) for _ in range(QUERIES)]
    vectors = zero_shot_encoder(model, options.batch_size)(songs)
    cross = open_scorer(model, batch_size=options.batch_size)

    def recall() -> None:
        # A fresh cache, so that the queries are embedded anew.
        nearest(vectors, embed(queries), 10)

    def score_all() -> None:
        cross.score([q for q in queries for _ in songs], songs * QUERIES)

    embed = _uncached(zero_shot_encoder(model, options.batch_size))
    times = median_times({"recall": recall, "every pair": score_all}, options.repetitions)
    return {
        "songs": size,
        "times as fast as scoring every pair": round(times["every pair"] / times["recall"], 1),
    }


def _uncached(encoder: Any) -> Callable[[Sequence[str]], np.ndarray]:
    """The same embedding function without its memory."""
    return lambda texts: type(encoder)(encoder.embed)(texts)


if __name__ == "__main__":
    sys.exit(main())
