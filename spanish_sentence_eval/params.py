"""What a user may set, read once into frozen records."""

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import Any, Literal, get_args

from lyricsim_tools.errors import UserError

ProtocolName = Literal["compatible", "corrected"]
PathName = Literal["exact", "fast"]

# Keys of the ancestors' examples that never changed a figure here.
_HARMLESS_CLASSIFIER_KEYS = frozenset({"cudaEfficient"})
# What numpy's legacy generator, whose stream the figures come from, can be seeded with.
_LARGEST_SEED = 2**32 - 1
# Least, and most if there is one, of the settings that are whole numbers.
_COUNTS = {"batch_size": (1,), "kfold": (2,), "threads": (1,), "seed": (0, _LARGEST_SEED)}
_CLASSIFIER_COUNTS = {"nhid": 0, "tenacity": 0, "batch_size": 1, "epoch_size": 1, "max_epoch": 1}


class Params(dict[str, Any]):
    """A mapping whose keys are attributes too; a key that is absent reads as None.

    This is what ``prepare`` and ``batcher`` receive, and where they may keep things of their own.
    Plain dictionaries inside the given mapping are copied, so that nothing done here reaches the caller's.
    """

    def __init__(self, values: Mapping[str, Any] | None = None) -> None:
        super().__init__({key: _copied(value) for key, value in (values or {}).items()})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.get(name)

    def __setattr__(self, name: str, value: object) -> None:
        self[name] = value


def _copied(value: Any) -> Any:
    return {key: _copied(inner) for key, inner in value.items()} if type(value) is dict else value


@dataclass(frozen=True)
class Classifier:
    """The torch head's settings.

    Args:
        nhid: hidden units; 0 makes the head one linear layer.
        optim: optimiser, ``name`` or ``name,key=value,…``.
        batch_size: rows of a mini-batch.
        tenacity: how many checks without improvement are borne.
        epoch_size: epochs between two checks on the dev rows.
        max_epoch: how many epochs are run at most; the compatible protocol overshoots it.
        dropout: share of hidden units dropped in training, in [0, 1).
    """

    nhid: int = 0
    optim: str = "adam"
    batch_size: int = 64
    tenacity: int = 5
    epoch_size: int = 4
    max_epoch: int = 200
    dropout: float = 0.0


@dataclass(frozen=True)
class Settings:
    """Everything the engine reads from ``params``, checked.

    Args:
        task_path: the folder that holds ``senteval/`` and ``discoeval/``.
        usepytorch: the torch head; else scikit-learn's logistic regression.
        seed: of head initialisation, epoch order, hold-out, KFold folds and BSO's order.
        batch_size: sentences per call of the batcher.
        kfold: folds of the cross-validated heads.
        classifier: the torch head's settings.
        similarity: of two vectors, for STS; None is the cosine.
        protocol: ``compatible`` gives the literature's figures, ``corrected`` repairs what changes them.
        device: where the torch head runs: ``cpu``, ``cuda``, ``cuda:1``, ``mps``, or ``auto``.
        path: ``fast`` trains many fits at once, from the same draws by the same rules, and differs from
            the reference in the order of its sums alone; ``exact`` repeats the reference step by step.
        threads: CPU threads of the heads; None: as many as the published figures took, 1 for torch and 2
            for scikit-learn, whose sums round differently with another number.
        return_predictions: adds each item's prediction and gold value to the result.
        check_sizes: refuse files with another number of rows than upstream's, or with fewer bytes.
    """

    task_path: Path
    usepytorch: bool = True
    seed: int = 1111
    batch_size: int = 128
    kfold: int = 5
    classifier: Classifier = Classifier()
    similarity: Callable[[Any, Any], float] | None = None
    protocol: ProtocolName = "compatible"
    device: str = "cpu"
    path: PathName = "fast"
    threads: int | None = None
    return_predictions: bool = False
    check_sizes: bool = True


def with_upstream_defaults(params: Mapping[str, Any]) -> dict[str, Any]:
    """``params`` with what upstream's engine writes where the caller says nothing; batchers read some."""
    shared = ("usepytorch", "seed", "batch_size", "kfold")
    defaults = {f.name: f.default for f in fields(Settings) if f.name in shared}
    classifier = params.get("classifier") or {"nhid": Classifier().nhid}
    return {**defaults, "nhid": 0, **params, "classifier": classifier}


def read_settings(params: Mapping[str, Any]) -> Settings:
    """Check ``params`` and read them.

    Args:
        params: see :class:`Settings` for the keys; those that are absent or None take their defaults,
            keys of the caller's own are left alone.

    Raises:
        UserError: ``task_path`` is missing or a value is outside its range.
    """
    task_path = _required_path(params.get("task_path"))
    given = {f.name: params[f.name] for f in fields(Settings) if params.get(f.name) is not None}
    given["classifier"] = read_classifier(given.get("classifier") or {})
    counts = {key: _count(key, given[key], *limits) for key, limits in _COUNTS.items() if key in given}
    settings = Settings(**{**given, **counts, "task_path": task_path})
    _require_choice("protocol", settings.protocol, get_args(ProtocolName))
    _require_choice("path", settings.path, get_args(PathName))
    for name in ("usepytorch", "return_predictions", "check_sizes"):
        _require_choice(name, getattr(settings, name), (True, False))
    if settings.similarity is not None and not callable(settings.similarity):
        raise UserError(
            f"similarity is {settings.similarity!r}", "a function of two vectors, or None", "correct it"
        )
    return settings


def read_classifier(given: Mapping[str, Any]) -> Classifier:
    """Check the ``classifier`` mapping and read it; unknown keys are warned of and left out.

    Raises:
        UserError: a value is outside its range.
    """
    if not isinstance(given, Mapping):
        raise UserError(f"classifier is {given!r}", "a mapping such as {'nhid': 0}", "correct it")
    known = {f.name for f in fields(Classifier)}
    for key in sorted(set(given) - known - _HARMLESS_CLASSIFIER_KEYS):
        warnings.warn(
            f"params['classifier'] has the key {key!r}, which no head reads; known are {sorted(known)}",
            stacklevel=4,
        )
    classifier = Classifier(**{key: value for key, value in given.items() if key in known})
    dropout = classifier.dropout
    if not isinstance(dropout, Real) or not 0 <= dropout < 1:
        raise UserError(f"classifier['dropout'] is {dropout!r}", "a share from 0 to below 1", "correct it")
    counts = {
        key: _count(f"classifier[{key!r}]", getattr(classifier, key), least)
        for key, least in _CLASSIFIER_COUNTS.items()
    }
    return replace(classifier, dropout=float(dropout), **counts)


def optimiser_of(text: str) -> tuple[str, dict[str, float]]:
    """The optimiser's name and options.

    Args:
        text: ``name`` or ``name,key=value,…`` with numeric values, for example ``sgd,lr=0.1``.

    Raises:
        UserError: it is no text, or an option is no ``key=number`` with a finite number.
    """
    if not isinstance(text, str):
        raise _optimiser_fault(text, "it")
    name, *options = text.split(",")
    values: dict[str, float] = {}
    for option in options:
        key, _, value = option.partition("=")
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise _optimiser_fault(text, f"the option {option!r}")
        values[key.strip()] = number
    return name.strip().lower(), values


def _optimiser_fault(text: object, what: str) -> UserError:
    return UserError(
        f"classifier['optim'] is {text!r}",
        "a name, or name,key=number,…, such as 'adam' or 'sgd,lr=0.1'",
        f"correct {what}",
    )


def _required_path(value: object) -> Path:
    if isinstance(value, str | PathLike):
        return Path(value)
    raise UserError(
        "params has no task_path" if value is None else f"task_path is {value!r}",
        "the folder that holds senteval/ and discoeval/",
        "set params['task_path']",
    )


def _count(name: str, value: object, least: int, most: float = math.inf) -> int:
    """The value as Python's own integer, which torch's generators insist on."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not least <= int(value) <= most:
        limit = "" if most == math.inf else f" and at most {most}"
        raise UserError(f"{name} is {value!r}", f"a whole number of at least {least}{limit}", "correct it")
    return int(value)


def _require_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    if value not in choices:
        raise UserError(f"{name} is {value!r}", f"one of {', '.join(map(str, choices))}", "correct it")
