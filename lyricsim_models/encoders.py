"""Checkpoints as modules with one interface: padded batch in, one score a pair out."""

import contextlib
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from safetensors import SafetensorError
from torch import nn

from lyricsim_models.config import Architecture, Recipe
from lyricsim_models.pairs import TokenRows, tokenize_apart, tokenize_joint
from lyricsim_models.registry import Model, unloadable
from lyricsim_models.sentence_folder import read_pooling, read_prompt
from lyricsim_models.tokenizers import fit_segment_ids, load_tokenizer, usable_length
from lyricsim_tools.errors import UserError


class CrossScorer(nn.Module):
    """A sequence classification model with one output, as a function of a joint batch."""

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder: Any = encoder

    def forward(self, **batch: torch.Tensor) -> torch.Tensor:
        """Scores of shape (b,); the last axis is named, since a bare squeeze would drop a batch of one."""
        # A copy: sharded topologies lose their hooks on a view.
        scores: torch.Tensor = self.encoder(**batch).logits[:, 0].clone()
        return scores


class SentenceScorer(nn.Module):
    """A sentence encoder under a cosine, with a learned line from cosine to score.

    Args:
        encoder: a transformer without a head.
        pooling: how token vectors become one: ``mean`` or ``cls``.
        line: slope and intercept to start from.
    """

    def __init__(self, encoder: nn.Module, pooling: str, line: tuple[float, float] = (5.0, 0.0)) -> None:
        super().__init__()
        self.encoder: Any = encoder
        self.pooling = pooling
        self.line = nn.Parameter(torch.tensor(line, dtype=torch.float32))

    def embed(self, **batch: torch.Tensor) -> torch.Tensor:
        """Unit vectors of shape (b, width), float32."""
        tokens = self.encoder(**batch).last_hidden_state.float()
        if self.pooling == "cls":
            return nn.functional.normalize(tokens[:, 0], dim=-1)
        mask = batch["attention_mask"].unsqueeze(-1).to(tokens.dtype)
        return nn.functional.normalize((tokens * mask).sum(1) / mask.sum(1).clamp(min=1e-9), dim=-1)

    def forward(self, **batch: torch.Tensor) -> torch.Tensor:
        """Scores of shape (b,) of a batch of 2b sequences, all first sides before all second sides."""
        first, second = self.embed(**batch).chunk(2)
        return self.line[0] * (first * second).sum(-1) + self.line[1]


Scorer = CrossScorer | SentenceScorer


@dataclass(frozen=True)
class Loaded:
    """A model ready to train or to score.

    Args:
        scorer: the module, float32.
        tokenizer: fitted to it.
        architecture: which of the two kinds it is.
        max_length: most tokens of a sequence.
        prompt: text before each lyric (bi-encoder).
    """

    scorer: Scorer
    tokenizer: Any
    architecture: Architecture
    max_length: int
    prompt: str = ""

    @property
    def pad_id(self) -> int:
        """Token that fills shorter rows of a batch."""
        return int(self.tokenizer.pad_token_id)

    def tokenize(self, first: list[str], second: list[str]) -> TokenRows:
        """Pairs of lyrics as rows of this model's tokens."""
        if self.architecture == "cross-encoder":
            return tokenize_joint(self.tokenizer, first, second, self.max_length)
        first, second = ([self.prompt + text for text in side] for side in (first, second))
        return tokenize_apart(self.tokenizer, first, second, self.max_length)


def load(model: Model, recipe: Recipe, seed: int, *, trained: bool = False) -> Loaded:
    """Load a checkpoint in float32 with what it lacks drawn from ``seed``; the global generator is untouched.

    Args:
        model: the resolved name.
        recipe: architecture, length, dropout, line breaks, prompt.
        seed: of new weights: a regression head, a line break's embedding.
        trained: the checkpoint is one of ours, and a weight that it lacks is an error even in the head.

    Raises:
        UserError: the checkpoint cannot be read, holds another kind of model, needs a package, pools in an
            unknown way, cannot pad, or has no room for a lyric.
    """
    try:
        return _load(model, recipe, seed, trained)
    except UserError:
        raise
    except (OSError, ValueError, SafetensorError) as error:
        raise unloadable(model, error) from error


def _load(model: Model, recipe: Recipe, seed: int, trained: bool) -> Loaded:
    tokenizer = load_tokenizer(model, recipe.line_breaks)
    _refuse_unpadded(model, tokenizer)
    with torch.random.fork_rng(devices=[]), quiet_transformers():
        torch.manual_seed(seed)
        joint = recipe.architecture == "cross-encoder"
        encoder = (_classifier if joint else _encoder)(model, recipe, trained)
        if len(tokenizer) > encoder.get_input_embeddings().num_embeddings:
            encoder.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    fit_segment_ids(tokenizer, getattr(encoder.config, "type_vocab_size", 0) or 0)
    limit = usable_length(recipe.max_length, tokenizer.model_max_length, *position_limits(encoder))
    tokenizer.model_max_length = limit
    scorer: Scorer = CrossScorer(encoder) if joint else SentenceScorer(encoder, read_pooling(model))
    prompt = "" if joint else _prompt(model, recipe)
    _refuse_short(tokenizer, limit, joint, prompt)
    return Loaded(scorer, tokenizer, recipe.architecture, limit, prompt)


def _refuse_unpadded(model: Model, tokenizer: Any) -> None:
    if tokenizer.pad_token_id is None:
        raise UserError(
            f"the tokenizer of {model.reference} has no padding token",
            "one, which fills the shorter rows of a batch",
            "name one as pad_token in tokenizer_config.json, or choose another model",
        )


def _refuse_short(tokenizer: Any, limit: int, joint: bool, prompt: str) -> None:
    """Below this length a lyric leaves no token, and tokenizers no longer cut at all."""
    taken = tokenizer.num_special_tokens_to_add(pair=joint) + len(tokenizer.tokenize(prompt))
    least = taken + (2 if joint else 1)
    if limit < least:
        raise UserError(
            f"sequences of at most {limit} tokens, {taken} of them special ones or the prompt's",
            f"at least {least}, so that each lyric has one",
            "pass a higher --max-length, or choose another model or a shorter --prompt",
        )


@contextlib.contextmanager
def quiet_transformers() -> Iterator[None]:
    """Hold back the library's bars and its report of new weights, which ``_refuse_partial`` judges."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def _prompt(model: Model, recipe: Recipe) -> str:
    return recipe.prompt if recipe.prompt is not None else model.prompt or read_prompt(model)


def _classifier(model: Model, recipe: Recipe, trained: bool) -> Any:
    from transformers import AutoConfig, AutoModelForSequenceClassification

    config = AutoConfig.from_pretrained(
        model.reference, revision=model.revision, num_labels=1, problem_type="regression"
    )
    config.id2label, config.label2id = {0: "similarity"}, {"similarity": 0}
    _set_dropout(config, recipe.dropout)
    encoder, report = AutoModelForSequenceClassification.from_pretrained(
        model.reference,
        revision=model.revision,
        config=config,
        dtype=torch.float32,
        # A head for other labels is replaced; whether anything else differs is checked below.
        ignore_mismatched_sizes=True,
        output_loading_info=True,
    )
    _refuse_partial(model, encoder, report, trained)
    return encoder


def _encoder(model: Model, recipe: Recipe, trained: bool) -> Any:
    from transformers import MODEL_MAPPING, AutoConfig

    config = AutoConfig.from_pretrained(model.reference, revision=model.revision)
    _set_dropout(config, recipe.dropout)
    kind: Any = MODEL_MAPPING[type(config)]
    # A pooler would never get a gradient, which several topologies take for an error.
    bare = {"add_pooling_layer": False} if "add_pooling_layer" in inspect.signature(kind).parameters else {}
    encoder, report = kind.from_pretrained(
        model.reference,
        revision=model.revision,
        config=config,
        dtype=torch.float32,
        output_loading_info=True,
        **bare,
    )
    _refuse_partial(model, encoder, report, trained)
    return encoder


def _set_dropout(config: Any, rate: float | None) -> None:
    if rate is None:
        return
    for name, value in config.to_dict().items():
        if name.endswith(("dropout", "dropout_prob")) and (value is None or isinstance(value, int | float)):
            setattr(config, name, rate)


def _refuse_partial(model: Model, encoder: Any, report: dict[str, Any], trained: bool) -> None:
    """A checkpoint that lacks weights below the head would train from random ones without a word."""
    headed = hasattr(encoder, encoder.base_model_prefix) and not trained
    body = f"{encoder.base_model_prefix}." if headed else ""
    mismatched = [key[0] if isinstance(key, tuple) else key for key in report["mismatched_keys"]]
    absent = [
        k
        for k in [*report["missing_keys"], *mismatched]
        if k.startswith(body) and (trained or "pooler" not in k)
    ]
    if absent:
        raise UserError(
            f"{model.reference} lacks or misfits {len(absent)} weights of {type(encoder).__name__}, "
            f"{absent[0]} among them",
            "a checkpoint of the architecture that its config.json names",
            "check config.json and the weights file, or choose another model",
        )


def position_limits(encoder: nn.Module) -> tuple[int | None, int]:
    """Rows of the model's position table, and how many of its first rows are never used."""
    rows = getattr(encoder.config, "max_position_embeddings", None)
    for name, module in encoder.named_modules():
        if name.endswith("position_embeddings") and hasattr(module, "padding_idx"):
            # Position embeddings with a padding index are counted from the row after it. Some families' table
            # has rows beyond what the configuration says, which its positions never reach.
            table = module.weight.shape[0]
            return min(rows or table, table), 0 if module.padding_idx is None else module.padding_idx + 1
    return rows, 0
