"""Which versions made a file: part of every record of a run or a build."""

import platform
from collections.abc import Iterable
from importlib import metadata


def installed_versions(packages: Iterable[str]) -> dict[str, str]:
    """Python's version and those of the packages; one that is absent is ``not installed``."""
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found
