"""A trained model's folder as plain facts: what a run wrote, read without any of its code."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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
    """

    repo_id: str | None = None
    dataset_id: str | None = None
    unseen: Mapping[str, Any] | None = None
    floors: Mapping[str, float] = field(default_factory=dict)
    measured: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


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
        """Whether the data is LyricSIM, not its sample or another: the builder keeps the name for it."""
        return self.dataset.rsplit("/", 1)[-1] == "lyricsim"

    @property
    def is_song_disjoint(self) -> bool:
        """Whether its training met no song of the test pairs."""
        return "song-disjoint" in str(self.settings.get("config") or "")

    def scores(self, split: str) -> dict[str, Any]:
        """Everything known of a split's scores."""
        return {**self.metrics.get(split, {}), **self.extras.measured.get(split, {})}

    @property
    def reference(self) -> str:
        """What ``from_pretrained`` takes: the Hub id, else the folder's name."""
        return self.extras.repo_id or self.folder.name

    @property
    def is_bi_encoder(self) -> bool:
        """Whether it embeds each lyric by itself."""
        return self.settings["recipe"]["architecture"] == "bi-encoder"


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


def unseen_scores(sibling: Path) -> dict[str, Any]:
    """The test scores of a run whose test songs its training never met, for another run's card.

    Raises:
        UserError: the run was not on a song-disjoint configuration, or has no test scores.
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
    return {"name": sibling.name, "config": config, **scores}


def floor_scores(model: ModelFolder, runs: Sequence[Path]) -> dict[str, float]:
    """Names and combined test scores of baseline runs, for another run's card.

    Raises:
        UserError: a baseline saw other data than the model did, or has no test score.
    """
    found = {}
    for folder in runs:
        baseline = read_model_folder(folder)
        score = baseline.metrics.get("test", {}).get("combined_score")
        if (
            baseline.settings.get("data_fingerprint") != model.settings.get("data_fingerprint")
            or score is None
        ):
            raise UserError(
                f"{folder} is no baseline for {model.folder}: other data, or no test score",
                "a run of training/svm_baseline.py on the same dataset and configuration",
                "run the baseline on the data that the model was trained on",
            )
        found[str(baseline.settings["model"])] = float(score)
    return found


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
