"""What a session of these tests leaves in the temporary folder, and with which settings it runs."""

import os
import subprocess
import sys

from support import REPOSITORY

PROFILE = """
from hypothesis import settings

def pytest_collection_finish():
    print("profile:", settings.get_current_profile_name())
"""


def test_a_session_keeps_its_settings_in_every_folder_and_leaves_nothing(tmp_path):
    (tmp_path / "shown_profile.py").write_text(PROFILE)
    (tmp_path / "temporary").mkdir()
    rooms = ["tests/metric/test_metric_correlations.py", "tests/tools/test_tools_tables.py"]
    options = ["--collect-only", "-q", "-p", "shown_profile", "-p", "no:cacheprovider", *rooms]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options],
        cwd=REPOSITORY,
        env={**os.environ, "TMPDIR": str(tmp_path / "temporary"), "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "profile: unhurried" in run.stdout
    assert list((tmp_path / "temporary").iterdir()) == []
