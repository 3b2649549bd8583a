"""Figures that a page states by hand are those of the leaderboard, which is recomputed from predictions."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from support import REPOSITORY

BLOCKS, TEST = "song-disjoint block cross-validation", "test split"
# What a column's heading begins with → the protocol whose figures it holds.
COLUMNS = {"clean split": TEST, "published split": TEST, "blocks": BLOCKS, "songs never seen": BLOCKS}
FIGURE = r"−?\d+\.\d(?: ± \d+\.\d)? \[−?\d+\.\d, −?\d+\.\d\]"
PAGES = ("README.md", "docs/results.md")


def percent(value: float) -> str:
    return f"{100 * value:.1f}".replace("-", "−")


def figures(protocol: str) -> set[str]:
    """Every score with its interval of the default configuration, with and without the seeds' deviation."""
    board = json.loads((REPOSITORY / "docs" / "leaderboard.json").read_text())
    found = set()
    for result in board["results"]:
        if (result["protocol"], result["config"], result["training_share"]) != (protocol, "filtered", 1):
            continue
        scores = result["scores"]
        interval = ", ".join(percent(bound) for bound in scores["combined_score_song_ci"])
        found.add(f"{percent(scores['combined_score'])} [{interval}]")
        if scores["combined_score_sd"] is not None:
            deviation = f" ± {percent(scores['combined_score_sd'])}"
            found.add(f"{percent(scores['combined_score'])}{deviation} [{interval}]")
    return found


def stated(page: Path) -> list[tuple[str, str]]:
    """Protocol and figure of each cell of a page's tables."""
    cells: list[tuple[str, str]] = []
    protocols: list[str | None] = []
    for line in page.read_text("utf-8").splitlines():
        row = [cell.strip(" *") for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if not row:
            protocols = []
        elif not protocols:
            protocols = [next((p for k, p in COLUMNS.items() if cell.startswith(k)), None) for cell in row]
        else:
            cells += [
                (protocol, cell)
                for protocol, cell in zip(protocols, row, strict=True)
                if protocol and re.fullmatch(FIGURE, cell)
            ]
    return cells


@pytest.mark.parametrize("page", PAGES)
def test_a_score_on_a_page_is_on_the_leaderboard(page: str) -> None:
    cells = stated(REPOSITORY / page)
    assert len(cells) >= 8
    known = {protocol: figures(protocol) for protocol in (TEST, BLOCKS)}
    assert [cell for protocol, cell in cells if cell not in known[protocol]] == []


def spreads(result: dict[str, Any]) -> tuple[str, ...]:
    """The three columns of draws of one baseline, as the page prints them."""
    shown = []
    for protocol in ("clean", "song_disjoint", "leaked"):
        mean, deviation = (result[protocol][key] for key in ("mean", "sd"))
        shown.append("undefined" if mean is None else f"{percent(mean)} ± {percent(deviation)}")
    return tuple(shown)


def test_the_draws_on_the_page_are_those_of_the_committed_figures() -> None:
    measured = json.loads((REPOSITORY / "docs" / "baselines.json").read_text("utf-8"))
    assert {result[name]["draws"] for result in measured.values() for name in ("clean", "leaked")} == {20}
    lines = (REPOSITORY / "docs" / "results.md").read_text("utf-8").splitlines()
    table = [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in lines if "|" in line]
    head = next(row for row in table if "clean draws" in row)
    columns = [head.index(name) for name in ("clean draws", "song-disjoint draws", "leaked")]
    rows = [row for row in table[2:] if len(row) == len(head)]
    assert {tuple(row[c] for c in columns) for row in rows} == set(map(spreads, measured.values()))
    assert len(rows) == len(measured) == 12
