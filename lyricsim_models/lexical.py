"""The lexical scorer: a few coefficients on counts of words and lines; needs no network, no torch, no fit.

It keeps no word of any lyric, so it can be shipped, and it is the score to beat on songs never seen.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from lyricsim_models.features import LyricPair, text_columns
from lyricsim_tools.errors import UserError


@dataclass(frozen=True)
class LexicalScorer:
    """A linear score of text-free features.

    Args:
        intercept: the score where every feature is 0.
        weights: feature name to change of the score for each unit of the feature.
        provenance: what it was fitted on: digests and counts, no text.
    """

    intercept: float
    weights: Mapping[str, float]
    provenance: Mapping[str, Any]

    def score(self, pairs: Sequence[LyricPair]) -> np.ndarray:
        """Similarity of each pair, shape (pairs,), about 0 to 5; not clipped, so that order is kept."""
        return (
            text_columns(tuple(self.weights), pairs) @ np.array(list(self.weights.values())) + self.intercept
        )

    def to_json(self) -> dict[str, Any]:
        """What :func:`read_lexical_scorer` reads."""
        return {
            "intercept": self.intercept,
            "weights": dict(self.weights),
            "provenance": dict(self.provenance),
        }


def fit_lexical_scorer(
    names: Sequence[str],
    pairs: Sequence[LyricPair],
    scores: np.ndarray,
    penalty: float,
    provenance: Mapping[str, Any],
) -> LexicalScorer:
    """Ridge regression on standardised features, rewritten in the features' own units.

    Args:
        names: text-free features.
        pairs: training lyrics.
        scores: gold similarity, shape (pairs,), 0 to 5.
        penalty: weight of the squared coefficients, as in scikit-learn's ``Ridge(alpha=…)``.
        provenance: stored beside the coefficients.
    """
    table = text_columns(names, pairs)
    mean, spread = table.mean(axis=0), table.std(axis=0)
    spread[spread == 0] = 1.0
    unit = (table - mean) / spread
    normal = unit.T @ unit + penalty * np.eye(len(names))
    weights = np.linalg.solve(normal, unit.T @ (scores - scores.mean())) / spread
    # Six digits say all that a few hundred ratings can; longer numbers would only differ between machines.
    rounded = {name: float(f"{weight:.6g}") for name, weight in zip(names, weights, strict=True)}
    return LexicalScorer(float(f"{scores.mean() - mean @ weights:.6g}"), rounded, provenance)


def default_lexical_scorer() -> LexicalScorer:
    """The scorer that comes with the package, fitted on the training split of LyricSIM."""
    return _parse(
        resources.files("lyricsim_models").joinpath("lexical.json").read_text("utf-8"), "lexical.json"
    )


def read_lexical_scorer(path: Path) -> LexicalScorer:
    """A scorer that ``training/fit_lexical.py`` wrote.

    Raises:
        UserError: there is no such file, or it is no such scorer.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise _not_a_scorer(str(path), str(error)) from error
    return _parse(text, str(path))


def _parse(text: str, where: str) -> LexicalScorer:
    try:
        content = json.loads(text)
        scorer = LexicalScorer(
            float(content["intercept"]),
            {str(name): float(weight) for name, weight in content["weights"].items()},
            content["provenance"],
        )
        text_columns(tuple(scorer.weights), [])
    except (json.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise _not_a_scorer(where, repr(error)) from error
    if not all(map(math.isfinite, [scorer.intercept, *scorer.weights.values()])):
        raise _not_a_scorer(where, "a coefficient is not finite")
    return scorer


def _not_a_scorer(where: str, why: str) -> UserError:
    return UserError(
        f"{where} is no lexical scorer: {why}",
        "JSON with intercept, weights by feature, provenance",
        "write it anew with training/fit_lexical.py",
    )
