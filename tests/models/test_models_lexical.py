import json

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lyricsim_models.features import LEXICAL, text_columns
from lyricsim_models.lexical import LexicalScorer, fit_lexical_scorer, read_lexical_scorer
from lyricsim_tools.atomic import write_json
from lyricsim_tools.errors import UserError


def invented_pairs():
    random = np.random.default_rng(5)
    words = ["mar", "sol", "luna", "noche", "amor", "calle", "viento", "voz"]

    def text():
        return "\n".join(" ".join(random.choice(words, 3)) for _ in range(random.integers(1, 9)))

    return [(text(), text()) for _ in range(50)], random.uniform(0, 5, 50)


def test_the_coefficients_are_those_of_ridge_regression_on_standardised_features():
    pairs, scores = invented_pairs()
    scorer = fit_lexical_scorer(LEXICAL, pairs, scores, 30.0, {})
    table = text_columns(LEXICAL, pairs)
    reference = make_pipeline(StandardScaler(), Ridge(30.0)).fit(table, scores).predict(table)
    assert scorer.score(pairs) == pytest.approx(reference, abs=1e-4)


def test_a_scorer_is_the_same_after_writing_and_reading(tmp_path):
    pairs, scores = invented_pairs()
    scorer = fit_lexical_scorer(LEXICAL, pairs, scores, 30.0, {"pairs": 50})
    write_json(tmp_path / "scorer.json", scorer.to_json())
    again = read_lexical_scorer(tmp_path / "scorer.json")
    assert again == scorer
    assert np.array_equal(again.score(pairs), scorer.score(pairs))


def test_a_feature_that_never_varies_gets_no_weight():
    scorer = fit_lexical_scorer(
        ("lines_fewer",), [("a b", "c"), ("d", "e f g")], np.array([0.0, 2.0]), 1.0, {}
    )
    assert scorer == LexicalScorer(1.0, {"lines_fewer": 0.0}, {})


@pytest.mark.parametrize(
    "change",
    [
        {"weights": {"rhyme": 1.0}},
        {"weights": {"jaccard": "much"}},
        {"weights": [1.0]},
        {"intercept": None},
        {"intercept": "nan"},
    ],
)
def test_a_file_that_is_no_scorer_is_refused_with_its_name(tmp_path, change):
    content = {"intercept": 0.1, "weights": {"jaccard": 1.0}, "provenance": {}} | change
    (tmp_path / "scorer.json").write_text(json.dumps(content))
    with pytest.raises(UserError, match=r"scorer.json is no lexical scorer"):
        read_lexical_scorer(tmp_path / "scorer.json")


@pytest.mark.parametrize("text", ["", "[]", "{}", "intercept = 1"])
def test_other_text_is_refused(tmp_path, text):
    (tmp_path / "scorer.json").write_text(text)
    with pytest.raises(UserError, match="lexical scorer"):
        read_lexical_scorer(tmp_path / "scorer.json")
