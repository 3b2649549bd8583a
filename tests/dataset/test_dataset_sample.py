from collections import Counter

import pytest

from lyricsim_dataset import sources
from lyricsim_dataset.annotations import read_tables
from lyricsim_dataset.publish import BuildOptions, build
from lyricsim_dataset.records import Rating
from lyricsim_dataset.release import assemble
from lyricsim_dataset.sample_rule import as_annotated, derived_files, likeness, made_up_ratings, verses
from lyricsim_dataset.sources import SAMPLE_FOLDER, sample_tree
from lyricsim_tools.errors import UserError


@pytest.fixture(scope="module")
def tables():
    return read_tables(sample_tree())


def test_the_committed_files_are_what_the_rule_makes():
    for path, content in derived_files(verses()).items():
        assert (SAMPLE_FOLDER / path).read_bytes() == content.encode(), (
            f"run python -m {derived_files.__module__}"
        )


def test_it_holds_24_verses_of_varied_length_and_every_pair_of_them(tables):
    lengths = [song.length for song in tables.songs]
    assert len(tables.songs) == 24
    assert len(tables.pairs) == 24 * 23 // 2
    assert min(lengths) < 10
    assert max(lengths) > 80


def test_its_scores_vary_over_the_whole_scale(tables):
    scores = Counter(round(pair.score) for pair in assemble(tables).filtered)
    assert set(scores) == set(range(6))


def test_its_files_have_upstreams_quirks():
    ratings = (SAMPLE_FOLDER / sources.RATINGS_FILE).read_bytes()
    assert ratings.startswith(b"\xef\xbb\xbfannotator_id,sim_rating,id1,id2\r\n")
    assert b", 9" in ratings
    assert any(song.lyrics != song.lyrics_as_annotated for song in verses())


def test_ratings_follow_the_words_that_two_texts_share():
    assert likeness("El mar, la barca y la noche.", "¡Mar! barca: NOCHE…") == 2
    assert likeness("uno", "uno") == 0
    many = "barca noche puerto redes arena olas"
    assert likeness(many, many) == 5
    assert as_annotated("Hola,\n¿qué tal?\nAdiós.") == "Hola\n¿qué tal?\nAdiós"


def test_every_made_up_rating_is_within_one_of_the_rule(tables):
    texts = {song.song_id: song.lyrics for song in tables.songs}
    for rating in made_up_ratings(tables.songs):
        base = likeness(texts[rating.song_id_1], texts[rating.song_id_2])
        assert abs(rating.rating - base) <= 1
    assert isinstance(rating, Rating)


def test_it_is_never_a_fallback(monkeypatch, tmp_path):
    monkeypatch.setenv("LYRICSIM_SOURCE", str(tmp_path / "nowhere"))
    with pytest.raises(UserError, match="is not a folder"):
        build(BuildOptions(), tmp_path / "lyricsim")


def test_it_is_no_pinned_tree_either():
    with pytest.raises(UserError, match="is not upstream's"):
        sources.locate(SAMPLE_FOLDER)


def test_it_cannot_be_written_under_lyricsims_name(tmp_path):
    with pytest.raises(UserError, match="could be taken for LyricSIM's"):
        build(BuildOptions(sample=True), tmp_path / "lyricsim")
    assert BuildOptions(sample=True).default_output().name == "lyricsim-sample"
    assert BuildOptions().default_output().name == "lyricsim"


def test_its_card_columns_and_rows_say_what_it_is(sample_folder):
    card = (sample_folder / "README.md").read_text("utf-8")
    croissant = (sample_folder / "croissant.json").read_text("utf-8")
    assert "# A sample that is not LyricSIM" in card
    assert "**NOT LyricSIM: verses written for this project" in card
    assert "# LyricSIM\n" not in card
    assert "@article" not in card
    assert card.count("(made up: sample, not LyricSIM)") > 20
    assert croissant.count("(made up: sample, not LyricSIM)") > 20
    assert {song.artist for song in verses()} == {"Muestra de LyricSIM (no es una canción)"}
