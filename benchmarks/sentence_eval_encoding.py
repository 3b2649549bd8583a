"""How much encoding is saved by encoding each distinct sentence once, in order of length.

Counts alone: nothing is timed, so the figures do not depend on the machine.

    python benchmarks/sentence_eval_encoding.py --data DIR
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lyricsim_tools.tables import print_json, print_table
from spanish_sentence_eval.encoding import sentences_of
from spanish_sentence_eval.manifest import data_folder, files_of, missing_files
from spanish_sentence_eval.reading import lines_of
from spanish_sentence_eval.task import Task
from spanish_sentence_eval.tasks import TASKS

BATCH = 16
GROUPS: Mapping[str, tuple[str, ...]] = {
    "BSO + DC of wiki": ("BSOwiki", "DCwiki"),
    "BSO + DC, all sources": ("BSOwiki", "BSOmlsum", "BSOthesis", "DCwiki", "DCopus", "DCgdd"),
    "SICKRelatedness + SICKEntailment": ("SICKRelatedness", "SICKEntailment"),
    "every task": tuple(TASKS),
}
COLUMNS = ("tasks", "sentences", "distinct", "share saved", "pad tokens, file order", "pad tokens, by length")
Tokens = tuple[str, ...]


def main() -> int:
    """Print one row a group of tasks."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="the folder above senteval/ and discoeval/")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    args = parser.parse_args()
    folder = data_folder(args.data)
    rows = [savings(label, [TASKS[name] for name in names], folder) for label, names in GROUPS.items()]
    if args.json:
        print_json([dict(zip(COLUMNS, row, strict=True)) for row in rows])
    else:
        print_table(f"encoding saved (batches of {BATCH})", COLUMNS, rows)
    return 0


def savings(label: str, tasks: Sequence[Task], folder: Path) -> list[object]:
    """Sentences asked for and distinct ones, and padding per real token in either order, of present files."""
    sentences = [tokens for task in tasks for tokens in present_sentences(task, folder)]
    distinct = list(dict.fromkeys(sentences))
    share = 1 - len(distinct) / len(sentences)
    missing = any(missing_files(folder, files_of(task)) for task in tasks)
    return [
        f"{label} (files present)" if missing else label,
        len(sentences),
        len(distinct),
        share,
        padding(sentences),
        padding(sorted(distinct, key=len)),
    ]


def present_sentences(task: Task, folder: Path) -> Iterator[Tokens]:
    """The token lists of a task as the engine asks for them; of a task with absent files, those present."""
    missing = missing_files(folder, files_of(task))
    if not missing:
        for split in task.loader(task.source(folder)).splits.values():
            yield from (tuple(tokens) for tokens in sentences_of(split))
    elif task.sentences > 1:
        for path in sorted(set(files_of(task)) - set(missing)):
            for line in lines_of(task.name, folder / path):
                yield from (tuple(field.split()) for field in line.split("\t")[-task.sentences :])


def padding(sentences: Sequence[Tokens]) -> float:
    """Pad tokens for each real one when batches are cut in this order (whole words as tokens)."""
    batches = [sentences[i : i + BATCH] for i in range(0, len(sentences), BATCH)]
    slots = sum(len(batch) * max(map(len, batch)) for batch in batches)
    real = sum(map(len, sentences))
    return slots / real - 1


if __name__ == "__main__":
    sys.exit(main())
