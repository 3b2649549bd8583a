"""Result files: what ``results/*.json`` hold, one recipe under one protocol each, checked key by key.

A result holds predictions, never ratings or text. What it states about itself (scores) is recomputed by
``measured`` before anything is printed.
"""

import json
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from lyricsim_tools.errors import UserError

VERSION = 1
Kind = Literal["floor", "baseline", "model"]
Protocol = Literal["song-disjoint block cross-validation", "test split"]
BLOCKS: Protocol = "song-disjoint block cross-validation"
TEST: Protocol = "test split"
#: What cross-validation calls its one split; lyricsim_models.cross_validation, which says so, needs torch.
BLOCK_SPLIT = "cross_validation"

_SYSTEM = re.compile(r"[a-z0-9][a-z0-9._-]*")
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Result:
    """One result file.

    Args:
        system: short name that the results of one recipe share: lower case, digits, ``.``, ``_``, ``-``.
        title: for people.
        kind: a floor knows no meaning, a baseline is fitted in seconds, a model is trained.
        model: name or Hub id of the pretrained model, or of the baseline.
        revision: its commit; None where it has none.
        dataset: name of the dataset.
        data_fingerprint: as the run recorded it: SHA-256 of all that training saw.
        config: the dataset's configuration.
        split_digest: names the splits, or for block cross-validation the groups of songs.
        protocol: how the predictions were made.
        training_share: share of each training set that was used; below 1 for a learning curve only.
        seeds: one for each list of predictions; 0 for a recipe without chance.
        settings: the recipe's.
        versions: Python and packages.
        git_revision: of the code; None where unknown.
        command: that makes the result anew.
        resamples: behind each interval among the scores.
        scores: as stated, by name.
        predictions: seed, as text, to pair id to predicted score.
    """

    system: str
    title: str
    kind: Kind
    model: str
    revision: str | None
    dataset: str
    data_fingerprint: str
    config: str
    split_digest: str
    protocol: Protocol
    training_share: float
    seeds: tuple[int, ...]
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    git_revision: str | None
    command: str
    resamples: int
    scores: Mapping[str, Any]
    predictions: Mapping[str, Mapping[str, float]]

    @property
    def file_name(self) -> str:
        """The name of its file: one for each system, protocol, configuration and training share."""
        place = "blocks" if self.protocol == BLOCKS else "test"
        share = "" if self.training_share == 1 else f".{self.training_share:g}"
        return f"{self.system}.{self.config}.{place}{share}.json"

    def to_dict(self) -> dict[str, Any]:
        """The file's content."""
        return {"schema": VERSION, **asdict(self), "seeds": list(self.seeds)}


def read_result(path: Path) -> Result:
    """Read and check one file.

    Raises:
        UserError: not JSON, another schema, unknown or missing keys, or a value that can't be.
    """
    try:
        content = json.loads(
            path.read_text("utf-8"), parse_constant=_no_constant, object_pairs_hook=_no_repeats
        )
    except (ValueError, UnicodeDecodeError) as error:
        raise _refused(
            path, f"it is not JSON: {error}", "a file that `lyricsim-leaderboard add` wrote"
        ) from error
    return parse_result(content, path)


def parse_result(content: Any, path: Path) -> Result:
    """A result from a file's content.

    Args:
        content: parsed JSON.
        path: of the file, for messages; its name must fit what it holds.

    Raises:
        UserError: see ``read_result``.
    """
    if not isinstance(content, dict) or content.get("schema") != VERSION:
        found = content.get("schema") if isinstance(content, dict) else type(content).__name__
        raise _refused(path, f"its schema is {found!r}", f"schema {VERSION}")
    keys = set(content) - {"schema"}
    if wrong := sorted(keys ^ set(_CHECKS)):
        raise _refused(path, f"unknown or missing keys: {', '.join(wrong)}", ", ".join(_CHECKS))
    for key, (expected, holds) in _CHECKS.items():
        if not holds(content[key]):
            raise _refused(path, f"{key} is {_short(content[key])}", expected)
    result = Result(**{key: content[key] for key in _CHECKS if key != "seeds"}, seeds=tuple(content["seeds"]))
    if sorted(result.predictions) != sorted(map(str, result.seeds)):
        raise _refused(path, f"predictions of the seeds {', '.join(result.predictions)}", "one list a seed")
    if path.name != result.file_name:
        raise _refused(
            path, f"its name is {path.name}", f"{result.file_name}, which follows from what it holds"
        )
    return result


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """JSON readers keep the last of two values without a word."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)!r} stands twice")
    return found


def _refused(path: Path, given: str, expected: str) -> UserError:
    return UserError(
        f"{path}: {given}", expected, "make the file anew with `lyricsim-leaderboard add RUN_FOLDER`"
    )


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _text_or_none(value: Any) -> bool:
    return value is None or _text(value)


def _digest(value: Any) -> bool:
    return isinstance(value, str) and bool(_DIGEST.fullmatch(value))


def _number(value: Any) -> bool:
    # A whole number may be larger than any float; NaN fails every comparison.
    largest = sys.float_info.max
    return isinstance(value, int | float) and not isinstance(value, bool) and -largest <= value <= largest


def _seeds(value: Any) -> bool:
    whole = isinstance(value, list) and all(isinstance(s, int) and not isinstance(s, bool) for s in value)
    return whole and bool(value) and len(set(value)) == len(value) and min(value) >= 0


def _predictions(value: Any) -> bool:
    lists = isinstance(value, dict) and all(isinstance(inner, dict) and inner for inner in value.values())
    return lists and all(_number(number) for inner in value.values() for number in inner.values())


def _interval(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(v is None or _number(v) for v in value)


def _scores(value: Any) -> bool:
    return isinstance(value, dict) and all(v is None or _number(v) or _interval(v) for v in value.values())


def _one_of(names: tuple[str, ...]) -> tuple[str, Callable[[Any], bool]]:
    return "one of " + ", ".join(names), lambda value: value in names


_CHECKS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "system": (
        "lower-case letters, digits, '.', '_' and '-'",
        lambda value: isinstance(value, str) and bool(_SYSTEM.fullmatch(value)),
    ),
    "title": ("a text", _text),
    "kind": _one_of(get_args(Kind)),
    "model": ("a text", _text),
    "revision": ("a text or null", _text_or_none),
    "dataset": ("a text", _text),
    "data_fingerprint": ("a SHA-256", _digest),
    "config": ("a text", _text),
    "split_digest": ("a SHA-256", _digest),
    "protocol": _one_of(get_args(Protocol)),
    "training_share": ("a number above 0, up to 1", lambda value: _number(value) and 0 < value <= 1),
    "seeds": ("different whole numbers, at least one", _seeds),
    "settings": ("an object", lambda value: isinstance(value, dict)),
    "versions": ("an object of texts", lambda v: isinstance(v, dict) and all(map(_text, v.values()))),
    "git_revision": ("a text or null", _text_or_none),
    "command": ("a text", _text),
    "resamples": ("a whole number from 100 to 100,000", lambda v: type(v) is int and 100 <= v <= 100_000),
    "scores": ("an object of numbers, pairs of numbers or null", _scores),
    "predictions": ("an object: seed to an object of pair ids and finite numbers", _predictions),
}
