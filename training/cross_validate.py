"""Cross-validation by blocks of songs: the headline protocol.

The songs stand in five balanced groups. Each two groups, a group with itself included, make a block: 15 of
them. A block's pairs are scored by a model trained only on pairs without any song of its two groups. So every
pair gets a prediction from a model that saw neither of its songs; all of them make one score.

The recipe is a baseline (--baseline) or that of finetune.py (--model), whose options are understood, but
those that publish or track.
"""

import argparse
import dataclasses
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import finetune
from song_blocks import block_folds, song_groups

from lyricsim_models.baselines import find_baseline, require_encoder
from lyricsim_models.cross_validation import SPLIT, Plan, all_pairs, cross_validate
from lyricsim_models.datafiles import read_splits
from lyricsim_models.diagnostics import KEYS as BESIDE
from lyricsim_models.evaluation import SCORE_KEYS
from lyricsim_models.job import Job
from lyricsim_models.pair_table import PairTable
from lyricsim_models.provenance import digest
from lyricsim_models.subruns import discard_weights
from lyricsim_tools.errors import UserError, explained, speaks_here
from lyricsim_tools.tables import print_json, print_table

EXAMPLES = """examples:
  python training/cross_validate.py --dataset lyricsim --config filtered --output cv/lexical \\
      --baseline lexical
  python training/cross_validate.py --dataset lyricsim --config filtered --output cv/zero-shot \\
      --baseline zero-shot --encoder e5-small
  accelerate launch training/cross_validate.py --dataset lyricsim --config filtered --output cv/bi \\
      --model e5-small --architecture bi-encoder --epochs 3 --learning-rate 2e-5 --resume

A block that is complete is not run again under --resume; an interrupted one goes on at its last checkpoint.
"""


def parser() -> argparse.ArgumentParser:
    """The command line, without the options of finetune.py."""
    cli = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    cli.add_argument("--dataset", required=True, help="dataset folder, Hub id, or CSV, JSONL or Parquet file")
    cli.add_argument("--config", help="the dataset's configuration (default: the dataset's own default)")
    cli.add_argument("--output", type=Path, required=True, help="folder of the cross-validation")
    cli.add_argument("--baseline", metavar="NAME", help="a baseline of svm_baseline.py instead of --model")
    cli.add_argument("--encoder", help="with --baseline: model of the zero-shot cosine")
    cli.add_argument("--prompt", help="text before each lyric (default: what the encoder's authors say)")
    cli.add_argument(
        "--validation-share",
        type=float,
        default=0.0,
        metavar="S",
        help="share of each block's training pairs to choose the checkpoint by (default: 0, the last one)",
    )
    cli.add_argument(
        "--training-share",
        type=float,
        default=1.0,
        metavar="S",
        help="share of each block's training pairs to learn from: a point of a learning curve (default: 1)",
    )
    cli.add_argument("--keep-models", action="store_true", help="keep the weights of each block")
    cli.add_argument("--resume", action="store_true", help="go on with the run in --output, or start it")
    cli.add_argument("--overwrite", action="store_true", help="replace an earlier run in --output")
    cli.add_argument("--json", action="store_true", help="print the result as JSON")
    return cli


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what the command line asks for; bad input ends with one message and exit status 2."""
    options, others = parser().parse_known_args(arguments)
    try:
        results = (
            run_baseline_folds(options, others) if options.baseline else run_model_folds(options, others)
        )
        report(options, results)
    except (UserError, OSError) as error:
        if speaks_here():
            print(f"error: {explained(error)}", file=sys.stderr, flush=True)
        sys.exit(2)


def run_baseline_folds(options: argparse.Namespace, others: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Cross-validate a baseline, in this process."""
    if others:
        raise UserError(f"--baseline with {' '.join(others)}", "no option of finetune.py", "drop it")
    require_encoder(options.baseline, options.encoder)
    from lyricsim_models.baseline_run import BaselineJob, run_baseline
    from lyricsim_models.zero_shot import zero_shot_encoder

    shared = (options.encoder, options.dataset, options.config, options.output)
    job = BaselineJob(
        options.baseline, find_baseline(options.baseline), *shared, resume=True, prompt=options.prompt
    )
    plan = make_plan(options, options.output, job.settings(""))
    embed = zero_shot_encoder(options.encoder, prompt=options.prompt) if options.encoder else None

    def run_fold(splits: Mapping[str, PairTable], folder: Path) -> None:
        run_baseline(dataclasses.replace(job, output=folder), splits, embed)

    return {options.baseline: cross_validate(plan, run_fold)}


def run_model_folds(options: argparse.Namespace, others: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Cross-validate a fine-tuning recipe, once a seed."""
    shared = ["--dataset", options.dataset, "--output", str(options.output)]
    shared += [] if options.prompt is None else ["--prompt", options.prompt]
    given = finetune.parser().parse_args([*others, *shared])
    refuse_without_effect(options, given)
    jobs = finetune.jobs_of(given)
    from lyricsim_models.run import run
    from lyricsim_models.workers import Workers

    def validate(job: Job, workers: Workers) -> dict[str, Any]:
        job = dataclasses.replace(job, config=options.config, resume=True, overwrite=False)

        def run_fold(splits: Mapping[str, PairTable], folder: Path) -> None:
            run(dataclasses.replace(job, output=folder), splits, workers)
            if not options.keep_models and workers.is_main:
                discard_weights(folder)

        return cross_validate(make_plan(options, job.output, job.settings("")), run_fold, workers)

    with Workers() as workers:
        results = {f"seed {job.seed}": validate(job, workers) for job in jobs}
    return results if workers.is_main else {}


def refuse_without_effect(options: argparse.Namespace, given: argparse.Namespace) -> None:
    """Refuse options that a cross-validation of a model would drop without a word.

    Raises:
        UserError: names them.
    """
    if options.encoder:
        raise UserError(
            "--encoder without --baseline", "an encoder for a baseline's cosine", "drop --encoder"
        )
    unused = [name for name in ("push_to_hub", "public") if getattr(given, name)]
    unused += ["report_to"] if given.report_to != "none" else []
    if unused:
        raise UserError(
            f"cross-validation with {', '.join('--' + name.replace('_', '-') for name in unused)}",
            "no publishing and no tracker: its models are of parts of the data",
            "drop it; finetune.py makes the model to publish",
        )


def make_plan(options: argparse.Namespace, output: Path, settings: Mapping[str, Any]) -> Plan:
    """Read the pairs, cut them into blocks, record both."""
    pairs = all_pairs(read_splits(options.dataset, options.config))
    groups = song_groups(options.dataset, pairs)
    protocol = {
        "name": "song-disjoint block cross-validation",
        "groups": len(set(groups.values())),
        "groups_sha256": digest(f"{song} {group}" for song, group in groups.items()),
        "validation_share": options.validation_share,
        "training_share": options.training_share,
    }
    folds = block_folds(pairs, groups, options.validation_share, options.training_share)
    recorded = {**settings, "protocol": protocol}
    return Plan(pairs, folds, output, recorded, options.resume, options.overwrite)


def report(options: argparse.Namespace, results: Mapping[str, Mapping[str, Any]]) -> None:
    """Print the scores, with their intervals, of each seed or of the baseline; the main process has them."""
    if not results:
        return
    if options.json:
        print_json({"output": str(options.output), "metrics": results})
        return
    rows = [[name, *figures(metrics[SPLIT])] for name, metrics in results.items()]
    columns = ["", *SCORE_KEYS, *BESIDE, "pairs"]
    print_table(f"Song-disjoint block cross-validation: {options.output}", columns, rows)


def figures(scores: Mapping[str, Any]) -> list[object]:
    """One row: each score with its 95 % interval, then what is read beside it."""
    shown: list[object] = []
    for key in SCORE_KEYS:
        low, high = scores[f"{key}_ci"]
        defined = None not in (scores[key], low, high)
        shown.append(f"{scores[key]:.3f} [{low:.3f}, {high:.3f}]" if defined else None)
    return [*shown, scores["nonzero_pearson"], scores["zero_auc"], scores["pairs"]]


if __name__ == "__main__":
    main()
