"""What a command prints: a table for people, JSON for machines."""

import json
import sys
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print an aligned table to standard output; the first column is left-aligned, the others right."""
    table = Table(title=title, title_justify="left", title_style="bold")
    for position, name in enumerate(columns):
        table.add_column(name, justify="left" if position == 0 else "right", overflow="fold")
    for row in rows:
        table.add_row(*[_cell(value) for value in row])
    # A pipe has no width: a table cut at 80 columns would lose figures.
    Console(width=None if sys.stdout.isatty() else 160).print(table)


def print_json(value: Mapping[str, object] | Sequence[object]) -> None:
    """Print one JSON document to standard output and nothing else."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def _cell(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return "undefined" if value != value else f"{value:.4g}"
    return str(value)
