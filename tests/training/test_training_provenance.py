from collections.abc import Callable
from pathlib import Path
from subprocess import CalledProcessError, TimeoutExpired

import pytest

from lyricsim_models.baseline_run import BaselineJob, run_baseline
from lyricsim_models.baselines import find_baseline
from lyricsim_models.config import Recipe
from lyricsim_models.job import Job, refuse_bad_job, refuse_bad_splits, seen_before, seen_in_training
from lyricsim_models.pair_table import PairTable
from lyricsim_models.provenance import (
    NOTHING,
    digest,
    fingerprint,
    git_revision,
    mark_seen,
    read_seen,
    read_seen_parts,
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
    assert seen_song_share(pairs(("amor", "luna")), NOTHING) == 0.0


def test_what_a_record_of_seen_pairs_does_not_say_is_refused(tmp_path: Path) -> None:
    for text in ("[]", "{}", '{"training": 1}', "{"):
        (tmp_path / "seen.json").write_text(text)
        with pytest.raises(UserError, match=r"seen\.json cannot be read"):
            read_seen(tmp_path)


def test_development_pairs_in_training_are_refused_before_training() -> None:
    table = pairs(("amor", "luna"), ("mar", "sol"), ("voz", "río"))
    splits = {"train": table, "validation": pairs(("sol", "mar"), ("paz", "luz"), name="v")}
    with pytest.raises(UserError, match="1 of 2 pairs of the validation split were used to train") as caught:
        refuse_bad_splits(splits, allow_seen=False)
    assert "--allow-seen" in caught.value.remedy
    refuse_bad_splits(splits, allow_seen=True)


@pytest.fixture
def trained(tmp_path: Path) -> Path:
    """The folder of a model that learned from one pair and was selected by another."""
    write_seen(tmp_path, seen_of(pairs(("amor", "luna"))), seen_of(pairs(("mar", "sol"))))
    return tmp_path


def run_of(trained: Path, **recipe: int) -> Job:
    return Job(str(trained), "pairs.csv", None, trained / "run", Recipe(**recipe))  # type: ignore[arg-type]


@pytest.mark.parametrize("known", [("luna", "amor"), ("sol", "mar")])
def test_test_pairs_that_the_model_saw_in_an_earlier_run_are_refused(
    trained: Path, known: tuple[str, str]
) -> None:
    splits = {"train": pairs(("voz", "río")), "test": pairs(known, ("paz", "luz"), name="t")}
    refuse_bad_splits(splits, allow_seen=False)
    with pytest.raises(UserError, match="1 of 2 pairs of the test split"):
        refuse_bad_job(run_of(trained), splits)


def test_development_pairs_may_select_twice_but_not_after_they_were_learned_from(trained: Path) -> None:
    splits = {"train": pairs(("voz", "río")), "validation": pairs(("sol", "mar"), ("paz", "luz"), name="v")}
    refuse_bad_job(run_of(trained), splits)
    splits["validation"] = pairs(("luna", "amor"), ("paz", "luz"), name="v")
    with pytest.raises(UserError, match="1 of 2 pairs of the validation split"):
        refuse_bad_job(run_of(trained), splits)


def test_what_an_earlier_run_saw_is_not_forgotten(trained: Path) -> None:
    before = read_seen_parts(trained)
    assert before is not None
    splits = {"train": pairs(("voz", "río")), "validation": pairs(("paz", "luz"))}
    assert seen_before(str(trained)) == before
    assert seen_in_training(splits, before) == (
        before[0] | seen_of(splits["train"]),
        before[1] | seen_of(splits["validation"]),
    )
    assert seen_before(str(trained.parent)) == seen_before(None) == (NOTHING, NOTHING)


def test_allowed_pairs_are_marked_in_the_scores() -> None:
    splits = {"validation": pairs(("sol", "mar"), ("paz", "luz")), "test": pairs(("luna", "amor"))}
    found: list[dict[str, dict[str, object]]] = [{"validation": {}, "test": {}} for _ in range(2)]
    mark_seen(found[0], splits, seen_of(pairs(("mar", "sol"))), seen_of(splits["test"]))
    mark_seen(found[1], splits, NOTHING, seen_of(splits["validation"]))
    assert found[0] == {"validation": {"seen_pairs": 1}, "test": {"seen_song_share": 1.0, "seen_pairs": 1}}
    assert found[1] == {"validation": {}, "test": {"seen_song_share": 0.0, "seen_pairs": 0}}


def test_a_baseline_knows_what_its_encoder_saw(trained: Path) -> None:
    splits = {"train": pairs(("voz", "río")), "test": pairs(("luna", "amor"), ("paz", "luz"), name="t")}

    def job(allow_seen: bool) -> BaselineJob:
        return BaselineJob(
            "word-overlap",
            find_baseline("word-overlap"),
            str(trained),
            "pairs.csv",
            None,
            trained / "run",
            allow_seen=allow_seen,
        )

    with pytest.raises(UserError, match="1 of 2 pairs of the test split"):
        run_baseline(job(False), splits)
    assert run_baseline(job(True), splits)["test"]["seen_pairs"] == 1
    before = seen_before(str(trained))
    assert seen_before(str(trained / "run")) == (before[0] | seen_of(splits["train"]), before[1])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Recipe(prompt="query: "), "--prompt 'query: ' with --architecture cross-encoder"),
        (
            lambda: BaselineJob("svr", find_baseline("svr"), None, "d", None, Path("run"), prompt="q"),
            "--prompt 'q' with svr, which has no encoder",
        ),
    ],
)
def test_a_prompt_that_nothing_would_read_is_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        make()
    assert Recipe(architecture="bi-encoder", prompt="q").prompt == "q"


def test_patience_without_a_development_set_is_refused(trained: Path) -> None:
    splits = {"train": pairs(("voz", "río"))}
    with pytest.raises(UserError, match="--patience 2 without a validation split"):
        refuse_bad_job(run_of(trained, patience=2), splits)
    refuse_bad_job(run_of(trained), splits)
