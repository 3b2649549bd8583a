"""Whether a card says what the files beside it say."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lyricsim_cards.model_card import EVAL_RESULTS_FILE, render_model_card
from lyricsim_cards.model_folder import RUN_FILE, read_model_folder
from lyricsim_cards.paper_cards import render_paper_card
from lyricsim_cards.results import eval_results
from lyricsim_models.registry import load_registry
from lyricsim_tools.card_blocks import blocks_of, split_head
from lyricsim_tools.errors import UserError

PREPARED_FOLDER = "model_cards"


def differing_figures(path: Path) -> list[str]:
    """What a card states otherwise than its result files, or its registry entry, do.

    Args:
        path: the card. Beside a ``run.json`` it is rendered again from there; below ``model_cards`` from the
            registry; with configurations in its head, its row counts are compared with the files they name.
    """
    card, folder = path.read_text("utf-8"), path.parent
    if (folder / RUN_FILE).is_file():
        return _differing_model_card(card, folder)
    if folder.parent.name == PREPARED_FOLDER:
        entry = load_registry().get(folder.name)
        return (
            _differences(render_paper_card(entry), card) if entry else [f"no model is called {folder.name}"]
        )
    head = split_head(card)[0]
    return _differing_rows(head, folder) if "configs" in head else []


def _differing_model_card(card: str, folder: Path) -> list[str]:
    try:
        model = read_model_folder(folder)
    except UserError as error:
        return [str(error).splitlines()[0]]
    results, path = eval_results(model), folder / EVAL_RESULTS_FILE
    stated = path.read_text("utf-8") if path.is_file() else None
    other = [] if results == stated else [f"{EVAL_RESULTS_FILE} differs from the run's scores"]
    return _differences(render_model_card(model), card) + other


def _differences(rendered: str, card: str) -> list[str]:
    (head, body), (stated_head, stated_body) = split_head(rendered), split_head(card)
    keys = [key for key in head if stated_head.get(key) != head[key]]
    new, old = blocks_of(body), blocks_of(stated_body)
    blocks = [name for name in new if old.get(name) != new[name]]
    return [f"{key} differs from the result files" for key in keys] + [
        f"block {name}: {_first_difference(new[name], old.get(name, ''))}" for name in blocks
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
