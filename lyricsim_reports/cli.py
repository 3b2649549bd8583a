"""The paper's tables and figures from the data, beside the paper's own."""

import argparse
import dataclasses
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lyricsim_dataset.annotations import Tables, annotator_numbers, group_pairs, read_tables
from lyricsim_dataset.facts import REPETITIONS, facts
from lyricsim_dataset.sources import locate, sample_tree
from lyricsim_dataset.splits import SEED
from lyricsim_reports.benchmark import read_benchmark
from lyricsim_reports.figure_data import figure_data
from lyricsim_reports.figures import draw_all, require_plots
from lyricsim_reports.origin import Origin, origin_of_source
from lyricsim_reports.page import to_html, to_markdown
from lyricsim_reports.plain import without_nan
from lyricsim_reports.reliability import card_sentence, reliability
from lyricsim_reports.report import Findings, report_page
from lyricsim_reports.sts_gold import read_sts
from lyricsim_tools.arguments import at_least
from lyricsim_tools.atomic import atomic_folder, refuse_foreign_files, write_json, write_text
from lyricsim_tools.errors import UserError, explained
from lyricsim_tools.tables import print_json, print_table

_EXAMPLES = """examples:
  lyricsim-report --dataset lyricsim --output report
  lyricsim-report --dataset lyricsim --output report --sts spanish-senteval/senteval/STS
  lyricsim-report --sample --output sample-report

The folder gets report.md, report.html (one page that loads nothing), report.json and figure-1 to figure-5 as
PNG and SVG. A folder that holds other files is left alone.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: the command line; None: the process's own.

    Returns:
        0 if the report was written, 2 after a user's error, which is printed.
    """
    options = _parser().parse_args(arguments)
    try:
        _require_use(options)
        require_plots()
        refuse_foreign_files(options.output)
        data = read(options)
        with atomic_folder(options.output) as folder:
            findings = find(data, options)
            write_report(findings, folder)
    except (UserError, OSError) as error:
        sys.stderr.write(f"lyricsim-report: {explained(error)}\n")
        return 2
    if options.json:
        print_json(without_nan(findings.to_dict()))
    else:
        _print_summary(findings, options.output)
    return 0


@dataclass(frozen=True)
class Data:
    """What a report is made of.

    Args:
        origin: whose data these are.
        tables: songs, ratings and pairs.
        sts: gold scores of Spanish STS sets by name; None where the user has none.
    """

    origin: Origin
    tables: Tables
    sts: Mapping[str, Sequence[float]] | None


def read(options: argparse.Namespace) -> Data:
    """Read the data.

    Raises:
        UserError: they are not what they should be.
    """
    sts = read_sts(options.sts) if options.sts else None
    if not (options.sample or options.source):
        benchmark = read_benchmark(options.dataset)
        return Data(benchmark.origin, benchmark.tables, sts)
    source = sample_tree() if options.sample else locate(options.source, options.allow_modified)
    return Data(origin_of_source(source), _renumbered(read_tables(source)), sts)


def find(data: Data, options: argparse.Namespace) -> Findings:
    """Compute everything."""
    return Findings(
        origin=data.origin,
        facts=facts(data.tables, options.permutations, options.seed),
        reliability=reliability(data.tables, options.resamples, options.seed),
        figures=figure_data(data.tables, data.sts),
        seed=options.seed,
    )


def write_report(findings: Findings, folder: Path) -> None:
    """Write the report's files into an empty folder."""
    page, origin = report_page(findings), findings.origin
    svgs = draw_all(findings.figures, folder, "LyricSIM" if origin.is_upstreams else origin.name)
    write_text(folder / "report.md", to_markdown(page))
    write_text(folder / "report.html", to_html(page, svgs))
    write_json(folder / "report.json", without_nan(findings.to_dict()))


def _require_use(options: argparse.Namespace) -> None:
    if options.allow_modified and not options.source:
        raise UserError(
            "--allow-modified without --source",
            "--source DIR beside it: a built folder's record says whether it was built from changed files",
            "leave it out, or name the files with --source",
        )


def _renumbered(tables: Tables) -> Tables:
    """Annotators numbered as in the published data: a platform's member ids are never printed."""
    numbers = annotator_numbers(tables.ratings)
    ratings = [dataclasses.replace(r, annotator=str(numbers[r.annotator])) for r in tables.ratings]
    return Tables(tables.songs, tuple(ratings), tuple(group_pairs(ratings)))


def _print_summary(findings: Findings, folder: Path) -> None:
    rows = [(c.what, c.where, c.paper, c.ours, c.difference) for c in findings.comparisons]
    if rows:
        print_table("The paper's figures and ours", ("figure", "place", "paper", "ours", "difference"), rows)
    if findings.origin.warning:
        sys.stdout.write(f"{findings.origin.warning}\n\n")
    sys.stdout.write(
        f"{card_sentence(findings.facts)}\n\nwritten: {folder / 'report.md'}, report.html, report.json\n"
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lyricsim-report",
        description=__doc__,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    place = parser.add_mutually_exclusive_group()
    place.add_argument(
        "--dataset", type=Path, help="built dataset folder (default: LYRICSIM_FOLDER, else ./lyricsim)"
    )
    place.add_argument("--source", type=Path, help="upstream's files instead, in upstream's layout")
    place.add_argument("--sample", action="store_true", help="the embedded sample, which is not LyricSIM")
    parser.add_argument("--allow-modified", action="store_true", help="with --source: accept changed files")
    parser.add_argument("--output", type=Path, required=True, help="folder of the report")
    parser.add_argument("--sts", type=Path, help="folder of the Spanish STS sets, for Figure 4's comparison")
    parser.add_argument(
        "--permutations",
        type=at_least(2),
        default=REPETITIONS,
        metavar="N",
        help="behind the agreement that chance gives (default: %(default)s)",
    )
    parser.add_argument(
        "--resamples",
        type=at_least(10),
        default=1000,
        metavar="N",
        help="behind the intervals of alpha (default: %(default)s)",
    )
    parser.add_argument("--seed", type=at_least(0), default=SEED, help="of all draws (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print the report as JSON too")
    return parser


if __name__ == "__main__":
    sys.exit(main())
