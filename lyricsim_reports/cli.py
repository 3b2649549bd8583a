"""The paper's tables and figures from the data, beside the paper's own."""

import argparse
import dataclasses
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lyricsim_dataset.annotations import Tables, annotator_numbers, group_pairs, read_tables
from lyricsim_dataset.facts import REPETITIONS, facts
from lyricsim_dataset.sources import locate, sample_tree
from lyricsim_dataset.splits import SEED
from lyricsim_reports.benchmark import read_benchmark
from lyricsim_reports.figure_data import figure_data
from lyricsim_reports.figures import draw_all
from lyricsim_reports.page import to_html, to_markdown
from lyricsim_reports.plain import without_nan
from lyricsim_reports.reliability import card_sentence, reliability
from lyricsim_reports.report import Findings, report_page
from lyricsim_reports.sts_gold import read_sts
from lyricsim_tools.arguments import at_least
from lyricsim_tools.atomic import atomic_folder, write_json, write_text
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
        findings = find(options)
        write_report(findings, options.output)
    except (UserError, OSError) as error:
        sys.stderr.write(f"lyricsim-report: {explained(error)}\n")
        return 2
    if options.json:
        print_json(without_nan(findings.to_dict()))
    else:
        _print_summary(findings, options.output)
    return 0


def find(options: argparse.Namespace) -> Findings:
    """Read the data and compute everything.

    Raises:
        UserError: the data are not what they should be.
    """
    name, origin, tables = _read(options)
    sts = read_sts(options.sts) if options.sts else None
    return Findings(
        name=name,
        origin=origin,
        facts=facts(tables, options.permutations, options.seed),
        reliability=reliability(tables, options.resamples, options.seed),
        figures=figure_data(tables, sts),
        seed=options.seed,
    )


def write_report(findings: Findings, folder: Path) -> None:
    """Write the report's files.

    Raises:
        UserError: the folder holds files that no report wrote, or matplotlib is missing.
    """
    page = report_page(findings)
    with atomic_folder(folder) as partial:
        svgs = draw_all(findings.figures, partial)
        write_text(partial / "report.md", to_markdown(page))
        write_text(partial / "report.html", to_html(page, svgs))
        write_json(partial / "report.json", without_nan(findings.to_dict()))


def _read(options: argparse.Namespace) -> tuple[str, Mapping[str, Any], Tables]:
    if options.sample or options.source:
        source = sample_tree() if options.sample else locate(options.source, options.allow_modified)
        origin = {
            "sample": source.sample,
            "campaign": source.campaign or None,
            "modified": list(source.modified),
            "fingerprint": source.fingerprint,
        }
        name = "lyricsim-sample" if source.sample else "lyricsim"
        return name, origin, _renumbered(read_tables(source))
    benchmark = read_benchmark(options.dataset)
    origin = {
        "sample": benchmark.sample,
        "campaign": benchmark.campaign or None,
        **{k: benchmark.record["source"][k] for k in ("modified", "fingerprint")},
    }
    return benchmark.name, origin, benchmark.tables


def _renumbered(tables: Tables) -> Tables:
    """Annotators numbered as in the published data: a platform's member ids are never printed."""
    numbers = annotator_numbers(tables.ratings)
    ratings = [dataclasses.replace(r, annotator=str(numbers[r.annotator])) for r in tables.ratings]
    return Tables(tables.songs, tuple(ratings), tuple(group_pairs(ratings)))


def _print_summary(findings: Findings, folder: Path) -> None:
    rows = [(c.what, c.where, c.paper, c.ours, c.difference) for c in findings.comparisons]
    if rows:
        print_table("The paper's figures and ours", ("figure", "place", "paper", "ours", "difference"), rows)
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
