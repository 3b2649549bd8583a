"""Our own list of what the Hub requires of a card's head; the real check runs on its server."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

CardKind = Literal["model", "dataset", "space"]

_REPO_ID = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*")
_LANGUAGE = re.compile(r"[a-z]{2,3}|multilingual|code")
_LICENCES = (
    *("apache-2.0", "mit", "other", "unknown", "unlicense", "openrail", "afl-3.0", "artistic-2.0", "bsl-1.0"),
    *("bsd", "bsd-2-clause", "bsd-3-clause", "cc", "cc0-1.0", "cc-by-2.0", "cc-by-3.0", "cc-by-4.0"),
    *("cc-by-sa-3.0", "cc-by-sa-4.0", "cc-by-nc-3.0", "cc-by-nc-4.0", "cc-by-nd-4.0", "cc-by-nc-nd-4.0"),
    *("cc-by-nc-sa-3.0", "cc-by-nc-sa-4.0", "gpl", "gpl-2.0", "gpl-3.0", "lgpl", "lgpl-2.1", "lgpl-3.0"),
    *("agpl-3.0", "mpl-2.0", "isc", "ecl-2.0", "epl-2.0", "eupl-1.1", "wtfpl", "zlib", "pddl", "odbl"),
)
_PIPELINES = ("text-classification", "sentence-similarity", "feature-extraction", "text-ranking")
_SIZES = re.compile(r"n<1K|\d+[KM]?<n<\d+[KMB]?|n>1T")
_COLOURS = ("red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray")
_SDKS = ("gradio", "docker", "static", "streamlit")


@dataclass(frozen=True)
class Key:
    """One key of a head.

    Args:
        name: the key.
        expected: what its value must be, in words.
        accepts: whether a value is good.
        required: whether it must be there.
    """

    name: str
    expected: str
    accepts: Callable[[Any], bool]
    required: bool = False


def _text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _one_of(names: Sequence[str]) -> Callable[[Any], bool]:
    return lambda value: value in names


def _each(accepts: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: bool(value) and all(map(accepts, value if isinstance(value, list) else [value]))


def _matches(pattern: re.Pattern[str]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and bool(pattern.fullmatch(value))


def _is_config(value: Any) -> bool:
    return isinstance(value, dict) and _text(value.get("config_name")) and bool(value.get("data_files"))


_COMMON = (
    Key("license", "a licence identifier of the Hub's list", _each(_one_of(_LICENCES))),
    Key("tags", "a list of texts", _each(_text)),
)
_LANGUAGE_KEY = Key("language", "ISO 639 codes", _each(_matches(_LANGUAGE)), required=True)
KEYS: Mapping[CardKind, tuple[Key, ...]] = {
    "model": (
        *_COMMON,
        _LANGUAGE_KEY,
        Key("library_name", "a text", _text, required=True),
        Key("pipeline_tag", f"one of {', '.join(_PIPELINES)}", _one_of(_PIPELINES), required=True),
        Key("base_model", "owner/name", _each(_matches(_REPO_ID))),
        Key("datasets", "a list of owner/name", _each(_matches(_REPO_ID))),
        Key("metrics", "a list of texts", _each(_text)),
    ),
    "dataset": (
        *_COMMON,
        _LANGUAGE_KEY,
        Key("configs", "a list with config_name and data_files", _each(_is_config), required=True),
        Key("dataset_info", "a mapping, or a list of them", bool),
        Key("pretty_name", "a text", _text),
        Key("task_categories", "a list of texts", _each(_text), required=True),
        Key("size_categories", "such as 1K<n<10K", _each(_matches(_SIZES))),
    ),
    "space": (
        *_COMMON,
        Key("title", "a text", _text, required=True),
        Key("sdk", f"one of {', '.join(_SDKS)}", _one_of(_SDKS), required=True),
        Key("emoji", "a text", _text),
        Key("colorFrom", f"one of {', '.join(_COLOURS)}", _one_of(_COLOURS)),
        Key("colorTo", f"one of {', '.join(_COLOURS)}", _one_of(_COLOURS)),
        Key("sdk_version", "a version in quotes", _text),
        Key("app_file", "a file name", _text),
        Key("short_description", "at most 60 characters", lambda v: _text(v) and len(v) <= 60),
    ),
}


def kind_of(head: Mapping[str, Any]) -> CardKind:
    """What a card's head describes."""
    if "sdk" in head:
        return "space"
    return "dataset" if "configs" in head or "dataset_info" in head else "model"


def head_faults(head: Mapping[str, Any]) -> list[str]:
    """What is wrong with a card's head, each in words; empty if nothing is.

    Args:
        head: the YAML head as a mapping.
    """
    kind = kind_of(head)
    found = [] if "license" in head or kind == "space" else ["license is missing"]
    for key in KEYS[kind]:
        if key.name not in head:
            found += [f"{key.name} is missing"] if key.required else []
        elif not key.accepts(head[key.name]):
            found.append(f"{key.name} is {head[key.name]!r}; expected {key.expected}")
    if head.get("license") == "other" and not _text(head.get("license_name")):
        found.append("license is other, which needs license_name")
    return found + _index_faults(head.get("model-index"))


def _index_faults(index: Any) -> list[str]:
    """The Hub wants a name, and of each result a task type, a dataset's type and name, and metrics."""
    if index is None:
        return []
    if not isinstance(index, list) or not all(isinstance(entry, dict) for entry in index):
        return ["model-index is no list of mappings"]
    found = [] if all(_text(entry.get("name")) for entry in index) else ["model-index without a name"]
    for result in [result for entry in index for result in entry.get("results") or []]:
        for path in ("task.type", "dataset.type", "dataset.name"):
            outer, inner = path.split(".")
            if not _text((result.get(outer) or {}).get(inner)):
                found.append(f"model-index: a result without {path}")
        metrics = result.get("metrics") or []
        if not metrics or not all(_text(m.get("type")) and m.get("value") is not None for m in metrics):
            found.append("model-index: a result without metrics, each with type and value")
    return found
