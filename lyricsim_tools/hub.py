"""Publishing a folder on the Hub: one rule for datasets, Spaces and models.

Private unless said otherwise; one commit or none; nothing of others' overwritten; a repeated push sends only
what is missing. The access token is the hub client's own login and is never read into a message.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from lyricsim_tools.errors import UserError
from lyricsim_tools.hub_errors import explain, is_transfer_error, may_pass, seconds_asked_for
from lyricsim_tools.hub_files import LocalFile, RepoType, files_to_publish, refuse_tokens
from lyricsim_tools.hub_request import PushRequest, require_owner

if TYPE_CHECKING:
    from huggingface_hub import HfApi

    from lyricsim_tools.hub_commit import Changes

# Seconds to wait after each failed attempt; the last attempt's failure is final.
PAUSES = (1.0, 2.0, 4.0)
_LONGEST_WAIT = 120.0


@dataclass(frozen=True)
class PushResult:
    """What a push did, or would do.

    Args:
        repo_id: ``owner/name``.
        repo_type: the kind of repository.
        url: the repository's page; None on a dry run.
        revision: the branch.
        commit: the branch's newest commit after the push; None on a dry run.
        uploaded: names that are new or changed (on a dry run: all that would be looked at).
        unchanged: names that were already there with this content.
        deleted: names that an earlier push had written and that the folder no longer has.
        public: whether everybody may see the repository.
        dry_run: whether nothing was sent.
    """

    repo_id: str
    repo_type: RepoType
    url: str | None
    revision: str
    commit: str | None
    uploaded: tuple[str, ...]
    unchanged: tuple[str, ...]
    deleted: tuple[str, ...]
    public: bool
    dry_run: bool


def push_folder(
    folder: Path,
    repo_id: str,
    *,
    repo_type: RepoType,
    message: str,
    public: bool = False,
    revision: str | None = None,
    dry_run: bool = False,
    space_sdk: str | None = None,
    overwrite: bool = False,
    ignore: Sequence[str] = (),
    pauses: Sequence[float] = PAUSES,
) -> PushResult:
    """Publish a folder in one commit; what the repository already has is not sent again.

    A README.md that was edited on the Hub keeps its edits outside the generated blocks
    (``lyricsim_tools.card_blocks``). Other files are replaced only if an earlier push wrote them and nobody
    changed them since.

    Args:
        folder: a built dataset, a Space, or an exported model (weights as safetensors).
        repo_id: ``owner/name``; the owner is a user or an organisation.
        repo_type: ``model``, ``dataset`` or ``space``.
        message: the commit's message.
        public: create a public repository, or make the existing one public.
        revision: the branch to write, created from ``main`` if need be.
        dry_run: say what would be published, without a single request.
        space_sdk: the SDK of a new Space; by default the ``sdk`` of its README.md.
        overwrite: replace others' files too.
        ignore: more patterns of files to leave out.
        pauses: seconds between attempts, in order.

    Raises:
        UserError: bad input, no login, foreign or hand-edited files in the way, or a Hub that refuses or
            cannot be reached; the message ends with the command that repeats the push.
    """
    request = PushRequest(
        folder,
        require_owner(repo_id),
        repo_type,
        message,
        public,
        revision,
        space_sdk,
        overwrite,
        tuple(ignore),
    )
    files = files_to_publish(request.folder, repo_type, request.ignore)
    if repo_type == "space":
        request = replace(request, space_sdk=space_sdk or _sdk_of(request.folder))
    if dry_run:
        return _result(request, uploaded=tuple(file.name for file in files), dry_run=True)
    return _push_with_retries(request, files, pauses)


def require_login(afterwards: str) -> str:
    """The hub client's access token.

    Args:
        afterwards: what to do once logged in, for the message.

    Raises:
        UserError: nobody is logged in.
    """
    from huggingface_hub import get_token

    token = get_token()
    if token is None:
        raise UserError(
            "you are not logged in to the Hub",
            "an access token with the role 'write'",
            f"run `hf auth login`, or set HF_TOKEN, {afterwards}",
        )
    return token


def _push_with_retries(
    request: PushRequest, files: Sequence[LocalFile], pauses: Sequence[float]
) -> PushResult:
    from huggingface_hub import HfApi

    refuse_tokens(files, require_login(f"then:\n    {request.command}"))
    api = HfApi(library_name="lyricsim")
    waits = iter(pauses)
    while True:
        try:
            return _push_once(api, request, files)
        except Exception as error:
            if not is_transfer_error(error):
                raise
            pause = next(waits, None)
            if pause is None or not may_pass(error):
                raise explain(error, request.repo_id, request.command) from error
            time.sleep(min(max(pause, seconds_asked_for(error) or 0.0), _LONGEST_WAIT))


def _push_once(api: "HfApi", request: PushRequest, files: Sequence[LocalFile]) -> PushResult:
    from lyricsim_tools.hub_commit import commit, plan_changes, prepare_repository

    prepare_repository(api, request)
    changes = plan_changes(api, request, files)
    head = commit(api, request, changes)
    if request.public:
        api.update_repo_settings(request.repo_id, repo_type=request.repo_type, private=False)
    return _done(api, request, changes, head)


def _done(api: "HfApi", request: PushRequest, changes: "Changes", head: str) -> PushResult:
    prefix = {"model": "", "dataset": "datasets/", "space": "spaces/"}[request.repo_type]
    return replace(
        _result(request, uploaded=tuple(sorted(changes.additions)), dry_run=False),
        url=f"{api.endpoint}/{prefix}{request.repo_id}",
        commit=head,
        unchanged=changes.unchanged,
        deleted=changes.deletions,
    )


def _result(request: PushRequest, *, uploaded: tuple[str, ...], dry_run: bool) -> PushResult:
    return PushResult(
        request.repo_id,
        request.repo_type,
        None,
        request.branch,
        None,
        uploaded,
        (),
        (),
        request.public,
        dry_run,
    )


def _sdk_of(folder: Path) -> str:
    from lyricsim_tools.card_blocks import read_card, split_head

    card = folder / "README.md"
    sdk = split_head(read_card(card))[0].get("sdk") if card.is_file() else None
    if not isinstance(sdk, str):
        raise UserError(
            f"{card} does not say which SDK the Space uses",
            "sdk: gradio (or docker, static) in its YAML head",
            "add it, or name the SDK with --sdk",
        )
    return sdk
