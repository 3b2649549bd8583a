"""The ``select`` command: choose pairs of songs to be rated."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lyricsim_tools.arguments import at_least
from lyricsim_tools.tables import print_json, print_table

if TYPE_CHECKING:
    from lyricsim_annotation.select_job import SelectionJob

_SUMMARY = "choose new pairs: flat over the predicted scores, even over the songs"
_DESCRIPTION = """Choose new pairs of songs to be rated.

The scorer predicts a score for the candidate pairs. The scale 0-5 is cut into bins of equal width, and every
bin gives the same number of pairs; what a bin lacks is passed on evenly. Inside a bin, the songs used least
come first. Pairs that were rated before (--rated) and songs with the same text are never paired.

Up to --candidates pairs, every pair of the catalogue is scored. Beyond, each song's nearest songs by --recall
(an encoder's vectors, or the words of the lyrics) and a random sample are thinned out to that number: a large
catalogue needs no more scoring than a small one. Pairs that are similar for the scorer only, not by the
vectors, are then mostly missed.

The folder holds pairs.csv, songs.jsonl, selection.json (settings, what was found, what was missed) and a plot
of before and after. The same input and seed give the same folder, whatever the order of the rows.
"""
_EXAMPLES = """examples:
  lyricsim-annotate select --catalogue songs.csv --scorer lexical --pairs 300 --output chosen
  lyricsim-annotate select --catalogue songs.parquet --scorer runs/maria --recall e5-small \\
      --pairs 1000 --rated lyricsim --rated chosen --output chosen-2
  lyricsim-annotate select --catalogue <owner>/songs --scorer intfloat/multilingual-e5-small --pairs 500 \\
      --output chosen --seed 7 --json
"""


_RATED_HINT = "note: pairs that {0} has ratings for may be chosen; --rated {0} leaves them out\n"


def add_parser(subparsers: Any) -> None:
    """Add ``select`` to a command's sub-commands; its handler is the default ``run``."""
    parser = subparsers.add_parser(
        "select",
        help=_SUMMARY,
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    _add_input(parser.add_argument_group("what to choose from"))
    _add_choice(parser.add_argument_group("what to choose"))
    _add_models(parser.add_argument_group("models"))
    parser.add_argument("--output", type=Path, required=True, metavar="FOLDER", help="folder to write")
    parser.add_argument("--overwrite", action="store_true", help="replace the selection in that folder")
    parser.add_argument("--json", action="store_true", help="print what selection.json holds")


def _add_input(group: Any) -> None:
    group.add_argument(
        "--catalogue",
        required=True,
        metavar="SONGS",
        help="CSV, JSONL or Parquet with id and lyric (title, artist if known), a built dataset folder or a "
        "Hub id",
    )
    group.add_argument(
        "--rated",
        action="append",
        default=[],
        metavar="DATASET_OR_CSV",
        help="pairs not to choose again: a dataset, an earlier selection, or a file with song_a and song_b; "
        "may be repeated",
    )


def _add_choice(group: Any) -> None:
    group.add_argument("--pairs", type=at_least(1), required=True, metavar="N", help="pairs to choose")
    group.add_argument("--bins", type=at_least(1), default=10, help="of the scale 0-5 (default: %(default)s)")
    group.add_argument("--seed", type=at_least(0), default=0, help="of every lot (default: %(default)s)")
    group.add_argument(
        "--candidates",
        type=at_least(1),
        metavar="N",
        help="pairs to score at most (default: 20 for each pair wanted, 10000 at least)",
    )


def _add_models(group: Any) -> None:
    group.add_argument(
        "--scorer",
        required=True,
        metavar="MODEL",
        help="lexical, a lexical scorer's JSON, a trained folder, a registry name or a Hub id; an encoder "
        "that was trained on no pairs is spread over the scale by its cosines on this catalogue",
    )
    group.add_argument(
        "--recall",
        metavar="MODEL",
        help="encoder that finds candidates in a large catalogue, or words (default: the scorer if it is an "
        "encoder, else words)",
    )
    group.add_argument(
        "--batch-size", type=at_least(1), default=32, help="texts computed at once (default: %(default)s)"
    )
    group.add_argument(
        "--max-length",
        type=at_least(1),
        default=512,
        help="most tokens of a pair for a cross-encoder (default: %(default)s)",
    )


def run(options: argparse.Namespace) -> None:
    """Select as the command line says.

    Raises:
        UserError: bad input, too few pairs, or an output that exists.
    """
    # Imported here: the other commands do without numpy and the models.
    from lyricsim_annotation.catalogue import is_dataset
    from lyricsim_annotation.select_job import select

    if not options.rated and is_dataset(options.catalogue):
        sys.stderr.write(_RATED_HINT.format(options.catalogue))
    record = select(_job(options))
    if options.json:
        print_json(record)
        return
    _print_record(record)
    print(f"written: {options.output}")


def _job(options: argparse.Namespace) -> "SelectionJob":
    from lyricsim_annotation.catalogue_scorers import ScorerOptions
    from lyricsim_annotation.select_job import SelectionJob

    models = ScorerOptions(
        options.scorer, options.recall, options.batch_size, options.max_length, options.seed
    )
    names = ("pairs", "output", "bins", "candidates", "seed", "overwrite")
    values = {name: getattr(options, name) for name in names}
    return SelectionJob(options.catalogue, models, rated=tuple(options.rated), **values)


def _print_record(record: dict[str, Any]) -> None:
    chosen, candidates = record["chosen"], record["candidates"]
    rows = [(f"{b['from']:g} to {b['to']:g}", b["candidates"], b["chosen"]) for b in chosen["bins"]]
    print_table("Pairs by predicted score", ("score", "candidates", "chosen"), rows)
    most = chosen["pairs_of_a_song"]
    facts = [
        ("songs of the catalogue", record["catalogue"]["songs"]),
        ("pairs of the catalogue", candidates["pairs_of_the_catalogue"]),
        ("excluded: rated before", candidates["excluded_as_rated"]),
        ("rated before, with a song that the catalogue lacks", candidates["rated_with_other_songs"]),
        ("excluded: identical text", candidates["excluded_as_identical_text"]),
        (f"scored ({candidates['found_by']})", candidates["scored"]),
        ("songs used", chosen["songs_used"]),
        ("pairs of a song, fewest and most", f"{most['fewest']} to {most['most']}"),
    ]
    print_table("Where they come from", ("what", "count"), facts)
