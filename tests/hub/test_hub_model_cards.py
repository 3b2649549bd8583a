import json
import re

import pytest
import yaml
from runs import GOLD, RECIPE, floor_folder, run_folder
from support import REPOSITORY

from lyricsim_cards.cli import main
from lyricsim_cards.measure import GoldPair, measure, measure_folder, read_gold
from lyricsim_cards.model_card import render_model_card, write_model_card
from lyricsim_cards.model_folder import (
    CardExtras,
    floor_scores,
    lyricsim_fingerprints,
    read_model_folder,
    unseen_scores,
)
from lyricsim_cards.paper_cards import render_paper_card
from lyricsim_cards.prose import placeholders
from lyricsim_models.registry import paper_models
from lyricsim_tools.card_blocks import split_head
from lyricsim_tools.errors import UserError

DISJOINT = "filtered-song-disjoint"


def card_of(folder, **extras):
    return write_model_card(folder, CardExtras(**extras)).read_text("utf-8")


def measured(folder):
    return measure_folder(read_model_folder(folder), {"validation": GOLD, "test": GOLD})


def test_a_card_states_everything_the_run_knows(tmp_path):
    card = card_of(run_folder(tmp_path / "r"), repo_id="me/lyricsim-maria", dataset_id="me/lyricsim")
    for fact in (
        "PlanTL-GOB-ES/roberta-base-bne",
        "`c0ffee`",
        "configuration `filtered`",
        "ab" * 32,
        "cd" * 32,
        "| `learning_rate` | 5e-5 |",
        "| `symmetric` | no |",
        "| `dropout` | not set |",
        "| torch | `2.13.0` |",
        "`NVIDIA H200`",
        "| seconds | 12.5 |",
        "| asymmetry: largest difference | 1.500 |",
        "the tokenizer tells them from spaces",
        "train 1, test 0",
        'CrossEncoder("me/lyricsim-maria")',
        "other languages",
        "legal proof",
        "apache-2.0",
        "Benito-Santos",
    ):
        assert fact in card, fact


@pytest.mark.parametrize(
    ("symmetric", "said"),
    [(False, "matters: average both orders"), (True, "the figures here are means of both orders")],
)
def test_a_card_says_whether_its_code_scores_as_its_figures_were_made(tmp_path, symmetric, said):
    card = card_of(run_folder(tmp_path / "r", recipe={**RECIPE, "symmetric": symmetric}))
    assert said in card


def test_every_hyper_parameter_is_in_the_card(tmp_path):
    card = card_of(run_folder(tmp_path / "r", recipe={**RECIPE, "something_new": 7}))
    assert "| `something_new` | 7 |" in card


def test_what_was_not_measured_is_said_so_and_nothing_is_left_unfilled(tmp_path):
    folder = run_folder(tmp_path / "r")
    (folder / "metrics.json").write_text('{"validation": {"combined_score": null}}')
    card = card_of(folder)
    assert "| test | not measured | not measured | not measured |" in card
    assert "length bias: Pearson of scores and the pair's words | not measured" in card
    assert "Intervals: not measured." in card
    assert placeholders(card) == []
    assert "model-index" not in split_head(card)[0]


def test_scores_are_in_the_head_and_in_the_evaluation_results(tmp_path):
    folder = run_folder(tmp_path / "r")
    head = split_head(card_of(folder, repo_id="me/m", dataset_id="me/lyricsim"))[0]
    stated = json.loads((folder / "metrics.json").read_text())["test"]["combined_score"]
    results = head["model-index"][0]["results"]
    found = {
        (r["dataset"]["split"], m["type"]): (r["dataset"]["type"], m["value"])
        for r in results
        for m in r["metrics"]
    }
    assert found["test", "combined_score"] == ("me/lyricsim", stated)
    entries = yaml.safe_load((folder / ".eval_results" / "lyricsim.yaml").read_text())
    by_task = {e["dataset"]["task_id"]: (e["dataset"]["id"], e["value"]) for e in entries}
    assert by_task["filtered_test_combined_score"] == ("me/lyricsim", stated)


def test_without_a_dataset_on_the_hub_no_evaluation_results_are_claimed(tmp_path):
    folder = run_folder(tmp_path / "r")
    head = split_head(card_of(folder))[0]
    assert "datasets" not in head
    assert not (folder / ".eval_results").exists()


def test_intervals_and_biases_come_from_the_predictions(tmp_path):
    folder = run_folder(tmp_path / "r")
    card = card_of(folder, measured=measured(folder))
    test = measured(folder)["test"]
    low, high = test["combined_score_ci"]
    assert f"[{100 * low:.2f}, {100 * high:.2f}]" in card
    assert f"| {test['length_correlation']:.3f} |" in card
    assert f"| {test['zero_auc']:.3f} |" in card


def test_figures_of_known_predictions():
    pairs = [
        GoldPair(str(i), gold, words) for i, (gold, words) in enumerate([(0, 2), (0, 4), (3, 6), (5, 8)])
    ]
    found = measure({"0": 1.0, "1": 2.0, "2": 1.5, "3": 4.0}, pairs)
    assert found["zero_auc"] == 0.75
    assert found["length_correlation"] == pytest.approx(8.5 / (20 * 5.1875) ** 0.5)
    assert found["nonzero_pearson"] == pytest.approx(1)


def test_predictions_that_do_not_give_the_stated_score_are_refused(tmp_path):
    folder = run_folder(tmp_path / "r")
    metrics = json.loads((folder / "metrics.json").read_text())
    metrics["test"]["pearson"] += 0.01
    (folder / "metrics.json").write_text(json.dumps(metrics))
    with pytest.raises(UserError, match=r"test pearson is .* in metrics\.json"):
        measured(folder)


def test_gold_scores_are_read_anew_after_a_change(tmp_path):
    import pandas

    files = "data_files: [{split: test, path: test-*.parquet}]"
    (tmp_path / "README.md").write_text(f"---\nconfigs: [{{config_name: filtered, {files}}}]\n---\n")
    pair = {"pair_id": "1-2", "song_id_1": 1, "song_id_2": 2, "lyrics_1": "a b", "lyrics_2": "c"}
    for gold in (1.0, 2.0):
        pandas.DataFrame([{**pair, "score": gold}]).to_parquet(tmp_path / "test-00000-of-00001.parquet")
        assert read_gold(str(tmp_path), "filtered") == {"test": [GoldPair("1-2", gold, 3, ("1", "2"))]}


def test_a_pair_without_a_prediction_is_refused():
    with pytest.raises(UserError, match="1 pairs have no prediction"):
        measure({}, GOLD[:1])


def test_the_score_on_unseen_songs_comes_from_a_named_sibling(tmp_path):
    folder, sibling = run_folder(tmp_path / "r"), run_folder(tmp_path / "disjoint", config=DISJOINT)
    model = read_model_folder(folder)
    card = card_of(folder, unseen=unseen_scores(model, sibling))
    assert "sibling run `disjoint`: the same recipe on `filtered-song-disjoint`" in card
    with pytest.raises(UserError, match="trained on configuration 'filtered'"):
        unseen_scores(model, folder)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"model": "xlm-r-base"}, "base model is 'FacebookAI/xlm-roberta-base', not 'PlanTL"),
        ({"dataset": "pairs.csv"}, "dataset is 'pairs.csv', not 'LyricSIM'"),
        ({"recipe": {**RECIPE, "learning_rate": 1e-5}}, "learning_rate is 1e-05, not 5e-05"),
        ({"recipe": {**RECIPE, "new_knob": 1}}, "new_knob is 1, not None"),
    ],
)
def test_a_run_that_differs_in_more_than_its_songs_is_no_sibling(tmp_path, changes, said):
    model = read_model_folder(run_folder(tmp_path / "r"))
    with pytest.raises(UserError, match=re.escape(said)):
        unseen_scores(model, run_folder(tmp_path / "disjoint", config=DISJOINT, **changes))


def test_how_rows_were_spread_and_where_lyricsim_lay_make_no_other_recipe(tmp_path):
    model = read_model_folder(run_folder(tmp_path / "r", recipe={**RECIPE, "per_device_batch_size": 8}))
    recipe = {**RECIPE, "per_device_batch_size": 2}
    place = {"dataset": "data/lyricsim-2024", "data_fingerprint": lyricsim_fingerprints()[DISJOINT]}
    assert unseen_scores(model, run_folder(tmp_path / "d", config=DISJOINT, recipe=recipe, **place))


def test_a_run_on_a_users_own_file_is_published_without_measuring_it_again(tmp_path, monkeypatch):
    from lyricsim_cards import publish

    (tmp_path / "pairs").mkdir()
    (tmp_path / "pairs" / "train.csv").write_text("lyrics_1,lyrics_2,score")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(publish, "push_folder", lambda folder, *given, **options: folder)
    folder = run_folder(tmp_path / "r", dataset="pairs/train.csv")
    assert publish.publish_run(folder, "me/m") == folder
    assert "not measured" in (folder / "README.md").read_text("utf-8")


UNSEEN_ROW = "test, songs never seen"


def test_a_run_on_songs_never_seen_says_so(tmp_path):
    card = card_of(run_folder(tmp_path / "r", config="filtered-song-disjoint"), dataset_id="me/lyricsim")
    assert "No song of a test pair is in training" in card
    assert "Songs are shared" not in card
    assert UNSEEN_ROW not in card


def test_only_lyricsim_is_known_to_share_songs_between_its_splits(tmp_path):
    folder = run_folder(tmp_path / "r")
    ours, other = (card_of(folder, dataset_id=name) for name in ("me/lyricsim", "me/other"))
    assert "Songs are shared" in ours
    assert f"| {UNSEEN_ROW} | not measured |" in ours
    assert "Songs are shared" not in other
    assert UNSEEN_ROW not in other


def test_floors_come_from_baselines_on_the_same_data(tmp_path):
    folder = run_folder(tmp_path / "r")
    model, floor = read_model_folder(folder), floor_folder(tmp_path / "overlap")
    card = card_of(folder, floors=floor_scores(model, [floor]))
    shown = json.loads((floor / "metrics.json").read_text())["test"]["combined_score"]
    assert f"| word-overlap | {100 * shown:.2f} |" in card
    other = floor_folder(tmp_path / "other", data_fingerprint="ef" * 32)
    with pytest.raises(UserError, match=r"no baseline for .*: other data"):
        floor_scores(model, [other])


@pytest.mark.parametrize("name", ["maria-base", "word-overlap"])
def test_a_trained_model_is_no_floor(tmp_path, name):
    model = read_model_folder(run_folder(tmp_path / "r"))
    with pytest.raises(UserError, match=r"no baseline for .*: a model"):
        floor_scores(model, [run_folder(tmp_path / "other", model=name)])


def test_two_floors_of_one_name_are_refused(tmp_path):
    model = read_model_folder(run_folder(tmp_path / "r"))
    with pytest.raises(UserError, match="b is a second run of word-overlap"):
        floor_scores(model, [floor_folder(tmp_path / "a"), floor_folder(tmp_path / "b")])


def test_the_command_writes_a_card_from_folders(tmp_path, capsys):
    folder, floor = run_folder(tmp_path / "r"), floor_folder(tmp_path / "overlap")
    sibling = run_folder(tmp_path / "disjoint", config=DISJOINT)
    options = ["--repo-id", "me/m", "--unseen", str(sibling), "--floors", str(floor)]
    assert main(["model", str(folder), *options]) == 0
    assert capsys.readouterr().out.strip() == str(folder / "README.md")
    card = (folder / "README.md").read_text()
    assert 'CrossEncoder("me/m")' in card
    assert "word-overlap" in card
    assert main(["model", str(tmp_path / "none")]) == 2
    assert "run.json" in capsys.readouterr().err


def test_a_later_call_keeps_what_an_earlier_one_was_told(tmp_path, capsys):
    folder, sibling = run_folder(tmp_path / "r"), run_folder(tmp_path / "disjoint", config=DISJOINT)
    floors = {"word-overlap": 0.5}
    write_model_card(folder, CardExtras("me/m", "me/lyricsim", floors=floors, measured=measured(folder)))
    assert main(["model", str(folder), "--unseen", str(sibling)]) == 0
    extras = read_model_folder(folder).extras
    assert (extras.repo_id, extras.dataset_id, extras.floors) == ("me/m", "me/lyricsim", floors)
    assert extras.measured == measured(folder)
    assert extras.unseen["name"] == "disjoint"
    assert main(["model", str(folder), "--repo-id", "me/other", "--revision", "b"]) == 0
    assert 'CrossEncoder("me/other", revision="b")' in (folder / "README.md").read_text("utf-8")
    assert main(["model", str(folder), "--revision", "b"]) == 2
    assert "without --repo-id" in capsys.readouterr().err


def test_what_people_wrote_into_a_runs_card_stays_and_the_new_figures_win(tmp_path):
    folder = run_folder(tmp_path / "r")
    path = write_model_card(folder)
    text = path.read_text("utf-8").replace("---\n<!--", "thumbnail: x.png\n---\n<!--", 1)
    path.write_text(f"{text}\n## Notes\n\nBy hand.\n".replace("not measured", "99.99"), "utf-8")
    card = card_of(folder, repo_id="me/m")
    assert card.endswith("\n## Notes\n\nBy hand.\n")
    assert split_head(card)[0]["thumbnail"] == "x.png"
    assert 'CrossEncoder("me/m")' in card
    assert "99.99" not in card


def test_a_runs_card_that_cannot_be_read_is_left_as_it_is(tmp_path):
    folder = run_folder(tmp_path / "r")
    card = write_model_card(folder)
    for content, said in ((b"\xff\xfe", "not UTF-8"), (b"---\na: [\n---\n", "not YAML")):
        card.write_bytes(content)
        before = (folder / "card.json").read_bytes()
        with pytest.raises(UserError, match=f"(?s)README.md.*{said}"):
            write_model_card(folder, CardExtras("me/m"))
        assert (card.read_bytes(), (folder / "card.json").read_bytes()) == (content, before)


def test_a_bi_encoder_on_a_branch_is_loaded_from_there(tmp_path):
    folder = run_folder(tmp_path / "r", recipe={**RECIPE, "architecture": "bi-encoder"})
    (folder / "calibration.json").write_text('{"slope": 4.25, "intercept": 0.5}')
    assert 'SentenceTransformer("me/m", revision="b")' in card_of(folder, repo_id="me/m", revision="b")


def test_scores_beside_the_card_do_not_replace_the_runs_own(tmp_path):
    folder = run_folder(tmp_path / "r")
    assert "99.99" not in card_of(folder, measured={"test": {"pearson": 0.9999}})


def test_a_card_never_shows_a_path_of_the_machine(tmp_path):
    folder = run_folder(tmp_path / "r", model=str(tmp_path / "base"), dataset=str(tmp_path / "lyricsim"))
    assert str(tmp_path) not in card_of(folder)


def test_a_card_does_not_depend_on_where_it_is_rendered(tmp_path, monkeypatch):
    folder = run_folder(tmp_path / "r", revision=None, model="runs/base", dataset="data/lyricsim")
    (tmp_path / "data" / "lyricsim").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    card = card_of(folder)
    monkeypatch.chdir(folder)
    assert render_model_card(read_model_folder(folder)) == card
    assert "base_model" not in split_head(card)[0]
    assert "datasets" not in split_head(card)[0]


def test_a_dataset_on_the_hub_is_named_without_being_told(tmp_path):
    head = split_head(card_of(run_folder(tmp_path / "r", dataset="me/lyricsim")))[0]
    assert head["datasets"] == ["me/lyricsim"]


def test_a_damaged_record_beside_the_card_is_named(tmp_path):
    folder = run_folder(tmp_path / "r")
    (folder / "card.json").write_text('{"unknown": 1}')
    with pytest.raises(UserError, match=r"card\.json is not what"):
        read_model_folder(folder)


def test_other_data_are_not_called_lyricsim(tmp_path):
    card = card_of(run_folder(tmp_path / "r", dataset="my-pairs.csv", config=None))
    assert "which is not LyricSIM" in card
    assert "75 of the dataset" not in card
    assert split_head(card)[0]["model-index"][0]["results"][0]["dataset"]["name"] == "my-pairs.csv"


@pytest.mark.parametrize("dataset", ["lyricsim-2024", "data/LyricSIM", "me/songs"])
def test_lyricsim_is_known_by_its_rows_whatever_its_folder_is_called(tmp_path, dataset):
    rows = {"data_fingerprint": lyricsim_fingerprints()["filtered"]}
    card = card_of(run_folder(tmp_path / "r", dataset=dataset, **rows))
    assert "not LyricSIM" not in card
    assert "belong to their rights holders" in card


def test_the_known_fingerprints_are_those_of_the_results_that_we_keep():
    results = [json.loads(path.read_text("utf-8")) for path in (REPOSITORY / "results").glob("*.json")]
    on_test = [result for result in results if result["protocol"] == "test split"]
    assert on_test
    for result in on_test:
        assert lyricsim_fingerprints()[result["config"]] == result["data_fingerprint"]


@pytest.mark.slow
def test_the_known_fingerprints_are_those_of_a_build(tmp_path, lyricsim_source, monkeypatch):
    from lyricsim_cards.rebuilt import build_dataset
    from lyricsim_models.datafiles import read_splits
    from lyricsim_models.provenance import fingerprint

    build_dataset(tmp_path / "lyricsim", "--source", str(lyricsim_source)).check_returncode()
    monkeypatch.chdir(tmp_path)
    found = {config: fingerprint(read_splits("lyricsim", config)) for config in lyricsim_fingerprints()}
    assert found == lyricsim_fingerprints()


def test_a_bi_encoder_card_has_the_line_that_its_training_fitted(tmp_path):
    folder = run_folder(tmp_path / "r", recipe={**RECIPE, "architecture": "bi-encoder"})
    (folder / "calibration.json").write_text('{"slope": 4.25, "intercept": 0.5}')
    card = card_of(folder)
    assert "print(4.25 * cosine + 0.5)" in card
    assert "| order of the two lyrics | does not matter |" in card
    assert split_head(card)[0]["pipeline_tag"] == "sentence-similarity"


@pytest.mark.parametrize("content", ["", "{}", '{"status": "running", "settings": {"recipe": {}}}'])
def test_an_unfinished_run_gets_no_card(tmp_path, content):
    folder = run_folder(tmp_path / "r")
    (folder / "run.json").write_text(content)
    with pytest.raises(UserError, match=r"run\.json"):
        write_model_card(folder)


@pytest.mark.parametrize("entry", paper_models(), ids=lambda entry: entry.name)
def test_the_prepared_cards_are_the_generators_and_quote_the_paper(entry):
    card = (REPOSITORY / "model_cards" / entry.name / "README.md").read_text("utf-8")
    assert card == render_paper_card(entry)
    assert f"{entry.paper.test.combined:.2f}" in card
    assert "Ours: not measured." in card
    assert "model-index" not in split_head(card)[0]
    assert entry.hub_id in card


def test_a_prepared_card_quotes_what_annex_3_says_of_the_pre_training():
    cards = {entry.name: render_paper_card(entry) for entry in paper_models()}
    assert "sequence length: 768; batch size: 64; epochs: 10; optimizer: Adam" in cards["mdeberta"]
    assert "20k of sequence length 512 and batch size 384" in cards["bertin"]
    assert "| its pre-training (annex 3 of the paper) | the paper doesn't say |" in cards["alberti"]


def test_only_models_of_the_paper_have_prepared_cards():
    folders = {path.name for path in (REPOSITORY / "model_cards").iterdir() if path.is_dir()}
    assert folders == {entry.name for entry in paper_models()}
