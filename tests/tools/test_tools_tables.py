import json

import pytest

from lyricsim_tools.tables import print_json, print_table


def test_a_table_shows_missing_and_undefined_figures_as_words(capsys):
    print_table("Scores", ["system", "pearson"], [["a", 0.123456], ["b", float("nan")], ["c", None]])
    printed = capsys.readouterr().out
    assert "0.1235" in printed
    assert "undefined" in printed
    assert "–" in printed


def test_json_output_is_one_document_and_refuses_nan(capsys):
    print_json({"título": 1.5})
    assert json.loads(capsys.readouterr().out) == {"título": 1.5}
    with pytest.raises(ValueError, match="JSON"):
        print_json({"a": float("nan")})
