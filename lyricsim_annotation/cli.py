"""The command ``lyricsim-annotate``."""

import argparse
import sys
from collections.abc import Sequence

from lyricsim_annotation import export_cli, select_cli, serve_cli
from lyricsim_tools.errors import UserError, explained

_EPILOG = """the way of a campaign:
  lyricsim-annotate select --catalogue songs.csv --scorer lexical --pairs 300 --output chosen
  lyricsim-annotate serve chosen --database ratings.sqlite --raters ana berta carla
  lyricsim-annotate export chosen --database ratings.sqlite --output source
  lyricsim-dataset build --source source --out lyricsim-new                     a dataset folder

docs/annotation.md tells it from end to end.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: the command line; None: the process's own.

    Returns:
        0 if all went well, 2 after a user's error, which is printed.
    """
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options) or 0)
    except (UserError, OSError) as error:
        sys.stderr.write(f"lyricsim-annotate: {explained(error)}\n")
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lyricsim-annotate",
        description="Choose new pairs of lyrics, have them rated, and turn the ratings into a dataset.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in (select_cli, serve_cli, export_cli):
        command.add_parser(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
