"""The small files by which sentence-transformers knows how a folder's encoder is used."""

from pathlib import Path

from lyricsim_models.model_files import optional_json
from lyricsim_models.registry import Model
from lyricsim_tools.atomic import write_json
from lyricsim_tools.errors import UserError

CALIBRATION_FILE = "calibration.json"
POOLINGS = ("mean", "cls")
_LEGACY = {"pooling_mode_cls_token": "cls", "pooling_mode_mean_tokens": "mean"}
_MODULES = (
    ("", "sentence_transformers.models.Transformer"),
    ("1_Pooling", "sentence_transformers.models.Pooling"),
    ("2_Normalize", "sentence_transformers.models.Normalize"),
)


def read_pooling(model: Model) -> str:
    """How the model's own configuration pools token vectors; ``mean`` where it has none.

    Raises:
        UserError: a pooling or a further layer (Dense, LSTM, …) that would be left out silently.
    """
    modules = optional_json(model, "modules.json") or []
    kinds = {module["type"].rsplit(".", 1)[-1] for module in modules}
    config = optional_json(model, "1_Pooling/config.json") or {"pooling_mode": "mean"}
    found = config.get("pooling_mode") or [
        key.removeprefix("pooling_mode_") for key, used in config.items() if used is True and "mode" in key
    ]
    names = [found] if isinstance(found, str) else list(found)
    names = [_LEGACY.get(f"pooling_mode_{name}", name) for name in names]
    extra = sorted(kinds - {"Transformer", "Pooling", "Normalize"})
    if extra or len(names) != 1 or names[0] not in POOLINGS:
        raise UserError(
            f"{model.reference} pools with {' + '.join([*names, *extra])}",
            f"a transformer with one pooling of {', '.join(POOLINGS)} and no further layer",
            "choose another encoder, or train it as a cross-encoder",
        )
    return str(names[0])


def read_prompt(model: Model) -> str:
    """The prompt that sentence-transformers would put before each text by default; mostly empty."""
    config = optional_json(model, "config_sentence_transformers.json") or {}
    return str((config.get("prompts") or {}).get(config.get("default_prompt_name") or "", "") or "")


def read_line(model: Model) -> tuple[float, float]:
    """Slope and intercept from cosine to score of an exported bi-encoder."""
    config = optional_json(model, CALIBRATION_FILE)
    if config is None:
        return 5.0, 0.0
    return float(config["slope"]), float(config["intercept"])


def write_sentence_files(
    folder: Path, *, width: int, pooling: str, prompt: str, max_length: int, line: tuple[float, float]
) -> None:
    """Make a transformers folder loadable as a ``SentenceTransformer`` with the same embeddings.

    Args:
        folder: holds an encoder and its tokenizer.
        width: of an embedding.
        pooling: ``mean`` or ``cls``.
        prompt: text before each lyric; encoding applies it by default.
        max_length: most tokens of a text.
        line: slope and intercept from cosine to score; plain sentence-transformers ignores them.
    """
    modules = [
        {"idx": i, "name": str(i), "path": path, "type": kind} for i, (path, kind) in enumerate(_MODULES)
    ]
    write_json(folder / "modules.json", modules)
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": max_length, "do_lower_case": False})
    flags = {key: mode == pooling for key, mode in _LEGACY.items()}
    write_json(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": width, **flags})
    write_json(folder / "2_Normalize" / "config.json", {})
    prompts = {"prompts": {"lyrics": prompt}, "default_prompt_name": "lyrics"} if prompt else {"prompts": {}}
    write_json(folder / "config_sentence_transformers.json", {**prompts, "similarity_fn_name": "cosine"})
    write_json(folder / CALIBRATION_FILE, {"slope": line[0], "intercept": line[1]})
