"""The picture of a grid search: what its panels and lines say."""

from pathlib import Path

import pytest
from matplotlib.figure import Figure

from lyricsim_models import grid_report
from lyricsim_models.grid import PointSummary
from lyricsim_models.registry import GridPoint


def summary(model, batch_size, weight_decay, learning_rate, development):
    point = GridPoint(batch_size=batch_size, weight_decay=weight_decay, learning_rate=learning_rate)
    return PointSummary(model, point, (1, 2), development, 0.01, development, 0)


@pytest.fixture
def drawn(monkeypatch):
    """What ``draw_grid`` draws, without its file."""

    def figure_of(rows):
        figure = Figure()
        monkeypatch.setattr(grid_report, "draw_picture", lambda draw, paths, size: draw(figure))
        grid_report.draw_grid(rows, Path("grid.png"))
        return figure

    return figure_of


def test_a_panel_a_model_a_line_a_batch_size_and_weight_decay(drawn):
    rows = [
        summary(model, batch, decay, rate, 0.7)
        for model in "abcde"
        for batch in (8, 16)
        for decay in (0.1, 0.01)
        for rate in (1e-5, 5e-5)
    ]
    figure = drawn(rows)
    assert [axes.get_title() for axes in figure.axes] == list("abcde")
    assert {len(axes.containers) for axes in figure.axes} == {4}
    assert [tick.get_text() for tick in figure.axes[4].get_xticklabels()] == ["1e-05", "5e-05"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        f"batch {batch}, decay {decay}" for batch in (8, 16) for decay in (0.01, 0.1)
    ]
    looks = {(line.lines[0].get_color(), line.lines[0].get_linestyle()) for line in figure.axes[0].containers}
    assert len(looks) == 4


def test_what_only_another_model_has_is_in_the_legend_and_no_score_is_no_point(drawn):
    rows = [
        summary("a", 8, 0.1, 1e-5, 0.7),
        summary("b", 16, 0.1, 1e-5, 0.8),
        summary("b", 32, 0.1, 3e-5, None),
        summary("c", 8, 0.1, 1e-5, None),
    ]
    figure = drawn(rows)
    assert [axes.get_title() for axes in figure.axes] == ["a", "b"]
    assert [len(axes.containers) for axes in figure.axes] == [1, 1]
    assert figure.axes[1].containers[0].lines[0].get_ydata().tolist() == [80]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "batch 8, decay 0.1",
        "batch 16, decay 0.1",
    ]
