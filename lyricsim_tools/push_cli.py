"""``lyricsim-push``: publish a dataset, a Space or a model folder on the Hub."""

import argparse
import contextlib
import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import get_args

from lyricsim_tools.errors import UserError
from lyricsim_tools.hub import PushResult, push_folder
from lyricsim_tools.hub_files import RepoType
from lyricsim_tools.tables import print_json

# What `lyricsim-cards` keeps beside a run's card: the repository that it names, and more.
CARD_RECORD = "card.json"
# What `lyricsim-dataset build` leaves beside the data.
BUILD_RECORD = "build.json"
_EXAMPLES = """examples:
  lyricsim-dataset push your-name/lyricsim                        # what `lyricsim-dataset build` wrote
  lyricsim-push lyricsim_metric your-name/lyricsim_metric --type space
  lyricsim-push outputs/exported your-name/lyricsim-bertin --type model --revision song-disjoint
  lyricsim-push outputs/exported your-name/lyricsim-bertin --type model --dry-run
  lyricsim-cards publish runs/bertin your-name/lyricsim-bertin    # a run of training/, with its card

The repository is private unless --public is given. The access token is that of `hf auth login` or HF_TOKEN.
A push that was cut short is repeated with the same command; what arrived is not sent again.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: the command line; None: the process's own.

    Returns:
        0 when the repository is up to date, 2 on a mistake or a failed push.
    """
    options = _parser().parse_args(arguments)
    try:
        _refuse_built_dataset(options)
        _refuse_other_card(options)
        result = push_folder(
            options.folder,
            options.repository,
            repo_type=options.type,
            message=options.message or f"Publish {options.folder.resolve().name}",
            public=options.public,
            revision=options.revision,
            dry_run=options.dry_run,
            space_sdk=options.sdk,
            overwrite=options.overwrite,
            ignore=options.ignore,
        )
    except UserError as error:
        sys.stderr.write(f"lyricsim-push: {error}\n")
        return 2
    if options.json:
        print_json(asdict(result))
    else:
        sys.stdout.write(describe(result) + "\n")
    return 0


def _refuse_built_dataset(options: argparse.Namespace) -> None:
    """A built dataset has a push of its own, which checks it and names the repository in its card."""
    if options.type != "dataset" or not (options.folder / BUILD_RECORD).is_file():
        return
    words = ["lyricsim-dataset", "push", options.repository, "--folder", str(options.folder)]
    words += ["--revision", options.revision] if options.revision else []
    words += ["--public"] if options.public else []
    raise UserError(
        f"{options.folder} is what `lyricsim-dataset build` wrote",
        "the push that checks it and names the repository in its card",
        f"run:\n    {shlex.join(words)}",
    )


def _refuse_other_card(options: argparse.Namespace) -> None:
    """A run's card loads its model by the id that it was written for, which its record says."""
    record = options.folder / CARD_RECORD
    if options.type != "model" or not record.is_file():
        return
    branch = options.revision or "main"
    # A damaged record is named by the command that is asked for below.
    with contextlib.suppress(ValueError, AttributeError):
        known = json.loads(record.read_text("utf-8"))
        if (known.get("repo_id"), known.get("revision") or "main") == (options.repository, branch):
            return
    words = ["lyricsim-cards", "publish", str(options.folder), options.repository]
    words += ["--revision", options.revision] if options.revision else []
    words += ["--public"] if options.public else []
    raise UserError(
        f"the card in {options.folder} was not written for {options.repository} ({branch}), "
        "so its code would load another model",
        "a card that names the repository where it is read",
        f"write it anew and publish in one step with:\n    {shlex.join(words)}",
    )


def describe(result: PushResult) -> str:
    """What a push did, in a few lines."""
    visibility = "public" if result.public else "private"
    if result.dry_run:
        where = f"the {visibility} {result.repo_type} {result.repo_id} ({result.revision})"
        title = f"would publish {len(result.uploaded)} files in {where}, nothing was sent:"
        return "\n".join([title, *[f"  {name}" for name in result.uploaded]])
    if not result.uploaded and not result.deleted:
        return f"{result.url} ({result.revision}, {visibility}) was already up to date; nothing was sent"
    return (
        f"{result.url} ({result.revision}, {visibility}): {len(result.uploaded)} files new or changed, "
        f"{len(result.unchanged)} unchanged, {len(result.deleted)} taken out; commit {result.commit}"
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lyricsim-push",
        description="Publish a dataset, a Space or a model folder on the Hub.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path, help="what to publish")
    parser.add_argument("repository", help="owner/name")
    parser.add_argument("--type", choices=get_args(RepoType), required=True, help="the kind of repository")
    parser.add_argument("--public", action="store_true", help="let everybody see it (default: private)")
    parser.add_argument("--revision", help="the branch to write, created if need be (default: main)")
    parser.add_argument("--message", help="the commit's message")
    parser.add_argument("--sdk", choices=("gradio", "docker", "static"), help="SDK of a new Space")
    parser.add_argument("--ignore", action="append", default=[], metavar="PATTERN", help="leave files out")
    parser.add_argument("--overwrite", action="store_true", help="replace files that others wrote or edited")
    parser.add_argument("--dry-run", action="store_true", help="list what would be published, send nothing")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    return parser


if __name__ == "__main__":
    sys.exit(main())
