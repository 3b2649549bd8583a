"""The command line's options, and what a choice of tasks means."""

import argparse
from pathlib import Path

from lyricsim_tools.errors import UserError
from spanish_sentence_eval.encoders.base import KINDS
from spanish_sentence_eval.encoders.registry import SHORT_NAMES
from spanish_sentence_eval.fetch import UPSTREAM
from spanish_sentence_eval.headline import GROUP_NAMES
from spanish_sentence_eval.tasks import GROUPS, TASKS, resolve_names

_RUN_EXAMPLES = """examples:
  spanish-senteval run --model beto --tasks STS17 SICKRelatedness --data DIR --output results.json
  spanish-senteval run --model intfloat/multilingual-e5-small --encoder sentence-transformers \\
      --prompt "query: " --tasks senteval --data DIR --output results.json
  spanish-senteval run --benchmark senteval --task_index 0 --model_name beto --layer avg --data DIR
  spanish-senteval run --model sent2vec --model_path MODEL.bin --tasks SC --data DIR
  ACCELERATE_USE_CPU=true accelerate launch --multi_gpu --num_processes 2 \\
      -m spanish_sentence_eval.cli run --model beto --tasks all --skip-missing --data DIR
A killed run goes on where it ended: run the same command again."""

_LIST_EXAMPLES = """examples:
  spanish-senteval list
  spanish-senteval list --data DIR --json"""

_FETCH_EXAMPLES = """examples:
  spanish-senteval fetch --data DIR
  spanish-senteval fetch --data DIR --tasks SS SICKEntailment
A fetch that ended early goes on where it ended: run the same command again."""

_COMPARE_EXAMPLES = """example:
  spanish-senteval compare beto.json e5.json
Tests are paired where both files hold what was predicted item by item (not with run --no-items), for the
ordering tasks under one seed alone. Tasks on other data, or under another protocol, head or number of folds,
are named and not tested."""

_REPORT_EXAMPLES = """examples:
  spanish-senteval report results.json
  spanish-senteval report results.json --markdown PAGE.md"""

_LITERATURE_KFOLD = 10
_LITERATURE_BATCH = 16


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    top = argparse.ArgumentParser(
        prog="spanish-senteval", description="Spanish SentEval and DiscoEval: 32 tasks for sentence encoders."
    )
    commands = top.add_subparsers(dest="command", required=True)
    _add_run(_command(commands, "run", "evaluate an encoder", _RUN_EXAMPLES))
    about_list = "the tasks: kind, sizes, figure, chance, licence"
    listing = _command(commands, "list", about_list, _LIST_EXAMPLES)
    listing.add_argument("--data", type=Path, help="also say which tasks have their files in this folder")
    _add_json(listing)
    _add_fetch(_command(commands, "fetch", "get upstream's data and verify every file", _FETCH_EXAMPLES))
    about_compare = "two results files, task by task, with tests"
    _add_compare(_command(commands, "compare", about_compare, _COMPARE_EXAMPLES))
    report = _command(commands, "report", "print a results file, or write it as Markdown", _REPORT_EXAMPLES)
    report.add_argument("results", type=Path, help="what 'run' wrote")
    report.add_argument("--markdown", type=Path, metavar="FILE", help="write a page of figures to FILE")
    return top


def chosen_tasks(args: argparse.Namespace) -> list[str]:
    """The engine names of the tasks that ``--tasks``, or ``--benchmark`` and ``--task_index``, ask for.

    Raises:
        UserError: neither or both are given, a name is unknown, or the index is out of range.
    """
    if args.tasks and (args.benchmark is not None or args.task_index is not None):
        raise UserError("--tasks beside --benchmark or --task_index", "one of the two", "leave one out")
    if args.tasks:
        return resolve_names([_expanded(name) for name in args.tasks])
    if args.benchmark is None:
        raise UserError(
            "no task was asked for",
            "--tasks NAME…, or --benchmark with --task_index",
            "see: spanish-senteval list",
        )
    groups = GROUPS[args.benchmark]
    if args.task_index is None:
        return resolve_names(groups)
    if not 0 <= args.task_index < len(groups):
        raise UserError(
            f"--task_index {args.task_index}",
            f"0 to {len(groups) - 1} for {args.benchmark}",
            "correct the index",
        )
    return resolve_names(groups[args.task_index])


def _expanded(name: str) -> list[str]:
    """The tasks behind "all", a benchmark or a group; else the name itself."""
    if name == "all":
        return list(TASKS)
    for package, groups in GROUPS.items():
        if name == package:
            return [task for group in groups for task in group]
        if name in GROUP_NAMES[package]:
            return list(groups[GROUP_NAMES[package].index(name)])
    return [name]


def _command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, text: str, epilog: str = ""
) -> argparse.ArgumentParser:
    return commands.add_parser(
        name,
        help=text,
        description=f"{text[0].upper()}{text[1:]}.",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _add_run(run: argparse.ArgumentParser) -> None:
    _add_choice_of_tasks(run)
    _add_encoder(run.add_argument_group("encoder"))
    _add_data(run.add_argument_group("data and results"))
    _add_heads(run.add_argument_group("heads"))
    _add_json(run)


def _add_choice_of_tasks(command: argparse.ArgumentParser) -> None:
    groups = ", ".join(name for names in GROUP_NAMES.values() for name in names)
    command.add_argument(
        "--tasks",
        nargs="+",
        action="extend",
        metavar="TASK",
        help=f"names, groups ({groups}), senteval, discoeval or all",
    )
    command.add_argument("--benchmark", choices=tuple(GROUPS), help="all tasks of one benchmark")
    command.add_argument(
        "--task_index", "--task-index", type=int, metavar="N", help="only that group of --benchmark, from 0"
    )


def _add_encoder(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--model",
        "--model_name",
        dest="model",
        required=True,
        help=f"{', '.join(SHORT_NAMES)}, sent2vec, elmo, chars64, a Hub id or a folder",
    )
    group.add_argument(
        "--encoder", choices=KINDS, help="what kind of model it is (default: guessed from the name)"
    )
    group.add_argument(
        "--layer",
        help="transformers: avg, last, pooler or a number from 0, the embeddings "
        "(default avg, as in the literature; under the corrected protocol last)",
    )
    group.add_argument(
        "--pooling", choices=("mean", "cls"), help="transformers, corrected protocol (default mean)"
    )
    group.add_argument("--prompt", default="", help="text before every sentence, such as 'query: '")
    group.add_argument("--model_path", "--model-path", help="the file or folder of a sent2vec or ELMo model")
    group.add_argument("--revision", help="branch, tag or commit of a Hub model")
    group.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:N or mps (default auto)")
    group.add_argument(
        "--precision", choices=("float32", "bfloat16"), default="float32", help="of the forward pass"
    )
    group.add_argument(
        "--batch-size", type=int, default=_LITERATURE_BATCH, metavar="N", help="sentences a pass (default 16)"
    )


def _add_data(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--data", type=Path, default=Path("data"), help="holds senteval/ and discoeval/ (default data)"
    )
    group.add_argument(
        "--any-data", action="store_true", help="accept files that are not upstream's; the results say so"
    )
    group.add_argument("--skip-missing", action="store_true", help="leave out tasks whose files are absent")
    group.add_argument("--output", type=Path, default=Path("results.json"), help="default results.json")
    group.add_argument(
        "--no-items",
        action="store_true",
        help="figures only, for files that you publish: gold scores are upstream's "
        "(comparisons are then unpaired)",
    )
    group.add_argument(
        "--cache", type=Path, metavar="DIR", help="vectors and finished tasks (default: user's cache)"
    )
    group.add_argument("--no-cache", action="store_true", help="keep nothing between runs")


def _add_heads(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--protocol",
        choices=("compatible", "corrected"),
        default="compatible",
        help="compatible: the literature's figures, with harmless faults mended; corrected: folds by the "
        "seed, early stopping, pooling and special tokens as they should be (default: compatible)",
    )
    group.add_argument(
        "--path",
        choices=("fast", "exact"),
        default="fast",
        help="of the arithmetic; exact repeats the reference's step by step (default: fast)",
    )
    group.add_argument("--seed", type=int, default=1111, help="default 1111")
    group.add_argument("--kfold", type=int, default=_LITERATURE_KFOLD, help="default 10, the literature's")
    group.add_argument(
        "--sklearn", action="store_true", help="logistic regression in place of the torch head"
    )
    group.add_argument(
        "--threads",
        type=int,
        metavar="N",
        help="of the heads (default 1, with --sklearn 2, as in the published figures; more may pay off with "
        "wide vectors and DC's hidden layer, and slow small heads down)",
    )
    group.add_argument("--nhid", type=int, default=0, help="hidden units (default 0)")
    group.add_argument("--optim", default="adam", help="such as 'adam' or 'sgd,lr=0.1'")
    group.add_argument("--head-batch-size", type=int, default=64, metavar="N", help="default 64")
    group.add_argument("--tenacity", type=int, default=5, help="default 5")
    group.add_argument("--epoch_size", "--epoch-size", type=int, default=4, help="default 4")
    group.add_argument("--max_epoch", "--max-epoch", type=int, default=200, help="default 200")
    group.add_argument("--dropout", type=float, default=0.0, help="default 0")


def _add_fetch(command: argparse.ArgumentParser) -> None:
    _add_choice_of_tasks(command)
    command.add_argument("--data", type=Path, required=True, help="where the files go")
    command.add_argument("--base-url", default=UPSTREAM, help="the folder above senteval/ on a mirror")
    _add_json(command)


def _add_compare(command: argparse.ArgumentParser) -> None:
    command.add_argument("first", type=Path, help="results file")
    command.add_argument("second", type=Path, help="results file; differences are second minus first")
    command.add_argument("--seed", type=int, default=1111, help="of the bootstrap (default 1111)")
    _add_json(command)


def _add_json(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="print JSON and nothing else to standard output")
