"""The card of a trained model, from its folder alone."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lyricsim_cards.licences import licence_head, licence_sentence
from lyricsim_cards.model_folder import (
    CALIBRATION_FILE,
    CardExtras,
    ModelFolder,
    looks_like_hub_id,
    read_model_folder,
    write_extras,
)
from lyricsim_cards.results import SCORES, eval_results, model_index
from lyricsim_cards.snippets import bi_encoder_snippet, cross_encoder_snippet
from lyricsim_cards.text import NOT_MEASURED, fill_sections, percent, short
from lyricsim_models.registry import load_registry
from lyricsim_tools.atomic import write_text
from lyricsim_tools.card_blocks import join_head, keeping_edits
from lyricsim_tools.citation import PAPER_BIBTEX, PAPER_ID
from lyricsim_tools.markdown import table, template_sections

TEMPLATE = Path(__file__).parent / "model_template.md"
CARD_FILE = "README.md"
EVAL_RESULTS_FILE = ".eval_results/lyricsim.yaml"
TAGS = ("lyricsim", "lyrics", "semantic-textual-similarity", "spanish")


def write_model_card(folder: Path, extras: CardExtras | None = None) -> Path:
    """Write a trained model's ``README.md`` and ``.eval_results`` into its folder.

    Args:
        folder: as training/finetune.py leaves it.
        extras: what the run doesn't know; None keeps what an earlier call was told.

    Returns:
        The card's path. What somebody wrote into an earlier card outside its generated blocks stays.

    Raises:
        UserError: the folder isn't that of a complete run, or the card in it cannot be read.
    """
    model = read_model_folder(folder)
    wanted = extras or model.extras
    dataset = str(model.settings["dataset"])
    if not wanted.dataset_id and looks_like_hub_id(dataset) and not Path(dataset).exists():
        # Decided once and kept: what a relative path leads to depends on where one stands.
        wanted = dataclasses.replace(wanted, dataset_id=dataset)
    model = dataclasses.replace(model, extras=wanted)
    card = keeping_edits(render_model_card(model), folder / CARD_FILE)
    write_extras(folder, wanted)
    results = eval_results(model)
    if results is not None:
        write_text(folder / EVAL_RESULTS_FILE, results)
    write_text(folder / CARD_FILE, card)
    return folder / CARD_FILE


def render_model_card(model: ModelFolder) -> str:
    """The whole card; what was not measured is said to be so."""
    floors = "floors" if model.extras.floors else "floors-missing"
    uses = "uses" if model.is_on_lyricsim else "uses-other"
    rights = "rights" if model.is_on_lyricsim else "rights-other"
    names = ("introduction", "use", "results", floors, "behaviour", "training", uses, rights, "citation")
    values = {
        **_identity(model),
        **_results(model),
        "behaviour_table": _behaviour(model),
        **_training(model),
        "rights": licence_sentence(model.base),
        "bibtex": PAPER_BIBTEX,
    }
    return join_head(
        _head(model), fill_sections(template_sections(TEMPLATE.read_text("utf-8")), names, values)
    )


def _head(model: ModelFolder) -> dict[str, Any]:
    from huggingface_hub import ModelCardData

    dataset = model.extras.dataset_id
    base = model.base
    data = ModelCardData(
        language="es",
        library_name="sentence-transformers",
        pipeline_tag="sentence-similarity" if model.is_bi_encoder else "text-classification",
        base_model=base if looks_like_hub_id(base) else None,
        datasets=[dataset] if dataset else None,
        metrics=["pearsonr", "spearmanr"],
        tags=[*TAGS, model.settings["recipe"]["architecture"], f"arxiv:{PAPER_ID}"],
    )
    index = model_index(model)
    return {**data.to_dict(), **licence_head(base), **({"model-index": index} if index else {})}


def _identity(model: ModelFolder) -> dict[str, str]:
    base, dataset = model.base, model.extras.dataset_id
    link = f"[{dataset}](https://huggingface.co/datasets/{dataset}), " if dataset else ""
    return {
        "title": model.reference.split("/")[-1],
        "base_link": f"[{base}](https://huggingface.co/{base})" if looks_like_hub_id(base) else f"`{base}`",
        "architecture": str(model.settings["recipe"]["architecture"]),
        "data_name": "LyricSIM" if model.is_on_lyricsim else f"`{model.dataset}`, which is not LyricSIM",
        "data_link": f"{link}configuration `{model.settings.get('config') or 'default'}`",
        "snippet": _snippet(model),
    }


def _snippet(model: ModelFolder) -> str:
    place = (model.reference, model.extras.revision)
    if not model.is_bi_encoder:
        return cross_encoder_snippet(*place)
    line = json.loads((model.folder / CALIBRATION_FILE).read_text("utf-8"))
    return bi_encoder_snippet(place[0], float(line["slope"]), float(line["intercept"]), place[1])


def _results(model: ModelFolder) -> dict[str, str]:
    rows = [
        (split, *[_with_interval(model.scores(split), key) for key in SCORES])
        for split in ("validation", "test")
    ]
    has_intervals = any(f"{key}_ci" in model.scores("test") for key in SCORES)
    return {
        "score_table": table(["split", *SCORES.values()], [*rows, *_unseen_row(model)]),
        "interval_note": "In brackets: 95 % intervals." if has_intervals else "Intervals: not measured.",
        "unseen_note": _unseen_note(model),
        "floor_table": table(
            ["floor", "combined"], [(k, percent(v)) for k, v in sorted(model.extras.floors.items())]
        ),
    }


def _unseen_row(model: ModelFolder) -> list[tuple[str, ...]]:
    unseen = model.extras.unseen
    if not unseen and (model.is_song_disjoint or not model.is_on_lyricsim):
        return []
    cells = [_with_interval(unseen, key) for key in SCORES] if unseen else [NOT_MEASURED] * len(SCORES)
    return [("test, songs never seen", *cells)]


def _unseen_note(model: ModelFolder) -> str:
    unseen = model.extras.unseen
    if unseen:
        return f"The last row is the sibling run `{unseen['name']}`: the same recipe on `{unseen['config']}`."
    if model.is_song_disjoint:
        return "No song of a test pair is in training: these are scores on songs never seen."
    if model.is_on_lyricsim:
        return "Songs are shared between the splits, so these scores say little about songs never seen."
    return "How many of the test songs training has met is in a table below."


def _with_interval(scores: Mapping[str, Any], key: str) -> str:
    interval = scores.get(f"{key}_ci")
    shown = percent(scores.get(key))
    return f"{shown} [{percent(interval[0])}, {percent(interval[1])}]" if interval else shown


def _behaviour(model: ModelFolder) -> str:
    test = model.scores("test")
    asymmetry = {"mean": 0.0, "max": 0.0} if model.is_bi_encoder else test.get("asymmetry", {})
    rows = [
        ("order of the two lyrics", _order(model)),
        ("asymmetry: mean difference of the two orders, points of 0–5", _points(asymmetry.get("mean"))),
        ("asymmetry: largest difference", _points(asymmetry.get("max"))),
        ("length bias: Pearson of scores and the pair's words", _points(test.get("length_correlation"))),
        ("zero against non-zero pairs, AUC (0.5 is chance)", _points(test.get("zero_auc"))),
        ("Pearson within the non-zero pairs", _points(test.get("nonzero_pearson"))),
        ("share of the test songs seen in training", _points(test.get("seen_song_share"))),
        ("test pairs seen in training", test.get("seen_pairs", NOT_MEASURED)),
        ("line breaks", _line_breaks(model)),
        ("pairs cut to the longest input", _cut(model.run.get("truncated_pairs"))),
    ]
    return table(["on the test split", ""], rows)


def _order(model: ModelFolder) -> str:
    if model.is_bi_encoder:
        return "does not matter"
    if model.settings["recipe"].get("symmetric"):
        return "matters to the code above; the figures here are means of both orders, so average both"
    return "matters: average both orders"


def _line_breaks(model: ModelFolder) -> str:
    entry = next((e for e in load_registry().values() if e.hub_id == model.base), None)
    seen = {True: "the tokenizer tells them from spaces", False: "the tokenizer reads them as spaces"}
    known = entry.line_breaks if entry else None
    meaning = f"what the tokenizer sees of them: {NOT_MEASURED}" if known is None else seen[known]
    return f"`{model.settings['recipe'].get('line_breaks')}`; {meaning}"


def _cut(truncated: Mapping[str, int] | None) -> str:
    return ", ".join(f"{split} {n}" for split, n in truncated.items()) if truncated else NOT_MEASURED


def _training(model: ModelFolder) -> dict[str, str]:
    settings, run = model.settings, model.run
    facts = {
        "base model": model.base,
        "base model's revision": run.get("base_model_revision") or "not recorded",
        "dataset": model.dataset,
        "configuration": settings.get("config"),
        "data fingerprint": settings.get("data_fingerprint"),
        "seed": settings.get("seed"),
        **_flat(run, skip=("settings", "status", "versions", "base_model_revision", "truncated_pairs")),
    }
    versions = run.get("versions") or {"versions": "not recorded"}
    return {
        "training_table": _facts_table(facts),
        "recipe_table": table(
            ["hyper-parameter", "value"], [(f"`{k}`", _plain(v)) for k, v in settings["recipe"].items()]
        ),
        "version_table": _facts_table(versions),
    }


def _facts_table(facts: Mapping[str, Any]) -> str:
    return table(["", ""], [(name, _plain(value)) for name, value in facts.items()])


def _flat(values: Mapping[str, Any], skip: Sequence[str]) -> dict[str, Any]:
    """Nested facts in one level, with readable names."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if key in skip:
            continue
        name = key.replace("_", " ")
        if isinstance(value, Mapping):
            flat |= _flat({f"{name}: {k}": v for k, v in value.items()}, skip=())
        else:
            flat[name] = value
    return flat


def _points(value: float | None) -> str:
    return NOT_MEASURED if value is None else f"{value:.3f}"


def _plain(value: object) -> str:
    if value is None or value == "":
        return "not set"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return (
        short(value) if isinstance(value, float) else f"`{value}`" if isinstance(value, str) else str(value)
    )
