"""Two systems compared: known figures, symmetry, and honest p-values."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from lyricsim_comparison.differences import compare
from lyricsim_comparison.rankings import compare_all
from lyricsim_comparison.significance import holm, permutation_p_values, williams_p_value
from lyricsim_metric.scores import SCORE_NAMES, score


def two_systems(rows=68, better=0.0, seed=0):
    """Gold labels, a system, and one whose noise is smaller by ``better``, on another scale."""
    generator = np.random.default_rng(seed)
    gold = np.maximum(generator.normal(size=rows), 0)
    shared = 0.3 * generator.normal(size=rows)
    first = gold + shared + (0.5 - better) * generator.normal(size=rows)
    return first, 7 + 3 * (gold + shared + 0.5 * generator.normal(size=rows)), gold


def shared_songs(rows, songs=15, seed=0):
    generator = np.random.default_rng(seed)
    pairs = [(f"s{one}", f"s{other}") for one in range(songs) for other in range(one)]
    return [pairs[place] for place in generator.permutation(len(pairs))[:rows]]


def test_differences_are_those_of_the_metric():
    first, second, gold = two_systems()
    found = compare(first, second, gold, confidence_level=None)
    ours, theirs = score(first, gold), score(second, gold)
    for name in SCORE_NAMES:
        assert found[f"{name}_difference"] == pytest.approx(ours[name] - theirs[name], abs=1e-12)
    assert not [name for name in found if name.endswith("_ci")]


def test_all_is_plain_floats_and_only_differences_scale():
    systems = two_systems()
    plain = compare(*systems, n_resamples=200)
    scaled = compare(*systems, n_resamples=200, scale=100)
    assert list(plain) == [
        *(f"{name}_difference" for name in SCORE_NAMES),
        *(f"{name}_difference_ci" for name in SCORE_NAMES),
        "pearson_williams_pvalue",
        *(f"{name}_permutation_pvalue" for name in SCORE_NAMES),
    ]
    for name, value in plain.items():
        factor = 1 if name.endswith("pvalue") else 100
        assert scaled[name] == pytest.approx(factor * np.array(value), rel=1e-12)
        assert {type(number) for number in (value if isinstance(value, list) else [value])} == {float}


@pytest.mark.parametrize("clustered", [False, True])
def test_exchanging_the_systems_changes_signs_only(clustered):
    first, second, gold = two_systems(better=0.2)
    clusters = shared_songs(len(gold)) if clustered else None
    one = compare(first, second, gold, clusters, n_resamples=500)
    other = compare(second, first, gold, clusters, n_resamples=500)
    for name in SCORE_NAMES:
        assert other[f"{name}_difference"] == -one[f"{name}_difference"]
        low, high = one[f"{name}_difference_ci"]
        assert other[f"{name}_difference_ci"] == pytest.approx([-high, -low], abs=1e-9)
    p_values = [name for name in one if name.endswith("pvalue")]
    assert [other[name] for name in p_values] == pytest.approx([one[name] for name in p_values], abs=1e-12)


@pytest.mark.parametrize("clustered", [False, True])
def test_the_order_of_rows_does_not_matter(clustered):
    systems = two_systems()
    clusters = shared_songs(68) if clustered else None
    order = np.random.default_rng(1).permutation(68)
    shuffled = [clusters[place] for place in order] if clustered else None
    one = compare(*systems, clusters, n_resamples=300)
    other = compare(*(side[order] for side in systems), shuffled, n_resamples=300)
    for name, value in one.items():
        assert other[name] == pytest.approx(value, abs=1e-12)


def mirrored_systems(twice=9):
    """Rows beside their mirror images, in which both systems have changed places, some of them twice."""
    first, second, gold = (side.round(1) for side in two_systems(30))
    one = np.concatenate([first, second, first[:twice]])
    return one, np.concatenate([second, first, second[:twice]]), np.concatenate([gold, gold, gold[:twice]])


@pytest.mark.parametrize("twice", [0, 9])
def test_the_order_of_rows_does_not_matter_beside_their_mirror_images(twice):
    systems = mirrored_systems(twice)
    one = compare(*systems, n_resamples=300)
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(systems[0]))
        other = compare(*(side[order] for side in systems), n_resamples=300)
        for name, value in one.items():
            assert other[name] == pytest.approx(value, abs=1e-12)


def test_exchanging_the_systems_changes_signs_only_beside_mirror_images():
    first, second, gold = mirrored_systems()
    one = compare(first, second, gold, n_resamples=300)
    other = compare(second, first, gold, n_resamples=300)
    for name in SCORE_NAMES:
        low, high = one[f"{name}_difference_ci"]
        assert other[f"{name}_difference_ci"] == pytest.approx([-high, -low], abs=1e-12)
        assert other[f"{name}_permutation_pvalue"] == one[f"{name}_permutation_pvalue"]


def test_one_system_against_itself_is_no_different():
    first, _, gold = two_systems()
    found = compare(first, first, gold, n_resamples=200)
    assert [value for name, value in found.items() if name.endswith("_difference")] == [0.0] * 3
    assert [value for name, value in found.items() if name.endswith("pvalue")] == [1.0] * 4
    assert found["pearson_difference_ci"] == [0.0, 0.0]
    songs = compare(first, first, gold, shared_songs(68), n_resamples=200)
    assert songs["combined_score_bootstrap_pvalue"] == 1.0


def test_a_far_better_system_is_found():
    first, second, gold = two_systems(better=0.45)
    second = second + np.random.default_rng(9).normal(size=68) * 4
    found = compare(first, second, gold, n_resamples=2000)
    for name in SCORE_NAMES:
        assert found[f"{name}_permutation_pvalue"] == 1 / 2001
        assert found[f"{name}_difference_ci"][0] > 0
    assert found["pearson_williams_pvalue"] < 1e-3


def test_intervals_are_scipys_within_the_noise_of_the_draw():
    first, second, gold = two_systems(better=0.1)

    def difference(x, y, z, axis=-1):
        return stats.pearsonr(x, z, axis=axis)[0] - stats.pearsonr(y, z, axis=axis)[0]

    draws = [
        stats.bootstrap(
            (first, second, gold), difference, paired=True, vectorized=True, rng=np.random.default_rng(seed)
        ).confidence_interval
        for seed in range(4)
    ]
    ours = compare(first, second, gold)["pearson_difference_ci"]
    np.testing.assert_array_less(np.abs(ours - np.mean(draws, axis=0)), 8 * np.std(draws, axis=0, ddof=1))


def test_with_shared_songs_nothing_that_takes_rows_as_independent_is_returned():
    systems = two_systems()
    found = compare(*systems, shared_songs(68), n_resamples=300)
    assert [name for name in found if name.endswith("pvalue")] == [
        f"{n}_bootstrap_pvalue" for n in SCORE_NAMES
    ]


@pytest.mark.parametrize(
    ("place", "named"), [(0, "predictions1 is"), (1, "predictions2 is"), (2, "references is")]
)
@pytest.mark.parametrize("clustered", [False, True])
def test_a_constant_side_gives_nan_everywhere_and_one_warning(place, named, clustered):
    systems = list(two_systems(20))
    clusters = shared_songs(20) if clustered else None
    defined = compare(*systems, clusters, n_resamples=100)
    systems[place] = np.ones(20)
    with pytest.warns(UserWarning, match=f"{named} constant") as caught:
        found = compare(*systems, clusters, n_resamples=100)
    assert len(caught) == 1
    assert list(found) == list(defined)
    values = [
        number for value in found.values() for number in (value if isinstance(value, list) else [value])
    ]
    assert all(math.isnan(value) for value in values)
    with pytest.raises(ValueError, match=named):
        compare(*systems, clusters, undefined="raise")


@pytest.mark.parametrize(
    ("systems", "message"),
    [
        (([1, 2], [1, 2, 3], [1, 2, 3]), "predictions1 has 2 rows and references has 3"),
        (([1, 2, 3], [1, 2], [1, 2, 3]), "predictions2 has 2 rows and references has 3"),
        (([1, 2], ["1", "2"], [1, 2]), "predictions2: 2 of 2 values are not real numbers"),
        (([1], [1], [1]), "1 row to score"),
    ],
)
def test_bad_input_is_refused(systems, message):
    with pytest.raises(ValueError, match=message):
        compare(*systems)


def test_williams_gives_the_published_example():
    # Steiger (1980), the example of two correlations 0.4 and 0.5 of 103 rows: t = 0.89, p = 0.37.
    p = williams_p_value(first=0.5, second=0.1, between=0.4, rows=103)
    assert p < 0.001
    example = williams_p_value(first=0.5, second=0.4, between=0.1, rows=103)
    assert example == pytest.approx(2 * stats.t.sf(0.8913, 100), abs=1e-3)


def test_williams_at_the_edges():
    assert williams_p_value(0.5, 0.5, 0.9, 30) == 1.0
    assert math.isnan(williams_p_value(0.5, 0.4, 0.9, 3))
    assert math.isnan(williams_p_value(math.nan, 0.4, 0.9, 30))
    assert williams_p_value(1.0, -1.0, -1.0, 30) == 0.0


@pytest.mark.parametrize("seed", range(6))
def test_williams_has_no_p_value_of_a_system_against_its_own_reverse(seed):
    first, _, gold = two_systems(seed=seed)
    for reverse in (-first, 7 - 3 * first, 1 / 3 - first / 10):
        found = compare(first, reverse, gold, confidence_level=None, n_resamples=100)
        assert math.isnan(found["pearson_williams_pvalue"])
        assert found["pearson_permutation_pvalue"] < 0.05


@pytest.mark.parametrize("distance", [1e-11, 1e-9, 1e-6, 1e-4])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_williams_is_stable_near_a_reverse_and_its_limit_depends_on_the_direction(distance, share):
    # The sum of both coefficients as a share of the largest that a correlation matrix allows.
    half, rows = 0.3, 68
    mean = share * math.sqrt(distance * (1 - half**2) / 2)
    p = williams_p_value(mean + half, mean - half, -1 + distance, rows)
    limit = half**2 / (1 - half**2) * (rows - 1) / ((rows - 1) / (rows - 3) * (1 - share**2) + share**2)
    assert p == pytest.approx(2 * stats.t.sf(math.sqrt(limit), rows - 3), rel=1e-3)


def test_williams_finds_nothing_in_the_rounding_of_one_system_in_two_scales():
    assert williams_p_value(0.5, 0.5 - 1e-14, 1.0, 68) == 1.0
    assert math.isnan(williams_p_value(0.5, 0.5 - 1e-9, 1.0, 68))
    assert math.isnan(williams_p_value(0.5, 0.5 - 1e-9, 1 - 1e-15, 68))


def all_swaps(first, second, gold):
    """The permutation test the long way round: every one of the 2^n swaps, one by one."""

    def difference(x, y, side):
        return side(x, gold) - side(y, gold)

    def count(x, y, side):
        observed = abs(difference(x, y, side))
        swapped = [
            abs(difference(np.where(mask, x, y), np.where(mask, y, x), side))
            for mask in (
                np.array([place >> bit & 1 for bit in range(len(x))], bool) for place in range(2 ** len(x))
            )
        ]
        return np.mean(np.array(swapped) >= observed - 1e-12)

    linear = count(stats.zscore(first), stats.zscore(second), lambda x, y: stats.pearsonr(x, y)[0])
    ranked = count(stats.rankdata(first), stats.rankdata(second), lambda x, y: stats.spearmanr(x, y)[0])
    return linear, ranked


def test_drawn_permutations_approach_all_of_them():
    first, second, gold = two_systems(9, better=0.3, seed=4)
    found = permutation_p_values(first, second, gold, permutations=20_000, seed=0)
    assert found[:2] == pytest.approx(all_swaps(first, second, gold), abs=0.015)


@pytest.mark.slow
def test_equal_systems_are_called_different_no_more_often_than_promised():
    p_values = [
        permutation_p_values(*two_systems(seed=seed), permutations=199, seed=seed) for seed in range(300)
    ]
    # Three standard deviations above 5 % of 300.
    assert (np.mean(np.array(p_values) < 0.05, axis=0) < 0.088).all()


@pytest.mark.parametrize(("between", "difference"), [(0.8, 0.06), (0.93, 0.04)])
def test_the_smallest_difference_that_68_pairs_can_tell_is_as_the_page_says(between, difference):
    below, above = difference - 0.01, difference + 0.005
    assert williams_p_value(0.88 + below / 2, 0.88 - below / 2, between, 68) > 0.05
    assert williams_p_value(0.88 + above / 2, 0.88 - above / 2, between, 68) < 0.05


@pytest.mark.parametrize("between", [0.8, 0.9, 0.93])
def test_no_two_systems_of_the_papers_table_3_are_told_apart(between):
    pearson = (0.9011, 0.8923, 0.8828, 0.8450, 0.8533, 0.8472, 0.8442, 0.8578, 0.8512)
    p_values = [williams_p_value(a, b, between, 68) for a, b in itertools.combinations(pearson, 2)]
    assert holm(p_values).min() > 0.05


def test_holm_gives_the_textbook_figures():
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_allclose(holm([0.5, 0.9]), [1.0, 1.0])
    assert len(holm([])) == 0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_keeps_the_order_and_lies_between_no_correction_and_bonferroni(p_values):
    values = np.array(p_values)
    corrected = holm(values)
    assert (corrected >= values).all()
    assert (corrected <= np.minimum(values * len(values), 1) + 1e-15).all()
    assert (np.diff(corrected[np.argsort(values, kind="stable")]) >= 0).all()


@pytest.mark.parametrize("bad", [[0.1, 1.5], [-0.1], [float("nan")], ["0.1"], [[0.1, 0.2]]])
def test_what_is_no_p_value_is_refused(bad):
    with pytest.raises(ValueError, match="p_values"):
        holm(bad)


@pytest.mark.parametrize("clustered", [False, True])
def test_every_two_systems_are_compared_and_corrected_together(clustered):
    first, second, gold = two_systems(better=0.3)
    third = np.random.default_rng(5).normal(size=len(gold))
    clusters = shared_songs(len(gold)) if clustered else None
    rows = compare_all({"a": first, "b": second, "c": third}, gold, clusters, n_resamples=300)
    assert [(row["system1"], row["system2"]) for row in rows] == [("a", "b"), ("a", "c"), ("b", "c")]
    source = "bootstrap" if clustered else "permutation"
    for name in SCORE_NAMES:
        alone = [row[f"{name}_{source}_pvalue"] for row in rows]
        np.testing.assert_allclose([row[f"{name}_holm_pvalue"] for row in rows], holm(alone))
    assert (
        rows[0]["pearson_difference"] == compare(first, second, gold, n_resamples=100)["pearson_difference"]
    )


def test_an_undefined_pair_is_not_counted_among_the_tests():
    first, second, gold = two_systems(20)
    with pytest.warns(UserWarning, match="constant"):
        rows = compare_all({"a": first, "b": second, "flat": np.ones(20)}, gold, n_resamples=100)
    assert rows[0]["pearson_holm_pvalue"] == rows[0]["pearson_permutation_pvalue"]
    assert math.isnan(rows[1]["pearson_holm_pvalue"])


def test_a_constant_system_is_reported_once_and_by_its_name():
    first, second, gold = two_systems(20)
    systems = {"maria": first, "svm": np.ones(20), "bertin": second}
    with pytest.warns(UserWarning, match="^system 'svm' is constant") as caught:
        compare_all(systems, gold, n_resamples=100)
    assert len(caught) == 1
    with pytest.raises(ValueError, match=r"^system 'svm' is constant"):
        compare_all(systems, gold, undefined="raise")


@pytest.mark.parametrize(
    ("systems", "message"),
    [
        ({"maria": [1, 2], "svm": [1, "2"]}, "system 'svm': 1 of 2 values are not real numbers"),
        ({"maria": [1], "svm": [1, 2]}, "system 'maria' has 1 rows and references has 2"),
        ({"references": [1], "svm": [1, 2]}, "system 'references' has 1 rows and references has 2"),
    ],
)
def test_a_bad_system_is_refused_by_its_name(systems, message):
    with pytest.raises(ValueError, match=message):
        compare_all(systems, [1, 2])


def test_one_system_alone_cannot_be_compared():
    with pytest.raises(ValueError, match="1 systems"):
        compare_all({"a": [1, 2]}, [1, 2])
