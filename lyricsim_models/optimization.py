"""AdamW as the paper's recipe has it, with the parameter groups of transformers' Trainer."""

import torch
from torch import nn

from lyricsim_models.config import Recipe

# Slope and intercept under a bi-encoder's cosine live on a scale of their own: at an encoder's rate they
# would stay where they started.
LINE_RATE_FACTOR = 100.0


def build_optimizer(module: nn.Module, recipe: Recipe) -> torch.optim.AdamW:
    """AdamW (β 0.9/0.999, ε 1e-8; paper, section 5.3) with each group's highest rate kept as ``peak``.

    Biases and normalisation weights are not decayed, as in the library whose defaults the paper kept.
    """
    named = [(name, p) for name, p in module.named_parameters() if p.requires_grad]
    line = [p for name, p in named if name == "line"]
    matrices = [p for name, p in named if p.ndim >= 2]
    vectors = [p for name, p in named if p.ndim < 2 and name != "line"]
    rate = recipe.learning_rate
    groups = [_group(matrices, rate, recipe.weight_decay), _group(vectors, rate, 0.0)]
    if line:
        groups.append(_group(line, rate * LINE_RATE_FACTOR, 0.0))
    return torch.optim.AdamW(groups, betas=(0.9, 0.999), eps=1e-8)


def _group(parameters: list[nn.Parameter], rate: float, decay: float) -> dict[str, object]:
    return {"params": parameters, "lr": rate, "peak": rate, "weight_decay": decay}
