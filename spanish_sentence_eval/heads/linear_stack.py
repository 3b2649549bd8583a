"""Many linear classifiers trained in step: one batched product a mini-batch, one fused Adam for all.

The gradient of softmax regression has a closed form, so no graph is recorded. The bias is a column of the
weights that meets a column of ones, which lets weight and bias share every operation.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from spanish_sentence_eval.heads.exact import layer

_BETA1, _BETA2, _EPS = 0.9, 0.999, 1e-8
_ALIGN = 8

Residual = Callable[[Tensor, Tensor], Tensor]
"""Probabilities (g, k, s, b) and targets (g, …, b) → the loss's derivative by the logits, times b."""


def cross_entropy_residual(probabilities: Tensor, targets: Tensor) -> Tensor:
    """Of the mean cross-entropy with class ids (g, b); in place."""
    groups, _, width, size = probabilities.shape
    minus = probabilities.new_full((groups, 1, width, size), -1.0)
    return probabilities.scatter_add_(1, targets[:, None, None].expand(minus.shape), minus)


def squared_error_residual(probabilities: Tensor, targets: Tensor) -> Tensor:
    """Of the squared error from shares (g, k, b), averaged over rows and classes."""
    targets = targets[:, :, None]
    slope = (probabilities - targets) * (2 / probabilities.shape[1])
    return probabilities * (slope - (probabilities * slope).sum(1, keepdim=True))


def with_ones(x: Tensor) -> Tensor:
    """Rows with a column of ones for the bias, filled up with zeros to an aligned width."""
    width = -(-(x.shape[1] + 1) // _ALIGN) * _ALIGN
    wide = x.new_zeros(len(x), width)
    wide[:, : x.shape[1]] = x
    wide[:, x.shape[1]] = 1
    return wide


class LinearStack:
    """G groups of S classifiers with k classes; the classifiers of a group see the same mini-batches.

    Args:
        x: shape (n, w), rows as :func:`with_ones` makes them.
        inputs: the true width of a row.
        classes: k.
        strengths: shape (G, S), coupled L2 strength of each classifier.
        seed: of the initial weights, which all classifiers share.
        rate: Adam's learning rate.
        batch: rows of a mini-batch.
        residual: the loss.

    Attributes:
        weights: shape (G, k, S, w).
    """

    def __init__(
        self,
        x: Tensor,
        inputs: int,
        classes: int,
        strengths: Tensor,
        seed: int,
        rate: float = 1e-3,
        batch: int = 64,
        residual: Residual = cross_entropy_residual,
    ) -> None:
        groups, width = strengths.shape
        weight, bias = layer(inputs, classes, torch.Generator().manual_seed(seed))
        start = torch.zeros(classes, x.shape[1])
        start[:, :inputs], start[:, inputs] = weight, bias
        self.weights = start.to(x.device)[None, :, None].repeat(groups, 1, width, 1)
        self._first, self._second = torch.zeros_like(self.weights), torch.zeros_like(self.weights)
        self._decay = strengths.to(x.device)[:, None, :, None]
        self._x = x
        self._rate, self._batch, self._residual = rate, batch, residual
        self._steps = 0
        self._allocate()

    def _allocate(self) -> None:
        groups, classes, width, columns = self.weights.shape
        rows = groups * self._batch
        self._rows = self._x.new_empty(rows, columns)
        self._logits = self._x.new_empty(groups * classes * width * self._batch)
        self._chances = torch.empty_like(self._logits)
        self._gradient, self._root = torch.empty_like(self.weights), torch.empty_like(self.weights)

    def keep(self, groups: Tensor) -> None:
        """Go on with the given groups only."""
        self.weights, self._first, self._second, self._decay = (
            tensor[groups] for tensor in (self.weights, self._first, self._second, self._decay)
        )
        self._allocate()

    def epoch(self, rows: Tensor, targets: Tensor) -> None:
        """One pass over each group's rows.

        Args:
            rows: shape (G, n), row numbers of ``x`` in the order of the pass.
            targets: shape (G, n) or (G, k, n), what ``residual`` compares with.
        """
        with torch.inference_mode():
            for start in range(0, rows.shape[1], self._batch):
                end = start + self._batch
                self._step(rows[:, start:end].reshape(-1), targets[..., start:end])

    def _step(self, rows: Tensor, targets: Tensor) -> None:
        groups, classes, width, columns = self.weights.shape
        size = targets.shape[-1]
        x = torch.index_select(self._x, 0, rows, out=self._rows[: len(rows)]).view(groups, size, columns)
        weights = self.weights.view(groups, classes * width, columns)
        shape = (groups, classes * width, size)
        count = groups * classes * width * size
        logits = torch.bmm(weights, x.transpose(1, 2), out=self._logits[:count].view(shape))
        chances = self._chances[:count].view(groups, classes, width, size)
        torch.softmax(logits.view(groups, classes, width * size), 1, out=chances.view(groups, classes, -1))
        residual = self._residual(chances, targets).view(shape)
        torch.mul(self.weights, self._decay, out=self._gradient)
        self._gradient.view_as(weights).baddbmm_(residual, x, alpha=1 / size)
        self._adam()

    def _adam(self) -> None:
        """Adam with its bias corrections drawn into the step, so that each array is passed over once."""
        self._steps += 1
        root2 = math.sqrt(1 - _BETA2**self._steps)
        self._first.lerp_(self._gradient, 1 - _BETA1)
        self._second.mul_(_BETA2).addcmul_(self._gradient, self._gradient, value=1 - _BETA2)
        torch.sqrt(self._second, out=self._root).add_(_EPS * root2)
        step = self._rate * root2 / (1 - _BETA1**self._steps)
        self.weights.addcdiv_(self._first, self._root, value=-step)
