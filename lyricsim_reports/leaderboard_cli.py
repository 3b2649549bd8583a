"""Turn runs into result files, check them, and render the leaderboard."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from lyricsim_reports.benchmark import read_benchmark
from lyricsim_reports.leaderboard import Leaderboard, leaderboard_page, make_leaderboard, read_results
from lyricsim_reports.measured import RESAMPLES
from lyricsim_reports.page import to_html, to_markdown
from lyricsim_reports.plain import without_nan
from lyricsim_reports.result_file import parse_result
from lyricsim_reports.run_result import Naming, read_runs, result_of
from lyricsim_tools.arguments import at_least
from lyricsim_tools.atomic import write_json, write_text
from lyricsim_tools.errors import UserError, explained
from lyricsim_tools.tables import print_json, print_table

_EXAMPLES = """examples:
  lyricsim-leaderboard add runs/cv/lexical --dataset lyricsim
  lyricsim-leaderboard add runs/e5/seed-1 runs/e5/seed-2 --dataset lyricsim --system e5-bi
  lyricsim-leaderboard show --dataset lyricsim
  lyricsim-leaderboard render --dataset lyricsim --output docs/leaderboard

add writes results/NAME.json from the folder of training/cross_validate.py, finetune.py or svm_baseline.py.
Adding a result to the leaderboard is adding that file. render writes PREFIX.md, .html and .json.
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
        options.run(options)
    except (UserError, OSError) as error:
        sys.stderr.write(f"lyricsim-leaderboard: {explained(error)}\n")
        return 2
    return 0


def _add(options: argparse.Namespace) -> None:
    naming = Naming(options.system, options.title)
    result = result_of(read_runs(options.runs), read_benchmark(options.dataset), naming)
    path = options.results / result.file_name
    if path.exists() and not options.overwrite:
        raise UserError(
            f"{path} exists", "a new result", "pass --overwrite to replace it, or another --system"
        )
    content = without_nan(result.to_dict())
    parse_result(content, path)
    write_json(path, content)
    sys.stdout.write(f"{path}\n")


def _show(options: argparse.Namespace) -> None:
    board = _board(options)
    if options.json:
        print_json(without_nan(board.to_dict()))
        return
    rows = [
        (
            s.measured.result.title,
            s.rank,
            "{} to {}".format(*s.rank_interval),
            100 * s.measured.scores["combined_score"],
            s.groups,
            s.below[0] if s.below else None,
        )
        for s in board.ranked
    ]
    columns = ("system", "rank", "rank 95 %", "combined", "groups", "under a floor")
    origin = board.benchmark.origin
    data = "" if origin.is_upstreams else f" ({origin.described}, which is not LyricSIM)"
    print_table(f"Songs never seen: block cross-validation{data}", columns, rows)


def _render(options: argparse.Namespace) -> None:
    board = _board(options)
    page = leaderboard_page(board)
    prefix: Path = options.output
    write_text(prefix.with_name(f"{prefix.name}.md"), to_markdown(page))
    write_text(prefix.with_name(f"{prefix.name}.html"), to_html(page, {}))
    write_json(prefix.with_name(f"{prefix.name}.json"), without_nan(board.to_dict()))
    sys.stdout.write(f"{prefix}.md\n{prefix}.html\n{prefix}.json\n")


def _board(options: argparse.Namespace) -> Leaderboard:
    results = read_results(options.results)
    return make_leaderboard(results, read_benchmark(options.dataset), options.resamples)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lyricsim-leaderboard",
        description=__doc__,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    add = commands.add_parser("add", help="write a result file from the runs of one recipe, one a seed")
    add.set_defaults(run=_add)
    add.add_argument(
        "runs", type=Path, nargs="+", metavar="RUN", help="run folder, or folder of seed-N folders"
    )
    add.add_argument("--system", help="short name that one recipe's results share (default: from the run)")
    add.add_argument("--title", help="name for people (default: from the run)")
    add.add_argument("--overwrite", action="store_true", help="replace the result of the same name")
    show = commands.add_parser("show", help="check every result and print the ranking")
    show.set_defaults(run=_show)
    show.add_argument("--json", action="store_true", help="print all scores and tests as JSON")
    render = commands.add_parser("render", help="check every result and write the leaderboard")
    render.set_defaults(run=_render)
    render.add_argument(
        "--output", type=Path, required=True, metavar="PREFIX", help="of the three files' names"
    )
    for command in (add, show, render):
        command.add_argument(
            "--dataset", type=Path, help="built dataset folder (default: LYRICSIM_FOLDER, else ./lyricsim)"
        )
        command.add_argument(
            "--results",
            type=Path,
            default=Path("results"),
            help="folder of the result files (default: results)",
        )
    for command in (show, render):
        command.add_argument(
            "--resamples",
            type=at_least(100),
            default=RESAMPLES,
            metavar="N",
            help="behind ranks and tests (default: %(default)s)",
        )
    return parser


if __name__ == "__main__":
    sys.exit(main())
