"""mteb's figures and ours, on the same vectors: encoded one text at a time, so that no padding differs."""

import socket
import warnings
from pathlib import Path

import numpy as np
import pytest

from lyricsim_dataset.cli import main as dataset_command
from lyricsim_dataset.sources import UPSTREAM_COMMIT, sample_tree
from lyricsim_metric.scores import score
from lyricsim_models.cross_validation import all_pairs
from lyricsim_models.datafiles import read_splits
from lyricsim_models.features import cosines
from lyricsim_models.sentence_folder import write_sentence_files
from lyricsim_models.tiny import write_tiny_model
from lyricsim_models.zero_shot import zero_shot_encoder
from lyricsim_tools.errors import UserError
from spanish_sentence_eval import senteval
from spanish_sentence_eval.heads.cosine import correlate, cosine
from spanish_sentence_eval.manifest import COMMIT, REPOSITORY, check_files, files_of
from spanish_sentence_eval.tasks import TASKS as ENGINE_TASKS
from training.song_blocks import block_folds, song_groups

# Importing mteb takes long: once, in one process, and only if these tests are run.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("mteb")]

NAMES = [
    "LyricSIM",
    "LyricSIMUnseenSongs",
    "LyricSIMAllPairs",
    "LyricSIMBlocks",
    "SpanishSentEvalSTS14",
    "SpanishSentEvalSTS15",
    "SpanishSentEvalSTS17",
    "SpanishSentEvalSICKRelatedness",
]

PAIRS = [
    ("la casa está junto al mar", "una casa cerca del mar", 3.2),
    ("el perro corre por el parque", "un gato duerme en la silla", 0.4),
    ("dos mujeres cantan de noche", "dos mujeres cantan de noche", 4.0),
    ("llueve sobre la ciudad", "la ciudad está seca", 1.8),
    ("el tren llega tarde", "el tren llega con retraso", 3.8),
    ("un niño lee un libro", "un niño come pan", 1.0),
]


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    """Not even a name is looked up."""

    def refuse(*arguments, **options):
        raise AssertionError(f"network: {arguments}")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.fixture(scope="module")
def tasks():
    import lyricsim_mteb.tasks

    return lyricsim_mteb.tasks


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dataset") / "lyricsim-sample"
    assert dataset_command(["build", "--sample", "--out", str(folder)]) == 0
    return str(folder)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Pairs of ours in upstream's formats."""
    root = tmp_path_factory.mktemp("data")
    folders = {"STS14": ("news", "wikipedia"), "STS15": ("newswire", "wikipedia"), "STS17": ("track3.es-es",)}
    for task, subsets in folders.items():
        folder = root / "senteval" / "STS" / f"{task}-es-test"
        folder.mkdir(parents=True)
        for place, subset in enumerate(subsets):
            pairs = PAIRS[place:]
            (folder / f"STS.input.{subset}.txt").write_text(
                "".join(f"{a}\t{b}\n" for a, b, _ in pairs), "utf-8"
            )
            (folder / f"STS.gs.{subset}.txt").write_text("".join(f"{gold}\n" for *_, gold in pairs), "utf-8")
    folder = root / "senteval" / "SICK"
    folder.mkdir()
    for split in ("train", "trial", "test"):
        lines = [f"{n}\t{a}\t{b}\t{1 + gold}\tNEUTRAL\n" for n, (a, b, gold) in enumerate(PAIRS)]
        (folder / f"SICK_{split}.txt").write_text("id\tA\tB\tscore\tjudgement\n" + "".join(lines), "utf-8")
    return str(root)


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory):
    folder = write_tiny_model(tmp_path_factory.mktemp("model") / "tiny", [a for a, _, _ in PAIRS])
    write_sentence_files(folder, width=32, pooling="mean", prompt="", max_length=256, line=(5.0, 0.0))
    return str(folder)


def load(folder):
    import torch
    from sentence_transformers import SentenceTransformer

    # As our own scoring loads it; the library would keep half precision where the file has it.
    return SentenceTransformer(folder, device="cpu", model_kwargs={"dtype": torch.float32})


def evaluated(model, chosen):
    """Results by task name."""
    import mteb

    with warnings.catch_warnings():
        # Of mteb, about a method that sentence-transformers has renamed.
        warnings.simplefilter("ignore", FutureWarning)
        results = mteb.evaluate(
            model, chosen, cache=None, encode_kwargs={"batch_size": 1}, show_progress_bar=False
        )
    return {result.task_name: result for result in results.task_results}


def by_subset(result):
    return {row["hf_subset"]: row for row in result.scores["test"]}


def our_lyric_scores(folder, pairs):
    embed = zero_shot_encoder(folder, batch_size=1, prompt="")
    return score(cosines(embed, list(zip(pairs.lyrics_1, pairs.lyrics_2, strict=True))), pairs.gold)


def our_senteval(model, data, names, check_sizes=True):
    def batcher(params, batch):
        return np.stack([model.encode(" ".join(tokens), batch_size=1) for tokens in batch])

    return senteval.engine.SE({"task_path": data, "check_sizes": check_sizes}, batcher).eval(names)


def assert_same_lyric_scores(row, expected):
    names = {"cosine_pearson": "pearson", "cosine_spearman": "spearmanr", "combined_score": "combined_score"}
    for theirs, ours in names.items():
        assert row[theirs] == pytest.approx(expected[ours], abs=1e-9)
    assert row["main_score"] == row["combined_score"]


def assert_same_block_scores(result, model_folder, pairs, dataset):
    """Against the folds of cross-validation, which the training scripts make."""
    blocks, folds = by_subset(result), block_folds(pairs, song_groups(dataset, pairs))
    assert set(blocks) == {fold.name for fold in folds}
    for fold in folds:
        own = pairs.take([row for row, pair_id in enumerate(pairs.pair_ids) if pair_id in fold.test])
        assert_same_lyric_scores(blocks[fold.name], our_lyric_scores(model_folder, own))
    mean = np.mean([row["combined_score"] for row in blocks.values()])
    assert result.get_score() == pytest.approx(mean, abs=1e-9)


def assert_same_senteval(tasks, result, expected):
    for name, row in by_subset(result).items():
        assert row["cosine_pearson"] == pytest.approx(expected[name]["pearson"], abs=1e-9)
        assert row["cosine_spearman"] == pytest.approx(expected[name]["spearman"], abs=1e-9)
    assert result.get_score() == pytest.approx(expected["all"]["pearson"]["mean"], abs=1e-9)
    sizes = {name: expected[name]["nsamples"] for name in by_subset(result)}
    weighted = tasks.weighted_mean(result, sizes, "cosine_pearson")
    assert weighted == pytest.approx(expected["all"]["pearson"]["wmean"], abs=1e-9)


def test_mteb_knows_the_tasks_by_name_once_they_are_registered(tasks):
    import mteb

    tasks.register()
    tasks.register()
    assert list(tasks.TASKS) == NAMES
    assert [task.metadata.name for task in mteb.get_tasks(tasks=NAMES)] == NAMES
    music = {task.metadata.name for task in mteb.get_tasks(languages=["spa"], domains=["Music"])}
    assert {name for name in NAMES if name.startswith("LyricSIM")} <= music


def test_a_version_of_mteb_without_a_registry_is_refused_with_the_other_way(tasks, monkeypatch):
    import importlib

    monkeypatch.delattr(importlib.import_module("mteb.get_tasks"), "_TASKS_REGISTRY")
    with pytest.raises(UserError, match=r"pass the tasks to mteb\.evaluate"):
        tasks.register()


@pytest.mark.parametrize("name", NAMES)
def test_metadata_are_whole_and_claim_no_licence_that_nobody_gave(tasks, name):
    metadata = tasks.TASKS[name].metadata
    unknown = {field for field, value in metadata.model_dump().items() if value is None}
    # Nobody says when the lyrics were collected, nor how SICK was translated.
    assert unknown <= {"prompt", "adapted_from", "contributed_by", "superseded_by", "date", "sample_creation"}
    assert metadata.license == "not specified"
    assert metadata.languages == ["spa"]


def test_lyric_tasks_give_the_figures_of_our_own_scoring(tasks, dataset, model_folder, monkeypatch):
    monkeypatch.setenv("LYRICSIM_FOLDER", dataset)
    results = evaluated(load(model_folder), [task() for task in tasks.LYRIC_TASKS])
    filtered = read_splits(dataset, "filtered")
    expected = {
        "LyricSIM": filtered["test"],
        "LyricSIMUnseenSongs": read_splits(dataset, "filtered-song-disjoint")["test"],
        "LyricSIMAllPairs": all_pairs(filtered),
    }
    for name, pairs in expected.items():
        assert_same_lyric_scores(by_subset(results[name])["default"], our_lyric_scores(model_folder, pairs))
    assert_same_block_scores(results["LyricSIMBlocks"], model_folder, expected["LyricSIMAllPairs"], dataset)


def test_blocks_hold_every_pair_once_by_the_groups_of_its_songs(tasks, dataset):
    task = tasks.TASKS["LyricSIMBlocks"](dataset)
    whole = all_pairs(read_splits(dataset, "filtered"))
    blocks = task.subset_pairs()
    pairs = [pair for columns in blocks.values() for pair in zip(*columns, strict=True)]
    assert sorted(pairs) == sorted(zip(whole.lyrics_1, whole.lyrics_2, whole.gold, strict=True))
    songs = {name: {lyric for side in columns[:2] for lyric in side} for name, columns in blocks.items()}
    assert not songs["0-0"] & songs["1-1"]
    assert not songs["0-1"] & songs["2-3"]


def test_senteval_tasks_give_the_figures_of_our_engine_subset_by_subset(
    tasks, data, model_folder, monkeypatch
):
    monkeypatch.setenv("SPANISH_SENTEVAL_DATA", data)
    names = ["STS14", "STS15", "STS17"]
    model = load(model_folder)
    results = evaluated(model, [tasks.TASKS[f"SpanishSentEval{name}"](check_sizes=False) for name in names])
    for name, expected in our_senteval(model, data, names, check_sizes=False).items():
        assert_same_senteval(tasks, results[f"SpanishSentEval{name}"], expected)


def test_sick_is_scored_by_cosine_on_its_test_split(tasks, data, model_folder):
    model = load(model_folder)
    task = tasks.TASKS["SpanishSentEvalSICKRelatedness"](data, check_sizes=False)
    row = by_subset(evaluated(model, [task])[task.metadata.name])["default"]
    vectors = [[model.encode(text, batch_size=1) for text in pair[:2]] for pair in PAIRS]
    similar = np.array([cosine(a, b) for a, b in vectors])
    expected = correlate(similar, np.array([1 + gold for *_, gold in PAIRS]))
    assert row["cosine_pearson"] == pytest.approx(expected.pearson[0], abs=1e-9)
    assert row["cosine_spearman"] == pytest.approx(expected.spearman[0], abs=1e-9)


@pytest.mark.parametrize(
    ("name", "message"),
    [("LyricSIM", "is not a built dataset"), ("SpanishSentEvalSTS17", "no data in")],
)
def test_data_that_are_not_there_are_refused_when_they_are_needed(tasks, tmp_path, name, message):
    task = tasks.TASKS[name](str(tmp_path))
    with pytest.raises(UserError, match=message):
        task.load_data()


def test_a_file_that_was_cut_off_is_refused(tasks, data):
    with pytest.raises(
        UserError, match=r"STS17: 6 pairs of track3\.es-es .*(.|\n)*250, as in upstream's file"
    ):
        tasks.TASKS["SpanishSentEvalSTS17"](data).load_data()


@pytest.fixture
def first_pairs(sentence_evaluation_source, tmp_path):
    """The beginning of STS17: batches of one make a real encoder slow."""
    place = "senteval/STS/STS17-es-test"
    (tmp_path / place).mkdir(parents=True)
    for file in (sentence_evaluation_source / "data" / place).glob("STS.*.txt"):
        lines = file.read_text("utf-8").splitlines(keepends=True)
        (tmp_path / place / file.name).write_text("".join(lines[:40]), "utf-8")
    return str(tmp_path)


def test_a_real_encoder_gets_the_same_figures_from_mteb_as_from_us(tasks, e5_folder, dataset, first_pairs):
    model = load(str(e5_folder))
    chosen = [tasks.TASKS["LyricSIM"](dataset)]
    chosen += [tasks.TASKS["SpanishSentEvalSTS17"](first_pairs, check_sizes=False)]
    results = evaluated(model, chosen)
    pairs = read_splits(dataset, "filtered")["test"]
    assert_same_lyric_scores(
        by_subset(results["LyricSIM"])["default"], our_lyric_scores(str(e5_folder), pairs)
    )
    expected = our_senteval(model, first_pairs, "STS17", check_sizes=False)
    assert_same_senteval(tasks, results["SpanishSentEvalSTS17"], expected)


def test_results_on_other_data_do_not_carry_lyricsims_revision(tasks, dataset, tmp_path):
    assert tasks.TASKS["LyricSIM"](str(tmp_path / "absent")).metadata.revision == UPSTREAM_COMMIT
    on_the_sample = tasks.TASKS["LyricSIM"](dataset)
    assert on_the_sample.metadata.revision == sample_tree().fingerprint
    assert tasks.TASKS["LyricSIM"].metadata.revision == UPSTREAM_COMMIT


def test_a_folder_below_the_users_home_is_found(tasks, dataset, data, tmp_path, monkeypatch):
    (tmp_path / "lyricsim-sample").symlink_to(dataset)
    (tmp_path / "data").symlink_to(data)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("LYRICSIM_FOLDER", "~/lyricsim-sample")
    monkeypatch.setenv("SPANISH_SENTEVAL_DATA", "~/data")
    task = tasks.TASKS["LyricSIM"]()
    assert task.metadata.revision == sample_tree().fingerprint
    assert task.subset_pairs()["default"]
    assert tasks.TASKS["SpanishSentEvalSTS17"](check_sizes=False).subset_pairs()


def test_results_on_ones_own_pairs_do_not_carry_sentevals_revision(tasks, data, tmp_path):
    name = "SpanishSentEvalSTS17"
    assert tasks.TASKS[name](str(tmp_path / "absent")).metadata.revision == COMMIT
    own = tasks.TASKS[name](data, check_sizes=False).metadata
    task = ENGINE_TASKS["STS17"]
    assert own.revision == check_files(Path(data), "STS17", files_of(task), any_data=True).digest
    assert own.dataset["path"] == Path(data).name
    assert tasks.TASKS[name].metadata.revision == COMMIT


def test_results_on_sentevals_own_files_carry_its_revision(tasks, sentence_evaluation_source):
    task = tasks.TASKS["SpanishSentEvalSTS17"](str(sentence_evaluation_source))
    assert (task.metadata.revision, task.metadata.dataset["path"]) == (COMMIT, REPOSITORY)
