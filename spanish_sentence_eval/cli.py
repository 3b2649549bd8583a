"""The command ``spanish-senteval``: run, list, fetch, compare, report."""

import argparse
import logging
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TextIO

from lyricsim_tools.atomic import write_text
from lyricsim_tools.errors import UserError, speaks_here
from lyricsim_tools.tables import print_json, print_table
from spanish_sentence_eval import cli_options
from spanish_sentence_eval.compare import compare_documents
from spanish_sentence_eval.fetch import TERMS, fetch
from spanish_sentence_eval.manifest import data_folder, files_of, state_of_files
from spanish_sentence_eval.report import (
    AVERAGE_COLUMNS,
    COMPARISON_COLUMNS,
    LICENCE_COLUMNS,
    average_rows,
    comparison_rows,
    licence_rows,
    markdown,
    result_table,
    task_facts,
    task_table,
)
from spanish_sentence_eval.results import plain, read_document
from spanish_sentence_eval.tasks import TASKS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: the command line without the program's name; None: the process's own.

    Returns:
        The exit status: 0, or 1 after an error that the user can mend.
    """
    args = cli_options.parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    logging.getLogger("httpx").setLevel(logging.WARNING)
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            COMMANDS[args.command](args)
        except UserError as error:
            if speaks_here():
                sys.stderr.write(f"error: {error}\n")
            return 1
        except OSError as error:
            sys.stderr.write(f"error: the system refuses: {error}\n")
            return 1
    return 0


def show_results(results: Mapping[str, object]) -> None:
    """Print the figures and the group averages of a results document."""
    print_table("figures", *result_table(results))
    print_table("groups", AVERAGE_COLUMNS, average_rows(results))


def _run(args: argparse.Namespace) -> None:
    from spanish_sentence_eval.cli_run import run_command

    results = run_command(args)
    if results is None:
        return
    if args.json:
        print_json(results)
    else:
        show_results(results)


def _list(args: argparse.Namespace) -> None:
    present = None
    if args.data is not None:
        folder = data_folder(args.data)
        present = {name: state_of_files(folder, files_of(task)) for name, task in TASKS.items()}
    facts = task_facts(present)
    if args.json:
        print_json(facts)
        return
    print_table(f"{len(facts)} tasks", *task_table(facts))
    print_table("licences", LICENCE_COLUMNS, licence_rows())


def _fetch(args: argparse.Namespace) -> None:
    sys.stderr.write(TERMS + "\n")
    everything = not args.tasks and args.benchmark is None and args.task_index is None
    names = None if everything else cli_options.chosen_tasks(args)
    paths = None if names is None else {path for name in names for path in files_of(TASKS[name])}
    done = fetch(args.data, paths, args.base_url)
    if args.json:
        print_json(vars(done))
    else:
        sys.stdout.write(f"{len(done.downloaded)} files downloaded, {len(done.kept)} were right already\n")


def _compare(args: argparse.Namespace) -> None:
    if args.seed < 0:
        raise UserError(f"--seed {args.seed}", "a whole number of at least 0", "correct it")
    first, second = read_document(args.first), read_document(args.second)
    compared = compare_documents(first, second, args.seed)
    if not compared:
        raise UserError(
            f"{args.first} and {args.second} have no task in common",
            "two results files with a task that both hold",
            "run the same task with both encoders",
        )
    if args.json:
        print_json([plain({**vars(c), "interval": c.interval and vars(c.interval)}) for c in compared])
    else:
        print_table(
            f"{args.second.name} against {args.first.name}", COMPARISON_COLUMNS, comparison_rows(compared)
        )


def _report(args: argparse.Namespace) -> None:
    results = read_document(args.results)
    if args.markdown is not None:
        write_text(args.markdown, markdown(results))
    else:
        show_results(results)


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    sys.stderr.write(f"warning: {message}\n")


COMMANDS: Mapping[str, Callable[[argparse.Namespace], None]] = {
    "run": _run,
    "list": _list,
    "fetch": _fetch,
    "compare": _compare,
    "report": _report,
}
"""What each sub-command does."""


if __name__ == "__main__":
    sys.exit(main())
