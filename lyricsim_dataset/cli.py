"""The command ``lyricsim-dataset``."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from lyricsim_tools.errors import UserError

_EPILOG = """examples:
  lyricsim-dataset build                           download upstream's files, write ./lyricsim
  lyricsim-dataset build --source ../lyricsim-files --out lyricsim
  lyricsim-dataset build --sample                  no network: ./lyricsim-sample, which is not LyricSIM
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; a user's error is printed and gives exit status 2."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except UserError as error:
        print(f"lyricsim-dataset: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lyricsim-dataset",
        description="Build, check and publish the LyricSIM dataset.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_build(commands)
    return parser


def _add_source_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--source",
        type=Path,
        metavar="DIR",
        help="a folder in upstream's layout (default: LYRICSIM_SOURCE, else download)",
    )
    parser.add_argument(
        "--sample", action="store_true", help="use the embedded sample, which is not LyricSIM"
    )
    parser.add_argument(
        "--allow-modified",
        action="store_true",
        help="accept files that differ from upstream's; the result is marked",
    )
    parser.add_argument(
        "--min-raters",
        type=int,
        metavar="N",
        help="accept pairs with N ratings or more (default: exactly three)",
    )


def _add_build(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser("build", help="write a folder for load_dataset and the Hub")
    _add_source_options(parser)
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="where (default: lyricsim, or lyricsim-sample)"
    )
    parser.add_argument("--without-lyrics", action="store_true", help="ids and ratings only")
    parser.set_defaults(run=_build)


def _build(options: argparse.Namespace) -> int:
    from lyricsim_dataset.publish import BuildOptions, build

    folder = build(
        BuildOptions(
            options.source,
            options.sample,
            options.allow_modified,
            options.min_raters,
            not options.without_lyrics,
        ),
        options.out,
    )
    print(f'wrote {folder}; beside it: load_dataset("{folder.name}", "filtered")')
    return 0
