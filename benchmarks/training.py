"""Training speed and memory of our loop beside three others, in one run: same model, pairs and global batch.

Everything from raw lyrics to trained weights is timed (tokenising, padding, forward, backward, optimizer);
loading the model and importing libraries is not. Each measurement has a process of its own; repetitions are
interleaved and medians of processor time compared, so that other work on the machine counts little. Run it
with OMP_NUM_THREADS=1.
"""

import argparse
import json
import os
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lyricsim_tools.errors import UserError
from lyricsim_tools.tables import print_json, print_table

EXAMPLES = """examples:
  python benchmarks/training.py                              small random model, synthetic lyrics
  python benchmarks/training.py --model FOLDER --rows 64     a real encoder
"""
# Lengths of LyricSIM's songs in words (paper, section 4): mean and sample standard deviation.
MEAN_WORDS, SD_WORDS = 77.61, 34.88
TARGETS = {"padded": 2.5, "trainer": 1.15, "cross-encoder-trainer": 1.1}
TITLES = {
    "ours": "our loop",
    "padded": "transformers Trainer, padded to 512 (the paper's recipe)",
    "trainer": "transformers Trainer, dynamic padding",
    "cross-encoder-trainer": "sentence-transformers CrossEncoderTrainer",
}


@dataclass(frozen=True)
class Work:
    """What every contender trains on.

    Args:
        model: folder of an encoder.
        first: first lyric of each pair.
        second: second lyric.
        scores: gold similarity, 0 to 5.
        global_batch: rows of an optimizer step.
        per_device: rows of a micro-batch.
    """

    model: str
    first: list[str]
    second: list[str]
    scores: list[float]
    global_batch: int
    per_device: int

    def __post_init__(self) -> None:
        if self.per_device < 1 or self.global_batch < 1 or self.global_batch % self.per_device:
            raise UserError(
                f"--global-batch-size {self.global_batch} with --per-device-batch-size {self.per_device}",
                "whole micro-batches, since the others' global batch is a multiple of them",
                "pass a multiple",
            )


Contender = Callable[[Work], Callable[[], None]]


def synthetic_work(options: argparse.Namespace, folder: Path) -> Work:
    """Pairs of made-up lyrics as long as LyricSIM's, and a small random model unless one is given."""
    generator = random.Random(0)
    syllables = [a + b for a in "bcdflmnprst" for b in "aeiou"]
    words = ["".join(generator.choices(syllables, k=generator.randint(1, 3))) for _ in range(3000)]

    def lyric() -> str:
        count = max(3, min(158, round(generator.gauss(MEAN_WORDS, SD_WORDS))))
        lines = [generator.choices(words, k=6) for _ in range(-(-count // 6))]
        return "\n".join(" ".join(line) for line in lines)

    first, second = ([lyric() for _ in range(options.rows)] for _ in range(2))
    scores = [generator.uniform(0, 5) for _ in range(options.rows)]
    model = options.model or str(small_model(folder, [*first, *second]))
    return Work(model, first, second, scores, options.global_batch_size, options.per_device_batch_size)


def small_model(folder: Path, texts: Sequence[str]) -> Path:
    """A random BERT of four layers, 256 wide, with a vocabulary learned from the texts."""
    import torch
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel, BertTokenizer

    learner = BertWordPieceTokenizer(lowercase=False, strip_accents=False)
    learner.train_from_iterator(texts, vocab_size=4000, show_progress=False)
    tokenizer = BertTokenizer(vocab=learner.get_vocab(), do_lower_case=False, strip_accents=False)
    sizes: dict[str, Any] = {
        "hidden_size": 256,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "intermediate_size": 1024,
    }
    torch.manual_seed(0)
    BertModel(BertConfig(vocab_size=len(tokenizer), **sizes)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def ours(work: Work) -> Callable[[], None]:
    """Our loop: global batches cut into micro-batches of neighbours in length."""
    from lyricsim_models.batches import rows_of_step
    from lyricsim_models.config import Recipe
    from lyricsim_models.course import course_of
    from lyricsim_models.encoders import load
    from lyricsim_models.loop import Learner
    from lyricsim_models.optimization import build_optimizer
    from lyricsim_models.pair_table import pair_table
    from lyricsim_models.registry import resolve
    from lyricsim_models.training import training_data
    from lyricsim_models.workers import Workers

    recipe = Recipe(global_batch_size=work.global_batch, per_device_batch_size=work.per_device, epochs=1)
    loaded, workers = load(resolve(work.model), recipe, 0), Workers()
    module = workers.prepare(loaded.scorer, build_optimizer(loaded.scorer, recipe), work.per_device)
    columns: dict[str, Any] = {"lyrics_1": work.first, "lyrics_2": work.second, "score": work.scores}

    def train() -> None:
        learner = Learner(
            workers, module, training_data(loaded, pair_table(columns, "pairs"), recipe), recipe, 0
        )
        course = course_of(len(work.scores), recipe)
        for step in range(course.total):
            rows = rows_of_step(0, 0, step, len(work.scores), work.global_batch)
            learner.step(rows, course.schedule.share(step), step)

    return train


def trainer(padding: bool | str) -> Contender:
    """Today's Trainer on pairs tokenised beforehand, as its text-classification example does it."""

    def prepare(work: Work) -> Callable[[], None]:
        from datasets import Dataset
        from transformers import AutoModelForSequenceClassification, AutoTokenizer, Trainer

        tokenizer = AutoTokenizer.from_pretrained(work.model)
        model = AutoModelForSequenceClassification.from_pretrained(work.model, num_labels=1)
        texts = Dataset.from_dict({"first": work.first, "second": work.second, "labels": work.scores})

        def tokenize(rows: Mapping[str, list[str]]) -> Any:
            return tokenizer(rows["first"], rows["second"], truncation=True, max_length=512, padding=padding)

        def train() -> None:
            rows = texts.map(tokenize, batched=True, remove_columns=["first", "second"])
            Trainer(model, arguments(work), train_dataset=rows, processing_class=tokenizer).train()

        return train

    return prepare


def cross_encoder_trainer(work: Work) -> Callable[[], None]:
    """The trainer of sentence-transformers, which tokenises as it goes."""
    from datasets import Dataset
    from sentence_transformers import CrossEncoder, CrossEncoderTrainer
    from sentence_transformers.cross_encoder.losses import MSELoss
    from sentence_transformers.cross_encoder.training_args import CrossEncoderTrainingArguments

    model = CrossEncoder(work.model, num_labels=1, max_length=512)
    rows = Dataset.from_dict({"first": work.first, "second": work.second, "label": work.scores})
    settings = arguments(work, CrossEncoderTrainingArguments)
    return lambda: CrossEncoderTrainer(model, settings, rows, loss=MSELoss(model)).train() and None


def arguments(work: Work, kind: Any = None) -> Any:
    """Settings of the two trainers: the same batch, one epoch, nothing saved or reported."""
    from transformers import TrainingArguments

    return (kind or TrainingArguments)(
        output_dir=tempfile.mkdtemp(),
        per_device_train_batch_size=work.per_device,
        gradient_accumulation_steps=work.global_batch // work.per_device,
        num_train_epochs=1,
        learning_rate=5e-5,
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
        logging_strategy="no",
    )


CONTENDERS: dict[str, Contender] = {
    "ours": ours,
    "padded": trainer("max_length"),
    "trainer": trainer(False),
    "cross-encoder-trainer": cross_encoder_trainer,
}


def measure(contender: Contender, work: Work) -> dict[str, float]:
    """Processor seconds and peak memory of one training, in a process of its own."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        train = contender(work)
        before = time.process_time()
        train()
        seconds = time.process_time() - before
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        os.write(writer, json.dumps({"seconds": seconds, "kibibytes": peak}).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        found = stream.read()
    if os.waitpid(child, 0)[1] or not found:
        raise RuntimeError("a contender failed; its message stands above")
    result: dict[str, float] = json.loads(found)
    return result


def compare(work: Work, repetitions: int) -> dict[str, dict[str, float]]:
    """Ours against each other: how many times the rows a second, and what share of the memory."""
    taken: dict[str, list[dict[str, float]]] = {name: [] for name in CONTENDERS}
    for _ in range(repetitions):
        for name, contender in CONTENDERS.items():
            taken[name].append(measure(contender, work))
    medians = {
        name: {key: statistics.median(run[key] for run in runs) for key in ("seconds", "kibibytes")}
        for name, runs in taken.items()
    }
    own = medians.pop("ours")
    return {
        name: {
            "speed_ratio": other["seconds"] / own["seconds"],
            "target": TARGETS[name],
            "memory_ratio": own["kibibytes"] / other["kibibytes"],
        }
        for name, other in medians.items()
    }


def main(given: Sequence[str] | None = None) -> None:
    """Measure and print ratios."""
    cli = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    cli.add_argument("--model", help="folder of an encoder (default: a small random one)")
    cli.add_argument("--rows", type=int, default=96, help="pairs (default: %(default)s)")
    cli.add_argument("--global-batch-size", type=int, default=32, help="default: %(default)s")
    cli.add_argument("--per-device-batch-size", type=int, default=8, help="default: %(default)s")
    cli.add_argument("--repetitions", type=int, default=3, help="default: %(default)s")
    cli.add_argument("--json", action="store_true", help="print the ratios as JSON")
    options = cli.parse_args(given)
    try:
        with tempfile.TemporaryDirectory() as folder:
            ratios = compare(synthetic_work(options, Path(folder)), options.repetitions)
    except UserError as error:
        sys.exit(f"error: {error}")
    if options.json:
        print_json(ratios)
        return
    rows = [
        [TITLES[name], values["speed_ratio"], values["target"], values["memory_ratio"]]
        for name, values in ratios.items()
    ]
    columns = ["our loop against", "rows/s, times", "target", "peak memory, share"]
    print_table(
        f"Global batch {options.global_batch_size}, micro-batches of {options.per_device_batch_size}",
        columns,
        rows,
    )


if __name__ == "__main__":
    main()
