"""Any encoder as a function from texts to vectors, with nothing trained here."""

from functools import partial

from lyricsim_models.config import Recipe
from lyricsim_models.embedding_cache import EmbeddingCache
from lyricsim_models.encoders import load
from lyricsim_models.registry import resolve
from lyricsim_models.scoring import PairScorer


def zero_shot_encoder(
    name: str, batch_size: int = 32, prompt: str | None = None, max_length: int = 512
) -> EmbeddingCache:
    """Load an encoder as a function that turns each distinct text into a vector once.

    Args:
        name: registry name, Hub id or folder; a bi-encoder trained here is one too.
        batch_size: texts computed at once.
        prompt: text before each text; None for what the registry or the model's own files say.
        max_length: most tokens of a sequence; the model's own limit may be lower.

    Returns:
        Texts to unit vectors, shape (texts, width).

    Raises:
        UserError: no such model, or one that cannot be loaded.
    """
    import torch

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    recipe = Recipe(architecture="bi-encoder", prompt=prompt, max_length=max_length)
    loaded = load(resolve(name), recipe, seed=0)
    loaded.scorer.to(device).eval()
    return EmbeddingCache(partial(PairScorer(loaded, device).embed, batch_size=batch_size))
