import contextlib
import os
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lyricsim_tools.errors import UserError
from spanish_sentence_eval.pickles import load_plain


class _Harmful:
    def __init__(self, mark: Path) -> None:
        self._mark = mark

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self._mark),)


def test_lists_and_strings_are_read(tmp_path: Path) -> None:
    value = [["NS-Causa", ["uno", "dos"], ["tres"]]]
    (tmp_path / "plain.pkl").write_bytes(pickle.dumps(value, protocol=3))
    assert load_plain(tmp_path / "plain.pkl") == value


def test_a_crafted_pickle_is_refused_and_runs_nothing(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    (tmp_path / "harmful.pkl").write_bytes(pickle.dumps([_Harmful(mark)], protocol=3))
    with pytest.raises(UserError, match=r"it asks for \w+\.mkdir"):
        load_plain(tmp_path / "harmful.pkl")
    assert not mark.exists()


@given(st.data())
def test_a_damaged_pickle_is_read_as_plain_values_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    content = bytearray(pickle.dumps([["NS-Causa", ["uno"], ["dos", "tres"]]], protocol=3))
    places = st.integers(0, len(content) - 1)
    for place, byte in data.draw(st.lists(st.tuples(places, st.integers(0, 255)), min_size=1, max_size=4)):
        content[place] = byte
    path = tmp_path_factory.getbasetemp() / "damaged.pkl"
    path.write_bytes(content)
    with contextlib.suppress(UserError):
        load_plain(path)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"\x80\x03K\x01X\x01\x00\x00\x00aa.", id="a text appended to a number"),
        pytest.param(b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x0f.", id="bytes beyond all memory"),
        pytest.param(b"\x80\x03]K\x01Q.", id="a persistent object"),
    ],
)
def test_a_pickle_that_makes_no_sense_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "odd.pkl").write_bytes(content)
    with pytest.raises(UserError, match="cannot be read as a pickle of lists and strings"):
        load_plain(tmp_path / "odd.pkl")


@pytest.mark.parametrize("keep", [0, 1, 10, 25])
def test_a_cut_off_pickle_is_refused(tmp_path: Path, keep: int) -> None:
    whole = pickle.dumps([["NS-Causa", ["uno"], ["dos"]]], protocol=3)
    (tmp_path / "cut.pkl").write_bytes(whole[:keep])
    with pytest.raises(UserError, match="cannot be read as a pickle of lists and strings"):
        load_plain(tmp_path / "cut.pkl")
