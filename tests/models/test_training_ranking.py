"""Ranking a catalogue as users do it: every model, kept vectors, re-ranking, what cannot be done."""

import json

import numpy as np
import pytest
from invented import invented_songs, read_rows, write_rows

from lyricsim_models.lexical import default_lexical_scorer


@pytest.fixture
def run(run_script):
    return lambda *arguments: run_script("predict", *arguments)


@pytest.fixture
def catalogue(tmp_path):
    rows = [
        {"song_id": song, "title": f"title of {song}", "lyrics": text}
        for song, text in invented_songs(20).items()
    ]
    return write_rows(tmp_path / "songs.csv", rows)


def ranking(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout[done.stdout.index("[") :])


def test_the_lexical_scorer_ranks_a_catalogue_by_scoring_every_song(run, catalogue, tmp_path):
    command = ("--model", "lexical", "--catalogue", catalogue, "--query", "s03", "--top", "5", "--json")
    found = ranking(run(*command, "--output", tmp_path / "ranking.csv"))
    songs = invented_songs(20)
    others = [song for song in songs if song != "s03"]
    scores = default_lexical_scorer().score([(songs["s03"], songs[song]) for song in others])
    expected = [others[i] for i in np.argsort(-scores, kind="stable")[:5]]
    assert [line["song_id"] for line in found] == expected
    assert [line["rank"] for line in found] == [1, 2, 3, 4, 5]
    assert [row["song_id"] for row in read_rows(tmp_path / "ranking.csv")] == expected


def test_an_encoder_recalls_and_another_model_ranks_its_candidates(run, catalogue, tmp_path, tiny_encoder):
    text = tmp_path / "query.txt"
    text.write_text(invented_songs(20)["s05"])
    shared = ("--model", tiny_encoder, "--catalogue", catalogue, "--query-text", text, "--json")
    recalled = ranking(run(*shared, "--top", "6", "--vectors", tmp_path / "kept.npz"))
    assert recalled[0]["song_id"] == "s05"
    assert recalled[0]["score"] == pytest.approx(5, abs=1e-4)
    again = ranking(run(*shared, "--top", "6", "--vectors", tmp_path / "kept.npz"))
    assert again == recalled


def best_of(candidates, scores, count):
    order = np.argsort(-np.asarray(scores), kind="stable")[:count]
    return [candidates[place] for place in order], [scores[place] for place in order]


@pytest.mark.parametrize("reranker", ["lexical", "cross-encoder"])
def test_a_reranker_scores_and_orders_what_a_trained_bi_encoder_recalls(run, trained, catalogue, reranker):
    from lyricsim_models.pair_scorers import open_scorer

    songs = invented_songs(20)
    shared = ("--model", trained / "bi-encoder", "--catalogue", catalogue, "--query", "s05", "--json")
    recalled = [line["song_id"] for line in ranking(run(*shared, "--top", "6"))]
    model = reranker if reranker == "lexical" else str(trained / reranker)
    scores = open_scorer(model).score([songs["s05"]] * 6, [songs[song] for song in recalled])
    expected, best = best_of(recalled, scores, 3)
    found = ranking(run(*shared, "--top", "3", "--recall", "6", "--reranker", model))
    assert [line["song_id"] for line in found] == expected
    assert [line["score"] for line in found] == pytest.approx(best, abs=1e-5)


def test_kept_vectors_are_those_of_the_same_model_length_and_catalogue(
    run, catalogue, tmp_path, tiny_encoder
):
    shared = ("--model", tiny_encoder, "--catalogue", catalogue, "--query", "s03", "--json")
    kept = ("--vectors", tmp_path / "kept.npz")
    whole = ranking(run(*shared, *kept))
    for options in ((), ("--max-length", "4"), ("--prompt", "mar ")):
        assert ranking(run(*shared, *kept, *options)) == ranking(run(*shared, *options))
        assert (ranking(run(*shared, *options)) == whole) == (not options)


def test_a_file_that_holds_no_vectors_is_not_written_over(run, catalogue, tmp_path, tiny_encoder):
    (tmp_path / "notes.npz").write_text("mine")
    shared = ("--model", tiny_encoder, "--catalogue", catalogue, "--query", "s03")
    done = run(*shared, "--vectors", tmp_path / "notes.npz")
    assert done.returncode == 2
    assert "holds no vectors" in done.stderr
    assert (tmp_path / "notes.npz").read_text() == "mine"


def test_a_model_that_cannot_be_loaded_is_said_so(run, catalogue):
    done = run("--model", "no/such", "--catalogue", catalogue, "--query", "s03")
    assert done.returncode == 2
    assert "no/such cannot be loaded" in done.stderr


def test_a_model_in_several_files_has_a_digest_of_all(tmp_path):
    from lyricsim_models.model_files import weights_digest

    assert weights_digest(tmp_path) is None
    (tmp_path / "model-1.safetensors").write_text("a")
    first = weights_digest(tmp_path)
    (tmp_path / "model-2.safetensors").write_text("b")
    assert len({first, weights_digest(tmp_path), None}) == 3


def test_a_trained_bi_encoder_ranks_with_its_own_scores_and_a_song_not_for_itself(run, trained, catalogue):
    from lyricsim_models.scoring import load_scorer

    model = trained / "bi-encoder"
    found = ranking(
        run("--model", model, "--catalogue", catalogue, "--query", "s03", "--top", "19", "--json")
    )
    songs = invented_songs(20)
    assert "s03" not in {line["song_id"] for line in found}
    others = [line["song_id"] for line in found]
    expected = load_scorer(str(model)).predict([songs["s03"]] * 19, [songs[song] for song in others])
    assert [line["score"] for line in found] == pytest.approx(expected, abs=1e-4)


def test_a_cross_encoder_scores_every_song(run, trained, catalogue):
    from lyricsim_models.scoring import load_scorer

    found = ranking(
        run("--model", trained / "cross-encoder", "--catalogue", catalogue, "--query", "s03", "--json")
    )
    songs = invented_songs(20)
    others = [song for song in songs if song != "s03"]
    scores = load_scorer(str(trained / "cross-encoder")).predict(
        [songs["s03"]] * 19, [songs[song] for song in others]
    )
    expected, best = best_of(others, scores, 10)
    assert [line["song_id"] for line in found] == expected
    assert [line["score"] for line in found] == pytest.approx(best, abs=1e-5)


def test_a_ranking_is_csv_or_jsonl_by_its_name(run, catalogue, tmp_path):
    command = ("--model", "lexical", "--catalogue", catalogue, "--query", "s03", "--top", "5", "--output")
    for name in ("r.csv", "r.jsonl"):
        assert run(*command, tmp_path / name).returncode == 0
    table = read_rows(tmp_path / "r.csv")
    lines = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert [{**row, "rank": int(row["rank"]), "score": float(row["score"])} for row in table] == [
        {**line, "score": pytest.approx(line["score"], rel=1e-6)} for line in lines
    ]
    assert [line["rank"] for line in lines] == [1, 2, 3, 4, 5]


def test_a_lyric_to_find_songs_for_is_never_written_over(run, catalogue, tmp_path):
    text = tmp_path / "lyric.csv"
    text.write_text("mar luna")
    command = ("--model", "lexical", "--catalogue", catalogue, "--query-text", text)
    done = run(*command, "--output", text, "--overwrite")
    assert done.returncode == 2
    assert "is the file that is read" in done.stderr
    assert text.read_text() == "mar luna"


def test_a_score_that_is_no_number_names_the_song_by_its_row(run, catalogue, tmp_path, monkeypatch):
    from lyricsim_models.lexical import LexicalScorer

    broken_song, genuine = invented_songs(20)["s07"], LexicalScorer.score

    def broken(self, pairs):
        return np.where([pair[1] == broken_song for pair in pairs], np.nan, genuine(self, pairs))

    monkeypatch.setattr(LexicalScorer, "score", broken)
    command = (
        "--model",
        "lexical",
        "--catalogue",
        catalogue,
        "--query",
        "s03",
        "--output",
        tmp_path / "r.csv",
    )
    done = run(*command)
    assert done.returncode == 2
    row = list(invented_songs(20)).index("s07") + 1
    assert f"song s07 (row {row} of the catalogue) for s03 got a score that is not finite" in done.stderr
    assert "--resume" not in done.stderr
    assert not (tmp_path / "r.csv").exists()


@pytest.mark.parametrize(
    ("text", "named"),
    [("s07", "song s07 (row 8 of the catalogue)"), ("own words", "query lyric.txt")],
)
def test_a_vector_that_is_no_number_is_named(run, catalogue, tmp_path, monkeypatch, text, named):
    from lyricsim_models import zero_shot

    songs = invented_songs(20)
    broken_text = songs.get(text, text)

    def encoder(*_options):
        return lambda texts: np.array([[np.nan if t == broken_text else len(t), 1.0] for t in texts])

    monkeypatch.setattr(zero_shot, "zero_shot_encoder", encoder)
    monkeypatch.setattr("lyricsim_models.ranking.is_pair_model", lambda model: False)
    (tmp_path / "lyric.txt").write_text("own words")
    (tmp_path / "model").mkdir()
    command = (
        "--model",
        tmp_path / "model",
        "--catalogue",
        catalogue,
        "--query-text",
        tmp_path / "lyric.txt",
    )
    done = run(*command)
    assert done.returncode == 2
    assert f"{named} got a vector that is not finite" in done.stderr


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"song_id": "s02"}, "row 4 of .* has the song_id 's02', as row 3 has"),
        ({"song_id": ""}, "row 4 of .* has the song_id ''"),
        ({"lyrics": ""}, "row 4: lyrics is ''"),
    ],
)
def test_a_bad_catalogue_is_refused_with_its_row(run, catalogue, tmp_path, change, message):
    import re

    rows = read_rows(catalogue)
    rows[3] = {**rows[3], **change}
    done = run("--model", "lexical", "--catalogue", write_rows(tmp_path / "bad.csv", rows), "--query", "s01")
    assert done.returncode == 2
    assert re.search(message, done.stderr)


def test_an_unknown_query_is_named(run, catalogue):
    done = run("--model", "lexical", "--catalogue", catalogue, "--query", "s01", "nobody")
    assert "has no song nobody" in done.stderr
