"""What the database keeps: each rating once, whatever tabs, raters and clocks do."""

import os
import shutil
import sqlite3
import stat
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from campaign_files import Clock, new_store, rate, sample_folder
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lyricsim_annotation.database import open_campaign, read_campaign
from lyricsim_annotation.records import Outcome, Verdict
from lyricsim_annotation.selection_folder import read_selection
from lyricsim_annotation.store import Timing
from lyricsim_tools.errors import UserError


def standing(store):
    return [(j.pair_id, j.rater, j.verdict.rating) for j in store.judgements()]


def test_asking_again_shows_the_same_pair_until_it_is_answered(tmp_path):
    store = new_store(tmp_path)
    first = store.current(1).pair_id
    assert store.current(1).pair_id == first
    assert store.answer(1, first, "r1", Verdict(3)) is Outcome.STORED
    assert store.current(1).pair_id != first


def test_a_request_sent_twice_is_stored_once(tmp_path):
    store = new_store(tmp_path)
    pair = store.current(1).pair_id
    assert store.answer(1, pair, "r1", Verdict(3)) is Outcome.STORED
    assert store.answer(1, pair, "r1", Verdict(3)) is Outcome.STORED
    assert standing(store) == [(pair, 1, 3)]


def test_a_second_tab_does_not_overwrite_the_first_ones_answer(tmp_path):
    store = new_store(tmp_path)
    pair = store.current(1).pair_id
    store.answer(1, pair, "tab-a", Verdict(3))
    assert store.answer(1, pair, "tab-b", Verdict(5)) is Outcome.ALREADY
    assert store.answer(1, pair, "tab-a", Verdict(5)) is Outcome.ALREADY
    assert standing(store) == [(pair, 1, 3)]


def test_a_pair_that_is_not_on_the_screen_cannot_be_rated(tmp_path):
    store = new_store(tmp_path)
    shown = store.current(1).pair_id
    other = next(pair for pair in ("9001_9018", "9001_9035") if pair != shown)
    assert store.answer(1, other, "r1", Verdict(3)) is Outcome.STALE
    assert store.answer(1, "no-such-pair", "r2", Verdict(3)) is Outcome.STALE
    assert standing(store) == []


def test_undo_brings_the_pair_back_with_what_was_said(tmp_path):
    store = new_store(tmp_path)
    pair = rate(store, 1, 4)
    task = store.current(1)
    assert (task.rated, task.last.pair_id, task.last.verdict.rating) == (1, pair, 4)
    assert store.undo(1, task.last.event, "u1") is Outcome.UNDONE
    assert store.undo(1, task.last.event, "u1") is Outcome.UNDONE
    task = store.current(1)
    assert (task.pair_id, task.before, task.rated, task.last) == (pair, 4, 0, None)
    rate(store, 1, 2)
    assert standing(store) == [(pair, 1, 2)]


def test_undo_from_a_stale_page_takes_nothing_back(tmp_path):
    store = new_store(tmp_path)
    rate(store, 1, 4)
    seen = store.current(1).last.event
    rate(store, 1, 1)
    assert store.undo(1, seen, "u1") is Outcome.STALE
    assert len(standing(store)) == 2
    assert store.undo(2, seen, "u2") is Outcome.STALE


def test_the_history_keeps_what_was_undone(tmp_path):
    store = new_store(tmp_path)
    rate(store, 1, 4)
    store.undo(1, store.current(1).last.event, "u1")
    database = sqlite3.connect(tmp_path / "ratings.sqlite")
    assert database.execute("SELECT kind, rating FROM event").fetchall() == [("rate", 4), ("undo", 4)]


def test_a_skip_keeps_its_reason_and_the_pair_goes_to_others(tmp_path):
    store = new_store(tmp_path, pairs=1, raters=("a", "b", "c", "d"))
    pair = store.current(1).pair_id
    store.answer(1, pair, "r1", Verdict(reason="text", note="falta una estrofa"))
    assert store.current(1).pair_id is None
    assert [rate(store, rater, 1) for rater in (2, 3, 4)] == [pair] * 3
    assert store.judgements()[0].verdict == Verdict(reason="text", note="falta una estrofa")


def test_a_skip_cannot_be_undone_once_others_have_completed_the_pair(tmp_path):
    store = new_store(tmp_path, pairs=1, raters=("a", "b", "c", "d"))
    store.answer(1, store.current(1).pair_id, "r1", Verdict(reason="unclear"))
    for rater in (2, 3, 4):
        rate(store, rater, 1)
    task = store.current(1)
    assert store.undo(1, task.last.event, "u1") is Outcome.TAKEN
    assert store.current(1).last == task.last


def test_an_abandoned_pair_goes_to_somebody_else_and_its_late_answer_is_refused(tmp_path):
    clock = Clock()
    store = new_store(tmp_path, 1, ("a", "b", "c", "d"), Timing(reservation=60), clock)
    pair = store.current(1).pair_id
    for rater in (2, 3):
        rate(store, rater, 1)
    assert store.current(4).pair_id is None
    clock.now += 61
    assert store.current(4).pair_id == pair
    assert store.answer(1, pair, "late", Verdict(5)) is Outcome.TAKEN
    assert rate(store, 4, 2) == pair
    assert len(standing(store)) == 3


def test_a_late_answer_counts_where_nobody_else_has_the_pair(tmp_path):
    clock = Clock()
    store = new_store(tmp_path, 1, timing=Timing(reservation=60), clock=clock)
    pair = store.current(1).pair_id
    clock.now += 3600
    assert store.answer(1, pair, "late", Verdict(5)) is Outcome.STORED


def test_a_rater_who_stays_away_hands_his_share_on(tmp_path):
    clock = Clock()
    store = new_store(tmp_path, 4, ("a", "b", "c", "d", "e", "f"), Timing(idle=1000), clock)
    for _ in range(2):
        rate(store, 1, 1)
    assert store.current(1).pair_id is None
    assert store.current(1).left > 0
    clock.now += 1001
    for rater in (2, 3):
        store.current(rater)
    assert store.current(1).pair_id is not None


@settings(
    max_examples=15,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    steps=st.lists(st.tuples(st.integers(1, 4), st.sampled_from(["rate", "skip", "undo", "repeat", "wait"])))
)
def test_every_acknowledged_rating_is_there_once(tmp_path_factory, steps):
    clock = Clock()
    store = new_store(
        tmp_path_factory.mktemp("store"), 3, ("a", "b", "c", "d"), Timing(reservation=60), clock
    )
    expected, last = {}, {}
    for number, (rater, step) in enumerate(steps):
        task = store.current(rater)
        if step == "undo" and task.last:
            if store.undo(rater, task.last.event, f"{number}") is Outcome.UNDONE:
                del expected[task.last.pair_id, rater]
        elif step == "repeat" and rater in last:
            assert store.answer(*last[rater]) in (Outcome.STORED, Outcome.ALREADY)
        elif step == "wait":
            clock.now += 45
        elif task.pair_id:
            verdict = Verdict(number % 6) if step == "rate" else Verdict(reason="other")
            last[rater] = (rater, task.pair_id, f"{number}", verdict)
            assert store.answer(*last[rater]) is Outcome.STORED
            expected[task.pair_id, rater] = verdict
    found = {(j.pair_id, j.rater): j.verdict for j in store.judgements()}
    assert found == expected
    for pair in ("9001_9018", "9001_9035", "9001_9052"):
        assert sum(p == pair and v.rating is not None for (p, _), v in found.items()) <= 3
    store.close()


def test_tabs_of_all_raters_at_once_lose_and_double_nothing(tmp_path):
    store = new_store(tmp_path, 6, ("a", "b", "c", "d"))

    def tab(rater, name):
        stored = 0
        for number in range(400):
            pair = store.current(rater).pair_id
            if pair is None:
                # Done, or waiting for what others have on their screens.
                if len(standing(store)) == 18:
                    break
                time.sleep(0.01)
                continue
            stored += store.answer(rater, pair, f"{rater}-{name}-{number}", Verdict(1)) is Outcome.STORED
        return stored

    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda who: tab(*who), [(r, t) for r in (1, 2, 3, 4) for t in "xy"]))
    assert sum(done) == len(standing(store)) == 18
    assert len({(pair, rater) for pair, rater, _ in standing(store)}) == 18


def test_a_copy_of_the_file_alone_holds_every_acknowledged_rating(tmp_path):
    store = new_store(tmp_path)
    for rating in range(3):
        rate(store, 1, rating)
        shutil.copyfile(tmp_path / "ratings.sqlite", tmp_path / "copy.sqlite")
        copy = sqlite3.connect(tmp_path / "copy.sqlite")
        found = copy.execute("SELECT pair, rater, rating FROM judgement ORDER BY event").fetchall()
        copy.close()
        assert found == standing(store)
        assert len(found) == rating + 1


def test_links_are_long_private_and_the_same_after_a_restart(tmp_path):
    store = new_store(tmp_path)
    tokens = {rater.name: rater.token for rater in store.raters()}
    assert all(len(token) == 32 for token in tokens.values())
    assert store.rater(tokens["berta"]).number == 2
    assert store.rater("") is None
    store.close()
    again = new_store(tmp_path, raters=("dora", "ana"))
    assert [rater.name for rater in again.raters()] == ["ana", "berta", "carla", "dora"]
    assert {r.name: r.token for r in again.raters() if r.name in tokens} == tokens
    if os.name == "posix":
        assert stat.S_IMODE((tmp_path / "ratings.sqlite").stat().st_mode) == 0o600


@pytest.mark.parametrize("names", [("ana", "ana"), ("ana", " "), ("ana", "ana ")])
def test_raters_need_different_names(tmp_path, names):
    with pytest.raises(UserError, match="a different name for each"):
        new_store(tmp_path, raters=names)


def test_a_database_belongs_to_its_pairs_and_its_number_of_raters(tmp_path):
    new_store(tmp_path, pairs=4).close()
    database = tmp_path / "ratings.sqlite"
    with pytest.raises(UserError, match="ratings of other pairs or texts"):
        open_campaign(database, read_selection(sample_folder(tmp_path / "other", 5)))
    same = read_selection(tmp_path / "chosen")
    assert open_campaign(database, same).raters_per_pair == 3
    with pytest.raises(UserError, match="was made for 3"):
        open_campaign(database, same, 4)


def test_fewer_raters_than_the_consensus_rule_wants_are_refused(tmp_path):
    with pytest.raises(UserError, match="at least 3"):
        new_store(tmp_path, wanted=2)
    assert not (tmp_path / "ratings.sqlite").exists()


@pytest.mark.parametrize("content", [b"not a database, however long it may be" * 40, b""])
def test_another_file_is_refused_and_left_alone(tmp_path, content):
    (tmp_path / "ratings.sqlite").write_bytes(content)
    with pytest.raises(UserError, match="is not a database of this program"):
        new_store(tmp_path)
    assert (tmp_path / "ratings.sqlite").read_bytes() == content


@pytest.mark.parametrize("key", ["name", "fingerprint", "raters_per_pair", "organiser", "secret"])
def test_a_database_without_one_of_a_campaigns_facts_is_refused(tmp_path, key):
    new_store(tmp_path).close()
    with sqlite3.connect(tmp_path / "ratings.sqlite") as damaged:
        damaged.execute("DELETE FROM campaign WHERE key = ?", (key,))
    with pytest.raises(UserError, match="is not a database of this program"):
        read_campaign(tmp_path / "ratings.sqlite", read_selection(tmp_path / "chosen"))


def test_a_missing_database_or_folder_is_told(tmp_path):
    selection = read_selection(sample_folder(tmp_path / "chosen", 2))
    with pytest.raises(UserError, match="there is no database"):
        read_campaign(tmp_path / "none.sqlite", selection)
    with pytest.raises(UserError, match="cannot be made"):
        open_campaign(tmp_path / "no" / "such" / "folder.sqlite", selection)
