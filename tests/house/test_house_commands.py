"""Every command that a page shows is one that exists, with options that it has."""

import contextlib
import functools
import importlib
import importlib.util
import io
import re
import shlex
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support import REPOSITORY

PROGRAMS: dict[str, str] = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["scripts"]
PAGES = [
    REPOSITORY / "README.md",
    *sorted((REPOSITORY / "docs").glob("*.md")),
    *sorted(REPOSITORY.glob("model_cards/*/README.md")),
    *sorted(REPOSITORY.glob("lyricsim_*/README.md")),
]
# Options that one script hands on to another.
HANDED_ON = {"training/cross_validate.py": ("training/finetune.py",)}


def shown_commands(page: Path) -> Iterator[list[str]]:
    """The shell commands of a page's code blocks, as words, with the block's own variables filled in."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S)
    for block in (text for language, text in blocks if language in ("", "bash")):
        variables: dict[str, str] = {}
        for line in block.replace("\\\n", " ").splitlines():
            for name, value in variables.items():
                line = line.replace(f"${name}", value)
            words = line_words(line)
            if len(words) == 1 and (given := re.fullmatch(r"(\w+)=(.*)", words[0])):
                variables[given[1]] = given[2]
            elif words:
                yield words


def line_words(line: str) -> list[str]:
    """The words of a line; none where it is no shell, such as a path with an apostrophe."""
    with contextlib.suppress(ValueError):
        return shlex.split(line, comments=True)
    return []


def own_part(words: list[str]) -> tuple[str, list[str]] | None:
    """The program or script of this project that a command starts, and what it is given."""
    if words[0] in PROGRAMS:
        return words[0], words[1:]
    for place, word in enumerate(words):
        if re.fullmatch(r"(training|benchmarks)/\w+\.py", word):
            return word, words[place + 1 :]
    return None


COMMANDS = sorted(
    {
        (str(page.relative_to(REPOSITORY)), part[0], tuple(part[1]))
        for page in PAGES
        for words in shown_commands(page)
        if (part := own_part(words))
    }
)


def main_of(program: str) -> Callable[[list[str]], object]:
    """The function behind a program's name or a script's path."""
    if program in PROGRAMS:
        module, function = PROGRAMS[program].split(":")
        found: Callable[[list[str]], object] = getattr(importlib.import_module(module), function)
        return found
    specification = importlib.util.spec_from_file_location(Path(program).stem, REPOSITORY / program)
    assert specification is not None
    assert specification.loader is not None
    loaded = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(loaded)
    main: Callable[[list[str]], object] = loaded.main
    return main


@functools.cache
def help_of(program: str, *subcommand: str) -> str:
    """What ``--help`` prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        main_of(program)([*subcommand, "--help"])
    return printed.getvalue()


@pytest.mark.parametrize(("page", "program", "given"), COMMANDS)
def test_a_command_on_a_page_exists_with_its_options(
    page: str, program: str, given: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(REPOSITORY / "training"), *sys.path])
    assert program in PROGRAMS or (REPOSITORY / program).is_file()
    if program.startswith("benchmarks/"):
        return
    text = help_of(program)
    subcommands = re.search(r"\{([\w,-]+)\}|^  COMMAND|COMMAND \.\.\.", text)
    if subcommands and given and not given[0].startswith("-") and "..." in text.split("\n\n")[0]:
        text = help_of(program, given[0])
        assert text, f"{program} {given[0]}"
    text += "".join(help_of(other) for other in HANDED_ON.get(program, ()))
    missing = [word for word in given if word.startswith("--") and not re.search(rf"{word}\b", text)]
    assert not missing, f"{page}: {program} has no {missing}"


def test_the_pages_show_the_main_commands() -> None:
    shown = {program for _, program, _ in COMMANDS}
    assert {*PROGRAMS} <= shown
    assert {"training/finetune.py", "training/cross_validate.py", "training/predict.py"} <= shown
