"""The server as its users meet it: real processes, real sockets, real kills."""

import signal
import socket
import subprocess
import sys
import threading
from urllib.parse import urlencode

import pytest
from campaign_files import FORM, sample_folder, serving, start_server
from support import REPOSITORY

from lyricsim_annotation.cli import main
from lyricsim_annotation.database import read_campaign
from lyricsim_annotation.guard import BODY_LIMIT
from lyricsim_annotation.records import NOTE_LIMIT
from lyricsim_annotation.selection_folder import read_selection
from lyricsim_annotation.store import Store


def judgements(folder, database):
    selection = read_selection(folder)
    store = Store(database, read_campaign(database, selection), [p.pair_id for p in selection.pairs])
    found = [(j.pair_id, j.rater, j.verdict.rating) for j in store.judgements()]
    store.close()
    return found


@pytest.fixture
def folder(tmp_path):
    return sample_folder(tmp_path / "chosen", 6)


@pytest.fixture
def database(tmp_path):
    return tmp_path / "ratings.sqlite"


TRIO = ("--raters", "ana", "berta", "carla")


@pytest.mark.slow
def test_a_server_killed_right_after_its_word_has_lost_nothing(folder, database):
    acknowledged, links = [], None
    for round_ in range(2):
        served = start_server(folder, database, *(TRIO if round_ == 0 else ()))
        paths = {rater: served.path(rater) for rater in served.raters}
        assert links in (None, paths), "the links changed"
        links = paths
        fields = served.fields("ana")
        status, headers, _ = served.answer("ana", fields, rating=str(round_))
        served.process.send_signal(signal.SIGKILL)
        served.process.communicate()
        assert (status, headers["Location"]) == (303, served.path("ana"))
        acknowledged.append((fields["pair"], 1, round_))
    assert judgements(folder, database) == acknowledged


@pytest.mark.slow
def test_tabs_and_raters_that_all_answer_at_once_double_nothing(folder, database):
    with serving(folder, database, *TRIO) as served:

        def tab(rater):
            for _ in range(20):
                fields = served.fields(rater)
                if fields is None:
                    return
                served.answer(rater, fields, rating="2")
                served.answer(rater, fields, rating="2")

        threads = [threading.Thread(target=tab, args=(rater,)) for rater in served.raters for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    found = judgements(folder, database)
    assert len(found) == len({(pair, rater) for pair, rater, _ in found}) == 18


@pytest.mark.slow
def test_two_servers_on_one_database_keep_the_rules_together(folder, database):
    with serving(folder, database, *TRIO, "dora") as one, serving(folder, database) as two:
        for number in range(40):
            served = (one, two)[number % 2]
            rater = list(one.raters)[number % 4]
            fields = served.fields(rater)
            if fields is not None:
                assert served.answer(rater, fields, rating="1")[0] == 303
    found = judgements(folder, database)
    assert len(found) == 18
    assert all(sum(pair == p for p, _, _ in found) == 3 for pair in {p for p, _, _ in found})


@pytest.mark.slow
def test_what_the_server_says_to_strange_requests(folder, database):
    with serving(folder, database, *TRIO) as served:
        path = served.path("ana")
        status, headers, _ = served.ask("GET", path)
        assert status == 200
        assert headers["Cache-Control"] == "no-store"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert "Python" not in headers["Server"]
        assert served.ask("GET", path, headers={"Host": "rebound.example"})[0] == 421
        assert served.ask("GET", "/r/guess")[0] == 404
        answer = f"{path}/answer"
        assert served.ask("POST", answer, "x" * (BODY_LIMIT + 1), FORM)[0] == 413
        assert served.ask("POST", answer, "{}", {"Content-Type": "application/json"})[0] == 415
        assert served.ask("POST", answer, "rating=3", FORM)[0] == 403
        assert served.ask("PUT", answer, "", FORM)[0] == 501
        raw = socket.create_connection(served.netloc.split(":"), 10)
        raw.sendall(
            f"POST {answer} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999999\r\n\r\n".encode()
        )
        assert b" 413 " in raw.recv(200)
        raw.close()
        raw = socket.create_connection(served.netloc.split(":"), 10)
        raw.sendall(
            f"POST {answer} HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
        )
        assert b" 411 " in raw.recv(200)
        raw.close()
        raw = socket.create_connection(served.netloc.split(":"), 10)
        raw.sendall(b"GET http://[ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert b" 400 " in raw.recv(200)
        raw.close()
        fields = served.fields("ana")
        note = "ñ€😀" * (NOTE_LIMIT // 3)
        assert served.answer("ana", fields, reason="other", note=note)[0] == 303
    assert judgements(folder, database) == [(fields["pair"], 1, None)]


@pytest.mark.slow
def test_a_form_that_was_cut_off_on_its_way_is_not_stored(folder, database):
    with serving(folder, database, *TRIO) as served:
        fields = served.fields("ana")
        body = urlencode({**fields, "reason": "other", "note": "The first verse is missing"}).encode()
        head = (
            f"POST {served.path('ana')}/answer HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            f"Content-Type: {FORM['Content-Type']}\r\nContent-Length: {len(body)}\r\n\r\n"
        ).encode()
        for arrived in (body[:-7], b""):
            with socket.create_connection(served.netloc.split(":"), 10) as raw:
                raw.sendall(head + arrived)
                raw.shutdown(socket.SHUT_WR)
                assert raw.recv(200).startswith(b"HTTP/1.1 400 ")
        assert served.fields("ana")["pair"] == fields["pair"]
    assert judgements(folder, database) == []


@pytest.mark.slow
def test_an_interrupted_server_says_where_the_ratings_are(folder, database):
    served = start_server(folder, database, *TRIO)
    # Not SIGINT: a test run in the background has it ignored, and so have its children.
    served.process.send_signal(signal.SIGTERM)
    _, errors = served.process.communicate(timeout=30)
    assert served.process.returncode == 0
    assert f"all ratings are in {database}" in errors


@pytest.mark.slow
def test_links_are_printed_for_people_and_other_hosts_are_warned_of(folder, database):
    command = [sys.executable, "-u", "-m", "lyricsim_annotation.cli", "serve", folder, "--database", database]
    process = subprocess.Popen(
        [
            *map(str, command),
            "--port",
            "0",
            "--host",
            "0.0.0.0",
            "--allow-host",
            "127.0.0.1",
            "--raters",
            "ana",
        ],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    printed = [process.stdout.readline() for _ in range(5)]
    process.terminate()
    _, errors = process.communicate()
    assert "  ana  http://127.0.0.1:" in printed[1]
    assert "/o/" in printed[3]
    assert printed[4].startswith("6 pairs, 3 raters each")
    assert "WARNING: listening on 0.0.0.0: everybody" in errors
    assert "1 raters cannot give 3 ratings a pair" in errors


def refused(capsys, *arguments):
    assert main(["serve", *map(str, arguments)]) == 2
    return capsys.readouterr().err


def test_mistakes_on_the_command_line_are_told(folder, database, tmp_path, capsys):
    assert "lacks pairs.csv" in refused(capsys, tmp_path, "--database", database)
    assert "no raters" in refused(capsys, folder, "--database", database, "--port", "0")
    said = refused(capsys, folder, "--database", database, "--host", "0.0.0.0")
    assert "--allow-host" in said
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = refused(capsys, folder, "--database", database, "--raters", "ana", "--port", port)
    assert f"port {port} cannot be used" in said
    trio = ("--raters", "ana", "--port")
    assert "port 70000 cannot be used" in refused(capsys, folder, "--database", database, *trio, "70000")
    assert "at least 3" in refused(
        capsys, folder, "--database", tmp_path / "new.sqlite", "--raters", "a", "--raters-per-pair", "2"
    )


@pytest.mark.parametrize(
    "name", ["lab.example:8420", "https://lab.example", "lab.example/r", "[::1]", "ñ.example", ""]
)
def test_a_name_that_no_request_can_match_is_refused(folder, database, name, capsys):
    said = refused(capsys, folder, "--database", database, "--raters", "ana", "--allow-host", name)
    assert f"--allow-host {name}\n" in said
    assert not database.exists()


@pytest.mark.slow
def test_raters_and_names_may_be_given_one_at_a_time(folder, database):
    raters = ("--raters", "ana", "--raters", "berta", "carla")
    names = [f"--allow-host={name}" for name in ("127.0.0.1", "LAB.example", "2001:db8::1")]
    with serving(folder, database, *raters, *names) as served:
        assert list(served.raters) == ["ana", "berta", "carla"]
        for host in ("lab.example", "lab.example:443", "[2001:db8::1]:8420"):
            assert served.ask("GET", served.path("ana"), headers={"Host": host})[0] == 200


@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "x"])
def test_times_that_are_none_are_refused(folder, database, value, capsys):
    with pytest.raises(SystemExit):
        main(["serve", str(folder), "--database", str(database), "--idle-hours", value])
    assert "--idle-hours" in capsys.readouterr().err
