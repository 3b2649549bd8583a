"""The metric as evaluate loads it: a thin shell round ``scores.score``.

evaluate copies this file and the helpers that a line at column 0 imports, and no helper of a helper: every
file that the helpers need is therefore imported here by name.
"""

from typing import Any

import datasets
import evaluate

from .correlations import Correlations as Correlations
from .inputs import INPUT_NAMES
from .intervals import Options as Options
from .resampling import WeightedScores as WeightedScores
from .rows import CheckedRows
from .scores import ScoreOptions, score_with

_DESCRIPTION = """
Pearson's and Spearman's correlation of predicted and gold similarity, and their mean, the combined score of
the LyricSIM paper and of GLUE's STS-B: in double precision, defined in every case, with intervals on request.
"""

_INPUTS = """
Args:
    predictions: one score a row, any finite real numbers; list, array or tensor of shape (n,) or (n, 1).
    references: the gold similarity of each row, in the same forms.
    scale: what every score and interval is multiplied by (default 1); 100 prints as the paper does.
    confidence_level: between 0 and 1, such as 0.95, adds an interval to each score (default: none).
    ci_method: "bca" (default) or "percentile".
    n_resamples: tables drawn for the intervals (default 9999).
    seed: of the private generator that draws them (default 0).
    clusters: the ids of the two songs of every row, shape (n, 2); intervals then resample songs,
        so it is refused without confidence_level, as are ci_method and n_resamples.
    p_values: whether to add the two p-values of no correlation (default False).
    undefined: what a constant side does: "nan" (default) gives NaN and one warning, "raise" an error.
Returns:
    pearson, spearmanr, combined_score: floats in [-1, 1] times the scale.
    pearson_ci, spearmanr_ci, combined_score_ci: [low, high], with confidence_level.
    pearson_pvalue, spearmanr_pvalue: floats in [0, 1], with p_values.
Examples:
    >>> import evaluate
    >>> lyricsim_metric = evaluate.load("lyricsim_metric")
    >>> lyricsim_metric.compute(predictions=[1, 2, 3, 4], references=[0, 1, 3, 2])
    {'pearson': 0.8, 'spearmanr': 0.8, 'combined_score': 0.8}
    >>> for logits, labels in [([[0.1], [0.4]], [0, 2]), ([[0.35], [0.8]], [1, 5])]:
    ...     lyricsim_metric.add_batch(predictions=logits, references=labels)
    >>> result = lyricsim_metric.compute(scale=100, p_values=True)
    >>> print(f"{result['combined_score']:.2f} {result['pearson_pvalue']:.3f}")
    99.26 0.015
    >>> predictions, references = [0, 1, 0, 1, 3, 1, 4, 4], [0, 0, 0, 1, 1, 2, 3, 5]
    >>> result = lyricsim_metric.compute(
    ...     predictions=predictions, references=references, confidence_level=0.95)
    >>> list(result)
    ['pearson', 'spearmanr', 'combined_score', 'pearson_ci', 'spearmanr_ci', 'combined_score_ci']
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

_DEFAULTS = ScoreOptions()


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _INPUTS)
class LyricsimMetric(CheckedRows, evaluate.Metric):
    """Pearson, Spearman and their mean, of rows given at once, in batches or by several processes."""

    options_type = ScoreOptions

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
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
        predictions: object,
        references: object,
        clusters: object = None,
        options: ScoreOptions = _DEFAULTS,
    ) -> dict[str, Any]:
        return score_with(predictions, references, options, clusters)
