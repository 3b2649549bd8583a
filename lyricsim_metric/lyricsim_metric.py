"""The metric as evaluate loads it: a thin shell round ``scores.score``.

evaluate copies this file and the helpers that a line at column 0 imports, and no helper of a helper: every
file that the helpers need is therefore imported here by name.
"""

import datasets
import evaluate

from .correlations import Correlations as Correlations
from .inputs import checked_pair
from .scores import score

_DESCRIPTION = """\
Pearson's and Spearman's correlation of predicted and gold similarity, and their mean, in double precision.
"""

_INPUTS = """
Args:
    predictions: one score a row; shape (n,) or (n, 1).
    references: the gold similarity of each row.
Returns:
    pearson, spearmanr, combined_score.
"""

_CITATION = ""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _INPUTS)
class LyricsimMetric(evaluate.Metric):
    """Pearson, Spearman and their mean."""

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features(
                {"predictions": datasets.Value("float64"), "references": datasets.Value("float64")}
            ),
        )

    def add_batch(self, *, predictions: object = None, references: object = None, **others: object) -> None:
        """Add rows."""
        left, right = checked_pair(predictions, references)
        super().add_batch(predictions=left, references=right, **others)

    def _compute(self, predictions: object, references: object) -> dict[str, float]:
        return score(predictions, references)
