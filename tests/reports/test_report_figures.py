"""What the paper's figures show, on the real data, and the pictures themselves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lyricsim_dataset.records import Pair
from lyricsim_reports.figure_data import cells, density, figure_data, histogram, points
from lyricsim_reports.figures import draw_all
from lyricsim_reports.sts_gold import read_sts
from lyricsim_tools.errors import UserError


@pytest.fixture(scope="module")
def shown(real, sentence_evaluation_source):
    sts = read_sts(sentence_evaluation_source / "data" / "senteval" / "STS")
    return figure_data(real.tables, sts)


def test_figure_1_counts_every_lyric(shown):
    assert sum(shown.histogram.counts) == 75
    assert (round(shown.histogram.mean, 2), round(shown.histogram.deviation, 2)) == (77.61, 34.88)


def test_figure_2_counts_every_filtered_pair_once(shown):
    assert sum(cell.pairs for cell in shown.cells) == 676
    assert all(cell.shorter <= cell.longer for cell in shown.cells)
    weighted = sum(cell.pairs * cell.score for cell in shown.cells) / 676
    assert weighted == pytest.approx((705 + 2 * 360 + 3 * 88 + 4 * 34 + 5 * 4) / 2028)


def test_figure_3_is_table_1(shown):
    assert shown.counts == {"raw": (3058, 3014, 1058, 746, 347, 102), "filtered": (837, 705, 360, 88, 34, 4)}


def test_figure_4_compares_with_the_spanish_sts_sets(shown):
    assert [(c.name, c.count) for c in shown.sts_curves] == [("STS14", 804), ("STS15", 751), ("STS17", 250)]
    assert [c.count for c in shown.lyrics_curves] == [8325, 2028]
    assert shown.lyrics_curves[1].zero_share == pytest.approx(837 / 2028)


def test_figure_5_rises_with_length(shown):
    assert {n: round(r, 3) for n, r in shown.correlations.items()} == {"raw": 0.373, "filtered": 0.533}
    assert sum(point.pairs for point in shown.points["raw"]) == 2775
    alone = [point for point in shown.points["raw"] if point.interval is None]
    assert all(point.pairs == 1 for point in alone)


@given(st.lists(st.integers(0, 5), min_size=2, max_size=60))
def test_a_density_covers_the_scale_and_sums_to_one_even_for_constant_ratings(ratings):
    curve = density("x", np.array(ratings, dtype=float))
    assert np.trapezoid(curve.y, curve.x) == pytest.approx(1, abs=0.02)


@given(st.lists(st.integers(0, 300), min_size=1, max_size=40))
def test_no_length_falls_out_of_the_histogram(lengths):
    assert sum(histogram(lengths).counts) == len(lengths)


def test_buckets_do_not_depend_on_which_song_comes_first():
    lengths = {"a": 30, "b": 90}
    one, other = Pair("a_b", "a", "b", (1, 1, 1)), Pair("b_a", "b", "a", (1, 1, 1))
    assert cells([one], lengths) == cells([other], lengths)
    assert points([one, other], lengths)[0].pairs == 2


def test_pictures_are_written_twice_alike_as_png_and_svg(sample, tmp_path):
    data = figure_data(sample.tables)
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        drawn = draw_all(data, tmp_path / name, "the sample")
        assert len(drawn) == 5
    for name in drawn:
        for ending in ("png", "svg"):
            one, other = ((tmp_path / place / f"{name}.{ending}").read_bytes() for place in ("one", "other"))
            assert one == other
            assert len(one) > 1000


@pytest.mark.parametrize("content", [None, "5\nnear\n", "1\n7\n", "nan\n"])
def test_sts_scores_that_are_no_scores_are_refused(tmp_path, content):
    if content is not None:
        (tmp_path / "STS.gs.x.txt").write_text(content)
    with pytest.raises(UserError, match="expected"):
        read_sts(tmp_path)
