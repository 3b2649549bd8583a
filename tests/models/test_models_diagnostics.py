import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr
from sklearn.metrics import roc_auc_score

from lyricsim_models.diagnostics import beside_scores

SCORES = st.lists(st.tuples(st.integers(-3, 3), st.sampled_from([0, 0, 1, 2, 5])), min_size=2, max_size=30)


@given(SCORES)
def test_the_area_is_scikit_learns_ties_included(rows):
    x, y = np.array(rows, dtype=float).T
    found = beside_scores(x, y)["zero_auc"]
    if 0 < (y > 0).sum() < len(y):
        assert found == pytest.approx(roc_auc_score(y > 0, x))
    else:
        assert found is None


def test_zero_pairs_do_not_count_for_the_non_zero_correlation():
    x, y = [9.0, 1.0, 2.0, 3.5, -7.0], [0.0, 1.0, 2.0, 3.0, 0.0]
    assert beside_scores(x, y)["nonzero_pearson"] == pytest.approx(pearsonr(x[1:4], y[1:4])[0])


@pytest.mark.parametrize("gold", [[0, 0, 0], [0, 0, 1], [2, 2, 2]])
def test_what_is_undefined_is_none(gold):
    assert beside_scores([1, 2, 3], gold)["nonzero_pearson"] is None
