"""Intervals: equal to SciPy's where SciPy has them, and meaningful where it has not."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from lyricsim_metric import resampling
from lyricsim_metric.resampling import IndependentRows, SharedSongs, WeightedScores
from lyricsim_metric.scores import SCORE_NAMES, score


def noisy_table(rows=68, noise=0.5, seed=0):
    generator = np.random.default_rng(seed)
    gold = np.round(np.abs(generator.normal(size=rows)) * 3) / 3
    return gold + noise * generator.normal(size=rows), gold


def dyads(songs=20, seed=0):
    generator = np.random.default_rng(seed)
    pairs = np.array([(one, other) for one in range(songs) for other in range(one)])
    effect = generator.normal(size=songs)
    gold = effect[pairs].sum(axis=1) + generator.normal(size=len(pairs))
    return gold + effect[pairs].sum(axis=1) + generator.normal(size=len(pairs)), gold, pairs


def scipys(x, y):
    return np.array([stats.pearsonr(x, y)[0], stats.spearmanr(x, y)[0]])


@given(st.integers(0, 2**32 - 1), st.integers(3, 30), st.booleans())
def test_weighted_scores_are_scipys_scores_of_repeated_rows(seed, rows, outlier):
    generator = np.random.default_rng(seed)
    x, y = generator.integers(0, 6, rows) / 3, generator.normal(size=rows).round(1)
    x[0] = 1e10 if outlier else x[0]
    weights = generator.integers(0, 3, (20, rows)).astype(float)
    for weight, found in zip(weights, WeightedScores(x, y)(weights), strict=True):
        copies = weight.astype(int)
        left, right = np.repeat(x, copies), np.repeat(y, copies)
        if len(left) < 2 or np.ptp(left) == 0 or np.ptp(right) == 0:
            assert np.isnan(found).all()
        else:
            np.testing.assert_allclose(found[:2], scipys(left, right), atol=1e-9)
            assert found[2] == (found[0] + found[1]) / 2


def vectorised(name):
    def linear(x, y, axis=-1):
        return stats.pearsonr(x, y, axis=axis)[0]

    def ranked(x, y, axis=-1):
        return linear(stats.rankdata(x, axis=axis), stats.rankdata(y, axis=axis), axis)

    def combined(x, y, axis=-1):
        return (linear(x, y, axis) + ranked(x, y, axis)) / 2

    return dict(zip(SCORE_NAMES, (linear, ranked, combined), strict=True))[name]


@pytest.mark.parametrize("method", ["bca", "percentile"])
@pytest.mark.parametrize("name", SCORE_NAMES)
def test_intervals_are_scipys_within_the_noise_of_the_draw(name, method):
    x, y = noisy_table()
    ours = score(x, y, confidence_level=0.95, ci_method=method)[f"{name}_ci"]
    draws = [
        stats.bootstrap(
            (x, y),
            vectorised(name),
            paired=True,
            vectorized=True,
            method=method,
            rng=np.random.default_rng(seed),
        ).confidence_interval
        for seed in range(4)
    ]
    noise = 8 * np.std(draws, axis=0, ddof=1)
    np.testing.assert_array_less(np.abs(ours - np.mean(draws, axis=0)), noise)


def test_intervals_come_only_when_asked_for_and_scale_with_the_scores():
    x, y = noisy_table()
    assert list(score(x, y)) == list(SCORE_NAMES)
    plain = score(x, y, confidence_level=0.9)
    scaled = score(x, y, confidence_level=0.9, scale=100)
    assert list(plain) == [*SCORE_NAMES, *(f"{name}_ci" for name in SCORE_NAMES)]
    for name in SCORE_NAMES:
        assert scaled[name] == pytest.approx(100 * plain[name])
        assert scaled[f"{name}_ci"] == pytest.approx([100 * bound for bound in plain[f"{name}_ci"]])
        assert plain[f"{name}_ci"][0] < plain[name] < plain[f"{name}_ci"][1]
    assert type(score(x, y, scale=np.float32(100))["pearson"]) is float
    values = [value for found in plain.values() for value in (found if isinstance(found, list) else [found])]
    assert {type(value) for value in values} == {float}


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"clusters": [("a", "b"), ("a", "c"), ("b", "c")]}, "clusters"),
        ({"ci_method": "percentile", "n_resamples": 200}, "ci_method and n_resamples"),
    ],
)
def test_a_setting_of_intervals_without_intervals_is_refused(options, named):
    with pytest.raises(ValueError, match=f"{named} without confidence_level") as caught:
        score([1, 2, 3], [1, 2, 4], **options)
    assert "pass confidence_level=0.95" in str(caught.value)


def test_defaults_spelt_out_and_a_seed_need_no_interval():
    plain = score([1, 2, 3], [1, 2, 4])
    assert score([1, 2, 3], [1, 2, 4], seed=7, ci_method="bca", n_resamples=9999) == plain


def test_p_values_come_only_when_asked_for_and_do_not_scale():
    x, y = noisy_table(noise=4)
    found = score(x, y, p_values=True, scale=100)
    assert list(found) == [*SCORE_NAMES, "pearson_pvalue", "spearmanr_pvalue"]
    assert found["pearson_pvalue"] == pytest.approx(stats.pearsonr(x, y)[1])
    assert found["spearmanr_pvalue"] == pytest.approx(stats.spearmanr(x, y)[1])


def test_the_interval_depends_on_the_rows_and_the_seed_and_on_nothing_else():
    x, y, songs = dyads(12)
    order = np.random.default_rng(5).permutation(len(x))
    before = np.random.get_state()[1].tolist()
    for clusters in (None, songs):
        shuffled = None if clusters is None else songs[order][:, ::-1] + 1000
        options = {"confidence_level": 0.95, "n_resamples": 500}
        one = score(x, y, clusters=clusters, **options)
        other = score(x[order], y[order], clusters=shuffled, **options)
        for name in SCORE_NAMES:
            assert other[f"{name}_ci"] == pytest.approx(one[f"{name}_ci"], abs=1e-12)
        assert score(x, y, clusters=clusters, seed=1, **options) != one
    assert np.random.get_state()[1].tolist() == before


@pytest.mark.parametrize("sign", [1, -1])
def test_a_perfect_or_reversed_order_has_an_interval_of_one_point(sign):
    _, y = noisy_table()
    found = score(sign * y, y, confidence_level=0.95, n_resamples=500)
    for name in SCORE_NAMES:
        assert found[f"{name}_ci"] == pytest.approx([sign, sign], abs=1e-9)


def test_an_undefined_score_has_an_undefined_interval():
    with pytest.warns(UserWarning, match="constant") as caught:
        found = score([1, 1, 1], [1, 2, 3], confidence_level=0.95, p_values=True)
    assert len(caught) == 1
    assert all(math.isnan(bound) for name in SCORE_NAMES for bound in found[f"{name}_ci"])
    assert math.isnan(found["pearson_pvalue"])


def test_a_table_that_is_too_small_for_an_interval_says_so():
    with pytest.warns(UserWarning, match="resamples have a constant side"):
        score([1, 2, 3], [1, 3, 2], confidence_level=0.95, n_resamples=200)


def test_each_resample_draws_as_many_rows_as_there_are():
    blocks = list(IndependentRows(7).draw(np.random.default_rng(0), 50))
    weights = np.concatenate(blocks)
    assert weights.shape == (50, 7)
    assert (weights.sum(axis=1) == 7).all()
    assert (weights == weights.astype(int)).all()


def test_the_jackknife_leaves_out_one_row_at_a_time():
    weights = np.concatenate(list(IndependentRows(5).leave_out()))
    np.testing.assert_array_equal(weights, 1 - np.eye(5))


def test_very_long_tables_are_left_out_by_groups(monkeypatch):
    monkeypatch.setattr(resampling, "_JACKKNIFE_GROUPS", 10)
    weights = np.concatenate(list(IndependentRows(35).leave_out()))
    assert weights.shape == (10, 35)
    assert (weights == 0).sum() == 35
    assert ((weights == 0).sum(axis=0) == 1).all()


def test_a_pair_weighs_the_product_of_how_often_its_songs_were_drawn():
    songs = np.array([(0, 1), (0, 2), (1, 2), (1, 3)])
    weights = np.concatenate(list(SharedSongs(songs).draw(np.random.default_rng(0), 400)))
    first, second, third, fourth = weights.T
    # Songs 0, 1 and 2 in all ways: m0·m1, m0·m2, m1·m2.
    whole = np.sqrt(first * second * third)
    assert (whole == whole.round()).all()
    assert (fourth <= 4).all()
    assert weights.mean() == pytest.approx(1 - 1 / 4, abs=0.1)


def test_without_a_song_none_of_its_pairs_is_left():
    songs = np.array([(0, 1), (0, 2), (1, 2)])
    weights = np.concatenate(list(SharedSongs(songs).leave_out()))
    np.testing.assert_array_equal(weights, [[0, 0, 1], [0, 1, 0], [1, 0, 0]])


def test_intervals_of_resampled_songs_are_wider_where_songs_matter():
    x, y, songs = dyads()
    rows = score(x, y, confidence_level=0.95, n_resamples=2000)["combined_score_ci"]
    resampled = score(x, y, songs, confidence_level=0.95, n_resamples=2000)["combined_score_ci"]
    assert np.ptp(resampled) > 1.3 * np.ptp(rows)


@pytest.mark.slow
def test_intervals_of_resampled_songs_cover_the_truth_where_intervals_of_rows_do_not():
    # Gold: two song effects and one noise, each of variance 1; the other: twice the effects and two noises.
    truth = (2 * 2 + 1) / math.sqrt((2 + 1) * (4 * 2 + 2))
    covered = {"rows": 0, "songs": 0}
    for seed in range(60):
        x, y, songs = dyads(20, seed)
        for kind, clusters in (("rows", None), ("songs", songs)):
            low, high = score(x, y, clusters, confidence_level=0.9, n_resamples=300)["pearson_ci"]
            covered[kind] += low <= truth <= high
    # Measured on 100 tables: 87 to 89 % for songs, 52 to 53 % for rows, of 90 % promised.
    assert covered["songs"] >= 46
    assert covered["rows"] < covered["songs"] - 10


def test_blocks_bound_the_memory_and_not_the_result(monkeypatch):
    x, y = noisy_table(30)
    whole = score(x, y, confidence_level=0.9, n_resamples=300)
    monkeypatch.setattr(resampling, "_BLOCK_CELLS", 30 * 7)
    sizes = list(resampling.block_sizes(300, 30))
    assert max(sizes) == 7
    assert sum(sizes) == 300
    in_blocks = score(x, y, confidence_level=0.9, n_resamples=300)
    for name in SCORE_NAMES:
        assert in_blocks[f"{name}_ci"] == pytest.approx(whole[f"{name}_ci"], abs=1e-12)


def test_an_ordinary_table_gives_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        score(*noisy_table(), confidence_level=0.95, p_values=True)
