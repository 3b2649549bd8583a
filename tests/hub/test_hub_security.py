import json
import re

import pytest
from support import REPOSITORY

from lyricsim_tools.hub_files import content_ids

ROOMS = ("lyricsim_*", "training", "spanish_sentence_eval", "benchmarks")
PYTHON = [path for room in ROOMS for folder in REPOSITORY.glob(room) for path in folder.rglob("*.py")]
EVIL = ("../../outside.txt", "/outside.txt", "a/../../../outside.txt", "..\\outside.txt")


def test_no_code_from_the_hub_is_ever_trusted():
    assert len(PYTHON) > 50
    using = [path for path in PYTHON if "trust_remote_code" in path.read_text("utf-8")]
    assert using == []


def test_no_weights_are_read_or_written_as_pickles():
    pattern = re.compile(
        r"safe_serialization\s*=\s*False|use_safetensors\s*=\s*False|\bpickle\.load|joblib\.load"
    )
    own_readers = {REPOSITORY / "spanish_sentence_eval" / "pickles.py"}
    found = [path for path in PYTHON if pattern.search(path.read_text("utf-8")) and path not in own_readers]
    assert found == []


def test_no_server_of_ours_listens_beyond_this_machine():
    found = [path for path in PYTHON if re.search(r"0\.0\.0\.0|share\s*=\s*True", path.read_text("utf-8"))]
    assert found == []


@pytest.mark.parametrize("name", EVIL)
def test_a_name_on_the_hub_cannot_leave_the_download_folder(hub, name):
    hub.server.store.put("model", f"{hub.user}/m", {name: b"evil", "config.json": b"{}"})
    code = """
import sys
from huggingface_hub import snapshot_download
try:
    snapshot_download("tester/m", local_dir="inner/target")
except Exception as error:
    print(type(error).__name__)
snapshot_download("tester/m", allow_patterns=["config.json"])
"""
    hub.run(["-c", code])
    outside = [
        path for path in hub.folder.parent.rglob("outside.txt") if "inner/target" not in path.as_posix()
    ]
    outside = [path for path in outside if "/cache/" not in path.as_posix()]
    assert outside == []


@pytest.mark.parametrize("name", EVIL)
def test_a_name_on_the_hub_cannot_lead_a_push_astray(hub, tmp_path, name):
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "model.safetensors").write_bytes(b"w")
    ids = content_ids(b"evil")
    record = {"files": {name: {"git": ids.git, "sha256": ids.sha256}}}
    files = {name: b"evil", ".lyricsim-push.json": json.dumps(record).encode()}
    hub.server.store.put("model", f"{hub.user}/m", files)
    hub.server.store.repositories["model", f"{hub.user}/m"].private = True
    before = {path for path in hub.folder.parent.rglob("*") if path.is_file()}
    done = hub.run(["-m", "lyricsim_tools.push_cli", str(tmp_path / "m"), f"{hub.user}/m", "--type", "model"])
    assert done.returncode == 0, done.stderr
    after = {path for path in hub.folder.parent.rglob("*") if path.is_file()}
    assert [path for path in after - before if "outside" in path.name] == []
