"""The encoders this project knows, as validated records read from ``registry.toml``; imports no torch."""

import dataclasses
import difflib
import functools
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from lyricsim_tools.errors import UserError

Record = TypeVar("Record")

#: The import name of each distribution that a tokenizer may need besides transformers.
IMPORT_NAMES = {"sentencepiece": "sentencepiece", "protobuf": "google.protobuf", "tiktoken": "tiktoken"}


@dataclass(frozen=True)
class Scores:
    """Three scores as the paper prints them, in per cent (tables 3 and 4)."""

    combined: float
    spearman: float
    pearson: float


@dataclass(frozen=True)
class GridPoint:
    """One point of the paper's search space (section 5.3): batch size, weight decay, learning rate."""

    batch_size: int
    weight_decay: float
    learning_rate: float


@dataclass(frozen=True)
class Pretraining:
    """What annex 3 says of a model's pre-training; None where it says "Not specified" or nothing."""

    steps: str | None = None
    sequence_length: int | None = None
    batch_size: int | None = None
    epochs: int | None = None
    optimizer: str | None = None


@dataclass(frozen=True)
class PaperResult:
    """What the paper reports of a model.

    Args:
        best: its best point of the grid (table 5).
        development: scores on the development set (table 4).
        test: scores on the test set (table 3).
        sts_combined: combined score on Spanish STS, quoted in table 3; None where it has "-".
    """

    best: GridPoint
    development: Scores
    test: Scores
    sts_combined: float | None = None


@dataclass(frozen=True)
class ModelEntry:
    """One encoder of the registry.

    Args:
        name: the short name that commands accept.
        title: the name people read; the paper's own for its eight.
        hub_id: its repository on the Hub.
        revision: commit to use; empty for the newest.
        parameters: how many, rounded.
        architecture: ``model_type`` of its configuration.
        languages: ``es`` or ``multilingual``.
        positions: rows of its position table.
        max_tokens: longest usable input; RoBERTa-style models lose two positions to their padding offset.
        fp16: whether half precision training is safe.
        line_breaks: whether its tokenizer tells a line break from a space; None where nobody checked.
        dropout: as its configuration has it; None where nobody checked.
        checkpoint_dtype: the precision its weights are stored in.
        packages: distributions its tokenizer needs besides transformers.
        prompt: what its authors put before each text for similarity.
        mirror: a second repository that holds the same weights; empty if none is known.
        hub_id_inferred: the paper names the model but not the repository.
        note: one line for people.
        pretraining: annex 3; None for models that are not the paper's.
        paper: the paper's results; None for models that are not the paper's.
    """

    name: str
    title: str
    hub_id: str
    revision: str
    parameters: int
    architecture: str
    languages: str
    positions: int
    max_tokens: int
    fp16: bool
    line_breaks: bool | None = None
    dropout: float | None = None
    checkpoint_dtype: str = "float32"
    packages: tuple[str, ...] = ()
    prompt: str = ""
    mirror: str = ""
    hub_id_inferred: bool = False
    note: str = ""
    pretraining: Pretraining | None = None
    paper: PaperResult | None = None

    def __post_init__(self) -> None:
        _check_entry(self)


@dataclass(frozen=True)
class Model:
    """What a user named, resolved.

    Args:
        reference: what ``from_pretrained`` takes: a Hub id or an absolute folder.
        revision: the commit to pass along; None for the newest, and for folders.
        entry: its record; None for a folder or a Hub id the registry does not know.
    """

    reference: str
    revision: str | None = None
    entry: ModelEntry | None = None

    @property
    def prompt(self) -> str:
        """What to put before each text for similarity; empty for most models."""
        return self.entry.prompt if self.entry else ""


def _check_entry(entry: ModelEntry) -> None:
    if entry.hub_id.count("/") != 1:
        raise _invalid(entry.name, f"hub_id = {entry.hub_id!r}", "an id of the form owner/name")
    if not 0 < entry.max_tokens <= entry.positions:
        raise _invalid(entry.name, f"max_tokens = {entry.max_tokens}", f"1 to {entry.positions} (positions)")
    if unknown := sorted(set(entry.packages) - set(IMPORT_NAMES)):
        raise _invalid(entry.name, f"packages = {unknown}", f"some of {sorted(IMPORT_NAMES)}")
    if entry.parameters <= 0:
        raise _invalid(entry.name, f"parameters = {entry.parameters}", "a positive number")


def _invalid(name: str, given: str, expected: str) -> UserError:
    return UserError(
        f"model {name!r} of the registry has {given}", expected, "correct its table in registry.toml"
    )


@functools.cache
def load_registry() -> Mapping[str, ModelEntry]:
    """All known models by name: the paper's eight first, in the order of its tables, then newer ones."""
    return parse_registry(resources.files("lyricsim_models").joinpath("registry.toml").read_text("utf-8"))


def parse_registry(text: str) -> Mapping[str, ModelEntry]:
    """Read and validate the text of a registry file.

    Raises:
        UserError: not TOML, an unknown or missing key, a value of the wrong type, a name or id twice.
    """
    try:
        tables = tomllib.loads(text)["model"]
    except (tomllib.TOMLDecodeError, KeyError) as error:
        raise UserError(
            f"the registry cannot be read: {error}", "[[model]] tables in TOML", "correct it"
        ) from error
    entries = [_record(ModelEntry, table, f"model {table.get('name', '?')!r}") for table in tables]
    for key in ("name", "hub_id"):
        _refuse_repeats(key, [getattr(entry, key) for entry in entries])
    return {entry.name: entry for entry in entries}


def _refuse_repeats(key: str, values: list[str]) -> None:
    if repeated := sorted({value for value in values if values.count(value) > 1}):
        raise UserError(
            f"the registry has {key} {repeated} more than once", "each once", "correct registry.toml"
        )


def _record(kind: type[Record], table: Mapping[str, Any], where: str) -> Record:
    """A frozen record from a TOML table, every key known and every value of its declared type."""
    hints = get_type_hints(kind)
    required = {
        f.name
        for f in dataclasses.fields(kind)  # type: ignore[arg-type]
        if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
    }
    wrong = sorted(set(table) - set(hints)) or sorted(required - set(table))
    if wrong:
        raise UserError(
            f"{where} of the registry has unknown or missing keys: {', '.join(wrong)}",
            f"the keys {', '.join(hints)}",
            "correct registry.toml",
        )
    return kind(**{key: _typed(hints[key], value, f"{where}, {key}") for key, value in table.items()})


def _typed(hint: Any, value: Any, where: str) -> Any:
    options = get_args(hint) if get_origin(hint) is not tuple else (hint,)
    for option in options or (hint,):
        if isinstance(value, dict) and dataclasses.is_dataclass(option):
            return _record(option, value, where)  # type: ignore[arg-type]
        if get_origin(option) is tuple and isinstance(value, list):
            return tuple(value)
        if type(value) is option:
            return value
    raise UserError(
        f"{where} of the registry is {value!r}", f"a value of type {hint}", "correct registry.toml"
    )


def paper_models() -> tuple[ModelEntry, ...]:
    """The paper's eight, in the order of its tables."""
    return tuple(entry for entry in load_registry().values() if entry.paper)


def resolve(name: str) -> Model:
    """Find what a user means by a model's name.

    Args:
        name: a registry name (``maria-base``), the paper's name (``MarIA base``), a Hub id (``owner/name``)
            or a folder. An existing folder wins over the others.

    Raises:
        UserError: none of these; near names are suggested.
    """
    if name and (folder := Path(name)).is_dir():
        return Model(str(folder.resolve()))
    if entry := _known(name):
        return Model(entry.hub_id, entry.revision or None, entry)
    if name.count("/") == 1 and not name.startswith(("/", ".")) and all(name.split("/")):
        return Model(name)
    near = difflib.get_close_matches(name.lower(), load_registry(), n=3)
    raise UserError(
        f"no model called {name!r}",
        "a folder, a Hub id of the form owner/name, or one of: " + ", ".join(load_registry()),
        f"did you mean {', '.join(near)}?" if near else "check the spelling or the folder's path",
    )


def canonical_name(name: str) -> str:
    """One name for a model that has several: the registry's for its entries, any other as given.

    Raises:
        UserError: no such model.
    """
    model = resolve(name)
    is_mirror = model.entry is not None and name == model.entry.mirror
    return name if model.entry is None or is_mirror else model.entry.name


def _known(name: str) -> ModelEntry | None:
    for entry in load_registry().values():
        if name in (entry.hub_id, entry.mirror) and name:
            return dataclasses.replace(entry, hub_id=name)
        if name.lower() in (entry.name, entry.title.lower()):
            return entry
    return None


def is_pair_model(model: Model) -> bool:
    """Whether a model has a head on both lyrics; any other one is used as a sentence encoder.

    Raises:
        UserError: there is no such model, or one of a kind that transformers does not know.
    """
    from transformers import AutoConfig

    try:
        config = AutoConfig.from_pretrained(model.reference, revision=model.revision)
    except (OSError, ValueError) as error:
        raise unloadable(model, error) from error
    return any(name.endswith("ForSequenceClassification") for name in config.architectures or ())


def unloadable(model: Model, error: Exception) -> UserError:
    """What a user is told where transformers cannot load a model."""
    return UserError(
        f"{model.reference} cannot be loaded: {error}",
        "a registry name, or a folder or Hub id with config.json, weights and a tokenizer that transformers "
        "knows",
        "check the name, the network and `hf auth login`",
    )


def describe(entries: Iterable[ModelEntry]) -> list[tuple[str, str, str, int, str]]:
    """Rows for people: name, title, Hub id, parameters in millions, note."""
    return [(e.name, e.title, e.hub_id, e.parameters // 1_000_000, e.note) for e in entries]
