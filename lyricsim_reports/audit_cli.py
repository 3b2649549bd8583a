"""What a split gives away, and what models without meaning score on it."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lyricsim_dataset.splits import SEED
from lyricsim_reports.audit import Audit, audit, config_split, read_split
from lyricsim_reports.audit_page import audit_page
from lyricsim_reports.benchmark import Benchmark, read_benchmark
from lyricsim_reports.learning import SHARES, learning_curves
from lyricsim_reports.origin import Origin
from lyricsim_reports.page import Page, to_html, to_markdown
from lyricsim_reports.plain import without_nan
from lyricsim_tools.arguments import at_least
from lyricsim_tools.atomic import write_json, write_text
from lyricsim_tools.errors import UserError, explained
from lyricsim_tools.tables import print_json

#: Clean, the paper's arithmetic, song-disjoint: the three columns of the comparison.
_DEFAULT_CONFIGS = ("filtered", "filtered-paper-split", "filtered-song-disjoint")
_EXAMPLES = """examples:
  lyricsim-audit --dataset lyricsim --curves --output docs/audit
  lyricsim-audit --dataset lyricsim --split my-split.csv --output my-audit
  lyricsim-audit --dataset lyricsim --config raw --draws 5 --json

A split of your own is a CSV file with the columns pair_id and split (train, validation, test).
With --output PREFIX the files PREFIX.md, PREFIX.html and PREFIX.json are written.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: the command line; None: the process's own.

    Returns:
        0 if the audit was made, 2 after a user's error, which is printed.
    """
    options = _parser().parse_args(arguments)
    try:
        benchmark = read_benchmark(options.dataset)
        audits = run_audits(options, benchmark)
        curves = learning_curves(benchmark, options.seed) if options.curves else {}
        page = audit_page(audits, benchmark.origin, curves)
        content = _content(options.seed, benchmark.origin, audits, curves)
        if options.output:
            _write(options.output, page, content)
    except (UserError, OSError) as error:
        sys.stderr.write(f"lyricsim-audit: {explained(error)}\n")
        return 2
    if options.json:
        print_json(content)
    else:
        sys.stdout.write(to_markdown(page))
    return 0


def _content(
    seed: int, origin: Origin, audits: Sequence[Audit], curves: Mapping[str, Sequence[float]]
) -> dict[str, Any]:
    data = {"dataset": origin.name, "source": origin.fingerprint}
    found: dict[str, Any] = {**data, "seed": seed, "audits": [a.to_dict() for a in audits]}
    if curves:
        found |= {"shares": list(SHARES), "learning_curves": dict(curves)}
    content: dict[str, Any] = without_nan(found)
    return content


def _write(prefix: Path, page: Page, content: Mapping[str, Any]) -> None:
    write_text(prefix.with_name(f"{prefix.name}.md"), to_markdown(page))
    write_text(prefix.with_name(f"{prefix.name}.html"), to_html(page, {}))
    write_json(prefix.with_name(f"{prefix.name}.json"), content)


def run_audits(options: argparse.Namespace, benchmark: Benchmark) -> list[Audit]:
    """Audit the splits that were asked for.

    Raises:
        UserError: an unknown configuration, a bad split file, or two splits of one name.
    """
    configs = options.config or ([] if options.split else list(_DEFAULT_CONFIGS))
    names = [*configs, *[path.stem for path in options.split]]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise UserError(
            f"two splits are called {repeated[0]}", "a name for each: a file's is its own", "rename a file"
        )
    splits = {config: config_split(benchmark, config) for config in configs}
    splits |= {path.stem: read_split(path, benchmark) for path in options.split}
    return [audit(name, parts, benchmark, options.draws, options.seed) for name, parts in splits.items()]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lyricsim-audit",
        description=__doc__,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--dataset", type=Path, help="built dataset folder (default: LYRICSIM_FOLDER, else ./lyricsim)"
    )
    parser.add_argument(
        "--config",
        action="append",
        metavar="NAME",
        help=f"a configuration's split; may be repeated (default: {', '.join(_DEFAULT_CONFIGS)})",
    )
    parser.add_argument(
        "--split",
        action="append",
        type=Path,
        default=[],
        metavar="FILE",
        help="a split of your own; may be repeated",
    )
    parser.add_argument("--output", type=Path, metavar="PREFIX", help="of the three files' names")
    parser.add_argument(
        "--draws", type=at_least(0), default=20, metavar="N", help="draws by each split's rule (default: 20)"
    )
    parser.add_argument(
        "--curves", action="store_true", help="learning curves of models without meaning, too"
    )
    parser.add_argument("--seed", type=at_least(0), default=SEED, help="of the draws (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of Markdown")
    return parser


if __name__ == "__main__":
    sys.exit(main())
