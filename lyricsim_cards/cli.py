"""``lyricsim-cards``: write the cards of models, and check any card."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from lyricsim_cards.check import Fault, check_cards
from lyricsim_cards.check_options import CheckOptions
from lyricsim_cards.extras import extended
from lyricsim_cards.measure import read_gold
from lyricsim_cards.model_card import write_model_card
from lyricsim_cards.model_folder import read_model_folder
from lyricsim_cards.paper_cards import write_paper_cards
from lyricsim_cards.publish import publish_run
from lyricsim_tools.errors import UserError
from lyricsim_tools.push_cli import describe
from lyricsim_tools.tables import print_json

_EXAMPLES = """examples:
  lyricsim-cards model runs/bertin --repo-id your-name/lyricsim-bertin --dataset lyricsim \\
      --dataset-id your-name/lyricsim --unseen runs/bertin-disjoint --floors runs/lengths runs/overlap
  lyricsim-cards publish runs/bertin your-name/lyricsim-bertin --revision song-disjoint --dry-run
  lyricsim-cards paper model_cards
  lyricsim-cards check model_cards/*/README.md runs/bertin/README.md
"""
_KEPT = """What an earlier call was told is kept, in the folder's card.json, unless it is given anew.
So is what was written into the card outside its generated blocks."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: the command line; None: the process's own.

    Returns:
        0 if all is well, 1 if a card has faults, 2 on a mistake of the caller.
    """
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except UserError as error:
        sys.stderr.write(f"lyricsim-cards: {error}\n")
        return 2


def _model(options: argparse.Namespace) -> int:
    model = read_model_folder(options.folder)
    extras = extended(
        model,
        repo_id=options.repo_id,
        revision=options.revision,
        dataset_id=options.dataset_id,
        gold=read_gold(options.dataset, model.settings.get("config")) if options.dataset else None,
        unseen=options.unseen,
        floors=options.floors,
    )
    sys.stdout.write(f"{write_model_card(options.folder, extras)}\n")
    return 0


def _publish(options: argparse.Namespace) -> int:
    result = publish_run(
        options.folder,
        options.repository,
        public=options.public,
        revision=options.revision,
        dry_run=options.dry_run,
        unseen=options.unseen,
        floors=options.floors,
    )
    sys.stdout.write(f"{describe(result)}\n")
    return 0


def _paper(options: argparse.Namespace) -> int:
    sys.stdout.write("".join(f"{path}\n" for path in write_paper_cards(options.folder)))
    return 0


def _check(options: argparse.Namespace) -> int:
    faults = check_cards(options.cards, CheckOptions(options.root, options.snippets, options.endpoint))
    if options.json:
        print_json([vars(fault) for fault in faults])
    else:
        sys.stdout.write(_report(options.cards, faults))
    return 1 if faults else 0


def _report(cards: Sequence[Path], faults: Sequence[Fault]) -> str:
    lines = [f"{fault.card}: {fault.kind}: {fault.what}" for fault in faults]
    lines.append(f"{len(cards)} cards checked, {len(faults)} faults")
    lines.append(
        "The metadata was checked against our own list of what the Hub requires; "
        "the real check runs on its server."
    )
    return "\n".join(lines) + "\n"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lyricsim-cards",
        description="Write the cards of models, and check any card.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    model = commands.add_parser("model", help="write a trained model's card into its folder", epilog=_KEPT)
    model.add_argument("folder", type=Path, help="as training/finetune.py leaves it")
    model.add_argument("--repo-id", metavar="OWNER/NAME", help="where the model is (to be) published")
    model.add_argument("--revision", help="the branch there, with --repo-id (default: main)")
    model.add_argument("--dataset-id", metavar="OWNER/NAME", help="the dataset's id on the Hub")
    model.add_argument("--dataset", metavar="FOLDER", help="the dataset, to measure intervals and biases")
    _add_other_runs(model)
    model.set_defaults(run=_model)
    publish = commands.add_parser(
        "publish", help="write a trained model's card for a repository and push both there", epilog=_KEPT
    )
    publish.add_argument("folder", type=Path, help="as training/finetune.py leaves it")
    publish.add_argument("repository", metavar="OWNER/NAME", help="where to")
    publish.add_argument("--revision", help="the branch to write, created if need be (default: main)")
    publish.add_argument("--public", action="store_true", help="let everybody see it (default: private)")
    publish.add_argument("--dry-run", action="store_true", help="list what would be sent, change nothing")
    _add_other_runs(publish)
    publish.set_defaults(run=_publish)
    paper = commands.add_parser("paper", help="write the prepared cards of the paper's eight models")
    paper.add_argument("folder", type=Path, help="one folder a model goes below it")
    paper.set_defaults(run=_paper)
    check = commands.add_parser("check", help="check cards: metadata, placeholders, links, figures, snippets")
    check.add_argument("cards", type=Path, nargs="+", help="README.md files")
    check.add_argument("--root", type=Path, default=Path(), help="the repository's root (default: here)")
    check.add_argument("--no-snippets", dest="snippets", action="store_false", help="don't run the code")
    check.add_argument(
        "--endpoint", help="a Hub on this machine to run the code against (default: one of its own)"
    )
    check.add_argument("--json", action="store_true", help="print the faults as JSON")
    check.set_defaults(run=_check)
    return parser


def _add_other_runs(command: argparse.ArgumentParser) -> None:
    command.add_argument("--unseen", type=Path, metavar="FOLDER", help="sibling run on songs never seen")
    command.add_argument(
        "--floors",
        type=Path,
        nargs="+",
        default=[],
        metavar="FOLDER",
        help="runs of training/svm_baseline.py",
    )


if __name__ == "__main__":
    sys.exit(main())
