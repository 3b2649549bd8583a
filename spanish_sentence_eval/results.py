"""The results document: what was run on what, with which figures, in plain JSON."""

import math
import platform
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from filelock import FileLock

from lyricsim_tools.atomic import write_json
from lyricsim_tools.errors import UserError
from lyricsim_tools.versions import installed_versions
from spanish_sentence_eval.encoders.base import Identity
from spanish_sentence_eval.headline import GROUP_OF, Evidence, headline_of
from spanish_sentence_eval.heads.fitting import percent
from spanish_sentence_eval.manifest import TaskFiles
from spanish_sentence_eval.task import ACC, Task

FORMAT = "spanish-senteval results 1"
_PACKAGES = ("lyricsim", "torch", "numpy", "scipy", "scikit-learn", "transformers", "sentence-transformers")
# Seconds; another run holds the file for a moment only.
_PATIENCE = 60
# Item by item, and said elsewhere in the record.
_NOT_FIGURES = frozenset({"predictions", "yhat"})


def environment(settings: Mapping[str, Any]) -> dict[str, Any]:
    """What a figure may depend on besides data, encoder and settings; threads None: the engine's default."""
    return {
        "platform": f"{platform.system()} {platform.machine()}",
        "device": settings["device"],
        "threads": settings["threads"],
        "versions": installed_versions(_PACKAGES),
    }


def task_record(
    task: Task, result: Mapping[str, Any], files: TaskFiles, seed: int, seconds: float, keep_items: bool
) -> dict[str, Any]:
    """One finished task as the document holds it.

    Args:
        task: its record.
        result: what the engine returned, with predictions.
        files: the task's data.
        seed: of the interval's bootstrap.
        seconds: wall time of encoding and head together.
        keep_items: also keep hits, scores and gold scores item by item, for paired comparisons.
    """
    evidence = evidence_of(task, result)
    headline = headline_of(task, result, evidence, seed)
    record: dict[str, Any] = {
        "benchmark": task.package,
        "group": GROUP_OF[task.name],
        "kind": task.kind,
        "headline": {**vars(headline), "interval": vars(headline.interval) if headline.interval else None},
        "chance": chance_of(task, result),
        "figures": plain(figures_of(result)),
        "data": {"digest": files.digest, "pinned": files.pinned, "files": dict(files.hashes)},
        "seconds": round(seconds, 1),
    }
    return {**record, **_items(evidence)} if keep_items else record


def chance_of(task: Task, result: Mapping[str, Any]) -> float | None:
    """The headline figure of always saying the test items' most frequent class; 0 for correlations."""
    if task.headline != ACC:
        return task.chance
    [pair] = result["predictions"].values()
    return percent(max(Counter(pair["gold"]).values()) / len(pair["gold"]))


def figures_of(result: Mapping[str, Any]) -> dict[str, Any]:
    """The engine's result without what goes item by item, at any depth."""
    return {
        key: figures_of(value) if isinstance(value, Mapping) else value
        for key, value in result.items()
        if key not in _NOT_FIGURES
    }


def evidence_of(task: Task, result: Mapping[str, Any]) -> Evidence:
    """Hits or scores, item by item, from the engine's predictions."""
    pairs: Mapping[str, Mapping[str, list[float]]] = result["predictions"]
    if task.headline != ACC:
        return Evidence(
            scores={subset: pair["predicted"] for subset, pair in pairs.items()},
            gold={subset: pair["gold"] for subset, pair in pairs.items()},
        )
    [pair] = pairs.values()
    hits = (predicted == gold for predicted, gold in zip(pair["predicted"], pair["gold"], strict=True))
    return Evidence(hits="".join("1" if hit else "0" for hit in hits))


def document(
    identity: Identity,
    settings: Mapping[str, Any],
    where: Mapping[str, Any],
    skipped: Mapping[str, str],
) -> dict[str, Any]:
    """A results document without tasks as yet.

    Args:
        identity: of the encoder.
        settings: of the heads, with the protocol.
        where: see :func:`environment`.
        skipped: tasks that were asked for and left out, with the reason.
    """
    return {
        "format": FORMAT,
        "encoder": {**vars(identity), "settings": dict(identity.settings)},
        "settings": dict(settings),
        "environment": dict(where),
        "skipped": dict(skipped),
        "tasks": {},
    }


def read_document(path: Path) -> dict[str, Any]:
    """Read a results file.

    Raises:
        UserError: it is missing or is not one.
    """
    import json

    expected = "a file that 'spanish-senteval run' wrote"
    if not path.is_file():
        raise UserError(f"there is no file {path}", expected, "correct the path")
    try:
        found = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise UserError(f"{path} is not JSON: {error}", expected, "correct the path") from error
    whole = isinstance(found, dict) and found.get("format") == FORMAT
    if not whole or not all(isinstance(found.get(part), dict) for part in ("settings", "tasks")):
        raise UserError(f"{path} is JSON, but no results file", expected, "correct the path")
    return found


def earlier_tasks(path: Path, new: Mapping[str, Any]) -> dict[str, Any]:
    """The tasks of an existing results file that the new document goes on with; none if there is no file.

    Raises:
        UserError: the file is something else, or holds another encoder's or other settings' figures.
    """
    if not path.exists():
        return {}
    old = read_document(path)
    for part, keys in (("encoder", ("kind", "fingerprint", "settings")), ("settings", new["settings"])):
        differing = [key for key in keys if old[part].get(key) != new[part][key]]
        if differing:
            raise UserError(
                f"{path} holds results of another {part} ({', '.join(differing)} differ)",
                f"no file, or one of the same {part}",
                "choose another --output; nothing was changed",
            )
    tasks: dict[str, Any] = old["tasks"]
    return tasks


def keep_in_file(path: Path, results: dict[str, Any]) -> None:
    """Write the document, with the tasks that other runs have added to the file meanwhile.

    Raises:
        UserError: see :func:`earlier_tasks`; nothing was changed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_name(f".{path.name}.lock"), timeout=_PATIENCE):
        results["tasks"] = {**earlier_tasks(path, results), **results["tasks"]}
        write_json(path, results)


def plain(value: Any) -> Any:
    """The same value as JSON knows it: numbers that are not finite become None."""
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


def _items(evidence: Evidence) -> dict[str, Any]:
    return {key: plain(value) for key, value in vars(evidence).items() if value}
