"""The main job end to end: build a dataset, fit a baseline, fine-tune a transformer, score both."""

import argparse
import csv
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import evaluate
from datasets import Dataset, load_dataset

from lyricsim_tools.tables import print_table

TRAINING = Path(__file__).resolve().parent
EXAMPLES = """examples:
  python training/demo.py                                     embedded sample, tiny random transformer
  python training/demo.py --source DIR --model FOLDER_OR_ID   real data, real encoder
"""
SCORES = ("pearson", "spearmanr", "combined_score")


@dataclass(frozen=True)
class Demo:
    """What the demonstration works on.

    Args:
        source: folder with upstream's files; None for the embedded sample.
        model: encoder to fine-tune; None for a tiny one with random weights.
        output: folder for the two runs.
        max_steps: optimizer steps of the fine-tuning run.
    """

    source: Path | None
    model: str | None
    output: Path
    max_steps: int

    @property
    def dataset(self) -> str:
        """Folder that ``load_dataset`` is given; the sample never carries the dataset's own name."""
        return "lyricsim" if self.source else "lyricsim-sample"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run every step and print one table."""
    demo = parse(arguments)
    build_dataset(demo)
    runs = {"RBF SVR on text features": fit_baseline(demo)}
    name = f"fine-tuned {Path(demo.model).name}" if demo.model else "tiny transformer, random weights"
    runs[f"{name}, {demo.max_steps} steps"] = fine_tune(demo)
    report(demo, {system: score(demo, folder) for system, folder in runs.items()})


def parse(arguments: Sequence[str] | None) -> Demo:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--source", type=Path, help="folder with upstream's files (default: embedded sample)")
    parser.add_argument("--model", help="encoder to fine-tune: folder, hub id or registry name")
    parser.add_argument("--output", type=Path, default=Path("demo-output"), help="default: %(default)s")
    parser.add_argument("--max-steps", type=int, default=20, help="optimizer steps (default: %(default)s)")
    return Demo(**vars(parser.parse_args(arguments)))


def build_dataset(demo: Demo) -> None:
    """Write the Hub-ready folder into the working directory."""
    origin = ["--source", str(demo.source)] if demo.source else ["--sample"]
    step("Build the dataset", ["lyricsim-dataset", "build", *origin, "--out", demo.dataset])


def fit_baseline(demo: Demo) -> Path:
    """Fit the RBF support vector regression; returns its run folder."""
    folder = demo.output / "svr"
    script = str(TRAINING / "svm_baseline.py")
    step(
        "Fit the baseline",
        ["python", script, *dataset_arguments(demo), "--output", str(folder), "--overwrite"],
    )
    return folder


def fine_tune(demo: Demo) -> Path:
    """Fine-tune for a few steps through ``accelerate launch``; returns the model folder."""
    folder = demo.output / "model"
    launch = ["accelerate", "launch", "--num_processes", "1", "--num_machines", "1"]
    launch += ["--mixed_precision", "no", "--dynamo_backend", "no", str(TRAINING / "finetune.py")]
    options = ["--model", demo.model or str(tiny_model(demo)), *dataset_arguments(demo)]
    options += ["--output", str(folder), "--overwrite", "--max-steps", str(demo.max_steps)]
    step("Fine-tune", [*launch, *options])
    return folder


def tiny_model(demo: Demo) -> Path:
    """A two-layer encoder with random weights and a tokenizer trained on the built songs."""
    from lyricsim_models.tiny import write_tiny_model

    lyrics = load(demo, "songs", "train")["lyrics"]
    return write_tiny_model(demo.output / "tiny-random-encoder", list(lyrics))


def score(demo: Demo, run: Path) -> dict[str, float]:
    """Score a run's predictions of the test split with the metric that users load."""
    with (run / "predictions.csv").open(encoding="utf-8", newline="") as stream:
        predicted = {row["pair_id"]: float(row["prediction"]) for row in csv.DictReader(stream)}
    test = load(demo, "filtered", "test")
    metric = evaluate.load(str(TRAINING.parent / "lyricsim_metric"))
    return metric.compute(predictions=[predicted[i] for i in test["pair_id"]], references=test["score"])


def load(demo: Demo, config: str, split: str) -> Dataset:
    """Load the built folder as a user would."""
    return load_dataset(demo.dataset, config, split=split)


def dataset_arguments(demo: Demo) -> list[str]:
    """The dataset options that every training script shares."""
    return ["--dataset", demo.dataset, "--config", "filtered"]


def step(title: str, command: list[str]) -> None:
    """Run one command of this environment; its failure ends the demonstration with its own message."""
    print(f"\n== {title}\n   {' '.join(command)}", flush=True)
    program = Path(sys.executable).with_name(command[0])
    if status := subprocess.run([str(program), *command[1:]], check=False).returncode:
        sys.exit(f"'{title}' failed with exit status {status}; its message stands above")


def report(demo: Demo, scores: dict[str, dict[str, float]]) -> None:
    """Print the scores and what to do next."""
    count = len(load(demo, "filtered", "test"))
    rows = [[system, *[values[name] for name in SCORES]] for system, values in scores.items()]
    print()
    print_table(f"Test split of {demo.dataset}, {count} pairs", ["system", *SCORES], rows)
    print(NEXT_STEPS.format(model=demo.output / "model", dataset=demo.dataset))
    if not demo.source:
        print("Synthetic ratings of verses written for this project; the figures mean nothing more.")


NEXT_STEPS = """
Look at    {model}/README.md          the model card
Load       load_dataset("{dataset}", "filtered")
Train      accelerate launch training/finetune.py --help
Real data  make demo SOURCE=<upstream's files> MODEL=<encoder>
"""


if __name__ == "__main__":
    main()
