import pytest
from hypothesis import given
from hypothesis import strategies as st

from lyricsim_tools.card_blocks import block, blocks_of, join_head, merge_cards, split_head
from lyricsim_tools.errors import UserError

TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n"), max_size=60).filter(
    lambda text: "<!-- lyricsim:" not in text and "---" not in text
)
NAMES = st.lists(st.sampled_from("abcde"), unique=True, min_size=1)


@st.composite
def cards(draw):
    parts = [draw(TEXT)]
    for name in draw(NAMES):
        parts += [block(name, draw(TEXT)), draw(TEXT)]
    head = draw(st.dictionaries(st.sampled_from(["license", "tags", "x", "y"]), st.text("abc", min_size=1)))
    return join_head(head, "\n\n".join(parts))


@given(cards(), cards())
def test_a_merged_card_has_exactly_the_generated_blocks(generated, edited):
    assert blocks_of(merge_cards(generated, edited)) == blocks_of(generated)


@given(cards(), cards())
def test_merging_again_changes_nothing(generated, edited):
    merged = merge_cards(generated, edited)
    assert merge_cards(generated, merged) == merged


@given(cards(), cards())
def test_generated_keys_are_ours_and_all_others_stay(generated, edited):
    ours, theirs = split_head(generated)[0], split_head(edited)[0]
    assert split_head(merge_cards(generated, edited))[0] == {**theirs, **ours}


def test_figures_and_a_licences_name_that_are_no_longer_generated_go():
    edited = join_head({"license": "other", "license_name": "x", "model-index": [1], "thumbnail": "t"}, "")
    assert split_head(merge_cards(join_head({"license": "mit"}, ""), edited))[0] == {
        "license": "mit",
        "thumbnail": "t",
    }


@pytest.mark.parametrize("second", ["1", "0"])
def test_of_a_block_that_was_copied_one_is_left_and_renewed(second):
    edited = f"{block('a', '1')}\n\nnote\n\n{block('a', second)}\n\nend\n"
    assert merge_cards(block("a", "2"), edited) == f"{block('a', '2')}\n\nnote\n\nend\n"


@given(TEXT.filter(str.strip), TEXT, TEXT)
def test_text_between_blocks_survives(note, old, new):
    edited = f"{block('a', old)}\n\n{note}\n\n{block('b', old)}"
    generated = f"{block('a', new)}\n\n{block('b', new)}"
    assert f"\n\n{note}\n\n" in merge_cards(generated, edited)


def test_a_new_block_comes_after_the_one_before_it_and_a_dropped_one_goes():
    edited = f"# T\n\n{block('a', '1')}\n\nnote\n\n{block('old', '1')}\n\nend\n"
    generated = f"# T\n\n{block('a', '2')}\n\n{block('b', '2')}\n"
    expected = f"# T\n\n{block('a', '2')}\n\n{block('b', '2')}\n\nnote\n\nend\n"
    assert merge_cards(generated, edited) == expected


def test_a_head_with_windows_line_ends_and_a_byte_order_mark_is_read():
    assert split_head("\ufeff---\r\nlicense: mit\r\n---\r\nbody") == ({"license": "mit"}, "body")


def test_a_rule_inside_the_body_is_no_head():
    assert split_head("# T\n---\na: b\n---\n") == ({}, "# T\n---\na: b\n---\n")


@pytest.mark.parametrize("head", ["a: [", "- a"])
def test_a_head_that_is_no_mapping_is_refused(head):
    with pytest.raises(UserError, match="card's head"):
        split_head(f"---\n{head}\n---\n")
