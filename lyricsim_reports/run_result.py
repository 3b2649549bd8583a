"""From run folders, as training writes them, to a result."""

import csv
import dataclasses
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from lyricsim_dataset.configurations import DEFAULT_CONFIG
from lyricsim_metric.scores import SCORE_NAMES
from lyricsim_models.baselines import BASELINES
from lyricsim_models.config import Recipe
from lyricsim_models.evaluation import three_scores
from lyricsim_models.registry import load_registry
from lyricsim_reports.benchmark import Benchmark
from lyricsim_reports.measured import RESAMPLES, measured_scores, pairs_of, prediction_array, split_digest
from lyricsim_reports.result_file import BLOCK_SPLIT, BLOCKS, TEST, Kind, Result
from lyricsim_tools.errors import UserError

#: Baselines that know no meaning: counts of words and lines, and which songs they are.
FLOORS = ("song-identity", "length-only", "total-length", "word-overlap", "jaccard", "tfidf", "lexical")
_RUN, _METRICS, _PREDICTIONS = "run.json", "metrics.json", "predictions.csv"
_SEED_FOLDERS = "seed-*"
# What rounding to the seven digits of predictions.csv can change.
_TOLERANCE = 1e-4
_SAME = ("model", "config", "data_fingerprint", "recipe", "protocol")
# Recorded beside the settings; a model may have changed on the Hub between two seeds.
_SAME_RECORDED = ("base_model_revision",)


@dataclass(frozen=True)
class Run:
    """One run folder, read.

    Args:
        folder: where.
        record: its ``run.json``.
        metrics: its ``metrics.json``.
        predictions: pair id to prediction, all splits.
    """

    folder: Path
    record: Mapping[str, Any]
    metrics: Mapping[str, Any]
    predictions: Mapping[str, float]

    @property
    def settings(self) -> Mapping[str, Any]:
        """What decided the run's result."""
        settings: Mapping[str, Any] = self.record["settings"]
        return settings

    @property
    def split(self) -> str:
        """The split that counts: the blocks' or test."""
        return BLOCK_SPLIT if BLOCK_SPLIT in self.metrics else "test"

    @property
    def seed(self) -> int:
        """Its seed; 0 for a recipe without chance."""
        return int(self.settings.get("seed", 0))


@dataclass(frozen=True)
class Naming:
    """What a result is called; None: as follows from the run."""

    system: str | None = None
    title: str | None = None


def read_runs(folders: Sequence[Path]) -> list[Run]:
    """Read run folders; a folder of ``seed-N`` folders stands for these.

    Raises:
        UserError: a folder is no complete run.
    """
    expanded = [
        inner
        for folder in folders
        for inner in (
            [folder] if (folder / _RUN).is_file() else sorted(folder.glob(_SEED_FOLDERS)) or [folder]
        )
    ]
    return [_read_run(folder) for folder in expanded]


def _read_run(folder: Path) -> Run:
    try:
        record = json.loads((folder / _RUN).read_text("utf-8"))
        if record["status"] != "complete" or "recipe" not in record["settings"]:
            raise ValueError(f"the run is {record['status']}, or was written by an older version")
        metrics = json.loads((folder / _METRICS).read_text("utf-8"))
        with (folder / _PREDICTIONS).open(encoding="utf-8", newline="") as stream:
            rows = [(row["pair_id"], float(row["prediction"])) for row in csv.DictReader(stream)]
        predictions = dict(rows)
        if len(predictions) < len(rows):
            raise ValueError(f"{_PREDICTIONS} has a pair twice")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(
            f"{folder} is no complete run: {error}",
            f"a folder with {_RUN}, {_METRICS} and {_PREDICTIONS}, or with seed-N folders of these",
            "finish the run with --resume, or name another folder",
        ) from error
    return Run(folder, record, metrics, predictions)


def result_of(
    runs: Sequence[Run], benchmark: Benchmark, naming: Naming | None = None, resamples: int = RESAMPLES
) -> Result:
    """The result of one recipe's runs, one a seed.

    Args:
        runs: the same recipe, data and protocol; different seeds.
        benchmark: the dataset that they were made on.
        naming: how to call the result.
        resamples: behind each interval.

    Raises:
        UserError: runs that differ in more than their seed, other data, or scores in a ``metrics.json``
            that do not follow from its predictions.
    """
    _refuse_mixture(runs)
    draft = _draft(runs, naming or Naming())
    draft = dataclasses.replace(draft, split_digest=split_digest(draft, benchmark))
    pairs = pairs_of(draft, benchmark)
    wanted = set(pairs.pair_ids)
    predictions = {
        str(run.seed): {pair: run.predictions[pair] for pair in pairs.pair_ids if pair in run.predictions}
        for run in runs
    }
    draft = dataclasses.replace(draft, predictions=predictions)
    table = prediction_array(draft, pairs)
    for run, row in zip(runs, table, strict=True):
        _refuse_other_metrics(run, three_scores(row, pairs.gold), len(wanted))
    return dataclasses.replace(draft, resamples=resamples, scores=measured_scores(table, pairs, resamples))


def _refuse_mixture(runs: Sequence[Run]) -> None:
    first = runs[0].settings
    for run in runs[1:]:
        differing = [key for key in _SAME if run.settings.get(key) != first.get(key)]
        differing += [key for key in _SAME_RECORDED if run.record.get(key) != runs[0].record.get(key)]
        if differing:
            raise UserError(
                f"{run.folder} and {runs[0].folder} differ in {', '.join(differing)}",
                "runs of one recipe on the same data, one a seed",
                "add them one by one",
            )
    if len({run.seed for run in runs}) < len(runs):
        raise UserError("two runs of the same seed", "each seed once", "name each run once")


def _refuse_other_metrics(run: Run, found: Mapping[str, float | None], pairs: int) -> None:
    stated = run.metrics[run.split]
    for name in SCORE_NAMES:
        mine, theirs = found[name], stated.get(name)
        undefined = mine is None or theirs is None
        if (mine is not theirs) if undefined else abs(mine - theirs) > _TOLERANCE:
            raise UserError(
                f"{run.folder}: {_METRICS} states {name} {theirs}, its predictions of {pairs} pairs give "
                f"{mine}",
                "the same score",
                "name the dataset that the run was made on, or run it again",
            )


def _draft(runs: Sequence[Run], naming: Naming) -> Result:
    """The result without what needs the dataset."""
    run, settings = runs[0], runs[0].settings
    name = PurePath(settings["model"]).name if settings["model"].startswith(("/", ".")) else settings["model"]
    known = {key: settings[key] for key in ("recipe", "protocol") if key in settings}
    protocol = settings.get("protocol", {})
    return Result(
        system=naming.system or _slug(name, settings),
        title=naming.title or _title(name, settings),
        kind=_kind(name),
        model=name,
        revision=run.record.get("base_model_revision"),
        dataset=PurePath(settings["dataset"]).name,
        data_fingerprint=settings["data_fingerprint"],
        config=settings["config"] or DEFAULT_CONFIG,
        split_digest="",
        protocol=BLOCKS if run.split == BLOCK_SPLIT else TEST,
        training_share=float(protocol.get("training_share", 1)),
        seeds=tuple(run.seed for run in runs),
        settings=_without_folders(known),
        versions=run.record["versions"],
        git_revision=run.record.get("git_revision"),
        command=command(name, settings, [run.seed for run in runs]),
        resamples=RESAMPLES,
        scores={},
        predictions={},
    )


def _kind(name: str) -> Kind:
    if name not in BASELINES:
        return "model"
    return "floor" if name in FLOORS else "baseline"


def _slug(name: str, settings: Mapping[str, Any]) -> str:
    architecture = settings["recipe"].get("architecture", "")
    plain = re.sub(r"[^a-z0-9._-]+", "-", f"{PurePath(name).name} {architecture}".strip().lower())
    return plain.strip("-._")


def _title(name: str, settings: Mapping[str, Any]) -> str:
    if name in BASELINES:
        encoder = settings["recipe"].get("encoder")
        return f"{BASELINES[name].title} of {PurePath(encoder).name}" if encoder else BASELINES[name].title
    entry = load_registry().get(name)
    return f"{entry.title if entry else name}, {settings['recipe']['architecture']}"


def _without_folders(value: Any) -> Any:
    """The same settings, a folder of one machine reduced to its name."""
    if isinstance(value, Mapping):
        return {key: _without_folders(inner) for key, inner in value.items()}
    return PurePath(value).name if isinstance(value, str) and value.startswith("/") else value


def command(name: str, settings: Mapping[str, Any], seeds: Sequence[int]) -> str:
    """The command line that makes a run anew, from what it recorded."""
    recipe, crossed = settings["recipe"], "protocol" in settings
    words = [
        f"--dataset {PurePath(settings['dataset']).name}",
        f"--config {settings['config'] or DEFAULT_CONFIG}",
    ]
    if name in BASELINES:
        script = "cross_validate.py" if crossed else "svm_baseline.py"
        words.append(f"--baseline {name}")
        words += [f"--encoder {PurePath(recipe['encoder']).name}"] if recipe.get("encoder") else []
        words += [f"--prompt {shlex.quote(recipe['prompt'])}"] if recipe.get("prompt") is not None else []
    else:
        script = "cross_validate.py" if crossed else "finetune.py"
        words += [f"--model {name}", "--seeds " + " ".join(map(str, seeds)), *_recipe_words(recipe)]
    protocol = settings.get("protocol", {})
    if share := protocol.get("validation_share"):
        words.append(f"--validation-share {share:g}")
    if (share := protocol.get("training_share", 1)) < 1:
        words.append(f"--training-share {share:g}")
    return f"python training/{script} {' '.join(words)} --output runs/{PurePath(name).name}"


def _recipe_words(recipe: Mapping[str, Any]) -> list[str]:
    defaults = Recipe().to_dict()
    changed = {k: v for k, v in recipe.items() if v != defaults.get(k) and k != "per_device_batch_size"}
    return [
        f"--{key.replace('_', '-')}" + ("" if value is True else f" {shlex.quote(str(value))}")
        for key, value in changed.items()
    ]
