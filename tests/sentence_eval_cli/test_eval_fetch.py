"""Upstream's files are known by hash, checked before use, and fetched from a server that may fail."""

import hashlib
import http.server
import json
import threading

import pytest
from support import shared_path

from lyricsim_tools.errors import UserError
from lyricsim_tools.pinned import PinnedFile, git_blob_sha1
from spanish_sentence_eval import cli, fetch, manifest
from spanish_sentence_eval.tasks import TASKS

CONTENT = {"senteval/A/one.txt": b"uno\n" * 50_000, "discoeval/B/two.txt": b"dos\n" * 100}


class Server(http.server.ThreadingHTTPServer):
    """Serves CONTENT; can cut a first answer off, send rubbish, or refuse a path."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.cut_after = None
        self.rubbish = False
        self.ranges = []
        self.paths = []

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/tree/data"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        content = CONTENT.get(self.path.removeprefix("/tree/data/"))
        self.server.paths.append(self.path)
        if content is None:
            self.send_error(404)
            return
        start = int((self.headers.get("Range") or "bytes=0-")[6:].rstrip("-"))
        self.server.ranges.append(start)
        body = b"x" * len(content) if self.server.rubbish else content[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.server.cut_after is not None:
            body, self.server.cut_after = body[: self.server.cut_after], None
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    with Server() as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running
        running.shutdown()


@pytest.fixture
def two_pins(monkeypatch, tmp_path):
    """A manifest of two files: one by size and SHA-256, one by its git blob id alone."""
    blob = tmp_path / "blob"
    blob.write_bytes(CONTENT["discoeval/B/two.txt"])
    one = CONTENT["senteval/A/one.txt"]
    pins = {
        "senteval/A/one.txt": PinnedFile("senteval/A/one.txt", len(one), hashlib.sha256(one).hexdigest()),
        "discoeval/B/two.txt": PinnedFile("discoeval/B/two.txt", git_blob_sha1=git_blob_sha1(blob)),
    }
    monkeypatch.setattr(fetch, "pinned_files", lambda: pins)
    return pins


def test_the_packaged_manifest_is_the_one_that_was_counted():
    rows = shared_path("spec/spanish-sentence-evaluation-manifest.tsv").read_text().splitlines()[1:]
    expected = {}
    for row in rows:
        path, status, size, _, blob, sha256 = [*row.split("\t"), ""][:6]
        known = status == "present"
        expected[path.removeprefix("data/")] = (int(size) if known else None, blob, sha256 if known else None)
    pins = manifest.pinned_files()
    assert {path: (pin.size, pin.git_blob_sha1, pin.sha256) for path, pin in pins.items()} == expected
    assert len(pins) == 80
    assert sum(pin.sha256 is None for pin in pins.values()) == 14
    assert sum(pin.size or 0 for pin in pins.values()) == 65_476_430


def test_every_tasks_files_are_in_the_manifest_and_only_the_old_questions_are_unused():
    used = {path for task in TASKS.values() for path in manifest.files_of(task)}
    unused = set(manifest.pinned_files()) - used
    assert unused == {"senteval/SQC/train.txt.depecrated", "senteval/SQC/test.txt.depecrated"}
    assert len(manifest.files_of(TASKS["NLI"])) == 9
    assert len(manifest.files_of(TASKS["STS14"])) == 4
    assert manifest.files_of(TASKS["Depth"]) == ["senteval/Probing/tree_depth.txt"]


def test_the_real_files_are_upstreams(sentence_evaluation_source):
    folder = manifest.data_folder(sentence_evaluation_source)
    for name in ("STS17", "RST", "DCgdd", "SQC"):
        found = manifest.check_files(folder, name, manifest.files_of(TASKS[name]))
        assert found.pinned
    assert manifest.state_of_files(folder, manifest.files_of(TASKS["PAWS"])) == "1 of 2 missing"


def test_a_truncated_or_changed_file_is_refused_with_sizes_and_hashes(sentence_evaluation_source, tmp_path):
    paths = manifest.files_of(TASKS["STS17"])
    for path in paths:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes((sentence_evaluation_source / "data" / path).read_bytes())
    gold = tmp_path / paths[0]
    whole = gold.read_bytes()
    gold.write_bytes(whole[:-1])
    with pytest.raises(UserError, match=r"STS17: .*has 2249 bytes; the pinned .* has 2250"):
        manifest.check_files(tmp_path, "STS17", paths)
    gold.write_bytes(b"9" + whole[1:])
    with pytest.raises(UserError, match="SHA-256"):
        manifest.check_files(tmp_path, "STS17", paths)
    changed = manifest.check_files(tmp_path, "STS17", paths, any_data=True)
    gold.write_bytes(whole)
    right = manifest.check_files(tmp_path, "STS17", paths)
    assert (changed.pinned, right.pinned) == (False, True)
    assert changed.digest != right.digest


def test_fetch_brings_every_file_and_a_second_time_nothing(server, two_pins, tmp_path):
    folder = tmp_path / "tree"
    first = fetch.fetch(folder, base_url=server.url)
    assert set(first.downloaded) == set(CONTENT)
    second = fetch.fetch(folder, base_url=server.url)
    assert (second.downloaded, set(second.kept)) == ((), set(CONTENT))
    found = {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    assert found == CONTENT
    assert len(server.paths) == 2


def test_fetch_of_some_paths_leaves_the_others(server, two_pins, tmp_path):
    assert fetch.fetch(tmp_path / "tree", ["discoeval/B/two.txt"], server.url).downloaded == (
        "discoeval/B/two.txt",
    )
    assert server.paths == ["/tree/data/discoeval/B/two.txt"]


def test_fetch_goes_on_where_a_connection_ended(server, two_pins, tmp_path):
    server.cut_after = 150_000
    fetch.fetch(tmp_path / "tree", ["senteval/A/one.txt"], server.url)
    assert server.ranges[0] == 0
    assert 80_000 < server.ranges[1] <= 150_000
    assert (tmp_path / "tree/senteval/A/one.txt").read_bytes() == CONTENT["senteval/A/one.txt"]


@pytest.mark.parametrize("path", list(CONTENT))
def test_other_content_never_gets_the_files_name(server, two_pins, tmp_path, path):
    server.rubbish = True
    with pytest.raises(UserError, match="sent other content"):
        fetch.fetch(tmp_path / "tree", [path], server.url)
    assert not (tmp_path / "tree" / path).exists()


def test_the_command_fetches_the_files_of_a_task_and_shows_the_terms(server, monkeypatch, tmp_path, capsys):
    body = b"label\tfrase\n"
    monkeypatch.setitem(CONTENT, "discoeval/SSP/mlsum/train.txt", body)
    pin = PinnedFile("discoeval/SSP/mlsum/train.txt", len(body), hashlib.sha256(body).hexdigest())
    monkeypatch.setattr(fetch, "pinned_files", lambda: {pin.path: pin})
    arguments = ["fetch", "--data", str(tmp_path), "--tasks", "SSPmlsum", "--base-url", server.url]
    assert cli.main([*arguments, "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out) == {"downloaded": [pin.path], "kept": []}
    assert "states no licence" in captured.err
    assert cli.main(arguments) == 0
    assert capsys.readouterr().out == "0 files downloaded, 1 were right already\n"


def test_a_group_index_without_its_benchmark_fetches_nothing(server, tmp_path, capsys):
    arguments = ["fetch", "--data", str(tmp_path), "--task_index", "0", "--base-url", server.url]
    assert cli.main(arguments) == 1
    assert "--benchmark with --task_index" in capsys.readouterr().err
    assert server.paths == []


def test_a_server_without_the_file_is_one_clear_message(server, tmp_path, capsys):
    arguments = ["fetch", "--data", str(tmp_path), "--tasks", "STS17", "--base-url", server.url]
    assert cli.main(arguments) == 1
    assert "error: could not download http://127.0.0.1" in capsys.readouterr().err


def test_the_default_address_is_the_pinned_commit():
    assert fetch.UPSTREAM.endswith(
        "/OpenCENIA/Spanish-Sentence-Evaluation/810e44e77ceb550483c0e8a6c3a0b98b4391e827/data"
    )
