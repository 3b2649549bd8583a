"""The command ``lyricsim-dataset``."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from lyricsim_tools.errors import UserError, explained

_EPILOG = """examples:
  lyricsim-dataset build                          fetch upstream's files, write ./lyricsim
  lyricsim-dataset build --source DIR             the same from a local copy in upstream's layout
  lyricsim-dataset build --sample                 no network: ./lyricsim-sample, which is not LyricSIM
  lyricsim-dataset report --source DIR --json     the paper's figures beside ours
  lyricsim-dataset verify lyricsim                is the folder still what was built?
  lyricsim-dataset push your-name/lyricsim        to the Hub, private unless --public

Afterwards, in Python: load_dataset("lyricsim", "filtered") where the folder lies, or from anywhere
lyricsim_dataset.load("filtered", folder="…/lyricsim").

environment: LYRICSIM_SOURCE (a local copy, instead of --source), LYRICSIM_CACHE (where downloads are kept),
LYRICSIM_BASE_URL (a mirror of upstream's files), LYRICSIM_FOLDER (what lyricsim_dataset.load reads).
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: the command line; None: the process's own.

    Returns:
        0 if all went well, 1 if a check failed, 2 after a user's error, which is printed.
    """
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except (UserError, OSError) as error:
        sys.stderr.write(f"lyricsim-dataset: {explained(error)}\n")
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lyricsim-dataset",
        description="Build, check, describe and publish the LyricSIM dataset.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: Callable[[argparse.Namespace], int], summary: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=summary, description=summary)
        added.set_defaults(run=run)
        return added

    _add_build_options(command("build", _build, "write a folder that load_dataset reads"))
    _add_report_options(command("report", _report, "recompute the paper's figures from the files"))
    _add_verify_options(command("verify", _verify, "check a built folder's files and splits"))
    _add_push_options(command("push", _push, "publish a built folder on the Hub"))
    return parser


def _add_source_options(parser: argparse.ArgumentParser) -> None:
    place = parser.add_mutually_exclusive_group()
    place.add_argument(
        "--source",
        type=Path,
        metavar="DIR",
        help="a folder in upstream's layout (default: LYRICSIM_SOURCE, else a download)",
    )
    place.add_argument("--sample", action="store_true", help="the embedded sample, which is not LyricSIM")
    parser.add_argument(
        "--allow-modified", action="store_true", help="accept changed files; the result is marked"
    )
    parser.add_argument(
        "--min-raters", type=int, metavar="N", help="accept pairs with N ratings or more (default: exactly 3)"
    )


def _add_build_options(parser: argparse.ArgumentParser) -> None:
    _add_source_options(parser)
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="where to (default: lyricsim, or lyricsim-sample; a campaign's data have none)",
    )
    parser.add_argument("--without-lyrics", action="store_true", help="ids and ratings only")


def _add_report_options(parser: argparse.ArgumentParser) -> None:
    _add_source_options(parser)
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")


def _add_verify_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, nargs="?", default=Path("lyricsim"), help="default: lyricsim")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def _add_push_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("repository", metavar="OWNER/NAME", help="for example your-name/lyricsim")
    parser.add_argument("--folder", type=Path, default=Path("lyricsim"), help="default: lyricsim")
    parser.add_argument("--public", action="store_true", help="let everybody see it (default: private)")
    parser.add_argument("--revision", help="the branch to write, created if need be (default: main)")
    parser.add_argument("--message", default="Publish the dataset", help="the commit's message")
    parser.add_argument("--overwrite", action="store_true", help="replace files that others wrote or edited")
    parser.add_argument("--dry-run", action="store_true", help="list what would be sent, send nothing")


def _build(options: argparse.Namespace) -> int:
    from lyricsim_dataset.publish import BuildOptions, build
    from lyricsim_dataset.verify import read_record
    from lyricsim_tools.tables import print_table

    wanted = BuildOptions(
        source=options.source,
        sample=options.sample,
        allow_modified=options.allow_modified,
        min_raters=options.min_raters,
        with_lyrics=not options.without_lyrics,
    )
    folder = build(wanted, options.out)
    splits = read_record(folder)["splits"]
    rows = [(name, *its["rows"].values(), its["left_out"], its["digest"]) for name, its in splits.items()]
    print_table("Splits", ("configuration", "train", "validation", "test", "left out", "digest"), rows)
    print(f'wrote {folder}; where it lies: load_dataset("{folder.absolute().name}", "filtered")')
    return 0


def _report(options: argparse.Namespace) -> int:
    from lyricsim_dataset.facts_tables import report
    from lyricsim_dataset.sources import locate, sample_tree

    source = sample_tree() if options.sample else locate(options.source, options.allow_modified)
    report(source, options.json, options.min_raters)
    return 0


def _verify(options: argparse.Namespace) -> int:
    from lyricsim_dataset.verify import checks
    from lyricsim_tools.tables import print_json, print_table

    done = list(checks(options.folder))
    if options.json:
        print_json([{"what": check.what, "problem": check.problem} for check in done])
    else:
        print_table(
            str(options.folder), ("what", "result"), [(c.what, c.problem or "as recorded") for c in done]
        )
    return int(any(check.problem for check in done))


def _push(options: argparse.Namespace) -> int:
    from lyricsim_dataset.publish import push
    from lyricsim_tools.push_cli import describe

    result = push(
        options.folder,
        options.repository,
        public=options.public,
        revision=options.revision,
        message=options.message,
        overwrite=options.overwrite,
        dry_run=options.dry_run,
    )
    print(describe(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
