"""Invented data, an encoder that has learned nothing, and scripts run in this process."""

import importlib.util
from dataclasses import dataclass

import pytest
from invented import invented_rows, invented_songs, write_rows
from support import REPOSITORY

from lyricsim_models.tiny import write_tiny_model


@pytest.fixture
def pairs_file(tmp_path):
    """120 invented pairs of 16 songs as a CSV file with splits."""
    return write_rows(tmp_path / "pairs.csv", invented_rows())


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory):
    """A two-layer encoder with random weights."""
    return write_tiny_model(tmp_path_factory.mktemp("tiny") / "encoder", list(invented_songs().values()))


@dataclass(frozen=True)
class Finished:
    """What a command left behind."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def run_script(capsys, monkeypatch):
    """Run a script of ``training/`` in this process, which has its heavy imports already."""

    monkeypatch.syspath_prepend(str(REPOSITORY / "training"))

    def run(name, *arguments):
        specification = importlib.util.spec_from_file_location(name, REPOSITORY / "training" / f"{name}.py")
        module = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(module)
        capsys.readouterr()
        try:
            module.main([str(argument) for argument in arguments])
            status = 0
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
        printed = capsys.readouterr()
        return Finished(status, printed.out, printed.err)

    return run


@pytest.fixture(scope="session")
def trained(tmp_path_factory, tiny_encoder):
    """A cross-encoder and a bi-encoder of one step, by architecture, and the file they were trained on."""
    from lyricsim_models.config import Recipe
    from lyricsim_models.datafiles import read_splits
    from lyricsim_models.job import Job
    from lyricsim_models.run import run
    from lyricsim_models.workers import Workers

    folder = tmp_path_factory.mktemp("trained")
    data = write_rows(folder / "pairs.csv", invented_rows())
    splits, workers = read_splits(str(data), None), Workers()
    for architecture in ("cross-encoder", "bi-encoder"):
        recipe = Recipe(architecture=architecture, max_steps=1, max_length=64)
        run(Job(str(tiny_encoder), str(data), None, folder / architecture, recipe), splits, workers)
    return folder
