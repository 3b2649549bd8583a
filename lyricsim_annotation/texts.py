"""The pages' words in Spanish and English."""

import tomllib
from functools import cache
from importlib.resources import files
from string import Template
from typing import Literal, get_args

from lyricsim_dataset.records import ScaleStep

Language = Literal["es", "en"]
LANGUAGES: tuple[Language, ...] = get_args(Language)


@cache
def texts() -> dict[Language, dict[str, str]]:
    """Language to key to text."""
    read = tomllib.loads((files(__package__) / "texts.toml").read_text("utf-8"))
    return {language: read[language] for language in LANGUAGES}


def say(language: Language, key: str, **values: object) -> str:
    """One text, its ``$names`` replaced."""
    return Template(texts()[language][key]).substitute(values)


def other(language: Language) -> Language:
    """The language that the page offers to switch to."""
    return "en" if language == "es" else "es"


def known_language(name: str | None) -> Language | None:
    """The language of that name, if it is one of ours."""
    return next((language for language in LANGUAGES if language == name), None)


def step_name(step: ScaleStep, language: Language) -> str:
    """The name of a step of the scale."""
    return step.spanish if language == "es" else step.english


def step_meaning(step: ScaleStep, language: Language) -> str:
    """What a step of the scale says about two lyrics."""
    return step.meaning_spanish if language == "es" else step.meaning_english
