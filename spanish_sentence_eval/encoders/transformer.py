"""Any Hugging Face transformer, read as the literature did or as the model was trained to be read."""

import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lyricsim_tools.errors import UserError
from spanish_sentence_eval.encoders.base import EncoderOptions, Identity, Tokens, text_of
from spanish_sentence_eval.encoders.fingerprint import fingerprint_of_module

if TYPE_CHECKING:
    import torch

    Batch = dict[str, torch.Tensor]

# The literature's cut, in word pieces (specification, section 6).
COMPATIBLE_PIECES = 512


class TransformerEncoder:
    """A transformer of which one vector a sentence is taken.

    Compatible (specification, section 6): lower-cased tokens, the literal strings "[CLS]" and "[SEP]"
    whatever the model's own, a cut to the first 512 pieces, padding with id 0, token types 0; always the
    first token's vector, of layer ``avg`` (default: mean over all hidden states, embeddings included), N or
    ``pooler``.

    Corrected: the tokeniser's own special tokens, padding and truncation, case untouched; the mean over
    tokens (default) or the first token, of layer ``last`` (default), ``avg``, N or ``pooler``.
    """

    def __init__(self, name: str, source: str, options: EncoderOptions) -> None:
        """Load model and tokeniser.

        Args:
            name: what the user called the model.
            source: Hub id or folder.
            options: how to encode; ``layer`` and ``pooling`` may be None.

        Raises:
            UserError: the model cannot be loaded, lacks weights, or has no such layer.
        """
        self._options = with_defaults(options)
        self._model, self._tokenizer, missing = _load(source, self._options)
        self._model.to(self._options.device).eval()
        self._limit = _piece_limit(self._model, self._tokenizer)
        self._select = _selector(self._options, self._model.config.num_hidden_layers, missing)
        self._tokenise = _compatible_batch if options.protocol == "compatible" else _corrected_batch
        self.identity = Identity(
            name=name,
            kind="transformer",
            source=source,
            fingerprint=fingerprint_of_module(self._model, self._tokenizer, without=missing),
            revision=commit_of(source, options.revision),
            settings=settings_of(self._options),
        )

    def encode(self, sentences: Sequence[Tokens]) -> np.ndarray:
        """Vectors of token lists, shape (len(sentences), hidden size), float32."""
        import torch

        size = self._options.batch_size
        with torch.inference_mode(), autocast(self._options):
            rows = [self._encode_batch(sentences[i : i + size]) for i in range(0, len(sentences), size)]
        return np.concatenate(rows)

    def _encode_batch(self, sentences: Sequence[Tokens]) -> np.ndarray:
        batch = self._tokenise(self._tokenizer, sentences, self._limit, self._options.prompt)
        on_device = {name: value.to(self._options.device) for name, value in batch.items()}
        output = self._model(**on_device, output_hidden_states=True, return_dict=True)
        return self._select(output, on_device["attention_mask"]).float().cpu().numpy()


def with_defaults(options: EncoderOptions) -> EncoderOptions:
    """The options with the protocol's default layer and pooling filled in.

    Raises:
        UserError: token means asked for under the compatible protocol, which knows the first token only, or
            a pooling beside the pooler.
    """
    from dataclasses import replace

    if options.protocol == "compatible":
        if options.pooling == "mean":
            raise UserError(
                "pooling 'mean' under protocol 'compatible'",
                "pooling 'cls': the literature's encoders always took the first token",
                "use --protocol corrected for token means",
            )
        return replace(options, layer="avg" if options.layer is None else options.layer, pooling="cls")
    if options.layer == "pooler":
        if options.pooling:
            raise UserError(
                f"layer 'pooler' with pooling {options.pooling!r}",
                "one of the two: the pooler makes one vector of the tokens itself",
                "leave out --pooling, or choose another --layer",
            )
        return options
    layer = "last" if options.layer is None else options.layer
    return replace(options, layer=layer, pooling=options.pooling or "mean")


def settings_of(options: EncoderOptions) -> dict[str, str]:
    """Every option that changes a transformer's vectors, as text."""
    return {
        "protocol": options.protocol,
        "layer": str(options.layer),
        "pooling": options.pooling or "",
        "prompt": options.prompt,
        "precision": options.precision,
    }


def autocast(options: EncoderOptions) -> AbstractContextManager[object]:
    """The context in which the forward pass runs: bfloat16 autocast, or float32 as it is."""
    import torch

    device = options.device.partition(":")[0]
    return torch.autocast(device, dtype=torch.bfloat16, enabled=options.precision == "bfloat16")


def commit_of(source: str, revision: str | None) -> str | None:
    """The commit of a model from the Hub as it lies in the local cache; None for a folder."""
    from huggingface_hub import try_to_load_from_cache

    if Path(source).exists():
        return None
    found = try_to_load_from_cache(source, "config.json", revision=revision)
    return Path(found).parent.name if isinstance(found, str) else None


def _load(source: str, options: EncoderOptions) -> tuple[Any, Any, frozenset[str]]:
    import torch
    from transformers import AutoModel, AutoTokenizer

    try:
        # Weights absent from the checkpoint are drawn at random: not from the caller's generator.
        with torch.random.fork_rng(devices=[]):
            model, report = AutoModel.from_pretrained(
                source, revision=options.revision or "main", dtype=torch.float32, output_loading_info=True
            )
        tokenizer = AutoTokenizer.from_pretrained(source, revision=options.revision or "main")
    except loading_errors() as error:
        raise cannot_load(source, error) from error
    _require_one_stack(source, model)
    if options.protocol == "corrected":
        require_padding(source, tokenizer)
    missing = frozenset(report["missing_keys"])
    lost = sorted(name for name in missing if "pooler" not in name)
    if lost:
        raise UserError(
            f"the checkpoint {source} lacks {len(lost)} weights of its architecture, such as {lost[0]}",
            "a checkpoint with every encoder weight; others would be random",
            "choose another model or revision",
        )
    return model, tokenizer, missing


def _require_one_stack(source: str, model: Any) -> None:
    if model.config.is_encoder_decoder or not hasattr(model.config, "num_hidden_layers"):
        raise UserError(
            f"the model {source!r} has an encoder and a decoder, or another shape than one stack of layers",
            "a model that reads text through one stack of layers, such as BERT",
            "choose another model; --encoder sentence-transformers reads the encoder of some",
        )


def require_padding(source: str, tokenizer: Any) -> None:
    """Give a tokeniser of a causal model, which names none, the usual token for padding: the end of the text.

    Raises:
        UserError: it has no such token either.
    """
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    if tokenizer.pad_token is None:
        raise UserError(
            f"the tokeniser of {source!r} has no token for padding and none for the end of the text",
            "one of the two",
            "set pad_token in its tokenizer_config.json",
        )


def loading_errors() -> tuple[type[Exception], ...]:
    """What the libraries raise for models that are absent, incomplete, damaged or of an unknown kind."""
    from safetensors import SafetensorError

    return (OSError, ValueError, ImportError, RuntimeError, SafetensorError)


def cannot_load(source: str, error: Exception) -> UserError:
    """The message for a model that cannot be loaded."""
    reason = (str(error).strip() or repr(error)).splitlines()[0]
    return UserError(
        f"the model {source!r} cannot be loaded: {reason}",
        "a Hub id owner/name that can be reached, or a folder with config.json, weights and tokeniser",
        "check the spelling, the network and the revision, or give a local folder",
    )


def _piece_limit(model: Any, tokenizer: Any) -> int:
    """The longest input in pieces: what the positions allow and the tokeniser declares."""
    positions = getattr(model.config, "max_position_embeddings", None) or COMPATIBLE_PIECES
    return int(min(positions - _unused_positions(model), tokenizer.model_max_length))


def _unused_positions(model: Any) -> int:
    """How many of the first positions no piece gets: up to the padding row, where the table has one."""
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            return int(module.padding_idx) + 1
    return 0


def _compatible_batch(tokenizer: Any, sentences: Sequence[Tokens], limit: int, prompt: str) -> "Batch":
    import torch

    cut = min(COMPATIBLE_PIECES, limit)
    rows = [_compatible_ids(tokenizer, prompt + text_of(tokens, lower=True))[:cut] for tokens in sentences]
    longest = max(len(row) for row in rows)
    ids = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
    mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows])
    return {"input_ids": ids, "attention_mask": mask}


def _compatible_ids(tokenizer: Any, text: str) -> list[int]:
    ids: list[int] = tokenizer.convert_tokens_to_ids(["[CLS]", *tokenizer.tokenize(text), "[SEP]"])
    if None in ids:
        raise UserError(
            "this tokeniser has neither '[CLS]' and '[SEP]' nor an unknown-word token to stand for them",
            "a BERT- or RoBERTa-like tokeniser under protocol 'compatible'",
            "use --protocol corrected",
        )
    return ids


def _corrected_batch(tokenizer: Any, sentences: Sequence[Tokens], limit: int, prompt: str) -> "Batch":
    texts = [prompt + text_of(tokens) for tokens in sentences]
    batch = tokenizer(texts, padding=True, truncation=True, max_length=limit, return_tensors="pt")
    return dict(batch)


def _selector(options: EncoderOptions, layers: int, missing: frozenset[str]) -> Callable[[Any, Any], Any]:
    """A function of model output and attention mask that gives one vector a sentence."""
    if options.layer == "pooler":
        if missing:
            raise UserError(
                "layer 'pooler', but the checkpoint has no weights for it: they would be random",
                "'avg', 'last' or a layer number for this model",
                "choose another --layer",
            )
        return _pooled
    pool = _first_token if options.pooling == "cls" else _token_mean
    chosen = _layer_numbers(str(options.layer), layers)
    return lambda output, mask: sum(pool(output.hidden_states[i], mask) for i in chosen) / len(chosen)


def _layer_numbers(layer: str, layers: int) -> list[int]:
    """Which hidden states are averaged; number 0 is the embedding output."""
    if layer == "avg":
        return list(range(layers + 1))
    if layer == "last":
        return [layers]
    if re.fullmatch("-?[0-9]+", layer) and -layers - 1 <= int(layer) <= layers:
        return [int(layer)]
    raise UserError(
        f"layer {layer!r}",
        f"avg, last, pooler or a number from 0 (embeddings) to {layers} for this model",
        "choose another --layer",
    )


def _pooled(output: Any, mask: Any) -> Any:
    if getattr(output, "pooler_output", None) is None:
        raise UserError(
            "layer 'pooler', but this architecture has no pooled output",
            "'avg', 'last' or a layer number for this model",
            "choose another --layer",
        )
    return output.pooler_output


def _first_token(hidden: Any, mask: Any) -> Any:
    return hidden[:, 0]


def _token_mean(hidden: Any, mask: Any) -> Any:
    weights = mask.unsqueeze(-1).to(hidden.dtype)
    return (hidden * weights).sum(1) / weights.sum(1)
