"""Two lyrics → one tokenised row, and rows → one padded batch."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch

# What padding looks like in each model input; input_ids take the tokenizer's own padding token.
_PADDING = {"attention_mask": 0, "token_type_ids": 0}

Sequences = dict[str, list[NDArray[np.int32]]]


@dataclass(frozen=True)
class TokenRows:
    """Tokenised pairs, not padded.

    Args:
        sides: one entry for a cross-encoder (both lyrics in one sequence), two for a bi-encoder; each maps
            a model input to its n sequences.
        lengths: shape (n,), tokens of the longer side.
        truncated: shape (n,), whether tokens were cut off.
    """

    sides: tuple[Sequences, ...]
    lengths: NDArray[np.int64]
    truncated: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.lengths)


def tokenize_joint(tokenizer: Any, first: Sequence[str], second: Sequence[str], max_length: int) -> TokenRows:
    """Both lyrics of each pair in one sequence; where it is too long, the longer lyric loses tokens.

    Args:
        tokenizer: of transformers, backed by tokenizers.
        first: n texts.
        second: n texts.
        max_length: most tokens of a sequence, special tokens included.
    """
    if not first:
        return _rows(({},), np.zeros(0, bool))
    whole = tokenizer(list(first), list(second), truncation=False, verbose=False)
    cut = np.array([len(ids) > max_length for ids in whole["input_ids"]])
    if cut.any():
        chosen = np.flatnonzero(cut)
        pairs = [first[int(i)] for i in chosen], [second[int(i)] for i in chosen]
        shorter = tokenizer(*pairs, truncation="longest_first", max_length=max_length)
        _replace(whole, shorter, chosen)
    return _rows((_sequences(whole),), cut)


def tokenize_apart(tokenizer: Any, first: Sequence[str], second: Sequence[str], max_length: int) -> TokenRows:
    """Each lyric in a sequence of its own, cut at its end where it is too long; same text, same work once."""
    texts = sorted({*first, *second})
    if not texts:
        return _rows(({}, {}), np.zeros(0, bool))
    place = {text: position for position, text in enumerate(texts)}
    whole = tokenizer(texts, truncation=False, verbose=False)
    cut = np.array([len(ids) > max_length for ids in whole["input_ids"]])
    if cut.any():
        chosen = np.flatnonzero(cut)
        _replace(whole, tokenizer([texts[i] for i in chosen], truncation=True, max_length=max_length), chosen)
    tokens = _sequences(whole)
    indices = [[place[text] for text in side] for side in (first, second)]
    sides = tuple({name: [values[i] for i in index] for name, values in tokens.items()} for index in indices)
    return _rows(sides, cut[indices[0]] | cut[indices[1]])


def _replace(whole: Any, shorter: Any, chosen: NDArray[np.int64]) -> None:
    for name, values in shorter.items():
        for position, value in zip(chosen, values, strict=True):
            whole[name][position] = value


def _sequences(encoded: Any) -> Sequences:
    return {name: [np.asarray(v, dtype=np.int32) for v in values] for name, values in encoded.items()}


def _rows(sides: tuple[Sequences, ...], truncated: NDArray[np.bool_]) -> TokenRows:
    lengths = np.zeros(len(truncated), dtype=np.int64)
    for side in sides:
        for position, ids in enumerate(side.get("input_ids", [])):
            lengths[position] = max(lengths[position], len(ids))
    return TokenRows(sides, lengths, truncated)


def concatenate(parts: Sequence[TokenRows]) -> TokenRows:
    """All rows of several tables, one after the other."""
    sides = tuple(
        {name: [row for part in parts for row in part.sides[side][name]] for name in parts[0].sides[side]}
        for side in range(len(parts[0].sides))
    )
    lengths = np.concatenate([part.lengths for part in parts])
    return TokenRows(sides, lengths, np.concatenate([part.truncated for part in parts]))


def collate(
    rows: TokenRows, chosen: NDArray[np.int64], pad_id: int, multiple: int = 1, limit: int | None = None
) -> dict[str, "torch.Tensor"]:
    """Pad the chosen rows to their longest.

    Args:
        rows: the table.
        chosen: shape (b,), indices into it.
        pad_id: the tokenizer's padding token.
        multiple: the padded length is a multiple of this (some accelerators compile once a shape) …
        limit: … unless that would be more than this.

    Returns:
        model input → int64 tensor of shape (b, length); (2b, length) for two sides, first sides first.
    """
    import torch

    longest = int(rows.lengths[chosen].max())
    width = max(longest, min(-(-longest // multiple) * multiple, limit or 10**9))
    batch = {}
    for name in rows.sides[0]:
        sequences = [side[name][i] for side in rows.sides for i in chosen]
        table = np.full((len(sequences), width), _PADDING.get(name, pad_id), dtype=np.int64)
        for line, sequence in zip(table, sequences, strict=True):
            line[: len(sequence)] = sequence
        batch[name] = torch.from_numpy(table)
    return batch
