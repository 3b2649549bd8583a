"""Score pairs of lyrics, or rank a catalogue of songs for a query.

Pairs come from a CSV, JSONL or Parquet file of any size with the columns lyrics_1 and lyrics_2 (and pair_id,
song_id_1, song_id_2 if known). The file is checked first; then it is scored window by window, on all
processes, and the output gets its name when it is whole.

A catalogue is such a file with the columns song_id and lyrics. With an encoder each song is embedded once and
the nearest songs are found; --reranker then scores those pair by pair.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from lyricsim_models.pair_scorers import open_scorer
from lyricsim_models.prediction import WINDOW, PredictionJob, predict_file
from lyricsim_models.score_file import refuse_output, refuse_own_input
from lyricsim_tools.errors import UserError, explained, speaks_here
from lyricsim_tools.tables import print_json, print_table

EXAMPLES = """examples:
  python training/predict.py --model lexical --input pairs.csv --output scores.csv
  python training/predict.py --model runs/maria --input pairs.parquet --output scores.csv --resume
  accelerate launch --config_file training/configs/multi_gpu_ddp.yaml training/predict.py \\
      --model runs/maria --input pairs.jsonl --output scores.jsonl
  python training/predict.py --model runs/bi --catalogue songs.csv --query 10842 --top 10
  python training/predict.py --model e5-small --catalogue songs.parquet --query-text lyric.txt \\
      --reranker runs/maria --recall 100 --output ranking.csv

`lexical` is the scorer that comes with the package: counts of words and lines, no network, no torch.
Predictions are on the 0-5 scale and are not clipped to it.
"""
_RANKING_ONLY = ("query", "query_text", "recall", "reranker", "vectors", "prompt")
_RECALL = 100
_SCORING_ONLY = ("resume", "allow_seen")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    cli = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = cli.add_argument
    add(
        "--model",
        required=True,
        help="lexical, a folder, a registry name, a Hub id, or a lexical scorer's JSON",
    )
    what = cli.add_mutually_exclusive_group(required=True)
    what.add_argument("--input", type=Path, help="file of pairs")
    what.add_argument("--catalogue", type=Path, help="file of songs")
    add("--output", type=Path, help="CSV or JSONL file; needed with --input")
    add("--batch-size", type=int, default=32, help="most pairs a process computes at once (default: 32)")
    add("--max-length", type=int, default=512, help="most tokens of a sequence (default: 512)")
    add("--window", type=int, default=WINDOW, help=f"rows held at once (default: {WINDOW})")
    order = cli.add_mutually_exclusive_group()
    order.add_argument(
        "--symmetric", action="store_const", const=True, help="a score is the mean of both orders"
    )
    order.add_argument(
        "--one-order", dest="symmetric", action="store_const", const=False, help="score one order only"
    )
    add("--resume", action="store_true", help="go on with an interrupted run of the same command")
    add("--overwrite", action="store_true", help="replace an existing output")
    add(
        "--allow-seen",
        action="store_true",
        help="score pairs that the model was trained on; the record says so",
    )
    ranking = cli.add_argument_group("ranking a catalogue")
    ranking.add_argument("--query", metavar="SONG_ID", nargs="+", help="songs of the catalogue")
    ranking.add_argument(
        "--query-text", metavar="FILE", type=Path, nargs="+", help="files that hold a lyric each"
    )
    ranking.add_argument("--top", type=int, default=10, help="songs shown (default: 10)")
    ranking.add_argument(
        "--recall", type=int, help=f"candidates for --reranker (default: {_RECALL}, or --top if more)"
    )
    ranking.add_argument(
        "--reranker", metavar="MODEL", help="scores the candidates: lexical or a trained model"
    )
    ranking.add_argument("--prompt", help="text before each lyric (default: what the encoder's authors say)")
    ranking.add_argument(
        "--vectors", metavar="FILE", type=Path, help="keeps the catalogue's vectors for next time"
    )
    add("--json", action="store_true", help="print the result as JSON")
    return cli


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what the command line asks for; bad input ends with one message and exit status 2."""
    options = parser().parse_args(arguments)
    try:
        check_options(options)
        rank_catalogue(options) if options.catalogue else score_pairs(options)
    except (UserError, OSError) as error:
        if speaks_here():
            print(f"error: {explained(error)}", file=sys.stderr, flush=True)
        sys.exit(2)


def check_options(options: argparse.Namespace) -> None:
    """Refuse what cannot work before a model is loaded.

    Raises:
        UserError: an output or a query is missing, an option of the other use is given, an output would
            replace what is read, or a number is too small.
    """
    if options.input and not options.output:
        raise UserError("--input without --output", "a CSV or JSONL file to write", "name one with --output")
    if options.catalogue and not (options.query or options.query_text):
        raise UserError("--catalogue without a query", "--query SONG_ID or --query-text FILE", "name a query")
    kind, foreign = ("--input", _RANKING_ONLY) if options.input else ("--catalogue", _SCORING_ONLY)
    if given := [f"--{name.replace('_', '-')}" for name in foreign if getattr(options, name)]:
        raise UserError(f"{kind} with {', '.join(given)}", f"options that {kind} knows", "drop these")
    if options.output:
        refuse_output(options.output, options.overwrite or options.resume)
        for source in (options.input, options.catalogue, options.vectors, *(options.query_text or ())):
            if source:
                refuse_own_input(options.output, source)
    for name in ("batch_size", "max_length", "window", "top"):
        if getattr(options, name) < 1:
            raise UserError(
                f"--{name.replace('_', '-')} {getattr(options, name)}", "at least 1", "pass another value"
            )
    if options.recall is not None and options.recall < options.top:
        raise UserError(
            f"--recall {options.recall} with --top {options.top}",
            "at least as many candidates as songs to show",
            "pass a larger --recall or a smaller --top",
        )


def score_pairs(options: argparse.Namespace) -> None:
    """Score a file of pairs."""
    shared = ("window", "resume", "overwrite", "allow_seen")
    job = PredictionJob(options.input, options.output, **{name: getattr(options, name) for name in shared})
    scorer = open_scorer(
        options.model,
        batch_size=options.batch_size,
        max_length=options.max_length,
        symmetric=options.symmetric,
    )
    record = predict_file(job, scorer)
    scorer.team.close()
    if not scorer.team.is_main:
        return
    if options.json:
        print_json({"output": str(options.output), **record})
    else:
        print(f"{record['rows']} pairs scored: {options.output}")


def rank_catalogue(options: argparse.Namespace) -> None:
    """Rank a catalogue for each query."""
    from lyricsim_models.ranking import RankingJob, rank, write_ranking

    job = RankingJob(
        options.model,
        options.catalogue,
        tuple(options.query or ()),
        tuple(options.query_text or ()),
        top=options.top,
        recall=max(_RECALL, options.top) if options.recall is None else options.recall,
        reranker=options.reranker,
        vectors=options.vectors,
        batch_size=options.batch_size,
        max_length=options.max_length,
        prompt=options.prompt,
        symmetric=options.symmetric,
    )
    found = rank(job)
    if options.output:
        write_ranking(options.output, found, overwrite=options.overwrite)
    if options.json:
        print_json([vars(line) for line in found])
        return
    rows = [[line.query, line.rank, line.song_id, line.title, line.score] for line in found]
    print_table(
        f"Nearest songs of {options.catalogue.name}", ["query", "rank", "song", "title", "score"], rows
    )


if __name__ == "__main__":
    main()
