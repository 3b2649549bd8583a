import contextlib
import http.server
import threading
from pathlib import Path

import pytest
from dataset_files import change

from lyricsim_dataset import sources
from lyricsim_dataset.sources import PINS, RATINGS_FILE, REFERENCE_FILE, locate, pinned_fingerprint
from lyricsim_tools.errors import UserError


@pytest.fixture(autouse=True)
def private_cache(tmp_path, monkeypatch):
    monkeypatch.delenv("LYRICSIM_SOURCE", raising=False)
    monkeypatch.setenv("LYRICSIM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("LYRICSIM_BASE_URL", "http://127.0.0.1:9")


def copy_of(source, target):
    for pin in PINS:
        (target / pin.path).parent.mkdir(parents=True, exist_ok=True)
        (target / pin.path).write_bytes((source / pin.path).read_bytes())
    return target


@contextlib.contextmanager
def upstream_server(folder, cut_after=None):
    """Serves a tree; ``cut_after`` bytes of the first answer to each address its connection breaks."""
    requests, cut = [], set()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            requests.append((self.path, self.headers.get("Range")))
            path = Path(folder) / self.path.lstrip("/")
            if not path.is_file():
                return self.send_error(404)
            start = int((self.headers.get("Range") or "bytes=0-")[6:].split("-")[0])
            content = path.read_bytes()[start:]
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if cut_after and self.path not in cut:
                cut.add(self.path)
                content = content[:cut_after]
                self.close_connection = True
            return self.wfile.write(content)

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", requests
    finally:
        server.shutdown()
        server.server_close()


def test_upstreams_tree_is_accepted_and_named_by_its_fingerprint(lyricsim_source):
    found = locate(lyricsim_source)
    assert found.folder == lyricsim_source
    assert found.modified == ()
    assert found.fingerprint == pinned_fingerprint()


def test_the_environment_names_the_tree(lyricsim_source, monkeypatch):
    monkeypatch.setenv("LYRICSIM_SOURCE", str(lyricsim_source))
    assert locate().folder == lyricsim_source


def test_an_edited_file_is_told_with_both_sizes_and_both_hashes(lyricsim_source, tmp_path):
    folder = copy_of(lyricsim_source, tmp_path / "tree")
    change(folder / RATINGS_FILE, lambda text: text.replace(",0,", ",1,", 1))
    with pytest.raises(UserError) as caught:
        locate(folder)
    message = str(caught.value)
    assert message.count("204607 bytes") == 2
    assert sources.PINS[0].sha256 in message
    assert sources.sha256_of(folder / RATINGS_FILE) in message
    assert "--allow-modified" in message
    assert "full_lyrics" not in message


def test_all_wrong_files_are_told_at_once_and_a_short_one_is_called_cut_off(lyricsim_source, tmp_path):
    folder = copy_of(lyricsim_source, tmp_path / "tree")
    for pin in PINS:
        (folder / pin.path).write_bytes((folder / pin.path).read_bytes()[:100])
    with pytest.raises(UserError) as caught:
        locate(folder)
    assert str(caught.value).count("found    100 bytes (cut off?)") == len(PINS)


def test_a_modified_tree_is_accepted_if_meant_and_marked(lyricsim_source, tmp_path):
    folder = copy_of(lyricsim_source, tmp_path / "tree")
    change(folder / RATINGS_FILE, lambda text: text + "\r\n")
    found = locate(folder, allow_modified=True)
    assert found.modified == (RATINGS_FILE,)
    assert found.fingerprint != pinned_fingerprint()


def test_the_reference_may_lack_but_nothing_that_is_built_from(lyricsim_source, tmp_path):
    folder = copy_of(lyricsim_source, tmp_path / "tree")
    (folder / REFERENCE_FILE).unlink()
    assert locate(folder).modified == ()
    (folder / RATINGS_FILE).unlink()
    with pytest.raises(UserError, match=f"lacks {RATINGS_FILE}"):
        locate(folder, allow_modified=True)


def test_a_folder_that_is_none_names_both_ways(tmp_path):
    with pytest.raises(UserError, match=r"(?s)is not a folder.*--source DIR.*network"):
        locate(tmp_path / "nowhere")


def test_without_network_the_message_names_both_ways(monkeypatch):
    monkeypatch.setattr("lyricsim_tools.pinned._PAUSES", (None,))
    with pytest.raises(UserError) as caught:
        locate()
    message = str(caught.value)
    assert "could not download http://127.0.0.1:9" in message
    assert "--source DIR" in message
    assert "LYRICSIM_SOURCE" in message
    assert sources.UPSTREAM_COMMIT in message


def test_the_download_is_kept_and_not_repeated(lyricsim_source, monkeypatch):
    with upstream_server(lyricsim_source) as (url, requests):
        monkeypatch.setenv("LYRICSIM_BASE_URL", url + "/")
        first = locate()
        assert [path for path, _ in requests] == [f"/{pin.path}" for pin in PINS]
        assert locate() == first
        assert len(requests) == len(PINS)
    assert all((first.folder / pin.path).stat().st_size == pin.size for pin in PINS)
    assert first.fingerprint == sources.fingerprint(first.folder)


def test_a_download_that_broke_off_goes_on_where_it_stopped(lyricsim_source, monkeypatch):
    monkeypatch.setattr("lyricsim_tools.pinned._PAUSES", (0.01, None))
    with upstream_server(lyricsim_source, cut_after=20_000) as (url, requests):
        monkeypatch.setenv("LYRICSIM_BASE_URL", url)
        found = locate()
    assert [path for path, part in requests if part] == [f"/{pin.path}" for pin in PINS]
    assert (found.folder / RATINGS_FILE).read_bytes() == (lyricsim_source / RATINGS_FILE).read_bytes()


def test_a_server_with_other_content_is_not_believed(lyricsim_source, tmp_path, monkeypatch):
    folder = copy_of(lyricsim_source, tmp_path / "tree")
    change(folder / RATINGS_FILE, lambda text: text.replace(",0,", ",1,", 1))
    with upstream_server(folder) as (url, _):
        monkeypatch.setenv("LYRICSIM_BASE_URL", url)
        with pytest.raises(UserError, match="sent other content"):
            locate()
    assert not (sources.cache_folder() / sources.UPSTREAM_COMMIT / RATINGS_FILE).exists()


def test_a_cached_file_that_was_damaged_is_fetched_again(lyricsim_source, monkeypatch):
    with upstream_server(lyricsim_source) as (url, requests):
        monkeypatch.setenv("LYRICSIM_BASE_URL", url)
        found = locate()
        (found.folder / RATINGS_FILE).write_bytes(b"short")
        locate()
    assert [path for path, _ in requests].count("/" + RATINGS_FILE) == 2
    assert (found.folder / RATINGS_FILE).stat().st_size == PINS[0].size


def test_a_server_without_the_files_is_named(tmp_path, monkeypatch):
    with upstream_server(tmp_path) as (url, _):
        monkeypatch.setenv("LYRICSIM_BASE_URL", url)
        with pytest.raises(UserError, match=r"(?s)404.*--source DIR"):
            locate()


def test_the_cache_lies_where_the_user_says(monkeypatch):
    monkeypatch.delenv("LYRICSIM_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert sources.cache_folder() == Path("/somewhere/lyricsim")
