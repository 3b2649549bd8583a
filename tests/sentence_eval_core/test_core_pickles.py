import os
import pickle
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("keep", [0, 1, 10, 25])
def test_a_cut_off_pickle_is_refused(tmp_path: Path, keep: int) -> None:
    whole = pickle.dumps([["NS-Causa", ["uno"], ["dos"]]], protocol=3)
    (tmp_path / "cut.pkl").write_bytes(whole[:keep])
    with pytest.raises(UserError, match="cannot be read as a pickle of lists and strings"):
        load_plain(tmp_path / "cut.pkl")
