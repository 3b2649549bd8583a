"""Heads of the sentence evaluation: exact path against fast path in one run.

    python benchmarks/sentence_eval.py --data DIR
    python benchmarks/sentence_eval.py --data DIR --tasks SQC TASS1 --dimensions 64
    python benchmarks/sentence_eval.py --data DIR --tasks MC --dimensions 768 --outer-folds 1

Processor time is compared, with the same number of threads, so that other programs disturb little. The
reference trains the winner of a split head a second time, which neither path does here; "with its refit"
is the ratio with that work added, in proportion to the number of fits.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from tqdm import tqdm

from lyricsim_tools.tables import print_json, print_table
from spanish_sentence_eval.encoders.characters import CharacterEncoder
from spanish_sentence_eval.encoding import vectors_at_once
from spanish_sentence_eval.heads.fitting import rounded_mean
from spanish_sentence_eval.heads.report import Blocks, classify
from spanish_sentence_eval.heads.selection import Outcome, stratified
from spanish_sentence_eval.params import PathName, Settings, read_settings
from spanish_sentence_eval.reading import TaskData, Tokens
from spanish_sentence_eval.tasks import TASKS, Task

_TASKS = ("MC", "SQC", "SICKEntailment", "TASS1", "DCgdd")
_CLASSIFIER = {"nhid": 0, "optim": "adam", "batch_size": 64, "tenacity": 5, "epoch_size": 4}
_COLUMNS = (
    "task",
    "d",
    "fits",
    "times faster",
    "with its refit",
    "devacc",
    "acc",
    "acc difference",
    "same L2",
)


@dataclass(frozen=True)
class Comparison:
    """One task at one dimension.

    Args:
        fits: how many classifiers are trained.
        ratio: processor time of the exact path over the fast one's.
        ratio_with_refit: the same, with a split head's second training of the winner added in proportion.
        exact: devacc and acc of the exact path, percent.
        fast: the same of the fast path.
        same_strengths: the share of folds, or of the one split, in which both chose the same strength.
    """

    task: str
    dimension: int
    fits: int
    ratio: float
    ratio_with_refit: float | None
    exact: tuple[float, float]
    fast: tuple[float, float]
    same_strengths: float


def wide_encoder(dimension: int) -> Callable[[list[Tokens]], np.ndarray]:
    """Vectors of sentences, float32: the published figures' encoder at 64, else dense and made of words.

    Each word has a Gaussian vector of its own, drawn from its characters; a sentence is their mean.
    """
    if dimension == 64:
        return CharacterEncoder().encode
    words: dict[str, np.ndarray] = {}

    def vector_of(word: str) -> np.ndarray:
        if word not in words:
            seed = list(word.encode("utf-8"))
            words[word] = np.random.default_rng(seed).standard_normal(dimension, dtype=np.float32)
        return words[word]

    def encode(sentences: list[Tokens]) -> np.ndarray:
        return np.stack([np.mean([vector_of(w) for w in tokens or ["."]], axis=0) for tokens in sentences])

    return encode


def rows_of_task(task: Task, dimension: int, settings: Settings) -> tuple[TaskData, Blocks]:
    """A task's data and feature rows."""
    data = task.loader(task.source(settings.task_path))
    vectors = vectors_at_once(task, data, wide_encoder(dimension))
    stream = np.random.RandomState(settings.seed)
    return data, {n: task.features(vectors[n], s.labels, stream) for n, s in data.splits.items()}


def parts_of(task: Task, blocks: Blocks, settings: Settings, outer_folds: int) -> list[tuple[Task, Blocks]]:
    """The whole task; or the first of its outer folds, each of which is a task with folds of its own."""
    if task.head != "innerkfold" or not outer_folds:
        return [(task, blocks)]
    x, y = blocks["pool"]
    outer = stratified(np.arange(len(y)), y, settings.kfold, settings.seed)[:outer_folds]
    single = replace(task, head="kfold")
    return [(single, {"train": (x[a], y[a]), "test": (x[b], y[b])}) for a, b in outer]


def compare(task: Task, dimension: int, settings: Settings, repetitions: int, outer_folds: int) -> Comparison:
    """Both paths in turn, several times; medians of their times."""
    data, blocks = rows_of_task(task, dimension, settings)
    parts = parts_of(task, blocks, settings, outer_folds)
    seconds: dict[PathName, list[float]] = {"exact": [], "fast": []}
    found: dict[PathName, list[Outcome]] = {}
    for _ in range(repetitions):
        for path in seconds:
            start = time.process_time()
            found[path] = [classify(t, data, rows, replace(settings, path=path)) for t, rows in parts]
            seconds[path].append(time.process_time() - start)
    grid = 1 if task.noreg else 4
    fits = {
        "split": grid,
        "kfold": grid * settings.kfold + 1,
        "innerkfold": settings.kfold * (grid * settings.kfold + 1),
    }
    ratio = float(np.median(seconds["exact"]) / np.median(seconds["fast"]))
    return Comparison(
        task.name,
        dimension,
        sum(fits[part.head] for part, _ in parts),
        ratio,
        # The winner's second training costs what its first one did: a share of 1 in ``grid`` on average.
        ratio * (1 + 1 / grid) if task.head == "split" else None,
        accuracies(found["exact"]),
        accuracies(found["fast"]),
        float(np.mean([a == b for a, b in zip(*map(strengths, found.values()), strict=True)])),
    )


def accuracies(outcomes: Sequence[Outcome]) -> tuple[float, float]:
    """Mean devacc and acc, percent."""
    return rounded_mean([o.dev for o in outcomes]), rounded_mean([o.test for o in outcomes])


def strengths(outcomes: Sequence[Outcome]) -> list[float]:
    """Every strength that was chosen."""
    return [strength for outcome in outcomes for strength in outcome.strengths]


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="the folder above senteval/ and discoeval/")
    parser.add_argument(
        "--tasks", nargs="+", default=list(_TASKS), metavar="TASK", help="default: %(default)s"
    )
    parser.add_argument("--dimensions", nargs="+", type=int, default=[64, 768], metavar="D")
    parser.add_argument("--kfold", type=int, default=10, help="folds (default: %(default)s)")
    parser.add_argument(
        "--max-epoch",
        type=int,
        default=200,
        help="of both paths; lower it to shorten DC (default: %(default)s)",
    )
    parser.add_argument(
        "--outer-folds",
        type=int,
        default=0,
        metavar="N",
        help="of MC and FAC, only the first N outer folds, 41 fits each (default: all)",
    )
    parser.add_argument("--threads", type=int, default=1, help="of both paths (default: %(default)s)")
    parser.add_argument("--repetitions", type=int, default=1, help="of each path (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print one line for each task and dimension."""
    import torch

    args = parse(arguments)
    torch.set_num_threads(args.threads)
    classifier = {**_CLASSIFIER, "max_epoch": args.max_epoch}
    settings = read_settings({"task_path": args.data, "kfold": args.kfold, "classifier": classifier})
    cases = [(TASKS[name], dimension) for dimension in args.dimensions for name in args.tasks]
    found = [
        compare(task, d, settings, args.repetitions, args.outer_folds)
        for task, d in tqdm(cases, desc="cases")
    ]
    if args.json:
        print_json([vars(case) for case in found])
        return
    print_table("exact path against fast path", _COLUMNS, [_row(case) for case in found])


def _row(case: Comparison) -> list[object]:
    return [
        case.task,
        case.dimension,
        case.fits,
        f"{case.ratio:.1f}",
        None if case.ratio_with_refit is None else f"{case.ratio_with_refit:.1f}",
        f"{case.exact[0]:.2f} / {case.fast[0]:.2f}",
        f"{case.exact[1]:.2f} / {case.fast[1]:.2f}",
        f"{case.fast[1] - case.exact[1]:+.2f}",
        f"{100 * case.same_strengths:.0f} %",
    ]


if __name__ == "__main__":
    main()
