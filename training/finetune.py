"""Fine-tune a model on pairs of lyrics, on any topology that Accelerate knows, with the same result."""

import argparse
import contextlib
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from lyricsim_models.config import ARCHITECTURES, LINE_BREAKS, REPORT_TO, Recipe, check_seed
from lyricsim_models.diagnostics import KEYS as BESIDE
from lyricsim_models.evaluation import SCORE_KEYS
from lyricsim_models.job import Job
from lyricsim_tools.errors import UserError, explained, speaks_here
from lyricsim_tools.tables import print_json, print_table

DEFAULTS = Recipe()
EXAMPLES = """examples:
  accelerate launch training/finetune.py \\
      --model maria-base --dataset lyricsim --config filtered --output runs/maria
  accelerate launch --config_file training/configs/multi_gpu_ddp.yaml training/finetune.py \\
      --model xlm-r-base --dataset lyricsim --config filtered --output runs/xlm-r --learning-rate 1e-5
  python training/finetune.py \\
      --model my-encoder --dataset pairs.csv --output runs/mine --architecture bi-encoder

A file of pairs needs the columns lyrics_1, lyrics_2, score (0 to 5); pair_id, song_id_1, song_id_2 and
split (train, validation, test) are used where present. Each topology has its configuration in
training/configs/.
"""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    cli = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = cli.add_argument
    add("--model", required=True, help="registry name, Hub id or folder")
    add("--dataset", required=True, help="dataset folder, Hub id, or a CSV, JSONL or Parquet file of pairs")
    add("--config", help="the dataset's configuration, such as filtered (default: the dataset's own)")
    add("--output", type=Path, required=True, help="folder of the run; with several seeds, of seed-N folders")
    _add_recipe(cli.add_argument_group("recipe (defaults: the paper's)"))
    _add_running(cli.add_argument_group("running"))
    return cli


def _add_recipe(group: Any) -> None:
    add = group.add_argument
    add("--architecture", choices=ARCHITECTURES, default=DEFAULTS.architecture, help="default: %(default)s")
    for field, kind, text in (
        ("global_batch_size", int, "rows of an optimizer step, over all processes"),
        ("per_device_batch_size", int, "most rows a process holds at once; does not change the result"),
        ("learning_rate", float, "of AdamW, at its highest"),
        ("weight_decay", float, "decoupled weight decay"),
        ("warmup_ratio", float, "share of the steps over which the rate rises"),
        ("epochs", int, "passes over the training rows"),
        ("max_length", int, "most tokens of a sequence"),
    ):
        default = getattr(DEFAULTS, field)
        add(_option(field), type=kind, default=default, metavar="N", help=f"{text} (default: {default})")
    add("--max-steps", type=int, metavar="N", help="optimizer steps in all, instead of --epochs")
    add("--dropout", type=float, metavar="P", help="replaces every dropout rate (default: the checkpoint's)")
    add("--patience", type=int, metavar="N", help="epochs without a better score before training ends")
    add("--prompt", help="text before each lyric, bi-encoder only (default: what the model's authors say)")
    add("--line-breaks", choices=LINE_BREAKS, default="keep", help="what the model sees (default: keep)")
    add("--symmetric", action="store_true", help="a score is the mean of both orders")
    add("--swap-augmentation", action="store_true", help="train on both orders of each pair")


def _add_running(group: Any) -> None:
    add = group.add_argument
    add("--seeds", type=int, nargs="+", default=[42], metavar="N", help="one run each (default: 42)")
    add("--checkpoint-every", type=int, metavar="N", help="steps between checkpoints (default: epoch ends)")
    add("--resume", action="store_true", help="go on with the run in --output, or start it")
    add("--overwrite", action="store_true", help="replace an earlier run in --output")
    add("--allow-seen", action="store_true", help="score test pairs that training saw; marks the result")
    add("--report-to", choices=REPORT_TO, default="none", help="tracker (default: none)")
    add("--push-to-hub", metavar="ID", help="publish the best seed as owner/name; private unless --public")
    add("--public", action="store_true", help="with --push-to-hub: for everyone to see")
    add("--json", action="store_true", help="print the result as JSON")


def _option(field: str) -> str:
    return "--" + field.replace("_", "-")


def jobs_of(options: argparse.Namespace) -> list[Job]:
    """One job a seed.

    Raises:
        UserError: a value that cannot work; a seed twice.
    """
    given = vars(options)
    recipe = Recipe(**{field.name: given[field.name] for field in fields(Recipe) if field.name in given})
    seeds = [check_seed(seed) for seed in options.seeds]
    if len(set(seeds)) < len(seeds):
        raise UserError(f"--seeds {' '.join(map(str, seeds))}", "each seed once", "drop the repeated one")
    shared = {field.name: given[field.name] for field in fields(Job) if field.name in given}
    folders = [options.output / f"seed-{seed}" if len(seeds) > 1 else options.output for seed in seeds]
    return [
        Job(**{**shared, "output": folder, "recipe": recipe, "seed": seed})
        for seed, folder in zip(seeds, folders, strict=True)
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what the command line asks for; bad input ends with one message and exit status 2."""
    options = parser().parse_args(arguments)
    try:
        train_all(options)
    except (UserError, OSError) as error:
        # The processes of a machine meet the same error; one message is enough.
        if speaks_here():
            print(f"error: {explained(error)}", file=sys.stderr, flush=True)
        sys.exit(2)


def train_all(options: argparse.Namespace) -> None:
    """Train every seed, then report and publish."""
    jobs = jobs_of(options)
    if options.public and not options.push_to_hub:
        raise UserError("--public without --push-to-hub", "both, or neither", "add --push-to-hub owner/name")
    from lyricsim_models.datafiles import read_splits
    from lyricsim_models.run import run
    from lyricsim_models.seeds import refuse_foreign_summary, write_summary
    from lyricsim_models.workers import Workers

    with Workers(options.report_to) as workers:
        if options.push_to_hub:
            workers.together(lambda: require_publishable(options.push_to_hub) if workers.is_main else None)
        if len(jobs) > 1:
            workers.together(lambda: refuse_foreign_summary(options.output) if workers.is_main else None)
        splits = read_splits(options.dataset, options.config)
        # Libraries print too; standard output is for the result alone.
        with contextlib.redirect_stdout(sys.stderr):
            results = {job.seed: run(job, splits, workers) for job in jobs}
        if workers.is_main:
            summary = write_summary(options.output, results) if len(jobs) > 1 else None
            for job in jobs:
                write_card(job.output)
            report(options, results, summary)
            if options.push_to_hub:
                publish(options, best_of(jobs, results).output)


def require_publishable(repo_id: str) -> None:
    """Find out before training what would keep its result from the Hub after it.

    Raises:
        UserError: the id to publish under has no owner, or nobody is logged in.
    """
    from lyricsim_tools.hub import require_login
    from lyricsim_tools.hub_request import require_owner

    require_owner(repo_id)
    require_login("then start again; nothing was trained")


def write_card(folder: Path) -> None:
    """Write the model card of a run from the run's own files; one that is there may have been edited."""
    from lyricsim_cards.model_card import CARD_FILE, EVAL_RESULTS_FILE, write_model_card
    from lyricsim_cards.model_folder import EXTRAS_FILE
    from lyricsim_models.run_folder import write_manifest

    if (folder / CARD_FILE).exists():
        return
    write_manifest(folder, [CARD_FILE, EVAL_RESULTS_FILE, EXTRAS_FILE])
    write_model_card(folder)


def best_of(jobs: Sequence[Job], results: Mapping[int, Mapping[str, Any]]) -> Job:
    """The run that the development set prefers; the first where nothing was selected."""

    def development(job: Job) -> float:
        return float(results[job.seed].get("validation", {}).get("combined_score") or 0.0)

    return max(jobs, key=development)


def publish(options: argparse.Namespace, folder: Path) -> None:
    """Push one run's model and card; the run's own files stay whatever happens.

    Raises:
        UserError: with the command that repeats this.
    """
    from lyricsim_cards.publish import publish_run

    try:
        result = publish_run(folder, options.push_to_hub, public=options.public)
    except (UserError, OSError) as error:
        words = ["lyricsim-cards", "publish", str(folder), options.push_to_hub]
        command = shlex.join([*words, *(["--public"] if options.public else [])])
        said = explained(error)
        again = f"the run in {folder} is complete; to write its card and publish it:\n    {command}"
        raise UserError(said.given, said.expected, f"{said.remedy}\n  {again}") from error
    print(f"published {folder} as {result.url}", file=sys.stderr)


def report(
    options: argparse.Namespace, results: Mapping[int, Mapping[str, Any]], summary: Mapping[str, Any] | None
) -> None:
    """Print scores by seed and split."""
    if options.json:
        only = next(iter(results.values()))
        print_json({"output": str(options.output), "metrics": only if summary is None else summary})
        return
    rows = [
        [f"seed {seed}, {split}", *[scores.get(key) for key in (*SCORE_KEYS, *BESIDE)], scores["pairs"]]
        for seed, metrics in results.items()
        for split, scores in metrics.items()
    ]
    for split, scores in (summary or {}).get("mean", {}).items():
        for what in ("mean", "sd"):
            rows.append([f"{what}, {split}", *[scores[key][what] for key in SCORE_KEYS], None, None, None])
    print_table(f"Scores of {options.output}", ["", *SCORE_KEYS, *BESIDE, "pairs"], rows)


if __name__ == "__main__":
    main()
