"""Any encoder as a function from texts to vectors, with nothing trained."""

from collections.abc import Sequence

import numpy as np

from lyricsim_models.config import Recipe
from lyricsim_models.encoders import load
from lyricsim_models.features import Embed
from lyricsim_models.registry import resolve
from lyricsim_models.scoring import PairScorer


def zero_shot_encoder(name: str, batch_size: int = 32) -> Embed:
    """Load an encoder and return its embedding function, which remembers the texts it has seen.

    Args:
        name: registry name, Hub id or folder.
        batch_size: texts computed at once.

    Returns:
        Texts to unit vectors, shape (texts, width), each text with the prompt its authors prescribe.

    Raises:
        UserError: no such model, or one that cannot be loaded.
    """
    import torch

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    loaded = load(resolve(name), Recipe(architecture="bi-encoder"), seed=0)
    loaded.scorer.to(device).eval()
    scorer = PairScorer(loaded, device)
    known: dict[str, np.ndarray] = {}

    def embed(texts: Sequence[str]) -> np.ndarray:
        if new := sorted({text for text in texts if text not in known}):
            known.update(zip(new, scorer.embed(new, batch_size), strict=True))
        return np.stack([known[text] for text in texts])

    return embed
