"""Fit a baseline or a floor, score it as every other model is scored, and write the same files.

The default is the paper's: support vector regression with an RBF kernel, here on documented features.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lyricsim_models.baselines import BASELINES, find_baseline, require_encoder
from lyricsim_models.evaluation import SCORE_KEYS
from lyricsim_tools.errors import UserError, explained
from lyricsim_tools.tables import print_json, print_table

EXAMPLES = """examples:
  python training/svm_baseline.py --dataset lyricsim --config filtered --output runs/svr
  python training/svm_baseline.py --dataset lyricsim --config filtered --output runs/floor \\
      --baseline length-only
  python training/svm_baseline.py --dataset lyricsim --config filtered --output runs/zero-shot \\
      --baseline zero-shot --encoder e5-small

baselines:
""" + "\n".join(f"  {name:14} {baseline.title}" for name, baseline in BASELINES.items())


def parser() -> argparse.ArgumentParser:
    """The command line."""
    cli = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    cli.add_argument("--dataset", required=True, help="dataset folder, Hub id, or CSV, JSONL or Parquet file")
    cli.add_argument("--config", help="the dataset's configuration (default: the dataset's own default)")
    cli.add_argument("--output", type=Path, required=True, help="folder of the run")
    cli.add_argument("--baseline", default="svr", metavar="NAME", help="one of those below (default: svr)")
    cli.add_argument("--encoder", help="model of the zero-shot cosine: registry name, Hub id or folder")
    cli.add_argument(
        "--prompt", help="text before each lyric (default: what the encoder's authors prescribe)"
    )
    cli.add_argument("--overwrite", action="store_true", help="replace an earlier run in --output")
    cli.add_argument("--allow-seen", action="store_true", help="score test pairs that training saw; marked")
    cli.add_argument("--json", action="store_true", help="print the result as JSON")
    return cli


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what the command line asks for; bad input ends with one message and exit status 2."""
    options = parser().parse_args(arguments)
    try:
        report(options, fit_and_score(options))
    except (UserError, OSError) as error:
        print(f"error: {explained(error)}", file=sys.stderr)
        sys.exit(2)


def fit_and_score(options: argparse.Namespace) -> Mapping[str, Mapping[str, Any]]:
    """Read the pairs, run the baseline."""
    require_encoder(options.baseline, options.encoder)
    baseline = find_baseline(options.baseline)
    from lyricsim_models.baseline_run import BaselineJob, run_baseline
    from lyricsim_models.datafiles import read_splits
    from lyricsim_models.zero_shot import zero_shot_encoder

    shared = {
        key: getattr(options, key)
        for key in ("encoder", "prompt", "dataset", "config", "output", "overwrite", "allow_seen")
    }
    splits = read_splits(options.dataset, options.config)
    embed = zero_shot_encoder(options.encoder, prompt=options.prompt) if options.encoder else None
    return run_baseline(BaselineJob(options.baseline, baseline, **shared), splits, embed)


def report(options: argparse.Namespace, metrics: Mapping[str, Mapping[str, Any]]) -> None:
    """Print the scores of each split."""
    if options.json:
        print_json({"output": str(options.output), "metrics": metrics})
        return
    columns = (*SCORE_KEYS, "nonzero_pearson", "zero_auc", "pairs")
    rows = [[split, *[scores[column] for column in columns]] for split, scores in metrics.items()]
    print_table(f"{find_baseline(options.baseline).title}: {options.output}", ["split", *columns], rows)


if __name__ == "__main__":
    main()
