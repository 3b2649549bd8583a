"""A bi-encoder's scores from vectors: each distinct lyric is encoded once, however many pairs it is in."""

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from tqdm import tqdm

from lyricsim_models.batches import Rows, split_rows
from lyricsim_models.encoders import SentenceScorer
from lyricsim_models.pairs import TokenRows

# Pairs whose lyrics are held as vectors at once: bounds memory, and songs of one data set recur within it.
_WINDOW = 4096

# Some rows of a table as one padded batch on the model's device.
Collate = Callable[[TokenRows, Rows], dict[str, torch.Tensor]]


def embed_rows(
    scorer: SentenceScorer, rows: TokenRows, collated: Collate, size: int, title: str | None = None
) -> torch.Tensor:
    """Unit vectors of one-sided rows, shape (n, width), float32, on the CPU; neighbours in length together.

    Args:
        scorer: in evaluation mode.
        rows: n tokenised lyrics.
        collated: pads rows.
        size: most sequences of a batch.
        title: of a progress bar, where somebody watches; None for no bar.
    """
    vectors = torch.zeros(len(rows), scorer.encoder.config.hidden_size)
    if len(rows):
        plan = split_rows(np.arange(len(rows)), rows.lengths, 1, size)
        for (batch,) in tqdm(plan, desc=title, leave=False, disable=None if title else True):
            with torch.inference_mode():
                found = scorer.embed(**collated(rows, batch.rows))
            vectors[torch.from_numpy(batch.rows)] = found.float().cpu()
    return vectors


def distinct_sequences(rows: TokenRows, chosen: Rows) -> tuple[TokenRows, NDArray[np.int64]]:
    """The different sequences of some two-sided rows.

    Args:
        rows: the table.
        chosen: shape (b,), indices into it.

    Returns:
        One-sided rows, all different; and for each side where its sequences are among them, shape (2, b).
    """
    known: dict[bytes, int] = {}
    examples: list[tuple[int, int]] = []
    places = np.zeros((len(rows.sides), len(chosen)), dtype=np.int64)
    for side, tokens in enumerate(rows.sides):
        for column, row in enumerate(chosen):
            place = known.setdefault(tokens["input_ids"][row].tobytes(), len(known))
            places[side, column] = place
            if place == len(examples):
                examples.append((side, int(row)))
    single = {name: [rows.sides[side][name][row] for side, row in examples] for name in rows.sides[0]}
    lengths = np.array([len(ids) for ids in single.get("input_ids", [])], dtype=np.int64)
    return TokenRows((single,), lengths, np.zeros(len(lengths), bool)), places


def score_distinct(
    scorer: SentenceScorer,
    rows: TokenRows,
    chosen: Rows,
    collated: Collate,
    size: int,
    title: str | None = None,
) -> NDArray[np.float32]:
    """Scores of some pairs from vectors of their distinct lyrics.

    Args:
        scorer: in evaluation mode.
        rows: tokenised pairs.
        chosen: shape (b,), which of them.
        collated: pads rows.
        size: most pairs, of two sequences each, of a batch.
        title: of a progress bar, where somebody watches; None for no bar.

    Returns:
        shape (b,), in the order of ``chosen``; but for rounding those of the scorer called on the pairs.
    """
    scores = np.zeros(len(chosen), dtype=np.float32)
    for start in range(0, len(chosen), _WINDOW):
        part = chosen[start : start + _WINDOW]
        single, (first, second) = distinct_sequences(rows, part)
        vectors = embed_rows(scorer, single, collated, 2 * size, title)
        with torch.inference_mode():
            line = scorer.line.cpu()
            cosines = (vectors[torch.from_numpy(first)] * vectors[torch.from_numpy(second)]).sum(-1)
            scores[start : start + _WINDOW] = (line[0] * cosines + line[1]).numpy()
    return scores
