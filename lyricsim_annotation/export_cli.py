"""``lyricsim-annotate export``: a campaign's ratings in upstream's raw format."""

import argparse
from pathlib import Path
from typing import Any

_EPILOG = """examples:
  lyricsim-annotate export chosen --database ratings.sqlite --output source
  lyricsim-dataset build --source source --out lyricsim-new

Only pairs with three ratings or more are written; the others are named here and in the folder's
annotation.json, and stay in the database. Raters appear under numbers, never under their names. The server
may go on running.
"""
_SHOWN = 20


def add_parser(commands: Any) -> None:
    """Register the subcommand."""
    summary = "write the complete pairs in upstream's raw format, for `lyricsim-dataset build --source`"
    parser = commands.add_parser(
        "export",
        help=summary,
        description=summary,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    parser.add_argument("folder", type=Path, help="the selection that was rated")
    parser.add_argument("--database", type=Path, required=True, metavar="FILE", help="the ratings")
    parser.add_argument(
        "--output", type=Path, required=True, metavar="DIR", help="where to; an earlier export is replaced"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def run(options: argparse.Namespace) -> int:
    """Export, and say what was left out.

    Raises:
        UserError: bad folder or database, no complete pair, or an output that holds something else.
    """
    from lyricsim_annotation.export import export
    from lyricsim_tools.tables import print_json

    summary = export(options.folder, options.database, options.output)
    if options.json:
        print_json(summary)
    else:
        _print_summary(summary, options.output)
    return 0


def _print_summary(summary: dict[str, Any], output: Path) -> None:
    from lyricsim_tools.tables import print_table

    counts = [(name.replace("_", " "), value) for name, value in summary.items() if isinstance(value, int)]
    print_table(f"Campaign {summary['campaign']}", ("what", "count"), counts)
    left_out = summary["left_out"]
    if left_out:
        rows = [(pair["pair_id"], pair["ratings"], pair["skipped"]) for pair in left_out[:_SHOWN]]
        title = f"Left out: {len(left_out)} pairs with fewer than three ratings"
        print_table(title, ("pair", "ratings", "skipped"), rows)
        if len(left_out) > _SHOWN:
            print(f"… and {len(left_out) - _SHOWN} more, all in annotation.json")
    if unnamed := summary["songs_without_artist_or_title"]:
        print(f"{len(unnamed)} songs without artist or title got a placeholder")
    if empty := summary["empty_splits"]:
        print(f"too few pairs to build a dataset yet: no pair for {', '.join(empty)}")
    option = " --min-raters 3" if summary["pairs_with_more_than_three_ratings"] else ""
    print(f"wrote {output}; next: lyricsim-dataset build --source {output}{option} --out DIR")
