"""A model's tokenizer, made to fit the model: its length, its segment ids, what it sees of a line break."""

from typing import Any

from lyricsim_models.config import LineBreaks
from lyricsim_models.registry import Model, require_packages

# Lower case, since the normalizers of uncased models lower it.
LINE_BREAK_TOKEN = "[lf]"


def load_tokenizer(model: Model, line_breaks: LineBreaks = "keep") -> Any:
    """The tokenizer of a checkpoint; its own rules decide what ``keep`` lets the model see.

    ``token`` and ``space`` become part of the tokenizer itself, so that an export needs none of our code.

    Raises:
        UserError: a package that the tokenizer needs is missing; names it.
    """
    from transformers import AutoTokenizer

    require_packages(model)
    tokenizer = AutoTokenizer.from_pretrained(model.reference, revision=model.revision)
    return tokenizer if line_breaks == "keep" else _with_line_break_rule(tokenizer, line_breaks)


def _with_line_break_rule(tokenizer: Any, line_breaks: LineBreaks) -> Any:
    from tokenizers import AddedToken, Regex, normalizers
    from transformers import PreTrainedTokenizerFast

    # Classes of a model family build their normalizer anew on loading and would lose the rule.
    plain = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer.backend_tokenizer,
        model_max_length=tokenizer.model_max_length,
        model_input_names=tokenizer.model_input_names,
        **tokenizer.special_tokens_map,
    )
    rule = normalizers.Replace(Regex(r"[ \t\r]*\n\s*"), " ")
    if line_breaks == "token":
        plain.add_tokens([AddedToken(LINE_BREAK_TOKEN, normalized=True, lstrip=True)])
        rule = normalizers.Replace(Regex(r"[ \t\r]*\n"), f" {LINE_BREAK_TOKEN} ")
    backend = plain.backend_tokenizer
    backend.normalizer = normalizers.Sequence([rule, *([backend.normalizer] if backend.normalizer else [])])
    return plain


def fit_segment_ids(tokenizer: Any, type_vocabulary: int) -> None:
    """Emit segment ids exactly where they differ within a pair and the model has a place for them.

    RoBERTa-style models have one segment or none: an id 1 would index past their table.
    """
    segments = tokenizer("a", "b", return_token_type_ids=True).get("token_type_ids", [0])
    needed = max(segments) > 0 and type_vocabulary > max(segments)
    names = [name for name in tokenizer.model_input_names if name != "token_type_ids"]
    tokenizer.model_input_names = [*names, "token_type_ids"] if needed else names


def usable_length(asked: int, tokenizer_limit: int, positions: int | None, offset: int) -> int:
    """Most tokens that all sides accept.

    Args:
        asked: what the user asked for.
        tokenizer_limit: the tokenizer's ``model_max_length``; 10**30 where it has none.
        positions: rows of the position table; None where the model has none.
        offset: first rows of that table that are never used: RoBERTa counts from its padding index + 1, so
            514 positions hold 512 tokens.
    """
    limits = [asked, tokenizer_limit, *([] if positions is None else [positions - offset])]
    return int(min(limits))
