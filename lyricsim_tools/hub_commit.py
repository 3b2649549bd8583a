"""One attempt to bring a repository up to date: look, compare, commit."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lyricsim_tools.card_blocks import blocks_of, merge_cards, read_card
from lyricsim_tools.errors import UserError
from lyricsim_tools.hub_files import ContentIds, LocalFile, content_ids
from lyricsim_tools.hub_request import PushRequest

if TYPE_CHECKING:
    from huggingface_hub import HfApi

# Kept in the repository: what an earlier push wrote, by name and content.
RECORD_NAME = ".lyricsim-push.json"
CARD_NAME, ATTRIBUTES_NAME = "README.md", ".gitattributes"


@dataclass(frozen=True)
class Remote:
    """A branch as it stands.

    Args:
        head: its newest commit.
        contents: every file's git blob id, or SHA-256 if it is stored as a large file.
        record: what an earlier push of ours wrote; empty if there was none.
        card: the text of README.md, None if there is none.
    """

    head: str
    contents: Mapping[str, str]
    record: Mapping[str, ContentIds]
    card: str | None


@dataclass(frozen=True)
class Changes:
    """What one commit has to do.

    Args:
        parent: the commit that it was planned against.
        additions: new or changed files, by name.
        deletions: files of an earlier push that are no longer wanted.
        unchanged: names that are already right.
    """

    parent: str
    additions: Mapping[str, Path | bytes]
    deletions: tuple[str, ...]
    unchanged: tuple[str, ...]


def prepare_repository(api: "HfApi", request: PushRequest) -> None:
    """Create the repository and the branch unless they are there.

    Raises:
        UserError: the repository is public and the request did not ask for that.
    """
    api.create_repo(
        request.repo_id,
        repo_type=request.repo_type,
        private=not request.public,
        exist_ok=True,
        space_sdk=request.space_sdk if request.repo_type == "space" else None,
    )
    info = api.repo_info(request.repo_id, repo_type=request.repo_type)
    if not info.private and not request.public:
        raise UserError(
            f"{request.repo_id} is public, everybody would see this push",
            "a private repository, or --public",
            f"make it private on its settings page, choose another name, or:\n    {request.command} --public",
        )
    if request.revision and request.revision != "main":
        api.create_branch(
            request.repo_id, branch=request.revision, repo_type=request.repo_type, exist_ok=True
        )


def plan_changes(api: "HfApi", request: PushRequest, files: Sequence[LocalFile]) -> Changes:
    """Compare the folder with the branch.

    Raises:
        UserError: the push would replace files that somebody else wrote or edited.
    """
    remote = _read_remote(api, request)
    wanted: dict[str, Path | bytes] = {file.name: file.path for file in files}
    record = {name: content_ids(content) for name, content in wanted.items()}
    if CARD_NAME in wanted:
        wanted[CARD_NAME] = _card(wanted[CARD_NAME], record[CARD_NAME], remote)
    ids = {**record, CARD_NAME: content_ids(wanted[CARD_NAME])} if CARD_NAME in wanted else record
    differing = [name for name in wanted if remote.contents.get(name) not in _both(ids[name])]
    foreign = [name for name in differing if _is_foreign(name, wanted, remote)]
    if foreign and not request.overwrite and not _is_fresh(api, request, remote):
        raise _foreign_files(request, foreign)
    additions = {name: wanted[name] for name in differing}
    deletions = tuple(sorted(name for name in remote.record if name not in wanted and _is_ours(name, remote)))
    if additions or deletions or record != remote.record:
        additions[RECORD_NAME] = _record_bytes(record)
    return Changes(remote.head, additions, deletions, tuple(sorted(set(wanted) - set(differing))))


def commit(api: "HfApi", request: PushRequest, changes: Changes) -> str:
    """Send what is missing in one commit; without changes none is made. The branch's newest commit id."""
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    if not changes.additions and not changes.deletions:
        return changes.parent
    additions = [
        CommitOperationAdd(name, content if isinstance(content, bytes) else str(content))
        for name, content in changes.additions.items()
    ]
    made = api.create_commit(
        request.repo_id,
        [*additions, *[CommitOperationDelete(name) for name in changes.deletions]],
        commit_message=request.message,
        repo_type=request.repo_type,
        revision=request.branch,
        parent_commit=changes.parent,
    )
    return str(made.oid)


def _read_remote(api: "HfApi", request: PushRequest) -> Remote:
    repo_id, repo_type = request.repo_id, request.repo_type
    head = str(api.repo_info(repo_id, repo_type=repo_type, revision=request.branch).sha)
    contents = {}
    for entry in api.list_repo_tree(repo_id, recursive=True, repo_type=repo_type, revision=head):
        blob = getattr(entry, "blob_id", None)
        if blob is not None:
            lfs = getattr(entry, "lfs", None)
            contents[entry.path] = lfs.sha256 if lfs else blob
    card = _read(api, request, head, CARD_NAME) if CARD_NAME in contents else None
    record = _read(api, request, head, RECORD_NAME) if RECORD_NAME in contents else None
    return Remote(head, contents, _parse_record(record), card)


def _read(api: "HfApi", request: PushRequest, head: str, name: str) -> str:
    with tempfile.TemporaryDirectory() as cache:
        path = api.hf_hub_download(
            request.repo_id, name, repo_type=request.repo_type, revision=head, cache_dir=cache
        )
        return Path(path).read_bytes().decode("utf-8", "replace")


def _parse_record(text: str | None) -> dict[str, ContentIds]:
    if text is None:
        return {}
    try:
        return {name: ContentIds(**ids) for name, ids in json.loads(text)["files"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(
            f"{RECORD_NAME} in the repository is damaged: {error}",
            "the file as an earlier push wrote it",
            "delete it on the Hub and push with --overwrite",
        ) from error


def _record_bytes(record: Mapping[str, ContentIds]) -> bytes:
    files = {name: asdict(ids) for name, ids in sorted(record.items())}
    return (json.dumps({"files": files}, indent=1, ensure_ascii=False) + "\n").encode()


def _card(content: Path | bytes, ids: ContentIds, remote: Remote) -> Path | bytes:
    """The card to publish: ours, unless somebody edited the published one; then its blocks are renewed.

    The record keeps the generated card's id, not the merged one's, so that edits are recognised for ever.
    """
    text = content.decode() if isinstance(content, bytes) else read_card(content)
    published = remote.record.get(CARD_NAME)
    if remote.card is None or remote.contents[CARD_NAME] in _both(published):
        return content
    if not blocks_of(text):
        return content
    return merge_cards(text, remote.card).encode()


def _is_foreign(name: str, wanted: Mapping[str, Path | bytes], remote: Remote) -> bool:
    if name not in remote.contents or remote.contents[name] in _both(remote.record.get(name)):
        return False
    return not (name == CARD_NAME and isinstance(wanted[name], bytes))


def _is_ours(name: str, remote: Remote) -> bool:
    """Whether a file is still what an earlier push wrote; the record comes from the Hub: not trusted."""
    parts = name.split("/")
    is_plain = "" not in parts and ".." not in parts
    return is_plain and remote.contents.get(name) in _both(remote.record[name])


def _both(ids: ContentIds | None) -> tuple[str, ...]:
    return (ids.git, ids.sha256) if ids else ()


def _is_fresh(api: "HfApi", request: PushRequest, remote: Remote) -> bool:
    """Whether the branch holds only what the Hub itself put there when it created the repository."""
    hubs_own = {ATTRIBUTES_NAME, CARD_NAME} if request.repo_type == "space" else {ATTRIBUTES_NAME}
    if remote.record or not set(remote.contents) <= hubs_own:
        return False
    commits = api.list_repo_commits(request.repo_id, repo_type=request.repo_type, revision=remote.head)
    return len(commits) == 1


def _foreign_files(request: PushRequest, names: Sequence[str]) -> UserError:
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return UserError(
        f"{request.repo_id} already holds other content under these names: {shown}",
        "a new repository, or files that an earlier push wrote and nobody has edited since",
        "choose another name or --revision, or replace them (their versions stay in the history) with:\n"
        f"    {request.command} --overwrite",
    )
