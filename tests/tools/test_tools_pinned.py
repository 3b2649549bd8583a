import gzip
import hashlib
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from lyricsim_tools import pinned
from lyricsim_tools.errors import UserError
from lyricsim_tools.pinned import PinnedFile

CONTENT = bytes(range(256)) * 400
PIN = PinnedFile("data/a.bin", len(CONTENT), hashlib.sha256(CONTENT).hexdigest())


class Handler(BaseHTTPRequestHandler):
    """Serves CONTENT, with the failures that the test asked for first."""

    def do_GET(self):
        self.server.ranges.append(self.headers.get("Range"))
        failure = self.server.failures.pop(0) if self.server.failures else None
        if isinstance(failure, int):
            self.send_error(failure)
            return
        asked = self.headers.get("Accept-Encoding", "")
        coded = self.server.coding == "always" or (self.server.coding == "if asked" and "gzip" in asked)
        whole = gzip.compress(self.server.content) if coded else self.server.content
        start = int((self.headers.get("Range") or "bytes=0-")[6:-1])
        if start >= len(whole):
            self.send_error(416)
            return
        body = whole[start:]
        self.send_response(206 if start else 200)
        if coded:
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if failure == "cut" else body)

    def log_message(self, *args):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(pinned, "_PAUSES", (0.0, 0.0, 0.0, None))
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.ranges, httpd.failures, httpd.content, httpd.coding = [], [], CONTENT, "never"
    httpd.url = f"http://127.0.0.1:{httpd.server_port}/a.bin"
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    yield httpd
    httpd.shutdown()
    httpd.server_close()


def test_a_cut_download_is_continued_where_it_stopped(server, tmp_path):
    server.failures = ["cut"]
    path = pinned.download(server.url, PIN, tmp_path / "a.bin")
    assert path.read_bytes() == CONTENT
    first, second = server.ranges
    assert first is None
    assert len(CONTENT) // 2 - pinned._BLOCK < int(second.removeprefix("bytes=")[:-1]) <= len(CONTENT) // 2


def test_a_download_of_an_earlier_process_is_continued(server, tmp_path):
    (tmp_path / "a.bin.partial").write_bytes(CONTENT[:1000])
    pinned.download(server.url, PIN, tmp_path / "a.bin")
    assert server.ranges == ["bytes=1000-"]
    assert (tmp_path / "a.bin").read_bytes() == CONTENT


def test_a_cut_download_is_continued_where_the_server_could_compress(server, tmp_path):
    server.failures, server.coding = ["cut"], "if asked"
    path = pinned.download(server.url, PIN, tmp_path / "a.bin")
    assert path.read_bytes() == CONTENT
    assert len(server.ranges) == 2


def test_a_compressed_rest_that_cannot_be_read_is_fetched_anew_as_a_whole(server, tmp_path):
    server.coding = "always"
    (tmp_path / "a.bin.partial").write_bytes(CONTENT[:100])
    pinned.download(server.url, PIN, tmp_path / "a.bin")
    assert server.ranges == ["bytes=100-", None]
    assert (tmp_path / "a.bin").read_bytes() == CONTENT


def test_a_range_that_is_never_satisfied_is_named(server, tmp_path):
    server.failures = [416] * 9
    with pytest.raises(UserError, match=r"could not download.*416"):
        pinned.download(server.url, PIN, tmp_path / "a.bin")


def test_a_file_that_is_there_is_not_fetched_again(server, tmp_path):
    (tmp_path / "a.bin").write_bytes(CONTENT)
    pinned.download(server.url, PIN, tmp_path / "a.bin")
    assert server.ranges == []


def test_other_content_is_refused_with_sizes_and_hashes_and_never_gets_the_name(server, tmp_path):
    server.content = CONTENT[:-1] + b"x"
    with pytest.raises(UserError, match=f"SHA-256 [0-9a-f]{{64}}; pinned is {PIN.sha256}"):
        pinned.download(server.url, PIN, tmp_path / "a.bin")
    assert not (tmp_path / "a.bin").exists()


def test_server_errors_are_retried_and_refusals_are_not(server, tmp_path):
    server.failures = [500, 503]
    pinned.download(server.url, PIN, tmp_path / "a.bin")
    assert len(server.ranges) == 3
    server.failures = [404]
    with pytest.raises(UserError, match="404"):
        pinned.download(server.url, PIN, tmp_path / "b.bin")
    assert len(server.ranges) == 4


def test_without_a_network_the_message_says_what_to_do(server, tmp_path):
    with pytest.raises(UserError, match="local copy"):
        pinned.download("http://127.0.0.1:9/a.bin", PIN, tmp_path / "a.bin")


def test_a_complete_partial_of_a_file_with_unknown_size_is_fetched_anew(server, tmp_path):
    digest = hashlib.sha1(b"blob %d\0" % len(CONTENT) + CONTENT).hexdigest()
    pin = PinnedFile("a.bin", git_blob_sha1=digest)
    (tmp_path / "a.bin.partial").write_bytes(CONTENT)
    server.failures = [416]
    pinned.download(server.url, pin, tmp_path / "a.bin")
    assert (tmp_path / "a.bin").read_bytes() == CONTENT


def test_git_blob_ids_are_those_of_git(tmp_path):
    (tmp_path / "f").write_bytes(CONTENT)
    expected = subprocess.run(
        ["git", "hash-object", tmp_path / "f"], capture_output=True, text=True, check=True
    )
    assert pinned.git_blob_sha1(tmp_path / "f") == expected.stdout.strip()


def test_differences_name_both_sizes(tmp_path):
    (tmp_path / "f").write_bytes(CONTENT[:10])
    assert f"has 10 bytes; the pinned data/a.bin has {len(CONTENT)}" in pinned.difference(tmp_path / "f", PIN)
    assert "is missing" in pinned.difference(tmp_path / "g", PIN)


def test_a_pin_without_any_hash_is_refused():
    with pytest.raises(ValueError, match="needs a SHA-256 or a git blob id"):
        PinnedFile("a")
