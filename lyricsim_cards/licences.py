"""What is known of the base models' licences."""

import functools
import tomllib
from collections.abc import Mapping
from importlib import resources


@functools.cache
def licences() -> Mapping[str, str]:
    """Hub id of a base model → the licence that its page stated."""
    text = resources.files("lyricsim_cards").joinpath("licences.toml").read_text("utf-8")
    return dict(tomllib.loads(text)["licences"])


def licence_head(base_model: str) -> dict[str, str]:
    """The head's licence keys: the base model's, or that it has to be looked up there."""
    if known := licences().get(base_model):
        return {"license": known}
    return {"license": "other", "license_name": "see-base-model"}


def licence_sentence(base_model: str) -> str:
    """What a card says of the weights' licence."""
    known = licences().get(base_model)
    if "/" not in base_model:
        return f"The weights derive from a local model, `{base_model}`, whose licence was not recorded."
    if known is None:
        return (
            f"The weights derive from `{base_model}`, whose licence was not looked up here: see its page. "
            "Its terms apply to these weights."
        )
    return (
        f"The weights derive from `{base_model}`, whose page states {known}. "
        "Its terms apply to these weights."
    )
