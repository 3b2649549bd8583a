"""The code in a card: found, and run as a reader would run it, from top to bottom."""

import itertools
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^```(python|bash)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_ERROR = re.compile(r"error: |[\w.]*(?:Error|Exception|NotFound)\b")
_SECONDS = 600
# Runs a list of codes as one session, as a notebook does, and goes on after a failure. An error that a
# comment in the code announces is what the code is there to show.
_SESSION = """
import json, sys, traceback
space, failures = {"__name__": "__main__"}, []
for code in json.loads(sys.argv[2]):
    try:
        exec(compile(code, "<card>", "exec"), space)
        failures.append(None)
    except BaseException as error:
        announced = f"# {type(error).__name__}" in code
        failures.append(None if announced else traceback.format_exception_only(error)[-1].strip())
with open(sys.argv[1], "w", encoding="utf-8") as report:
    json.dump(failures, report)
"""


@dataclass(frozen=True)
class Snippet:
    """A fenced block of a card.

    Args:
        language: python or bash.
        code: its text.
        line: where it starts, from 1.
    """

    language: str
    code: str
    line: int


def snippets_of(card: str) -> list[Snippet]:
    """The Python and shell code of a card, in order."""
    return [
        Snippet(match[1], match[2], card.count("\n", 0, match.start()) + 1) for match in _FENCE.finditer(card)
    ]


def failures(snippets: Sequence[Snippet], folder: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """Run snippets in order and say which fail; Python names last until the next shell code.

    Args:
        snippets: of one card.
        folder: the working directory.
        environment: of the processes.
    """
    for language, group in itertools.groupby(snippets, key=lambda snippet: snippet.language):
        together = list(group)
        run = _run_python if language == "python" else _run_shell
        for snippet, reason in zip(together, run(together, folder, environment), strict=True):
            if reason is not None:
                yield f"the {language} code in line {snippet.line} fails: {reason}"


def _run_python(
    snippets: Sequence[Snippet], folder: Path, environment: Mapping[str, str]
) -> list[str | None]:
    report = folder / ".report.json"
    codes = json.dumps([snippet.code for snippet in snippets])
    done = _run([sys.executable, "-c", _SESSION, str(report), codes], folder, environment)
    if not report.is_file():
        return [_reason(done.stderr)] * len(snippets)
    found: list[str | None] = json.loads(report.read_text("utf-8"))
    report.unlink()
    return found


def _run_shell(
    snippets: Sequence[Snippet], folder: Path, environment: Mapping[str, str]
) -> Iterator[str | None]:
    for snippet in snippets:
        done = _run(["bash", "-euo", "pipefail", "-c", snippet.code], folder, environment)
        yield _reason(done.stderr) if done.returncode else None


def _run(
    command: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command,
            cwd=folder,
            env=dict(environment),
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", f"error: it had not ended after {_SECONDS} s")


def _reason(output: str) -> str:
    """The first line of an output that names an error: launchers add tracebacks of their own after it."""
    lines = output.strip().splitlines() or ["no message"]
    return next((line for line in lines if _ERROR.match(line)), lines[-1])
