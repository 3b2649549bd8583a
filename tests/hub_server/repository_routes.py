"""What is answered about one repository, below ``/api/<kind>/<owner>/<name>/``."""

import base64
import json
from collections.abc import Callable
from urllib.parse import parse_qs, unquote

from hub_server.messages import Answer, Request, json_answer, refusal
from hub_server.store import PREFIXES, Blob, Commit, Repository, Store, is_large

_NO_REVISION = refusal(404, "Invalid rev id", "RevisionNotFound")


def summary(repository: Repository, commit: Commit) -> dict:
    files = [
        {"rfilename": name, "size": len(blob.content), "blobId": blob.git_id}
        for name, blob in sorted(commit.tree.items())
    ]
    return {
        "_id": repository.id,
        "id": repository.id,
        "modelId": repository.id,
        "author": repository.id.split("/")[0],
        "sha": commit.id,
        "private": repository.private,
        "gated": False,
        "disabled": False,
        "tags": [],
        "downloads": 0,
        "likes": 0,
        "lastModified": commit.date,
        "createdAt": commit.date,
        "siblings": files,
    }


def _info(repository: Repository, rest: str, request: Request) -> Answer:
    commit = repository.find(unquote(rest)) if rest else repository.head
    return json_answer(summary(repository, commit)) if commit else _NO_REVISION


def _refs(repository: Repository, rest: str, request: Request) -> Answer:
    def listed(kind: str, names: dict[str, str]) -> list[dict]:
        return [{"name": n, "ref": f"refs/{kind}/{n}", "targetCommit": c} for n, c in names.items()]

    return json_answer(
        {
            "branches": listed("heads", repository.branches),
            "tags": listed("tags", repository.tags),
            "converts": [],
        }
    )


def _history(repository: Repository, rest: str, request: Request) -> Answer:
    commit = repository.find(unquote(rest))
    if commit is None:
        return _NO_REVISION
    return json_answer(
        [
            {"id": c.id, "title": c.title, "message": "", "date": c.date, "authors": [{"user": "test"}]}
            for c in repository.history(commit)
        ]
    )


def _tree(repository: Repository, rest: str, request: Request) -> Answer:
    revision, _, folder = rest.partition("/")
    commit = repository.find(unquote(revision))
    if commit is None:
        return _NO_REVISION
    prefix = f"{unquote(folder).strip('/')}/" if folder.strip("/") else ""
    inside = [name.removeprefix(prefix) for name in sorted(commit.tree) if name.startswith(prefix)]
    if prefix and not inside:
        return refusal(404, f"{folder} does not exist on {revision}", "EntryNotFound")
    deep = request.flag("recursive")
    folders = sorted({parent for name in inside for parent in _parents(name) if deep or "/" not in parent})
    files = [name for name in inside if deep or "/" not in name]
    entries = [_folder_entry(prefix + name) for name in folders]
    return json_answer(entries + [_entry(prefix + n, commit.tree[prefix + n]) for n in files])


def _paths_info(repository: Repository, rest: str, request: Request) -> Answer:
    commit = repository.find(unquote(rest))
    if commit is None:
        return _NO_REVISION
    is_json = "json" in request.headers.get("content-type", "")
    paths = request.json()["paths"] if is_json else parse_qs(request.body.decode()).get("paths", [])
    entries = []
    for path in [paths] if isinstance(paths, str) else paths:
        name = path.strip("/")
        if name in commit.tree:
            entries.append(_entry(name, commit.tree[name]))
        elif any(other.startswith(f"{name}/") for other in commit.tree):
            entries.append(_folder_entry(name))
    return json_answer(entries)


def _parents(name: str) -> list[str]:
    parts = name.split("/")[:-1]
    return ["/".join(parts[: i + 1]) for i in range(len(parts))]


def _entry(name: str, blob: Blob) -> dict:
    size = len(blob.content)
    entry = {"type": "file", "path": name, "oid": blob.git_id, "size": size}
    return entry | ({"lfs": {"oid": blob.sha256, "size": size, "pointerSize": 130}} if blob.large else {})


def _folder_entry(name: str) -> dict:
    return {"type": "directory", "path": name, "oid": Blob(name.encode()).git_id, "size": 0}


def _branch(store: Store, url: str, repository: Repository, rest: str, request: Request) -> Answer:
    name = unquote(rest)
    if name in repository.branches:
        return refusal(409, "Reference already exists")
    start = repository.find(request.json().get("startingPoint") or "main")
    if start is None:
        return _NO_REVISION
    repository.branches[name] = start.id
    return json_answer({})


def _tag(store: Store, url: str, repository: Repository, rest: str, request: Request) -> Answer:
    name, commit = request.json()["tag"], repository.find(unquote(rest))
    if name in repository.tags:
        return refusal(409, "Tag reference exists already")
    if commit is None:
        return _NO_REVISION
    repository.tags[name] = commit.id
    return json_answer({})


def _settings(store: Store, url: str, repository: Repository, rest: str, request: Request) -> Answer:
    wanted = request.json()
    repository.private = bool(wanted.get("private", wanted.get("visibility") == "private"))
    return json_answer({"private": repository.private})


def _preupload(store: Store, url: str, repository: Repository, rest: str, request: Request) -> Answer:
    commit = repository.find(unquote(rest))
    if commit is None:
        return _NO_REVISION
    files = []
    for wanted in request.json()["files"]:
        large = is_large(wanted["path"], wanted["size"])
        entry = {"path": wanted["path"], "uploadMode": "lfs" if large else "regular", "shouldIgnore": False}
        if blob := commit.tree.get(wanted["path"]):
            entry["oid"] = blob.sha256 if large else blob.git_id
        files.append(entry)
    return json_answer({"files": files})


def _commit(store: Store, url: str, repository: Repository, rest: str, request: Request) -> Answer:
    branch = unquote(rest)
    if branch not in repository.branches:
        return _NO_REVISION
    lines = [json.loads(line) for line in request.body.splitlines() if line]
    header = next(line["value"] for line in lines if line["key"] == "header")
    if header.get("parentCommit") not in (None, repository.branches[branch]):
        return refusal(412, "A commit has happened since. Please refresh and try again.")
    tree = dict(repository.commits[repository.branches[branch]].tree)
    for line in lines:
        if refused := _apply(store, tree, line["key"], line["value"]):
            return refused
    made = repository.commit(branch, tree, header["summary"])
    page = f"{url}/{PREFIXES[repository.type]}{repository.id}/commit/{made.id}"
    return json_answer({"success": True, "commitOid": made.id, "commitUrl": page, "hookOutput": ""})


def _apply(store: Store, tree: dict[str, Blob], key: str, value: dict) -> Answer | None:
    name = value.get("path", "")
    if name.startswith("/") or ".." in name.split("/"):
        return refusal(400, f"invalid path {name}")
    if key == "file":
        tree[name] = Blob(base64.b64decode(value["content"]))
    elif key == "lfsFile":
        if value["oid"] not in store.large_files:
            return refusal(400, f"the large file {value['oid']} was never uploaded")
        tree[name] = Blob(store.large_files[value["oid"]], large=True)
    elif key == "deletedFile":
        tree.pop(name, None)
    elif key == "deletedFolder":
        for inside in [other for other in tree if other.startswith(f"{name.rstrip('/')}/")]:
            del tree[inside]
    return None


READS: dict[str, Callable[[Repository, str, Request], Answer]] = {
    "": _info,
    "revision": _info,
    "refs": _refs,
    "commits": _history,
    "tree": _tree,
    "paths-info": _paths_info,
}
WRITES: dict[str, Callable[[Store, str, Repository, str, Request], Answer]] = {
    "branch": _branch,
    "tag": _tag,
    "settings": _settings,
    "preupload": _preupload,
    "commit": _commit,
}
