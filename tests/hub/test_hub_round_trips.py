"""What was published is what the next user loads, each time from an empty cache in a new process."""

import csv
import json
import shutil

import pytest
from hub_server.fixtures import HubForTest
from hub_server.server import LocalHub
from support import REPOSITORY

from lyricsim_dataset.configurations import CONFIG_NAMES

# One worker makes the models once.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("hub-round-trips")]

OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_EVALUATE_OFFLINE": "1", "HF_ENDPOINT": "http://127.0.0.1:9"}
ARCHITECTURES = ("cross-encoder", "bi-encoder")
LOADED_BY_TRANSFORMERS = """
import csv, json, torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer, pipeline
rows = list(csv.DictReader(open("pairs.csv", encoding="utf-8", newline="")))
pairs = [(row["lyrics_1"], row["lyrics_2"]) for row in rows]
tokenizer = AutoTokenizer.from_pretrained("tester/cross-encoder")
model = AutoModelForSequenceClassification.from_pretrained("tester/cross-encoder").eval()
with torch.no_grad():
    alone = [model(**tokenizer(*pair, return_tensors="pt", truncation=True)).logits.item() for pair in pairs]
scorer = pipeline("text-classification", model="tester/cross-encoder", function_to_apply="none")
piped = [scorer({"text": a, "text_pair": b})["score"] for a, b in pairs]
print(json.dumps([alone, piped]))
"""
LOADED_BY_SENTENCE_TRANSFORMERS = """
import csv, json
from huggingface_hub import hf_hub_download
from sentence_transformers import CrossEncoder, SentenceTransformer
rows = list(csv.DictReader(open("pairs.csv", encoding="utf-8", newline="")))
pairs = [(row["lyrics_1"], row["lyrics_2"]) for row in rows]
crossed = CrossEncoder("tester/cross-encoder").predict(pairs)
encoder = SentenceTransformer("tester/bi-encoder")
line = json.load(open(hf_hub_download("tester/bi-encoder", "calibration.json")))
first, second = (encoder.encode([pair[side] for pair in pairs]) for side in (0, 1))
cosines = encoder.similarity_pairwise(first, second).tolist()
print(json.dumps([crossed.tolist(), [line["slope"] * cosine + line["intercept"] for cosine in cosines]]))
"""
EVERY_ROW = """
import json, sys
from datasets import load_dataset
name, *configs = sys.argv[1:]
found = {}
for config in configs:
    for split, rows in load_dataset(name, config).items():
        found[f"{config}/{split}"] = [str(rows.features), [json.dumps(row, sort_keys=True) for row in rows]]
print(json.dumps(found))
"""
PUSH_SAMPLE = """
import sys
from lyricsim_dataset.cli import main
sys.exit(main(["push", sys.argv[1], "--folder", "lyricsim-sample"]))
"""
BOTH_SPACES = """
import evaluate
metric = evaluate.load("tester/lyricsim_metric")
comparison = evaluate.load("tester/lyricsim_comparison", module_type="comparison")
print(metric.compute(predictions=[1, 2, 3, 4], references=[0, 1, 3, 2]))
first, second = [1, 2, 3, 4, 6, 5], [2, 1, 4, 3, 6, 5]
print(sorted(comparison.compute(predictions1=first, predictions2=second, references=[0, 1, 2, 3, 4, 5])))
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A Hub with a dataset, two models and two Spaces, and the folders that they were pushed from."""
    with LocalHub() as server:
        hub = HubForTest(server, tmp_path_factory.mktemp("round-trips"))
        build(hub)
        for architecture in ARCHITECTURES:
            train_and_publish(hub, architecture)
        done(hub.run(["-c", PUSH_SAMPLE, f"{hub.user}/lyricsim-sample"], "author"))
        for space in ("lyricsim_metric", "lyricsim_comparison"):
            push(hub, REPOSITORY / space, "space")
        yield hub


def done(outcome):
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    return outcome


def build(hub):
    code = "import sys; from lyricsim_dataset.cli import main; sys.exit(main(['build', '--sample']))"
    done(hub.run(["-c", code], "author"))
    write_pairs = """
import csv
from datasets import load_dataset
rows = load_dataset("lyricsim-sample", "filtered", split="test")
with open("pairs.csv", "w", encoding="utf-8", newline="") as stream:
    writer = csv.writer(stream)
    writer.writerow(["pair_id", "lyrics_1", "lyrics_2"])
    writer.writerows([row["pair_id"], row["lyrics_1"], row["lyrics_2"]] for row in rows)
"""
    hub.python(write_pairs, "author")


def train_and_publish(hub, architecture):
    code = """
from pathlib import Path
from datasets import load_dataset
from lyricsim_models.tiny import write_tiny_model
write_tiny_model(Path("base"), load_dataset("lyricsim-sample", "songs", split="train")["lyrics"])
"""
    if not (hub.folder / "base").is_dir():
        hub.python(code, "author")
    script = [str(REPOSITORY / "training" / "finetune.py"), "--model", "base", "--dataset", "lyricsim-sample"]
    options = ["--config", "filtered", "--max-steps", "4", "--architecture", architecture]
    options += ["--output", architecture, "--push-to-hub", f"{hub.user}/{architecture}"]
    done(hub.run([*script, *options], "author", ACCELERATE_USE_CPU="true"))


def push(hub, folder, kind):
    command = ["-m", "lyricsim_tools.push_cli", str(folder), f"{hub.user}/{folder.name}", "--type", kind]
    done(hub.run(command, "author"))


def every_row(hub, name, cache, **changes):
    """Features and rows of every configuration and split, by the name ``load_dataset`` takes."""
    outcome = done(hub.run(["-c", EVERY_ROW, name, *CONFIG_NAMES], cache, **changes))
    return json.loads(outcome.stdout)


def predictions(hub, architecture):
    """The run's own predictions of the pairs in pairs.csv, in their order."""
    with (hub.folder / architecture / "predictions.csv").open(encoding="utf-8", newline="") as stream:
        by_id = {row["pair_id"]: float(row["prediction"]) for row in csv.DictReader(stream)}
    with (hub.folder / "pairs.csv").open(encoding="utf-8", newline="") as stream:
        return [by_id[row["pair_id"]] for row in csv.DictReader(stream)]


def rounding(hub, architecture):
    """How far equal scores may lie apart: a bi-encoder's line multiplies the rounding of its cosine."""
    if architecture == "cross-encoder":
        return 1e-5
    line = json.loads((hub.folder / architecture / "calibration.json").read_text())
    return max(1e-5, 1e-6 * abs(line["slope"]))


def test_a_published_cross_encoder_scores_in_transformers_as_it_did_in_training(place):
    alone, piped = json.loads(place.python(LOADED_BY_TRANSFORMERS, "transformers"))
    expected = predictions(place, "cross-encoder")
    assert alone == pytest.approx(expected, abs=1e-5)
    assert piped == pytest.approx(expected, abs=1e-5)


def test_published_models_score_in_sentence_transformers_as_they_did_in_training(place):
    crossed, encoded = json.loads(place.python(LOADED_BY_SENTENCE_TRANSFORMERS, "sentences"))
    assert crossed == pytest.approx(predictions(place, "cross-encoder"), abs=1e-5)
    assert encoded == pytest.approx(predictions(place, "bi-encoder"), abs=rounding(place, "bi-encoder"))


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_published_models_score_in_our_script_with_full_cache_and_without_network(place, architecture):
    def scores(output, **changes):
        command = [str(REPOSITORY / "training" / "predict.py"), "--model", f"{place.user}/{architecture}"]
        command += ["--input", "pairs.csv", "--output", output, "--allow-seen"]
        done(place.run(command, f"predict-{architecture}", ACCELERATE_USE_CPU="true", **changes))
        with (place.folder / output).open(encoding="utf-8", newline="") as stream:
            return [float(row["prediction"]) for row in csv.DictReader(stream)]

    expected = predictions(place, architecture)
    equal = pytest.approx(expected, abs=rounding(place, architecture))
    assert scores(f"{architecture}-online.csv") == equal
    assert scores(f"{architecture}-offline.csv", **OFFLINE) == equal


def test_a_published_model_that_was_trained_on_both_orders_scores_both(place):
    folder = place.folder / "symmetric"
    shutil.copytree(place.folder / "cross-encoder", folder)
    run = json.loads((folder / "run.json").read_text("utf-8"))
    run["settings"]["recipe"]["symmetric"] = True
    (folder / "run.json").write_text(json.dumps(run), "utf-8")
    # What training wrote of its card is for another repository.
    (folder / "card.json").unlink()
    push(place, folder, "model")
    code = """
import json
from lyricsim_models.model_files import weights_identity
from lyricsim_models.scoring import load_scorer
names = ["tester/symmetric", "tester/cross-encoder"]
print(json.dumps([[load_scorer(name).symmetric, weights_identity(name)["revision"]] for name in names]))
"""
    both, one = json.loads(place.python(code, "symmetric"))
    assert (both[0], one[0]) == (True, False)
    published = place.server.store.repositories
    heads = [published["model", f"tester/{name}"].head.id for name in ("symmetric", "cross-encoder")]
    assert [both[1], one[1]] == heads


def test_without_network_and_cache_our_script_ends_with_one_clear_message(place):
    command = [str(REPOSITORY / "training" / "predict.py"), "--model", f"{place.user}/cross-encoder"]
    outcome = place.run([*command, "--input", "pairs.csv", "--output", "never.csv"], "empty", **OFFLINE)
    assert outcome.returncode == 2
    assert f"{place.user}/cross-encoder" in outcome.stderr
    assert "Traceback" not in outcome.stderr
    assert not (place.folder / "never.csv").exists()


def test_only_the_best_checkpoint_its_tokenizer_card_and_story_are_published(place):
    names = set(place.server.store.files("model", f"{place.user}/cross-encoder"))
    assert {
        "model.safetensors",
        "config.json",
        "tokenizer.json",
        "README.md",
        "run.json",
        "metrics.json",
    } <= names
    assert not [
        name for name in names if "checkpoint" in name or name.endswith((".bin", ".pt", ".py", ".jsonl"))
    ]
    assert (
        f'CrossEncoder("{place.user}/cross-encoder")'
        in (place.folder / "cross-encoder" / "README.md").read_text()
    )


def test_every_configuration_and_split_loads_as_it_was_built(place):
    built = every_row(place, "./lyricsim-sample", "local", **OFFLINE)
    assert every_row(place, f"{place.user}/lyricsim-sample", "datasets") == built
    assert {name.split("/")[0] for name in built} == set(CONFIG_NAMES)


def test_both_spaces_load_by_their_id(place):
    assert place.python(BOTH_SPACES, "spaces").splitlines()[0] == (
        "{'pearson': 0.8, 'spearmanr': 0.8, 'combined_score': 0.8}"
    )


def test_after_one_download_everything_works_without_a_network(place):
    download = """
from huggingface_hub import snapshot_download
for name, kind in [("cross-encoder", "model"), ("bi-encoder", "model"), ("lyricsim-sample", "dataset")]:
    snapshot_download(f"tester/{name}", repo_type=kind)
"""
    place.python(download, "snapshot")
    place.python(BOTH_SPACES, "snapshot")
    every_row(place, f"{place.user}/lyricsim-sample", "snapshot")
    before = len(place.server.log)
    online = place.python(LOADED_BY_SENTENCE_TRANSFORMERS, "sentences-again")
    requests = len(place.server.log)
    assert requests > before
    assert place.python(LOADED_BY_SENTENCE_TRANSFORMERS, "snapshot", **OFFLINE) == online
    assert every_row(place, f"{place.user}/lyricsim-sample", "snapshot", **OFFLINE) == every_row(
        place, "./lyricsim-sample", "local", **OFFLINE
    )
    place.python(BOTH_SPACES, "snapshot", **OFFLINE)
    assert len(place.server.log) == requests


def test_the_published_cards_are_without_faults_and_their_code_runs(place, tmp_path):
    cards = [place.folder / architecture / "README.md" for architecture in ARCHITECTURES]
    shutil.copytree(place.folder / "lyricsim-sample", tmp_path / "lyricsim-sample")
    cards.append(tmp_path / "lyricsim-sample" / "README.md")
    command = ["-m", "lyricsim_cards.cli", "check", "--root", str(REPOSITORY), "--endpoint", place.url]
    outcome = place.run([*command, *map(str, cards)], "author")
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
