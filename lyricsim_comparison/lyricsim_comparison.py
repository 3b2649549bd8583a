"""The comparison as evaluate loads it: a thin shell round ``differences.compare``.

evaluate copies this file and the helpers that a line at column 0 imports, and no helper of a helper: every
file that the helpers need is therefore imported here by name.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import datasets
import evaluate
import numpy as np

from .correlations import Correlations as Correlations
from .differences import INPUT_NAMES, CompareOptions, compare_with
from .inputs import checked_columns as checked_columns
from .intervals import Options as Options
from .rankings import compare_all
from .resampling import WeightedScores as WeightedScores
from .rows import CheckedRows
from .significance import holm

_DESCRIPTION = """
Two systems on the same references: the difference of their Pearson and Spearman correlations and of the mean
of both, with intervals of the paired bootstrap and p-values, and Holm's correction for many pairs of systems.
"""

_INPUTS = """
Args:
    predictions1: the first system, one score a row; list, array or tensor of shape (n,) or (n, 1).
    predictions2: the second system on the same rows.
    references: the gold similarity of each row.
    scale: what every difference and interval is multiplied by (default 1); 100 prints as the paper does.
    confidence_level: of the intervals, between 0 and 1 (default 0.95); None leaves them out.
    ci_method: "bca" (default) or "percentile".
    n_resamples: tables drawn for the intervals, and permutations for the p-values (default 9999).
    seed: of the private generators that draw them (default 0).
    clusters: the ids of the two songs of every row, shape (n, 2); songs are then resampled.
    undefined: what a constant side does: "nan" (default) gives NaN and one warning, "raise" an error.
Returns:
    pearson_difference, spearmanr_difference, combined_score_difference: first less second, times the scale.
    pearson_difference_ci, spearmanr_difference_ci, combined_score_difference_ci: [low, high].
    pearson_williams_pvalue: Williams's test of dependent correlations.
    pearson_permutation_pvalue, spearmanr_permutation_pvalue, combined_score_permutation_pvalue; with
        clusters, instead of all four: pearson_bootstrap_pvalue and so on.
Examples:
    >>> import evaluate
    >>> lyricsim_comparison = evaluate.load("lyricsim_comparison")
    >>> first, second, gold = [1, 2, 3, 4, 6, 5], [2, 1, 4, 3, 6, 5], [0, 1, 2, 3, 4, 5]
    >>> result = lyricsim_comparison.compute(predictions1=first, predictions2=second, references=gold)
    >>> print(f"{result['pearson_difference']:.3f} {result['pearson_williams_pvalue']:.2f}")
    0.114 0.30
    >>> low, high = result["pearson_difference_ci"]
    >>> low < 0.114 < high
    True
    >>> lyricsim_comparison.holm([0.01, 0.04, 0.03, 0.005])
    [0.03, 0.06, 0.06, 0.02]
"""

_CITATION = """
@article{lyricsim2023,
  title  = {LyricSIM: A novel dataset and benchmark for similarity detection in Spanish song lyrics},
  author = {Benito-Santos, Alejandro and Ghajari, Adrián and Hernández, Pedro and Fresno, Víctor
            and Ros, Salvador and González-Blanco, Elena},
  year   = {2023},
  note   = {SEPLN 2023, arXiv:2306.01325},
  url    = {https://arxiv.org/abs/2306.01325}
}
"""

_DEFAULTS = CompareOptions()


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _INPUTS)
class LyricsimComparison(CheckedRows, evaluate.Comparison):
    """Differences of two systems, of rows given at once, in batches or by several processes."""

    options_type = CompareOptions

    def _info(self) -> evaluate.ComparisonInfo:
        return evaluate.ComparisonInfo(
            module_type="comparison",
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            # Value("float") is single precision and would merge scores that differ.
            features=datasets.Features({name: datasets.Value("float64") for name in INPUT_NAMES}),
            # The NumPy format is single precision too.
            format="arrow",
            reference_urls=["https://arxiv.org/abs/2306.01325"],
        )

    def _compute(
        self,
        predictions1: object,
        predictions2: object,
        references: object,
        clusters: object = None,
        options: CompareOptions = _DEFAULTS,
    ) -> dict[str, Any]:
        return compare_with(predictions1, predictions2, references, options, clusters)

    def holm(self, p_values: Sequence[float] | np.ndarray) -> list[float]:
        """Holm's correction of the p-values of a whole table, in the order given."""
        return [float(value) for value in holm(p_values)]

    def compare_all(
        self, systems: Mapping[str, object], references: object, clusters: object = None, **options: Any
    ) -> list[dict[str, Any]]:
        """Compare each two of several named systems, with p-values corrected for the number of pairs."""
        return compare_all(systems, references, clusters, **options)
