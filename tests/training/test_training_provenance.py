from pathlib import Path
from subprocess import CalledProcessError, TimeoutExpired

import pytest

from lyricsim_models.job import refuse_bad_splits
from lyricsim_models.pair_table import PairTable
from lyricsim_models.provenance import (
    Seen,
    digest,
    fingerprint,
    git_revision,
    read_seen,
    refuse_seen,
    seen_of,
    seen_pairs,
    seen_song_share,
    versions,
    write_seen,
)
from lyricsim_tools.errors import UserError


def pairs(*rows: tuple[str, str], ids: bool = False, name: str = "p") -> PairTable:
    first, second = (tuple(side) for side in zip(*rows, strict=True))
    songs = [tuple(f"id-{text}" for text in side) if ids else None for side in (first, second)]
    pair_ids = tuple(f"{name}{row}" for row in range(len(rows)))
    return PairTable(pair_ids, songs[0], songs[1], first, second, tuple(map(float, range(len(rows)))))


def test_a_pair_is_recognised_in_the_other_order_and_with_other_punctuation() -> None:
    seen = seen_of(pairs(("Amor, noche", "Luna")))
    assert seen_pairs(pairs(("luna!", "AMOR noche")), seen) == ["p0"]
    assert seen_pairs(pairs(("luna", "mar")), seen) == []


def test_a_pair_is_recognised_by_its_songs_ids_where_the_words_changed() -> None:
    table = PairTable(("a",), ("1",), ("2",), ("amor",), ("luna",), (1.0,))
    edited = PairTable(("b",), ("2",), ("1",), ("la luna nueva",), ("amores",), (1.0,))
    assert seen_pairs(edited, seen_of(table)) == ["b"]


def test_generated_ids_of_unrelated_data_never_count_as_seen() -> None:
    assert seen_pairs(pairs(("mar", "sol")), seen_of(pairs(("amor", "luna")))) == []


def test_the_share_of_songs_seen_counts_songs_and_not_pairs() -> None:
    seen = seen_of(pairs(("amor", "luna"), ("amor", "mar")))
    assert seen_song_share(pairs(("amor", "sol"), ("sol", "voz")), seen) == pytest.approx(1 / 3)


def test_scoring_seen_pairs_is_refused_unless_allowed() -> None:
    table = pairs(("amor", "luna"), ("mar", "sol"))
    seen = seen_of(pairs(("luna", "amor")))
    with pytest.raises(UserError, match="1 of 2 pairs of the test split were used to train") as caught:
        refuse_seen(table, seen, "the test split", allow=False)
    assert "--allow-seen" in caught.value.remedy
    assert refuse_seen(table, seen, "the test split", allow=True) == 1


def test_what_a_model_has_seen_is_kept_beside_it_without_ids_or_lyrics(tmp_path: Path) -> None:
    training, selection = seen_of(pairs(("amor", "luna"), ids=True)), seen_of(pairs(("mar", "sol")))
    write_seen(tmp_path, training, selection)
    assert read_seen(tmp_path) == training | selection
    text = (tmp_path / "seen.json").read_text()
    assert not any(word in text for word in ("amor", "luna", "id-"))
    assert read_seen(tmp_path / "elsewhere") is None


def test_the_fingerprint_changes_with_any_text_score_or_split() -> None:
    table = pairs(("amor", "luna"), ("mar", "sol"))
    other = PairTable(table.pair_ids, None, None, table.lyrics_1, table.lyrics_2, (0.0, 2.0))
    found = {
        fingerprint({"train": table}),
        fingerprint({"test": table}),
        fingerprint({"train": other}),
        fingerprint({"train": pairs(("amor", "luna"), ("mar", "sol."))}),
        fingerprint({"train": table.take([1, 0])}),
    }
    assert len(found) == 5
    assert fingerprint({"train": table}) == fingerprint({"train": pairs(("amor", "luna"), ("mar", "sol"))})


@pytest.mark.parametrize(
    "error", [FileNotFoundError("git"), CalledProcessError(128, "git"), TimeoutExpired("git", 30)]
)
def test_a_git_that_gives_no_answer_costs_no_run(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def failing(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("lyricsim_models.provenance.subprocess.run", failing)
    assert git_revision(Path(__file__).parent) is None


def test_a_digest_does_not_depend_on_order() -> None:
    assert digest(["b", "a", "b"]) == digest(["a", "b"]) != digest(["a"])


def test_versions_name_what_decides_numbers() -> None:
    assert {"python", "torch", "transformers", "accelerate", "lyricsim"} <= set(versions())
    assert "not installed" not in versions().values()


def test_no_revision_outside_a_repository(tmp_path: Path) -> None:
    assert git_revision(tmp_path) is None


def test_test_pairs_in_training_are_refused_before_training() -> None:
    table = pairs(("amor", "luna"), ("mar", "sol"), ("voz", "río"))
    splits = {"train": table, "test": pairs(("sol", "mar"), name="t")}
    with pytest.raises(UserError, match="--allow-seen"):
        refuse_bad_splits(splits, allow_seen=False)
    refuse_bad_splits(splits, allow_seen=True)


def test_one_id_for_two_different_pairs_is_refused() -> None:
    splits = {"train": pairs(("amor", "luna")), "test": pairs(("mar", "sol"))}
    with pytest.raises(UserError, match="'p0' of test names another pair"):
        refuse_bad_splits(splits, allow_seen=False)


def test_nothing_is_seen_of_nothing() -> None:
    nothing = Seen(frozenset(), frozenset())
    assert seen_song_share(pairs(("amor", "luna")), nothing) == 0.0
