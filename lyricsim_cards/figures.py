"""Whether a card says what the files beside it say."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lyricsim_cards.measure import agree
from lyricsim_cards.model_card import EVAL_RESULTS_FILE, render_model_card
from lyricsim_cards.model_folder import EXTRAS_FILE, METRICS_FILE, RUN_FILE, ModelFolder, read_model_folder
from lyricsim_cards.paper_cards import render_paper_card
from lyricsim_cards.rebuilt import rebuilt_card
from lyricsim_cards.results import eval_results
from lyricsim_dataset.verify import BUILD_RECORD
from lyricsim_models.registry import load_registry
from lyricsim_tools.card_blocks import blocks_of, read_card, split_head
from lyricsim_tools.errors import UserError

PREPARED_FOLDER = "model_cards"
# Of a dataset's card, the code that loads it: it names a folder, or the repository it was published in.
_WITHOUT_FIGURES = ("loading",)


def differing_figures(path: Path) -> list[str]:
    """What a card states otherwise than its result files, or its registry entry, do.

    Args:
        path: the card. Beside a ``run.json`` it is rendered again from there; below ``model_cards`` from the
            registry; with configurations in its head, its row counts are compared with the files they name,
            and beside a ``build.json`` its blocks with those of a new build, where the sources are at hand.
    """
    card, folder = read_card(path), path.parent
    if (folder / RUN_FILE).is_file():
        return _differing_model_card(card, folder)
    if folder.parent.name == PREPARED_FOLDER:
        entry = load_registry().get(folder.name)
        return (
            _differences(render_paper_card(entry), card) if entry else [f"no model is called {folder.name}"]
        )
    head = split_head(card)[0]
    rows = _differing_rows(head, folder) if "configs" in head else []
    return rows + (_differing_dataset_card(card, folder) if (folder / BUILD_RECORD).is_file() else [])


def _differing_dataset_card(card: str, folder: Path) -> list[str]:
    try:
        again = rebuilt_card(folder)
    except UserError as error:
        return [str(error).splitlines()[0]]
    return _differing_blocks(again, card, _WITHOUT_FIGURES) if again else []


def _differing_model_card(card: str, folder: Path) -> list[str]:
    try:
        model = read_model_folder(folder)
    except UserError as error:
        return [str(error).splitlines()[0]]
    results, path = eval_results(model), folder / EVAL_RESULTS_FILE
    stated = path.read_text("utf-8") if path.is_file() else None
    other = [] if results == stated else [f"{EVAL_RESULTS_FILE} differs from the run's scores"]
    return _differences(render_model_card(model), card) + other + _contradictions(model)


def _contradictions(model: ModelFolder) -> list[str]:
    """Figures that were kept for the card and that the run itself states otherwise."""
    return [
        f"{split} {key} is {value} in {EXTRAS_FILE}, {model.metrics[split][key]} in {METRICS_FILE}"
        for split, measured in model.extras.measured.items()
        for key, value in measured.items()
        if key in model.metrics.get(split, {}) and not agree(model.metrics[split][key], value)
    ]


def _differences(rendered: str, card: str) -> list[str]:
    head, stated = split_head(rendered)[0], split_head(card)[0]
    keys = [key for key in head if stated.get(key) != head[key]]
    return [f"{key} differs from the result files" for key in keys] + _differing_blocks(rendered, card)


def _differing_blocks(rendered: str, card: str, without: Sequence[str] = ()) -> list[str]:
    new, old = blocks_of(rendered), blocks_of(card)
    return [
        f"block {name}: {_first_difference(text, old.get(name, ''))}"
        for name, text in new.items()
        if name not in without and old.get(name) != text
    ]


def _first_difference(rendered: str, stated: str) -> str:
    lines = zip(
        rendered.splitlines(), [*stated.splitlines(), *[""] * len(rendered.splitlines())], strict=False
    )
    for expected, found in lines:
        if expected != found:
            return f"is {found.strip()!r}, by the result files {expected.strip()!r}"
    return "has more lines than the result files give"


def _differing_rows(head: Mapping[str, Any], folder: Path) -> list[str]:
    import pyarrow.parquet

    infos = head.get("dataset_info") or []
    stated = {
        (info.get("config_name"), split["name"]): split["num_examples"]
        for info in (infos if isinstance(infos, list) else [infos])
        for split in info.get("splits", [])
    }
    found = {}
    for config in head["configs"]:
        for file in config["data_files"]:
            if (folder / file["path"]).is_file():
                rows = pyarrow.parquet.read_metadata(folder / file["path"]).num_rows
                found[config["config_name"], file["split"]] = rows
    return [
        f"{config}/{split}: the card says {rows} rows, the file has {found.get((config, split), 'none')}"
        for (config, split), rows in stated.items()
        if found.get((config, split)) != rows
    ]
