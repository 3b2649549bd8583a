"""What counts as a finished file of scores."""

import dataclasses

import numpy as np
import pytest
from invented import invented_rows, write_rows

from lyricsim_models.pair_scorers import OpenScorer
from lyricsim_models.prediction import PredictionJob, predict_file
from lyricsim_models.score_file import ScoreFile
from lyricsim_tools.errors import UserError


def constant(value: float) -> OpenScorer:
    return OpenScorer(lambda first, second: np.full(len(first), value), {"model": value})


@pytest.fixture
def job(tmp_path):
    return PredictionJob(write_rows(tmp_path / "pairs.csv", invented_rows(4)), tmp_path / "scores.csv")


def test_an_older_output_is_not_taken_for_one_whose_naming_was_cut_off(job, monkeypatch):
    def killed(_):
        raise KeyboardInterrupt

    predict_file(job, constant(1.0))
    again = dataclasses.replace(job, overwrite=True, resume=True)
    with monkeypatch.context() as patch:
        patch.setattr(ScoreFile, "finish", killed)
        with pytest.raises(KeyboardInterrupt):
            predict_file(again, constant(2.0))
    assert "1.0" in job.output.read_text()
    predict_file(again, constant(2.0))
    assert "1.0" not in job.output.read_text()


def test_an_output_that_was_changed_is_not_called_finished(job):
    predict_file(job, constant(1.0))
    job.output.write_text(job.output.read_text().replace("1.0", "1.5"))
    with pytest.raises(UserError, match="exists"):
        predict_file(dataclasses.replace(job, resume=True), constant(1.0))
