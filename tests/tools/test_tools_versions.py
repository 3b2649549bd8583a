import platform

import numpy as np

from lyricsim_tools.versions import installed_versions


def test_versions_are_those_that_run_and_an_absent_package_is_said_to_be_so():
    assert installed_versions(["numpy", "no-such-package-of-ours"]) == {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "no-such-package-of-ours": "not installed",
    }
