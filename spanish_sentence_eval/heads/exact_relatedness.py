"""The relatedness head, step by step as the reference trains it, from private random streams."""

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from spanish_sentence_eval.heads.exact import layer
from spanish_sentence_eval.heads.relatedness import BATCH, BINS, Trainer


class ExactTrainer(Trainer):
    """Mean squared error between softmax and targets, autograd, torch's Adam.

    Args:
        x: shape (n, d), float32.
        targets: shape (n, 5), float32.
        seed: of initial weights and epoch order.
        device: where it runs.
    """

    def __init__(self, x: np.ndarray, targets: np.ndarray, seed: int, device: str) -> None:
        self._device = torch.device(device)
        self._x = torch.from_numpy(x).to(self._device)
        self._targets = torch.from_numpy(targets).to(self._device)
        self._stream = np.random.RandomState(seed)
        drawn = layer(x.shape[1], BINS, torch.Generator().manual_seed(seed))
        self._weights = [tensor.to(self._device).requires_grad_() for tensor in drawn]
        self._optimiser = torch.optim.Adam(self._weights)
        self._best: list[Tensor] = [tensor.detach().clone() for tensor in self._weights]

    def round(self, epochs: int) -> None:
        """See :class:`spanish_sentence_eval.heads.relatedness.Trainer`."""
        for _ in range(epochs):
            order = torch.from_numpy(self._stream.permutation(len(self._x))).to(self._device)
            for rows in order.split(BATCH):
                output = functional.linear(self._x[rows], *self._weights).softmax(-1)
                loss = functional.mse_loss(output, self._targets[rows])
                self._optimiser.zero_grad()
                loss.backward()
                self._optimiser.step()

    def keep(self) -> None:
        """See :class:`spanish_sentence_eval.heads.relatedness.Trainer`."""
        self._best = [tensor.detach().clone() for tensor in self._weights]

    @torch.no_grad()
    def probabilities(self, x: np.ndarray, best: bool = False) -> np.ndarray:
        """See :class:`spanish_sentence_eval.heads.relatedness.Trainer`."""
        weight, bias = self._best if best else self._weights
        rows = torch.from_numpy(x).to(self._device).split(BATCH)
        return torch.cat([functional.linear(r, weight, bias).softmax(-1) for r in rows]).cpu().numpy()
