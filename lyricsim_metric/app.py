"""The Space's page: paste or edit a table of scores, get what the module beside this file makes of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import evaluate

# Not resolved: in the repository this file is one, which both Spaces hold by a link.
_FOLDER = Path(__file__).absolute().parent
_MODULE = evaluate.load(str(next(_FOLDER.glob("lyricsim_*.py"))))
_COLUMNS = list(_MODULE.features)
_EXAMPLE = {
    "predictions": [0.1, 0.3, 0.2, 1.4, 0.9, 2.2, 2.1, 4.4],
    "predictions1": [0.1, 0.3, 0.2, 1.4, 0.9, 2.2, 2.1, 4.4],
    "predictions2": [0.3, 1.2, 0.1, 0.7, 1.5, 2.6, 1.9, 3.8],
    "references": [0, 0, 0, 1, 1, 2, 3, 5],
}


def columns_of_page(table: Sequence[Sequence[Any]]) -> dict[str, list[float]]:
    """The filled rows of the page's table as columns of numbers.

    Raises:
        ValueError: a cell that is empty or no number.
    """
    filled = [row for row in table if any(str(cell).strip() for cell in row)]
    try:
        rows = [[float(cell) for cell in row] for row in filled]
    except (TypeError, ValueError) as error:
        raise ValueError(f"every row needs {len(_COLUMNS)} numbers: {error}") from error
    return {name: [row[place] for row in rows] for place, name in enumerate(_COLUMNS)}


def answer_page(table: Sequence[Sequence[Any]], level: float) -> dict[str, Any]:
    """What the page shows for a table: the results, or what is wrong with it."""
    try:
        return _MODULE.compute(**columns_of_page(table), confidence_level=level, undefined="raise")
    except ValueError as error:
        return {"error": str(error)}


def build_page() -> Any:
    """The page; gradio is imported only here.

    Raises:
        SystemExit: gradio is not installed.
    """
    try:
        import gradio
    except ImportError as error:
        raise SystemExit("this page needs gradio: pip install 'gradio>=6'") from error
    example = [list(row) for row in zip(*(_EXAMPLE[name] for name in _COLUMNS), strict=True)]
    return gradio.Interface(
        fn=answer_page,
        inputs=[
            gradio.Dataframe(example, headers=_COLUMNS, type="array", label="One pair of lyrics a row"),
            gradio.Slider(0.5, 0.99, value=0.95, step=0.01, label="Confidence level of the intervals"),
        ],
        outputs=gradio.JSON(label="Result"),
        title=_MODULE.name,
        description=_MODULE.description,
        article=(_FOLDER / "README.md").read_text("utf-8").split("---\n", 2)[-1],
    )


if __name__ == "__main__":
    build_page().launch()
