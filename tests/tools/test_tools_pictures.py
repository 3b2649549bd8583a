"""Pictures: the formats that can be asked for, and the same file for the same data."""

import sys

import pytest

from lyricsim_tools.errors import UserError
from lyricsim_tools.pictures import KINDS, as_png_and_svg, draw_picture

STARTS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


def draw(figure):
    figure.subplots().plot([1, 2, 3])


def test_each_ending_gives_its_format_and_the_same_data_the_same_bytes(tmp_path):
    first, second = ([tmp_path / f"{name}{kind}" for kind in KINDS] for name in ("first", "second"))
    draw_picture(draw, first, (3, 2))
    draw_picture(draw, second, (3, 2))
    assert set(STARTS) == set(KINDS)
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes().startswith(STARTS[one.suffix])
        assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("name", ["picture.jpg", "picture", "picture.PNG"])
def test_another_ending_is_refused_and_nothing_is_written(tmp_path, name):
    with pytest.raises(UserError) as refused:
        draw_picture(draw, [*as_png_and_svg(tmp_path / "good"), tmp_path / name], (3, 2))
    assert f"a picture named {tmp_path / name}" in str(refused.value)
    assert "a name ending in .png, .svg, .pdf" in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_the_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UserError, match=r"lyricsim\[plots\]"):
        draw_picture(draw, [tmp_path / "picture.png"], (3, 2))
