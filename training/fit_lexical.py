"""Fit the lexical scorer that comes with the package: a few coefficients on counts of words and lines.

Only the training split is read, so validation and test stay unseen. The file holds coefficients, counts and
digests: no id, rating or word of any lyric.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lyricsim_models.baselines import RIDGE_PENALTY, lyric_pairs
from lyricsim_models.features import LEXICAL, TEXT_FEATURES
from lyricsim_models.lexical import LexicalScorer, fit_lexical_scorer
from lyricsim_tools.atomic import write_json
from lyricsim_tools.errors import UserError, explained
from lyricsim_tools.tables import print_table

EXAMPLES = """examples:
  python training/fit_lexical.py --dataset lyricsim --config filtered --output lyricsim_models/lexical.json
  python training/predict.py --model my-scorer.json --input pairs.csv --output scores.csv
"""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    cli = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    cli.add_argument("--dataset", required=True, help="dataset folder, Hub id, or CSV, JSONL or Parquet file")
    cli.add_argument("--config", help="the dataset's configuration (default: the dataset's own default)")
    cli.add_argument("--output", type=Path, required=True, help="JSON file, replaced if it is such a scorer")
    return cli


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit, write, show; bad input ends with one message and exit status 2."""
    options = parser().parse_args(arguments)
    try:
        scorer = fit(options.dataset, options.config)
        write_scorer(options.output, scorer)
    except (UserError, OSError) as error:
        print(f"error: {explained(error)}", file=sys.stderr)
        sys.exit(2)
    rows = [[TEXT_FEATURES[name].meaning, weight] for name, weight in scorer.weights.items()]
    print_table(
        f"Lexical scorer: {options.output}", ["feature", "weight"], [*rows, ["(intercept)", scorer.intercept]]
    )


def fit(dataset: str, config: str | None) -> LexicalScorer:
    """A scorer of the training split of a dataset, with where it comes from."""
    from lyricsim_models.datafiles import read_splits
    from lyricsim_models.provenance import fingerprint
    from lyricsim_models.run_files import describe_pairs

    splits = read_splits(dataset, config)
    training = splits["train"]
    provenance: Mapping[str, Any] = {
        "dataset": Path(dataset).name,
        "config": config,
        "split": "train",
        "data_fingerprint": fingerprint(splits),
        "trained_on": describe_pairs(training),
        "ridge_penalty": RIDGE_PENALTY,
    }
    return fit_lexical_scorer(
        LEXICAL, lyric_pairs(training), np.array(training.gold), RIDGE_PENALTY, provenance
    )


def write_scorer(path: Path, scorer: LexicalScorer) -> None:
    """Write a scorer, over an earlier one but over nothing else.

    Raises:
        UserError: the file exists and is something else.
    """
    from lyricsim_models.lexical import read_lexical_scorer

    if path.exists():
        read_lexical_scorer(path)
    write_json(path, scorer.to_json())


if __name__ == "__main__":
    main()
