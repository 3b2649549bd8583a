"""A trained model's folder as plain facts: what a run wrote, read without any of its code."""

import functools
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from lyricsim_models.baselines import BASELINES
from lyricsim_models.registry import load_registry
from lyricsim_tools.atomic import write_json
from lyricsim_tools.errors import UserError

RUN_FILE, METRICS_FILE, PREDICTIONS_FILE = "run.json", "metrics.json", "predictions.csv"
# What a card needs beyond the run: kept beside it, so that the card can be rendered again and compared.
EXTRAS_FILE = "card.json"
CALIBRATION_FILE = "calibration.json"


@dataclass(frozen=True)
class CardExtras:
    """What a card says and the run doesn't know.

    Args:
        repo_id: where the model is published; None: not yet.
        dataset_id: the dataset's id on the Hub; None: it was a local folder.
        unseen: scores of a sibling run, same recipe, whose test songs were never seen; with its ``name`` and
            ``config``.
        floors: name of a baseline → its combined score on the same test pairs, 0 to 1.
        measured: split → what ``measure`` finds; empty: not measured.
        revision: the branch of ``repo_id`` that holds the model; None: ``main``.
    """

    repo_id: str | None = None
    dataset_id: str | None = None
    unseen: Mapping[str, Any] | None = None
    floors: Mapping[str, float] = field(default_factory=dict)
    measured: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    revision: str | None = None


@dataclass(frozen=True)
class ModelFolder:
    """A trained model's files.

    Args:
        folder: where they are.
        run: ``run.json``.
        metrics: ``metrics.json``: split → scores.
        extras: ``card.json``.
    """

    folder: Path
    run: Mapping[str, Any]
    metrics: Mapping[str, Any]
    extras: CardExtras

    @property
    def settings(self) -> Mapping[str, Any]:
        """What decided the run's result."""
        return dict(self.run["settings"])

    @property
    def base(self) -> str:
        """The base model: its Hub id, or the name of the folder it came from, which has no revision."""
        name = str(self.settings["model"])
        entry = load_registry().get(name)
        if entry is not None:
            return entry.hub_id
        return name if looks_like_hub_id(name) and self.run.get("base_model_revision") else Path(name).name

    @property
    def dataset(self) -> str:
        """The dataset: its Hub id, or the name of its folder or file."""
        return self.extras.dataset_id or Path(str(self.settings["dataset"])).name

    @property
    def is_on_lyricsim(self) -> bool:
        """Whether the data is LyricSIM, not its sample or another.

        Its rows tell, whatever their folder is called; changed rows keep the name, which the builder gives
        to nothing else.
        """
        known = self.settings.get("data_fingerprint") in lyricsim_fingerprints().values()
        return known or self.dataset.rsplit("/", 1)[-1] == "lyricsim"

    @property
    def is_song_disjoint(self) -> bool:
        """Whether its training met no song of the test pairs."""
        return "song-disjoint" in str(self.settings.get("config") or "")

    def scores(self, split: str) -> dict[str, Any]:
        """Everything known of a split's scores."""
        return {**self.extras.measured.get(split, {}), **self.metrics.get(split, {})}

    @property
    def reference(self) -> str:
        """What ``from_pretrained`` takes: the Hub id, else the folder's name."""
        return self.extras.repo_id or self.folder.name

    @property
    def is_bi_encoder(self) -> bool:
        """Whether it embeds each lyric by itself."""
        return self.settings["recipe"]["architecture"] == "bi-encoder"


@functools.cache
def lyricsim_fingerprints() -> Mapping[str, str]:
    """Configuration of LyricSIM → the ``data_fingerprint`` of runs on it."""
    text = resources.files("lyricsim_cards").joinpath("lyricsim_data.toml").read_text("utf-8")
    return dict(tomllib.loads(text)["fingerprints"])


def looks_like_hub_id(name: str) -> bool:
    """Whether a name has the form ``owner/name``, which a relative path can have too."""
    return bool(re.fullmatch(r"[\w-][\w.-]*/[\w-][\w.-]*", name))


def read_model_folder(folder: Path) -> ModelFolder:
    """Read what a run left in a folder.

    Raises:
        UserError: a file is missing or isn't what a complete run writes.
    """
    run, metrics = _read(folder / RUN_FILE), _read(folder / METRICS_FILE)
    if run.get("status", "complete") != "complete" or "recipe" not in run.get("settings", {}):
        raise UserError(
            f"{folder / RUN_FILE} is not that of a complete run",
            "a run that has ended",
            "let training end (--resume goes on with an interrupted run)",
        )
    return ModelFolder(folder, run, metrics, _read_extras(folder / EXTRAS_FILE))


def write_extras(folder: Path, extras: CardExtras) -> None:
    """Keep what a card says beyond its run, beside it."""
    write_json(folder / EXTRAS_FILE, {k: v for k, v in vars(extras).items() if v})


def unseen_scores(model: ModelFolder, sibling: Path) -> dict[str, Any]:
    """The test scores of a run whose test songs its training never met, for the card of its sibling.

    Args:
        model: whose card it is.
        sibling: a run with the same base model and recipe on a song-disjoint configuration of its dataset.

    Raises:
        UserError: the run was not on a song-disjoint configuration, has no test scores, or is no sibling.
    """
    found = read_model_folder(sibling)
    config = str(found.settings.get("config") or "")
    scores = found.scores("test")
    if not found.is_song_disjoint or not scores:
        raise UserError(
            f"{sibling} was trained on configuration {config!r}",
            "a run on a song-disjoint configuration, with test scores",
            "train the same recipe on filtered-song-disjoint and name that run",
        )
    if differing := _differing(_decisive(model), _decisive(found)):
        raise UserError(
            f"{sibling} is not the same as {model.folder} on another configuration: {'; '.join(differing)}",
            "the same base model, recipe and dataset",
            "train the same recipe on filtered-song-disjoint and name that run",
        )
    return {"name": sibling.name, "config": config, **scores}


def _decisive(model: ModelFolder) -> dict[str, Any]:
    """What siblings share: all that decides a result but configuration and seed."""
    data = "LyricSIM" if model.is_on_lyricsim else Path(str(model.settings["dataset"])).name
    # How many rows a process holds at once does not change the result.
    recipe = {k: v for k, v in model.settings["recipe"].items() if k != "per_device_batch_size"}
    return {"base model": model.base, "dataset": data, **recipe}


def _differing(wanted: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    return [
        f"{key} is {found.get(key)!r}, not {wanted.get(key)!r}"
        for key in {**wanted, **found}
        if wanted.get(key) != found.get(key)
    ]


def floor_scores(model: ModelFolder, runs: Sequence[Path]) -> dict[str, float]:
    """Names and combined test scores of baseline runs, for another run's card.

    Raises:
        UserError: a run is no baseline's, saw other data than the model did, or has no test score; two are
            of one baseline.
    """
    found: dict[str, float] = {}
    for folder in runs:
        name, score = _floor(model, read_model_folder(folder))
        if name in found:
            raise UserError(f"{folder} is a second run of {name}", "one run a baseline", "leave one out")
        found[name] = score
    return found


def _floor(model: ModelFolder, run: ModelFolder) -> tuple[str, float]:
    name, score = str(run.settings["model"]), run.metrics.get("test", {}).get("combined_score")
    features = run.settings["recipe"].get("features")
    is_baseline = name in BASELINES and list(BASELINES[name].features) == features
    same_data = run.settings.get("data_fingerprint") == model.settings.get("data_fingerprint")
    if not is_baseline or not same_data or score is None:
        reason = "a model" if not is_baseline else "other data" if not same_data else "no test score"
        raise UserError(
            f"{run.folder} is no baseline for {model.folder}: {reason}",
            "a run of training/svm_baseline.py on the same dataset and configuration",
            "run the baseline on the data that the model was trained on",
        )
    return name, float(score)


def _read_extras(path: Path) -> CardExtras:
    if not path.is_file():
        return CardExtras()
    try:
        return CardExtras(**_read(path))
    except TypeError as error:
        raise UserError(
            f"{path} is not what `lyricsim-cards model` writes: {error}",
            f"the keys {', '.join(CardExtras.__dataclass_fields__)}",
            "remove it and write the card again",
        ) from error


def _read(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(
            f"{path} cannot be read: {error}",
            "the folder of a complete run of training/finetune.py",
            "check the path, or train the model",
        ) from error
    return dict(value)
