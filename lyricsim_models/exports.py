"""The model folder that others load: transformers, its pipelines, and sentence-transformers."""

import json
import shutil
import tempfile
from pathlib import Path

import torch

from lyricsim_models.encoders import Loaded, SentenceScorer, quiet_transformers
from lyricsim_models.sentence_folder import write_sentence_files
from lyricsim_tools.atomic import write_json
from lyricsim_tools.files import flush_tree, set_usual_modes

# One output would get a sigmoid by default: scores are on the 0–5 scale as they are.
_IDENTITY = {"activation_fn": "torch.nn.modules.linear.Identity", "version": "5.0.0"}


def write_model(folder: Path, loaded: Loaded, weights: dict[str, torch.Tensor]) -> None:
    """Write a loadable model folder, whole or not at all.

    Args:
        folder: where it goes; replaced if it exists, so only a name of our own.
        loaded: the model's structure and tokenizer; its own weights are not read.
        weights: all weights by the scorer's names, float32, on the CPU.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".partial", dir=folder.parent))
    try:
        with quiet_transformers():
            _write(partial, loaded, weights)
        set_usual_modes(partial)
        flush_tree(partial)
        if folder.exists():
            shutil.rmtree(folder)
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _write(folder: Path, loaded: Loaded, weights: dict[str, torch.Tensor]) -> None:
    scorer = loaded.scorer
    inner = {
        name.removeprefix("encoder."): value.contiguous()
        for name, value in weights.items()
        if name.startswith("encoder.")
    }
    scorer.encoder.save_pretrained(folder, state_dict=inner)
    loaded.tokenizer.save_pretrained(folder)
    if isinstance(scorer, SentenceScorer):
        slope, intercept = weights["line"].tolist()
        write_sentence_files(
            folder,
            width=scorer.encoder.config.hidden_size,
            pooling=scorer.pooling,
            prompt=loaded.prompt,
            max_length=loaded.max_length,
            line=(slope, intercept),
        )
        return
    path = folder / "config.json"
    config = json.loads(path.read_text("utf-8"))
    write_json(path, {**config, "sentence_transformers": _IDENTITY})
