import http.client
import json
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest
from hub_server.messages import Fault
from hub_server.server import TOKEN, USER, LocalHub


@pytest.fixture
def server():
    with LocalHub() as running:
        yield running


def ask(server, path, method="GET", body=None, token=TOKEN, **headers):
    request = urllib.request.Request(server.url + path, method=method)
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    for name, value in headers.items():
        request.add_header(name.replace("_", "-"), value)
    data = json.dumps(body).encode() if body is not None else None
    try:
        with urllib.request.urlopen(request, data, timeout=10) as answer:
            return answer.status, answer.read(), dict(answer.headers)
    except urllib.error.HTTPError as error:
        return error.code, error.read(), dict(error.headers)


def test_only_the_loopback_interface_is_bound(server):
    assert server.url.startswith("http://127.0.0.1:")
    assert server._http.server_address[0] == "127.0.0.1"


def test_a_wrong_token_is_told_so_everywhere(server):
    server.store.put("model", f"{USER}/m", {"a.txt": b"a"})
    for path in ("/api/whoami-v2", f"/api/models/{USER}/m", f"/{USER}/m/resolve/main/a.txt"):
        assert ask(server, path, token="hf_wrong")[0] == 401


def test_a_private_repository_is_hidden_from_strangers(server):
    server.store.create("dataset", f"{USER}/d", private=True)
    status, _, headers = ask(server, f"/api/datasets/{USER}/d", token=None)
    assert (status, headers["X-Error-Code"]) == (401, "RepoNotFound")
    assert ask(server, f"/api/datasets/{USER}/d")[0] == 200


def test_a_reading_token_and_a_foreign_owner_may_not_write(server):
    server.store.tokens["hf_reader"] = "read"
    wanted = {"name": "m", "organization": USER}
    assert ask(server, "/api/repos/create", "POST", wanted, token="hf_reader")[0] == 403
    assert ask(server, "/api/repos/create", "POST", {"name": "m", "organization": "others"})[0] == 403
    assert ask(server, "/api/repos/create", "POST", wanted)[0] == 200
    assert ask(server, "/api/repos/create", "POST", wanted)[0] == 409


def test_a_file_is_served_whole_in_parts_and_at_any_commit(server):
    old = server.store.put("model", f"{USER}/m", {"dir/a.bin": b"0123456789"})
    server.store.put("model", f"{USER}/m", {"dir/a.bin": b"changed"})
    status, body, headers = ask(server, f"/{USER}/m/resolve/{old.id}/dir/a.bin", Range="bytes=3-5")
    assert (status, body, headers["Content-Range"]) == (206, b"345", "bytes 3-5/10")
    assert headers["X-Repo-Commit"] == old.id
    assert ask(server, f"/{USER}/m/resolve/main/dir/a.bin")[1] == b"changed"
    assert ask(server, f"/{USER}/m/resolve/main/dir/a.bin", Range="bytes=99-")[0] == 416


def test_what_is_missing_is_named(server):
    server.store.put("model", f"{USER}/m", {"a.txt": b"a"})
    codes = [
        ask(server, path)[2]["X-Error-Code"]
        for path in (
            f"/{USER}/none/resolve/main/a.txt",
            f"/{USER}/m/resolve/none/a.txt",
            f"/{USER}/m/resolve/main/b.txt",
        )
    ]
    assert codes == ["RepoNotFound", "RevisionNotFound", "EntryNotFound"]


def test_a_commit_on_an_outdated_parent_is_refused(server):
    first = server.store.put("model", f"{USER}/m", {"a.txt": b"a"})
    server.store.put("model", f"{USER}/m", {"a.txt": b"b"})
    header = {"key": "header", "value": {"summary": "s", "parentCommit": first.id}}
    assert ask(server, f"/api/models/{USER}/m/commit/main", "POST", header)[0] == 412


def test_a_path_out_of_the_repository_is_refused(server):
    server.store.put("model", f"{USER}/m", {"a.txt": b"a"})
    lines = [
        {"key": "header", "value": {"summary": "s"}},
        {"key": "file", "value": {"path": "../b", "content": ""}},
    ]
    request = urllib.request.Request(f"{server.url}/api/models/{USER}/m/commit/main", method="POST")
    request.add_header("Authorization", f"Bearer {TOKEN}")
    with pytest.raises(urllib.error.HTTPError, match="400"):
        urllib.request.urlopen(request, "\n".join(map(json.dumps, lines)).encode(), timeout=10)


def test_branches_and_tags_point_at_commits(server):
    commit = server.store.put("model", f"{USER}/m", {"a.txt": b"a"})
    assert ask(server, f"/api/models/{USER}/m/branch/draft", "POST", {})[0] == 200
    assert ask(server, f"/api/models/{USER}/m/branch/draft", "POST", {})[0] == 409
    assert ask(server, f"/api/models/{USER}/m/tag/main", "POST", {"tag": "v1"})[0] == 200
    refs = json.loads(ask(server, f"/api/models/{USER}/m/refs")[1])
    assert {b["name"]: b["targetCommit"] for b in refs["branches"]} == dict.fromkeys(
        ["main", "draft"], commit.id
    )
    assert [t["name"] for t in refs["tags"]] == ["v1"]


def test_the_tree_lists_folders_and_files(server):
    server.store.put("model", f"{USER}/m", {"a.txt": b"a", "d/e/b.txt": b"b"})
    shallow = json.loads(ask(server, f"/api/models/{USER}/m/tree/main")[1])
    deep = json.loads(ask(server, f"/api/models/{USER}/m/tree/main/d?recursive=true")[1])
    assert [e["path"] for e in shallow] == ["d", ".gitattributes", "a.txt"]
    assert [(e["type"], e["path"]) for e in deep] == [("directory", "d/e"), ("file", "d/e/b.txt")]


@pytest.mark.parametrize("status", [401, 403, 409, 429, 500])
def test_a_fault_strikes_as_often_as_it_was_told(server, status):
    server.faults.append(Fault("whoami", status=status, times=2, skip=1, retry_after=7))
    answers = [ask(server, "/api/whoami-v2") for _ in range(4)]
    assert [a[0] for a in answers] == [200, status, status, 200]
    assert answers[1][2]["Retry-After"] == "7"


def test_a_slow_answer_comes_late_and_a_cut_one_half(server):
    server.store.put("model", f"{USER}/m", {"a.txt": b"0123456789"})
    address = f"/{USER}/m/resolve/main/a.txt"
    server.faults.append(Fault("a.txt", kind="slow", seconds=0.3))
    before = time.monotonic()
    assert ask(server, address)[1] == b"0123456789"
    assert time.monotonic() - before >= 0.3
    server.faults.append(Fault("a.txt", kind="cut"))
    with pytest.raises(http.client.IncompleteRead):
        ask(server, address)


def test_a_held_request_is_answered_after_the_next_one(server):
    server.store.put("model", f"{USER}/m", {"a.txt": b"a", "b.txt": b"b"})
    server.faults.append(Fault("resolve", kind="held"))
    with ThreadPoolExecutor() as pool:
        held = pool.submit(ask, server, f"/{USER}/m/resolve/main/a.txt")
        while server.faults[0].times:
            time.sleep(0.01)
        assert ask(server, f"/{USER}/m/resolve/main/b.txt")[1] == b"b"
        assert held.result()[1] == b"a"
    assert [target[-5:] for _, target, _ in server.log] == ["b.txt", "a.txt"]
