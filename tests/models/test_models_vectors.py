"""A bi-encoder's scores from vectors of distinct lyrics."""

import numpy as np
import pytest
import torch

from lyricsim_models.loop import Batch, score_rows
from lyricsim_models.scoring import load_scorer
from lyricsim_models.vectors import distinct_sequences
from lyricsim_models.workers import Workers

SONGS = ["la luna sale", "el mar", "una noche de verano en el puerto", "nada"]
FIRST = [SONGS[0], SONGS[0], SONGS[2], SONGS[1], SONGS[3], SONGS[0]]
SECOND = [SONGS[1], SONGS[2], SONGS[0], SONGS[0], SONGS[3], SONGS[1]]


@pytest.fixture
def scorer(trained):
    return load_scorer(str(trained / "bi-encoder"))


def one_by_one(scorer):
    found = []
    for first, second in zip(FIRST, SECOND, strict=True):
        tokens = scorer.loaded.tokenize([first], [second])
        with torch.inference_mode():
            found.append(float(scorer.loaded.scorer(**scorer._collated(tokens, np.array([0])))))
    return found


def test_scores_are_those_of_the_model_called_on_each_pair(scorer):
    assert scorer.predict(FIRST, SECOND, 2) == pytest.approx(one_by_one(scorer), abs=1e-5)


def test_evaluation_gives_the_same_scores(scorer):
    rows = scorer.loaded.tokenize(FIRST, SECOND)
    batch = Batch(scorer.loaded.pad_id, scorer.loaded.max_length)
    found = score_rows(Workers(), scorer.loaded.scorer, rows, batch, 2, exact=True)
    assert found == pytest.approx(one_by_one(scorer), abs=1e-5)


def test_each_distinct_lyric_is_encoded_once(scorer, monkeypatch):
    encoder, encoded = scorer.loaded.scorer.encoder, []
    forward = encoder.forward

    def counting(*arguments, **inputs):
        encoded.append(len(inputs["input_ids"]))
        return forward(*arguments, **inputs)

    monkeypatch.setattr(encoder, "forward", counting)
    scorer.predict(FIRST * 50, SECOND * 50)
    assert sum(encoded) == len(SONGS)


def test_places_lead_back_to_the_sequences(scorer):
    rows = scorer.loaded.tokenize(FIRST, SECOND)
    chosen = np.array([5, 2, 4])
    single, places = distinct_sequences(rows, chosen)
    assert len(single) == 4
    for side, at in zip(rows.sides, places, strict=True):
        for row, place in zip(chosen, at, strict=True):
            assert np.array_equal(side["input_ids"][row], single.sides[0]["input_ids"][place])
    assert list(single.lengths) == [len(ids) for ids in single.sides[0]["input_ids"]]


def test_no_pairs_give_no_scores(scorer):
    assert scorer.predict([], []).shape == (0,)
