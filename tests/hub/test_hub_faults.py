import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from folders import PUBLISHED, model_folder, push, write_files
from hub_server.messages import Fault

from lyricsim_tools.hub_commit import RECORD_NAME

# Waits between attempts, in seconds, so that a test of giving up does not take them in full.
QUICK = "import lyricsim_tools.hub as h; h.push_folder.__kwdefaults__['pauses'] = (0, 0, 0)\n"


def push_quickly(hub, folder, **environment):
    """A push that does not wait between its attempts."""
    code = f"{QUICK}from lyricsim_tools.push_cli import main\nraise SystemExit(main())"
    arguments = ["-c", code, str(folder), f"{hub.user}/m", "--type", "model"]
    return hub.run(arguments, **environment)


def tree(hub):
    files = hub.server.store.files("model", f"{hub.user}/m")
    return set(files) - {".gitattributes", RECORD_NAME}


def repeat(hub, message):
    """Run the command that a message ends with."""
    command = shlex.split(message.strip().splitlines()[-1])
    assert command[0] == "lyricsim-push"
    return hub.run(["-m", "lyricsim_tools.push_cli", *command[1:]])


def assert_one_clear_message(done, reason):
    assert done.returncode == 2
    assert re.search(reason, done.stderr)
    assert "Traceback" not in done.stderr
    assert done.stderr.count("lyricsim-push: ") == 1


@pytest.mark.parametrize("target", ["/repos/create", "/commit/main", "/tree/"])
def test_two_failures_and_then_success_is_success(hub, tmp_path, target):
    hub.server.faults.append(Fault(target, status=500, times=2))
    done = push_quickly(hub, model_folder(tmp_path))
    assert done.returncode == 0, done.stderr
    assert tree(hub) == PUBLISHED


def test_a_hub_that_keeps_failing_is_named_with_the_command_that_repeats_the_push(hub, tmp_path):
    hub.server.faults.append(Fault("/commit/main", status=500, times=99))
    done = push_quickly(hub, model_folder(tmp_path))
    assert_one_clear_message(done, r"HTTP 500\), several times")
    assert tree(hub) == set()
    hub.server.faults.clear()
    sent = len(hub.server.requests("PUT"))
    assert repeat(hub, done.stderr).returncode == 0
    assert tree(hub) == PUBLISHED
    assert len(hub.server.requests("PUT")) == sent == 1


def test_the_wait_that_the_hub_asks_for_is_kept(hub, tmp_path):
    hub.server.faults.append(Fault("/commit/main", status=429, retry_after=2))
    before = time.monotonic()
    assert push_quickly(hub, model_folder(tmp_path)).returncode == 0
    assert time.monotonic() - before >= 2


def test_a_hub_that_asks_to_slow_down_for_ever_is_named(hub, tmp_path):
    hub.server.faults.append(Fault("/repos/create", status=429, times=99))
    assert_one_clear_message(push_quickly(hub, model_folder(tmp_path)), "asks to slow down.*HTTP 429")


@pytest.mark.parametrize(
    ("token", "role", "reason"),
    [
        ("hf_" + "expired0" * 4, None, "does not accept the access token.*HTTP 401"),
        ("hf_" + "readonly" * 4, "read", "may not write to tester/m .HTTP 403"),
    ],
)
def test_a_token_without_rights_is_named_but_not_shown(hub, tmp_path, token, role, reason):
    if role:
        hub.server.store.tokens[token] = role
    done = push(hub, model_folder(tmp_path), HF_TOKEN=token)
    assert_one_clear_message(done, reason)
    assert token not in done.stdout + done.stderr
    assert "testonly" not in done.stdout + done.stderr


def test_no_login_is_named(hub, tmp_path):
    done = push(hub, model_folder(tmp_path), HF_TOKEN="")
    assert_one_clear_message(done, "not logged in.*\n.*\n.*auth login")


def test_no_network_is_named(hub, tmp_path):
    done = push_quickly(hub, model_folder(tmp_path), HF_ENDPOINT="http://127.0.0.1:9")
    assert_one_clear_message(done, "cannot be reached")


def test_offline_mode_is_named(hub, tmp_path):
    assert_one_clear_message(push(hub, model_folder(tmp_path), HF_HUB_OFFLINE="1"), "HF_HUB_OFFLINE is set")


def test_a_connection_cut_during_the_commit_is_tried_again(hub, tmp_path):
    hub.server.faults.append(Fault("/commit/main", kind="cut"))
    done = push_quickly(hub, model_folder(tmp_path))
    assert done.returncode == 0, done.stderr
    assert tree(hub) == PUBLISHED
    repository = hub.server.store.repositories["model", f"{hub.user}/m"]
    assert len(list(repository.history(repository.head))) == 2


def test_a_push_killed_half_way_is_repeated_without_double_work(hub, tmp_path):
    shards = {f"model-{i}.safetensors": b"%d" % i * 999 for i in range(4)}
    folder = write_files(model_folder(tmp_path), shards)
    hub.server.faults.append(Fault("/large/", kind="slow", method="PUT", skip=2, times=99, seconds=60))
    process = subprocess.Popen(
        [sys.executable, "-m", "lyricsim_tools.push_cli", str(folder), f"{hub.user}/m", "--type", "model"],
        env=hub.environment(),
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    while len(hub.server.store.large_files) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    arrived = set(hub.server.store.large_files)
    assert len(arrived) == 2
    assert tree(hub) == set()
    hub.server.faults.clear()
    assert push(hub, folder).returncode == 0
    assert tree(hub) == PUBLISHED | set(shards)
    sent = [target for _, target, _ in hub.server.requests("PUT")]
    assert all(sum(oid in target for target in sent) == 1 for oid in arrived)


def test_two_pushes_at_once_end_as_one_of_them_whole_with_both_in_the_history(hub, tmp_path):
    push(hub, model_folder(tmp_path))
    folders = [model_folder(tmp_path / name, weights=name.encode()) for name in "ab"]
    for folder, name in zip(folders, "ab", strict=True):
        (folder / "config.json").write_text(name)
    # The first commit, whosever it is, waits for the other's: both were planned on the same head.
    hub.server.faults.append(Fault("/commit/main", kind="held"))
    running = [
        subprocess.Popen(
            [
                sys.executable,
                "-m",
                "lyricsim_tools.push_cli",
                str(folder),
                f"{hub.user}/m",
                "--type",
                "model",
            ],
            env=hub.environment(f"cache-{folder.parent.name}"),
            stderr=subprocess.PIPE,
            text=True,
        )
        for folder in folders
    ]
    outcomes = [(process.communicate(timeout=120)[1], process.returncode) for process in running]
    assert [code for _, code in outcomes] == [0, 0], outcomes
    answered = [status for _, _, status in hub.server.requests("POST", "/commit/main")]
    assert answered[-3:] == [200, 412, 200]
    repository = hub.server.store.repositories["model", f"{hub.user}/m"]
    pairs = [
        (c.tree["config.json"].content, c.tree["model.safetensors"].content)
        for c in list(repository.history(repository.head))[:2]
    ]
    assert sorted(pairs) == [(b"a", b"a"), (b"b", b"b")]


def test_a_conflict_that_never_ends_is_named(hub, tmp_path):
    hub.server.faults.append(Fault("/commit/main", status=412, times=99))
    done = push_quickly(hub, model_folder(tmp_path))
    assert_one_clear_message(done, "somebody else kept changing tester/m")


@pytest.mark.parametrize("name", ["notes.txt", "run.json", "README.md"])
def test_a_file_that_holds_a_token_is_not_published(hub, tmp_path, name):
    folder = write_files(model_folder(tmp_path), {name: b"x hf_" + b"Abcdefgh" * 4 + b" y"})
    done = push(hub, folder)
    assert_one_clear_message(done, "looks like a Hub access token")
    assert "Abcdefgh" not in done.stderr
    assert hub.server.log == []


def test_the_token_is_in_nothing_that_a_push_prints_or_writes(hub, tmp_path):
    folder = model_folder(tmp_path)
    hub.server.faults.append(Fault("/commit/main", status=400))
    outputs = [push(hub, folder, "--json"), push(hub, folder, "--json"), push(hub, folder, "--dry-run")]
    code = f"from pathlib import Path; folder = Path({str(folder)!r})\n{QUICK}"
    hub.server.faults.append(Fault("/repos/create", status=400))
    crashed = hub.run(["-c", f"{code}h.push_folder(folder, 'tester/x', repo_type='model', message='m')"])
    assert "Traceback" in crashed.stderr
    printed = "".join(done.stdout + done.stderr for done in [*outputs, crashed])
    assert hub.token not in printed
    written = [path for path in (*tmp_path.rglob("*"), *Path(hub.folder).rglob("*")) if path.is_file()]
    assert not [path for path in written if hub.token.encode() in path.read_bytes()]
    repositories = hub.server.store.repositories.values()
    contents = [blob.content for r in repositories for c in r.commits.values() for blob in c.tree.values()]
    assert not [content for content in contents if hub.token.encode() in content]
    assert hub.token not in str(hub.server.log)
    assert os.environ.get("HF_TOKEN") != hub.token
