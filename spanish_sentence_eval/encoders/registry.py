"""Encoders by name: the source document's five short names, and how any other name is understood."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lyricsim_tools.errors import UserError
from spanish_sentence_eval.encoders.base import KINDS, Encoder, EncoderOptions, Kind


@dataclass(frozen=True)
class ShortName:
    """A model of the source document.

    Args:
        name: the document's ``--model_name``.
        hub_id: where its weights are today.
        note: what a user must know about the id.
    """

    name: str
    hub_id: str
    note: str = ""


SHORT_NAMES: Mapping[str, ShortName] = {
    model.name: model
    for model in (
        ShortName("beto", "dccuchile/bert-base-spanish-wwm-uncased"),
        ShortName("bertin", "bertin-project/bertin-roberta-base-spanish"),
        ShortName(
            "roberta",
            "BSC-LT/roberta-base-bne",
            "the literature's id, PlanTL-GOB-ES/roberta-base-bne, is gone from the Hub; this is its mirror",
        ),
        ShortName("electra", "skimai/electra-small-spanish"),
        ShortName("mbert", "google-bert/bert-base-multilingual-uncased"),
    )
}
# Module and class by kind: imported only when such a model is asked for, since each needs heavy libraries.
_BUILDERS: Mapping[str, tuple[str, str]] = {
    "transformer": ("transformer", "TransformerEncoder"),
    "sentence-transformers": ("sentence_transformer", "SentenceTransformersEncoder"),
    "sent2vec": ("sent2vec", "Sent2VecEncoder"),
    "elmo": ("elmo", "ElmoEncoder"),
    "characters": ("characters", "CharacterEncoder"),
}
# What each kind reads of the options that a user may leave out; the others are refused, not ignored.
_READ: Mapping[str, frozenset[str]] = {
    "transformer": frozenset({"layer", "pooling", "prompt", "precision", "revision"}),
    # It says itself why layer and pooling are not for it.
    "sentence-transformers": frozenset({"layer", "pooling", "prompt", "precision", "revision"}),
    "sent2vec": frozenset({"model_path"}),
    "elmo": frozenset({"model_path"}),
    "characters": frozenset(),
}
_NAMES_OF_KINDS: Mapping[str, Kind] = {"chars64": "characters", "sent2vec": "sent2vec", "elmo": "elmo"}


def kind_of(name: str) -> Kind:
    """What kind of encoder a name means, if the user does not say.

    A short name, a Hub id or a folder is a transformer, except a folder with ``modules.json`` and ids of the
    ``sentence-transformers`` owner, which are sentence-transformers models.
    """
    if name in _NAMES_OF_KINDS:
        return _NAMES_OF_KINDS[name]
    if (Path(name) / "modules.json").is_file() or name.startswith("sentence-transformers/"):
        return "sentence-transformers"
    return "transformer"


def build_encoder(name: str, options: EncoderOptions | None = None, kind: str | None = None) -> Encoder:
    """Load an encoder.

    Args:
        name: "chars64", "sent2vec", "elmo", a short name, a Hub id or a folder.
        options: how to encode; the defaults are the literature's.
        kind: one of :data:`KINDS`; None: :func:`kind_of`.

    Raises:
        UserError: an unknown kind, an option that the kind does not read, or whatever keeps the model from
            being loaded.
    """
    options = options or EncoderOptions()
    kind = kind or kind_of(name)
    if kind not in _BUILDERS:
        raise UserError(f"encoder kind {kind!r}", f"one of {', '.join(KINDS)}", "choose another --encoder")
    _refuse_unread(options, kind)
    module, class_name = _BUILDERS[kind]
    encoder_class = getattr(importlib.import_module(f"spanish_sentence_eval.encoders.{module}"), class_name)
    source = SHORT_NAMES[name].hub_id if name in SHORT_NAMES else name
    encoder: Encoder = encoder_class(name, source, options)
    return encoder


def _refuse_unread(options: EncoderOptions, kind: str) -> None:
    for name in sorted(frozenset[str]().union(*_READ.values()) - _READ[kind]):
        given = getattr(options, name)
        if given != getattr(EncoderOptions(), name):
            readers = [reader for reader, read in _READ.items() if name in read]
            raise UserError(
                f"--{name} {given} for a {kind} model",
                f"--{name} with {' or '.join(readers)} alone",
                "leave it out" if name != "model_path" else "give the model's folder with --model",
            )
