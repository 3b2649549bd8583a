"""A model's tokenizer, made to fit the model: its length, its segment ids, what it sees of a line break."""

import json
from typing import Any

from lyricsim_models.config import LineBreaks
from lyricsim_models.model_files import optional_file
from lyricsim_models.registry import Model
from lyricsim_models.tokenizer_packages import require_packages

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
    if _lost_byte_fallback(tokenizer) and optional_file(model, "tokenizer.json") is None:
        tokenizer = _with_byte_fallback(tokenizer)
    return tokenizer if line_breaks == "keep" else _with_line_break_rule(tokenizer, line_breaks)


def _lost_byte_fallback(tokenizer: Any) -> bool:
    """Whether a vocabulary has SentencePiece's byte pieces and the converted model does not use them."""
    from tokenizers import models

    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None or not isinstance(backend.model, models.Unigram):
        return False
    if any(backend.token_to_id(f"<0x{byte:02X}>") is None for byte in range(256)):
        return False
    return not json.loads(backend.to_str())["model"]["byte_fallback"]


def _with_byte_fallback(tokenizer: Any) -> Any:
    """Spell what the vocabulary lacks in bytes, as SentencePiece does; transformers would make it unknown."""
    from tokenizers import Tokenizer, decoders

    state = json.loads(tokenizer.backend_tokenizer.to_str())
    state["model"]["byte_fallback"] = True
    backend = Tokenizer.from_str(json.dumps(state))
    backend.decoder = decoders.Sequence([decoders.ByteFallback(), backend.decoder])
    return _plain(tokenizer, backend)


def _plain(tokenizer: Any, backend: Any) -> Any:
    """A tokenizer of no model family: those build their parts anew on loading and would lose ours."""
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        model_max_length=tokenizer.model_max_length,
        model_input_names=tokenizer.model_input_names,
        **tokenizer.special_tokens_map,
    )


def _with_line_break_rule(tokenizer: Any, line_breaks: LineBreaks) -> Any:
    from tokenizers import AddedToken, Regex, normalizers

    plain = _plain(tokenizer, tokenizer.backend_tokenizer)
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
