"""The audit of a split: what it finds, how it draws others like it, what probes score."""

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lyricsim_dataset.configurations import PAIR_CONFIGS
from lyricsim_dataset.song_splits import songs_of
from lyricsim_models.baselines import find_baseline
from lyricsim_reports.audit import audit, config_split, read_split, redraw, rule_of
from lyricsim_reports.audit_cli import main
from lyricsim_reports.audit_page import audit_page
from lyricsim_reports.learning import learning_curves, score_at
from lyricsim_reports.near_duplicates import near_duplicates, trigrams
from lyricsim_reports.page import to_markdown
from lyricsim_reports.probes import combined_scores, summarise
from lyricsim_tools.errors import UserError

IDENTITY, VECTORS = "song identity only (no text)", "TF-IDF vectors"


@pytest.fixture(scope="module")
def audits(real):
    names = ("filtered", "filtered-paper-split", "filtered-song-disjoint")
    return {name: audit(name, config_split(real, name), real, draws=1, seed=5) for name in names}


def itself(found, probe):
    return next(p.itself for p in found.probes if p.probe == probe)


def test_only_the_papers_arithmetic_has_test_pairs_in_train(audits):
    assert {name: found.same_texts for name, found in audits.items()} == {
        "filtered": 0,
        "filtered-paper-split": 64,
        "filtered-song-disjoint": 0,
    }
    leaked = audits["filtered-paper-split"].leaks
    assert sum(len(leak.pairs) for leak in leaked if "test" in leak.splits) == 68
    assert audits["filtered-song-disjoint"].songs_seen == (65, 0, 0)
    assert audits["filtered"].songs_seen == (0, 0, 68)
    assert not any(found.duplicates for found in audits.values())


def test_remembering_songs_pays_only_where_test_pairs_are_left_in_train(audits):
    clean, leaked = audits["filtered"], audits["filtered-paper-split"]
    for probe in (IDENTITY, VECTORS):
        assert itself(leaked, probe) > itself(clean, probe) + 0.12
    assert round(itself(clean, IDENTITY), 2) == 0.72
    assert round(itself(leaked, IDENTITY), 2) == 0.91


def test_song_identity_is_undefined_on_songs_never_seen_and_printed_so(audits, real):
    found = audits["filtered-song-disjoint"].probes[0]
    assert math.isnan(found.itself)
    assert (found.probe, found.draws, found.defined) == (IDENTITY, 1, 0)
    text = to_markdown(audit_page(list(audits.values()), real.origin))
    row = next(line for line in text.splitlines() if line.startswith(f"| {IDENTITY}"))
    assert row.endswith("| undefined (constant) |")


@pytest.mark.parametrize("config", ["filtered", "filtered-paper-split"])
def test_a_split_drawn_anew_has_the_sizes_and_the_overlap_of_the_old_one(real, config):
    split = config_split(real, config)
    rule = rule_of(split, real, seed=1)
    drawn = redraw(rule, seed=9)
    ids = {part: {pair.pair_id for pair in pairs} for part, pairs in drawn.items()}
    assert (len(ids["train"]), len(ids["test"])) == (len(split["train"]), len(split["test"]))
    assert len(ids["train"] & ids["test"]) == rule.shared
    assert ids["test"] != {pair.pair_id for pair in split["test"]}
    assert redraw(rule, seed=9) == drawn


def test_a_song_disjoint_split_drawn_anew_shares_no_song(real):
    rule = rule_of(config_split(real, "filtered-song-disjoint"), real, seed=1)
    drawn = redraw(rule, seed=9)
    assert len(rule.pairs) == 676
    assert songs_of(drawn["train"]).isdisjoint(songs_of(drawn["test"]))
    assert len(songs_of(drawn["test"])) <= rule.test_songs == 24


def within(pairs, songs):
    return tuple(pair for pair in pairs if {pair.song_id_1, pair.song_id_2} <= songs)


def nearly_song_disjoint(sample):
    """A song-disjoint split with one of the left out pairs put into train: one test song is then known."""
    split = config_split(sample, "filtered-song-disjoint")
    tested, trained = songs_of(split["test"]), songs_of(split["train"])
    known = next(p for p in sample.tables.pairs if p.song_id_1 in tested and p.song_id_2 in trained)
    return {**split, "train": (*split["train"], known)}


def three_ways_disjoint(sample):
    """No two parts share a song."""
    songs = sorted(songs_of(sample.tables.pairs))
    groups = {"train": songs[:12], "validation": songs[12:18], "test": songs[18:]}
    return {part: within(sample.tables.pairs, set(its)) for part, its in groups.items()}


def validation_beside_test(sample):
    """Test shares its songs with validation, not with train."""
    split = config_split(sample, "filtered-song-disjoint")
    return {"train": split["train"], "validation": split["test"][:4], "test": split["test"][4:]}


@pytest.mark.parametrize("make", [nearly_song_disjoint, three_ways_disjoint, validation_beside_test])
def test_a_split_of_no_known_kind_is_not_drawn_as_another_kind(sample, make):
    assert rule_of(make(sample), sample, seed=1) is None


def test_the_page_says_of_a_split_of_no_known_kind_that_it_was_not_drawn(sample):
    found = audit("mine", nearly_song_disjoint(sample), sample, draws=2, seed=1)
    assert found.rule.startswith("not drawn: ")
    assert {probe.draws for probe in found.probes} == {0}
    known = audit("filtered", config_split(sample, "filtered"), sample, draws=2, seed=1)
    page = to_markdown(audit_page([found, known], sample.origin))
    assert "Mean ± standard deviation over 2 draws" in page
    assert "| word overlap count | not drawn |" in page


@pytest.mark.parametrize("config", [c.name for c in PAIR_CONFIGS])
def test_a_draw_by_a_rule_and_a_published_split_follow_it(sample, config):
    rule = rule_of(config_split(sample, config), sample, seed=1)
    again = rule_of(redraw(rule, seed=5), sample, seed=1)
    assert (again.test_songs is None) == (rule.test_songs is None) == ("disjoint" not in config)


def test_the_same_text_under_another_id_is_found_whatever_its_punctuation(sample):
    split = config_split(sample, "filtered-song-disjoint")
    tested, trained = sorted(songs_of(split["test"]))[0], sorted(songs_of(split["train"]))[0]
    lyrics = {song.song_id: song.lyrics for song in sample.tables.songs}
    songs = [
        dataclasses.replace(s, lyrics=lyrics[tested].upper().replace("\n", ",\n"))
        if s.song_id == trained
        else s
        for s in sample.tables.songs
    ]
    copied = dataclasses.replace(sample, tables=dataclasses.replace(sample.tables, songs=tuple(songs)))
    (found,) = audit("copied", split, copied, draws=0, seed=1).duplicates
    assert (set(found.songs), found.similarity) == ({tested, trained}, 1.0)


@given(st.lists(st.text(alphabet="ab c", max_size=12), min_size=2, max_size=6))
def test_near_duplicates_are_those_of_a_comparison_of_all(texts):
    lyrics = {str(number): text for number, text in enumerate(texts)}
    found = {d.songs: d.similarity for d in near_duplicates(lyrics, 0.3)}
    for one in lyrics:
        for other in lyrics:
            a, b = trigrams(lyrics[one]), trigrams(lyrics[other])
            expected = len(a & b) / len(a | b) if a & b else 0.0
            if one < other:
                assert found.get((one, other), 0.0) == (expected if expected >= 0.3 else 0.0)


def test_a_draw_without_test_pairs_scores_nothing(sample):
    train = sample.splits["filtered"]["train"]
    assert all(math.isnan(value) for value in combined_scores(train, train.take([])).values())


def test_a_test_pair_in_train_and_validation_is_counted_once(sample):
    split = config_split(sample, "filtered")
    test = split["test"]
    leaked = {
        "train": (*split["train"], *test[:3]),
        "validation": (*split["validation"], *test[:3]),
        "test": test,
    }
    page = to_markdown(audit_page([audit("leaked", leaked, sample, draws=0, seed=1)], sample.origin))
    (row,) = [line for line in page.splitlines() if line.startswith("| leaked | 1")]
    assert row.split(" | ")[3] == "3"


def test_probes_count_undefined_draws_and_leave_them_out_of_the_mean():
    (found,) = summarise({"p": 0.5}, [{"p": 0.2}, {"p": math.nan}, {"p": 0.4}])
    assert (found.draws, found.defined, round(found.mean, 3)) == (3, 2, 0.3)


@pytest.mark.parametrize(
    ("content", "given"),
    [
        ("pair,split\n1_2,train\n", "pair_id None"),
        ("pair_id,split\nnone,train\n", "'none'"),
        ("pair_id,split\n{a},dev\n", "'dev'"),
        ("pair_id,split\n{a},train\n{a},train\n", "line 3"),
        ("pair_id,split\n{a},train\n", "no test pair"),
        ("pair_id,split\n", "no train pair"),
    ],
)
def test_a_broken_split_file_is_refused_with_its_line(sample, tmp_path, content, given):
    path = tmp_path / "split.csv"
    path.write_text(content.format(a=sample.tables.pairs[0].pair_id))
    with pytest.raises(UserError) as error:
        read_split(path, sample)
    assert given in error.value.given


def test_the_command_audits_a_users_split_of_the_sample(sample_folder, sample, tmp_path, capsys):
    pairs = sample.tables.pairs
    parts = ["test" if number % 5 == 0 else "train" for number in range(len(pairs))]
    rows = [f"{pair.pair_id},{part}" for pair, part in zip(pairs, parts, strict=True)]
    rows.append(f"{pairs[0].pair_id},train")
    (tmp_path / "mine.csv").write_text("\n".join(["pair_id,split", *rows]) + "\n")
    options = ["--dataset", str(sample_folder), "--split", str(tmp_path / "mine.csv"), "--draws", "1"]
    assert main([*options, "--output", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    assert "1 of them left in train" in printed
    assert (tmp_path / "out.md").read_text() == printed
    assert (tmp_path / "out.html").is_file()
    assert not any(song.lyrics.splitlines()[0] in printed for song in sample.tables.songs)


def test_a_full_training_set_is_the_end_of_every_curve_and_songs_alone_have_none(sample):
    curves = learning_curves(sample, seed=1, shares=(0.3, 1.0))
    predicted = score_at(sample, "lexical", 1.0, seed=2)
    assert curves[find_baseline("lexical").title][1] == pytest.approx(predicted)
    assert all(len(scores) == 2 for scores in curves.values())
    assert abs(score_at(sample, "song-identity", 1.0, seed=1)) < 0.3


def test_an_unknown_configuration_is_one_message_and_status_2(sample_folder, capsys):
    assert main(["--dataset", str(sample_folder), "--config", "none"]) == 2
    assert "filtered-song-disjoint" in capsys.readouterr().err


def test_two_splits_of_one_name_are_refused(sample_folder, sample, tmp_path, capsys):
    pair = sample.tables.pairs[0].pair_id
    (tmp_path / "filtered.csv").write_text(f"pair_id,split\n{pair},train\n{pair},test\n")
    options = ["--dataset", str(sample_folder), "--split", str(tmp_path / "filtered.csv"), "--draws", "0"]
    assert main([*options, "--config", "filtered"]) == 2
    assert "two splits are called filtered" in capsys.readouterr().err
