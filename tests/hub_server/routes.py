"""Which address is answered by what: account, repositories' creation, large files, file contents."""

import hashlib
import re
from collections.abc import Callable
from urllib.parse import unquote

from hub_server import repository_routes
from hub_server.messages import Answer, Request, json_answer, refusal
from hub_server.store import PREFIXES, Blob, Repository, Store

_ID = r"(?P<id>[^/]+/[^/]+?|[^/]+?)"
_KIND = r"(?:(?P<kind>datasets|spaces)/)?"
_TYPES = {"models": "model", "datasets": "dataset", "spaces": "space", None: "model"}

_VERBS = "|".join([*repository_routes.READS, *repository_routes.WRITES])

Route = Callable[[Store, str, Request, re.Match[str]], Answer]


def answer(store: Store, url: str, request: Request) -> Answer:
    """The Hub's answer; ``url`` is where the Hub says it lives."""
    if request.token is not None and request.token not in store.tokens:
        return refusal(401, "Invalid credentials in Authorization header")
    for method, pattern, route in _ROUTES:
        match = re.fullmatch(pattern, request.path)
        if match and request.method in method.split():
            with store.lock:
                return route(store, url, request, match)
    return refusal(404, f"no route for {request.method} {request.path}")


def _who_am_i(store: Store, url: str, request: Request, match: re.Match[str]) -> Answer:
    if request.token is None:
        return refusal(401, "Invalid username or password.")
    organisations = [
        {"type": "org", "id": o, "name": o, "fullname": o, "roleInOrg": "admin"} for o in store.organisations
    ]
    access = {"displayName": "test", "role": store.tokens[request.token]}
    return json_answer(
        {
            "type": "user",
            "id": store.user,
            "name": store.user,
            "fullname": store.user,
            "email": "test@example.org",
            "isPro": False,
            "orgs": organisations,
            "auth": {"type": "access_token", "accessToken": access},
        }
    )


def _validate_card(store: Store, url: str, request: Request, match: re.Match[str]) -> Answer:
    # The real Hub knows rules for this head that nobody else has; here every one is fine.
    return json_answer({"errors": [], "warnings": []})


def _create(store: Store, url: str, request: Request, match: re.Match[str]) -> Answer:
    wanted = request.json()
    repo_type = wanted.get("type") or "model"
    repo_id = f"{wanted.get('organization') or store.user}/{wanted['name']}"
    if refused := _may_write(store, request, repo_id):
        return refused
    page = f"{url}/{PREFIXES[repo_type]}{repo_id}"
    if (repo_type, repo_id) in store.repositories:
        return json_answer({"error": "You already created this repository", "url": page}, 409)
    private = wanted.get("visibility") == "private" or bool(wanted.get("private"))
    store.create(repo_type, repo_id, private=private, sdk=wanted.get("sdk"))
    return json_answer({"url": page, "name": repo_id, "id": repo_id})


def _delete(store: Store, url: str, request: Request, match: re.Match[str]) -> Answer:
    wanted = request.json()
    repo_id = f"{wanted.get('organization') or store.user}/{wanted['name']}"
    if refused := _may_write(store, request, repo_id):
        return refused
    gone = store.repositories.pop((wanted.get("type") or "model", repo_id), None)
    return json_answer({}) if gone else refusal(404, "Repository not found", "RepoNotFound")


def _list(store: Store, url: str, request: Request, match: re.Match[str]) -> Answer:
    repo_type = _TYPES[match["kind"]]
    seen = [r for r in store.repositories.values() if r.type == repo_type and _may_read(store, request, r)]
    return json_answer([repository_routes.summary(r, r.head) for r in seen])


def _large_file_batch(store: Store, url: str, request: Request, match: re.Match[str]) -> Answer:
    if refused := _may_write(store, request, match["id"]):
        return refused
    objects = []
    for wanted in request.json()["objects"]:
        entry = {"oid": wanted["oid"], "size": wanted["size"]}
        if wanted["oid"] not in store.large_files:
            href = f"{url}/large/{wanted['oid']}"
            entry["actions"] = {"upload": {"href": href}, "verify": {"href": f"{href}/verify"}}
        objects.append(entry)
    return json_answer({"transfer": "basic", "objects": objects})


def _large_file_upload(store: Store, url: str, request: Request, match: re.Match[str]) -> Answer:
    if hashlib.sha256(request.body).hexdigest() != match["oid"]:
        return refusal(400, "the content has another SHA-256")
    store.large_files[match["oid"]] = request.body
    return Answer(200)


def _large_file_verify(store: Store, url: str, request: Request, match: re.Match[str]) -> Answer:
    return json_answer({}, 200 if match["oid"] in store.large_files else 404)


def _resolve(store: Store, url: str, request: Request, match: re.Match[str]) -> Answer:
    repository = store.repositories.get((_TYPES[match["kind"]], unquote(match["id"])))
    if repository is None or not _may_read(store, request, repository):
        return _not_found(request)
    commit = repository.find(unquote(match["revision"]))
    if commit is None:
        return refusal(404, "Invalid rev id", "RevisionNotFound")
    blob = commit.tree.get(unquote(match["path"]))
    if blob is None:
        headers = {
            "X-Error-Code": "EntryNotFound",
            "X-Error-Message": "Entry not found",
            "X-Repo-Commit": commit.id,
        }
        return Answer(404, b"Entry not found", headers)
    return _content(request, blob, commit.id)


def _content(request: Request, blob: Blob, commit_id: str) -> Answer:
    headers = {
        "Content-Type": "application/octet-stream",
        "X-Repo-Commit": commit_id,
        "Accept-Ranges": "bytes",
        "ETag": f'"{blob.etag}"',
    }
    if blob.large:
        headers |= {"X-Linked-ETag": f'"{blob.etag}"', "X-Linked-Size": str(len(blob.content))}
    span = re.fullmatch(r"bytes=(\d+)-(\d*)", request.headers.get("range", ""))
    if span is None:
        return Answer(200, blob.content, headers)
    size = len(blob.content)
    first, last = int(span[1]), min(int(span[2] or size - 1), size - 1)
    if first >= size:
        return Answer(416, b"", headers | {"Content-Range": f"bytes */{size}"})
    headers["Content-Range"] = f"bytes {first}-{last}/{size}"
    return Answer(206, blob.content[first : last + 1], headers)


def _repository(store: Store, url: str, request: Request, match: re.Match[str]) -> Answer:
    repository = store.repositories.get((_TYPES[match["kind"]], unquote(match["id"])))
    if repository is None or not _may_read(store, request, repository):
        return _not_found(request)
    verb, _, rest = (match["rest"] or "").lstrip("/").partition("/")
    if verb in repository_routes.WRITES:
        if refused := _may_write(store, request, repository.id):
            return refused
        return repository_routes.WRITES[verb](store, url, repository, rest, request)
    if verb in repository_routes.READS:
        return repository_routes.READS[verb](repository, rest, request)
    return refusal(404, f"no route for {request.method} {request.path}")


def _may_read(store: Store, request: Request, repository: Repository) -> bool:
    return not repository.private or request.token in store.tokens


def _may_write(store: Store, request: Request, repo_id: str) -> Answer | None:
    if request.token is None:
        return refusal(401, "Invalid username or password.")
    owner = unquote(repo_id).split("/")[0]
    if store.tokens[request.token] != "write" or owner not in (store.user, *store.organisations):
        return refusal(403, f"You don't have the rights to write to {owner}")
    return None


def _not_found(request: Request) -> Answer:
    return refusal(404 if request.token else 401, "Repository not found", "RepoNotFound")


_ROUTES: tuple[tuple[str, str, Route], ...] = (
    ("GET", r"/api/whoami-v2", _who_am_i),
    ("POST", r"/api/validate-yaml", _validate_card),
    ("POST", r"/api/repos/create", _create),
    ("DELETE", r"/api/repos/delete", _delete),
    ("GET", r"/api/(?P<kind>models|datasets|spaces)", _list),
    ("PUT", r"/large/(?P<oid>[0-9a-f]{64})", _large_file_upload),
    ("POST", r"/large/(?P<oid>[0-9a-f]{64})/verify", _large_file_verify),
    ("POST", rf"/{_KIND}{_ID}\.git/info/lfs/objects/batch", _large_file_batch),
    ("GET HEAD", rf"/{_KIND}{_ID}/(?:resolve|raw)/(?P<revision>[^/]+)/(?P<path>.+)", _resolve),
    (
        "GET HEAD POST PUT DELETE",
        rf"/api/(?P<kind>models|datasets|spaces)/{_ID}(?P<rest>/(?:{_VERBS})(?:/.*)?)?",
        _repository,
    ),
)
