"""Cards of the paper's eight models, prepared before training: the paper's figures quoted, ours empty."""

from pathlib import Path
from typing import Any

from lyricsim_cards.licences import licence_head, licence_sentence
from lyricsim_cards.model_card import CARD_FILE, TAGS, TEMPLATE
from lyricsim_cards.snippets import cross_encoder_snippet, trained_folder, training_command
from lyricsim_cards.text import fill_sections, short
from lyricsim_models.registry import ModelEntry, PaperResult, Pretraining, paper_models
from lyricsim_tools.atomic import write_text
from lyricsim_tools.card_blocks import join_head
from lyricsim_tools.citation import PAPER_BIBTEX, PAPER_ID, PAPER_TITLE, PAPER_URL
from lyricsim_tools.markdown import table, template_sections

_SECTIONS = ("introduction-prepared", "train", "paper", "behaviour-prepared", "uses", "rights", "citation")


def write_paper_cards(folder: Path) -> list[Path]:
    """Render the eight cards into ``folder/<name>/README.md``; their paths, in the paper's order."""
    written = []
    for entry in paper_models():
        path = folder / entry.name / CARD_FILE
        write_text(path, render_paper_card(entry))
        written.append(path)
    return written


def render_paper_card(entry: ModelEntry) -> str:
    """The prepared card of one of the paper's models.

    Raises:
        ValueError: the model is not the paper's.
    """
    if entry.paper is None:
        raise ValueError(f"{entry.name} is no model of the paper")
    base = f"[{entry.hub_id}](https://huggingface.co/{entry.hub_id})"
    values = {
        "title": entry.title,
        "base_link": base + (" (inferred: the paper gives no id)" if entry.hub_id_inferred else ""),
        "snippet": cross_encoder_snippet(trained_folder(entry)),
        "command": training_command(entry),
        **_quoted(entry.paper),
        "line_breaks": _line_breaks(entry),
        "length": f"{entry.max_tokens} tokens for both lyrics together",
        "precision": "half precision (fp16) is safe" if entry.fp16 else "no fp16: use bf16 or none",
        "note": _note(entry),
        "pretraining": _pretraining(entry.pretraining),
        "rights": licence_sentence(entry.hub_id),
        "bibtex": PAPER_BIBTEX,
    }
    return join_head(
        _head(entry), fill_sections(template_sections(TEMPLATE.read_text("utf-8")), _SECTIONS, values)
    )


def _head(entry: ModelEntry) -> dict[str, Any]:
    from huggingface_hub import ModelCardData

    data = ModelCardData(
        language="es",
        library_name="sentence-transformers",
        pipeline_tag="text-classification",
        base_model=entry.hub_id,
        metrics=["pearsonr", "spearmanr"],
        tags=[*TAGS, "cross-encoder", f"arxiv:{PAPER_ID}"],
    )
    return {**data.to_dict(), **licence_head(entry.hub_id)}


def _quoted(paper: PaperResult) -> dict[str, str]:
    rows = [
        (name, f"{s.pearson:.2f}", f"{s.spearman:.2f}", f"{s.combined:.2f}")
        for name, s in (("development (table 4)", paper.development), ("test (table 3)", paper.test))
    ]
    best, sts = paper.best, paper.sts_combined
    return {
        "paper_title": PAPER_TITLE,
        "paper_url": PAPER_URL,
        "paper_table": table(["the paper's", "Pearson", "Spearman", "combined"], rows),
        "best_point": (
            f"batch size {best.batch_size}, weight decay {best.weight_decay}, "
            f"learning rate {short(best.learning_rate)} (table 5)"
        ),
        "sts_sentence": f" On Spanish STS the paper quotes {sts:.2f}, combined." if sts else "",
    }


def _pretraining(facts: Pretraining | None) -> str:
    """What annex 3 says, in one line."""
    said = {key: value for key, value in vars(facts).items() if value is not None} if facts else {}
    listed = "; ".join(f"{key.replace('_', ' ')}: {value}" for key, value in said.items())
    return listed or "the paper doesn't say"


def _note(entry: ModelEntry) -> str:
    mirror = f"Mirror: `{entry.mirror}`." if entry.mirror else ""
    return f"{entry.note} {mirror}".strip() or "none"


def _line_breaks(entry: ModelEntry) -> str:
    return {
        True: "the tokenizer tells them from spaces, so the model sees verses",
        False: "the tokenizer reads them as spaces, so the model sees no verses",
        None: "whether the tokenizer sees them was not checked",
    }[entry.line_breaks]
