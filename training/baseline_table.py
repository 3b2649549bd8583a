"""All baselines and floors by every protocol, in one table with intervals.

Protocols: the configuration's own split; fresh clean draws by the same rule; fresh song-disjoint draws; block
cross-validation (each pair by a model that saw neither song); and, to show what a leak does, the paper's own
arithmetic, whose test pairs are also trained on.
"""

import argparse
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from song_blocks import as_records, block_folds, song_groups
from tqdm import tqdm

from lyricsim_dataset import song_splits, splits
from lyricsim_models.baselines import BASELINES, Baseline, fit_baseline
from lyricsim_models.cross_validation import all_pairs, intervals
from lyricsim_models.datafiles import read_splits
from lyricsim_models.diagnostics import all_scores
from lyricsim_models.evaluation import three_scores
from lyricsim_models.features import Embed
from lyricsim_models.pair_table import PairTable
from lyricsim_tools.atomic import write_json
from lyricsim_tools.errors import UserError, explained
from lyricsim_tools.tables import print_table

EXAMPLES = """example:
  python training/baseline_table.py --dataset lyricsim --encoder e5-small --draws 20 --output baselines.json
"""
COLUMNS = (
    "baseline",
    "clean split",
    "clean draws",
    "song-disjoint draws",
    "blocks",
    "non-zero r",
    "AUC",
    "leaked",
)
KEY = "combined_score"

# Training ids and test ids of each draw.
Draws = Sequence[tuple[Sequence[str], Sequence[str]]]


def parser() -> argparse.ArgumentParser:
    """The command line."""
    cli = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    cli.add_argument("--dataset", required=True, help="built dataset folder or Hub id")
    cli.add_argument(
        "--config", default="filtered", help="a configuration with disjoint splits (default: filtered)"
    )
    cli.add_argument("--encoder", help="for the zero-shot baselines, which are left out without it")
    cli.add_argument(
        "--prompt", help="text before each lyric (default: what the encoder's authors prescribe)"
    )
    cli.add_argument("--only", nargs="+", choices=BASELINES, metavar="NAME", help="these baselines only")
    cli.add_argument("--draws", type=int, default=20, help="fresh splits of each kind (default: 20)")
    cli.add_argument("--output", type=Path, help="JSON file for the figures")
    return cli


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print; bad input ends with one message and exit status 2."""
    options = parser().parse_args(arguments)
    try:
        results = measure_all(options)
        if options.output:
            write_json(options.output, results)
    except (UserError, OSError) as error:
        print(f"error: {explained(error)}", file=sys.stderr)
        sys.exit(2)
    print_table(
        "Combined score x 100", COLUMNS, [table_row(BASELINES[name], r) for name, r in results.items()]
    )


def measure_all(options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Every baseline by every protocol."""
    if options.draws < 2:
        raise UserError(f"--draws {options.draws}", "at least 2, for a deviation", "draw more")
    published = read_splits(options.dataset, options.config)
    if "test" not in published:
        raise UserError(
            f"{options.dataset} has the splits {', '.join(published)}",
            "a test split beside train",
            "choose another --config, or add a column named split",
        )
    pairs = all_pairs(published)
    folds = block_folds(pairs, song_groups(options.dataset, pairs))
    embed = None
    if options.encoder:
        from lyricsim_models.zero_shot import zero_shot_encoder

        embed = zero_shot_encoder(options.encoder, prompt=options.prompt)
    draws: dict[str, Draws] = {
        "published": [(published["train"].pair_ids, published["test"].pair_ids)],
        "clean": clean_draws(pairs, options.draws),
        "song_disjoint": song_disjoint_draws(pairs, options.draws),
        "blocks": [(fold.train, fold.test) for fold in folds],
        "leaked": leaked_draws(pairs, options.draws),
    }
    named = {name: BASELINES[name] for name in options.only or BASELINES}
    chosen = {name: b for name, b in named.items() if embed is not None or not b.needs_encoder}
    with warnings.catch_warnings():
        # Song identity predicts a constant for unseen songs; the table says so.
        warnings.filterwarnings("ignore", message=".*constant.*")
        return {
            name: measure_baseline(baseline, pairs, draws, embed)
            for name, baseline in tqdm(chosen.items(), unit="baseline")
        }


def clean_draws(pairs: PairTable, count: int) -> Draws:
    """Fresh stratified splits by the rule of the configuration's."""
    records, ids = as_records(pairs), set(pairs.pair_ids)
    found = [splits.ids_by_split(splits.stratified_split(records, ids, seed=1 + s)) for s in range(count)]
    return [(split["train"], split["test"]) for split in found]


def song_disjoint_draws(pairs: PairTable, count: int) -> Draws:
    """Fresh song-disjoint splits by the rule of the configuration's."""
    records, ids = as_records(pairs), set(pairs.pair_ids)
    found = []
    for seed in range(1, 1 + count):
        tested = song_splits.song_partition(records, ids, seed)
        found.append(splits.ids_by_split(song_splits.song_disjoint_split(records, ids, tested, seed)))
    return [(split["train"], split["test"]) for split in found]


def leaked_draws(pairs: PairTable, count: int) -> Draws:
    """Fresh splits by the paper's arithmetic: test pairs are trained on."""
    found = [splits.paper_split(as_records(pairs), seed=1 + seed) for seed in range(count)]
    return [(split["train"], split["test"]) for split in found]


def measure_baseline(
    baseline: Baseline, pairs: PairTable, draws: Mapping[str, Draws], embed: Embed | None
) -> dict[str, Any]:
    """One baseline by every protocol."""
    place = {pair_id: row for row, pair_id in enumerate(pairs.pair_ids)}

    def take(ids: Sequence[str]) -> PairTable:
        return pairs.take([place[pair_id] for pair_id in ids])

    def predict(train: Sequence[str], test: Sequence[str]) -> np.ndarray:
        return fit_baseline(baseline, take(train), embed)(take(test))

    result: dict[str, Any] = {
        name: spread([score_draw(predict, take, draw) for draw in draws[name]])
        for name in ("clean", "song_disjoint", "leaked")
    }
    for name in ("published", "blocks"):
        table = take([pair_id for _, test in draws[name] for pair_id in test])
        predictions = np.concatenate([predict(*draw) for draw in draws[name]])
        result[name] = {**all_scores(predictions, table.gold), **intervals(predictions, table)}
    return result


def score_draw(
    predict: Callable[..., np.ndarray],
    take: Callable[..., PairTable],
    draw: tuple[Sequence[str], Sequence[str]],
) -> float | None:
    """The combined score of one draw; None where it is undefined."""
    return three_scores(predict(*draw), take(draw[1]).gold)[KEY]


def spread(scores: Sequence[float | None]) -> dict[str, float | int | None]:
    """Mean and sample standard deviation over draws; None where a draw has no score."""
    known = [score for score in scores if score is not None]
    if len(known) < 2 or len(known) < len(scores):
        return {"mean": None, "sd": None, "draws": len(scores)}
    return {"mean": float(np.mean(known)), "sd": float(np.std(known, ddof=1)), "draws": len(scores)}


def table_row(baseline: Baseline, result: Mapping[str, Any]) -> list[object]:
    """One line of the table, in per cent."""
    over_draws = {
        name: "undefined" if s["mean"] is None else f"{100 * s['mean']:.1f} ± {100 * s['sd']:.1f}"
        for name, s in result.items()
        if name in ("clean", "song_disjoint", "leaked")
    }
    once = {name: with_interval(result[name]) for name in ("published", "blocks")}
    beside = [result["blocks"][key] for key in ("nonzero_pearson", "zero_auc")]
    shown = [once["published"], over_draws["clean"], over_draws["song_disjoint"], once["blocks"]]
    return [baseline.title, *shown, *["–" if b is None else f"{b:.2f}" for b in beside], over_draws["leaked"]]


def with_interval(scores: Mapping[str, Any]) -> str:
    """A combined score with its 95 % interval, in per cent."""
    low, high = scores[f"{KEY}_ci"]
    if scores[KEY] is None:
        return "undefined"
    return f"{100 * scores[KEY]:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


if __name__ == "__main__":
    main()
