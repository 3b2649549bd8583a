"""The metric as evaluate loads it: a thin shell round ``scores.score``.

evaluate copies this file and the helpers that a line at column 0 imports, and no helper of a helper: every
file that the helpers need is therefore imported here by name.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import datasets
import evaluate

from .correlations import Correlations as Correlations
from .inputs import as_song_codes, checked_pair, refuse_too_few
from .intervals import Bootstrap as Bootstrap
from .resampling import WeightedScores as WeightedScores
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
    clusters: the ids of the two songs of every row, shape (n, 2); intervals then resample songs.
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
    >>> result = lyricsim_metric.compute(
    ...     predictions=[0, 1, 0, 1, 3, 1, 4, 4], references=[0, 0, 0, 1, 1, 2, 3, 5], confidence_level=0.9)
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
class LyricsimMetric(evaluate.Metric):
    """Pearson, Spearman and their mean, of rows given at once, in batches, one by one or by several processes.

    A single process keeps its rows in memory, so that any number of runs may share one cache; with
    ``cache_dir`` or ``num_process`` they go to files, as in every evaluate module.
    """

    # Set by evaluate, which declares no types.
    filelocks: Any
    file_paths: Any

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        if settings.get("num_process", 1) == 1 and settings.get("cache_dir") is None:
            settings["keep_in_memory"] = True
        super().__init__(*arguments, **settings)

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            # Value("float") is single precision and would merge scores that differ.
            features=datasets.Features(
                {"predictions": datasets.Value("float64"), "references": datasets.Value("float64")}
            ),
            # The NumPy format is single precision too.
            format="arrow",
            reference_urls=["https://arxiv.org/abs/2306.01325"],
        )

    def add(self, *, prediction: object = None, reference: object = None, **others: object) -> None:
        """Add one row; a row that is refused leaves those before it as they were.

        Raises:
            ValueError: not one finite number on each side.
        """
        # evaluate.combine hands single rows over under the names of columns.
        row = {"predictions": prediction, "references": reference, **others}
        self.add_batch(**{name: [value] for name, value in row.items()})

    def add_batch(self, *, predictions: object = None, references: object = None, **others: object) -> None:
        """Add rows; a batch that is refused leaves those before it as they were.

        Raises:
            ValueError: bad input, checked before evaluate would cast it.
        """
        scores, gold = checked_pair(predictions, references)
        super().add_batch(predictions=scores, references=gold, **others)

    def compute(
        self,
        *,
        predictions: object = None,
        references: object = None,
        clusters: object = None,
        **options: Any,
    ) -> dict[str, Any] | None:
        """Score all rows: those added before, then those given here.

        Returns:
            The scores; None in a process other than the first.

        Raises:
            ValueError: bad input or options; rows added before are kept.
        """
        checked = ScoreOptions(**options)
        given = checked_pair(predictions, references) if _is_given(predictions, references) else None
        if self.num_process == 1:
            self._refuse_incomplete(0 if given is None else len(given[0]), clusters)
        if self.num_process == 1 and given is not None and not len(self):
            return self._compute(*given, clusters=clusters, options=checked)
        with self._released_after_failure():
            return super().compute(
                predictions=None if given is None else given[0],
                references=None if given is None else given[1],
                clusters=clusters,
                options=checked,
            )

    def _compute(
        self,
        predictions: object,
        references: object,
        clusters: object = None,
        options: ScoreOptions = _DEFAULTS,
    ) -> dict[str, Any]:
        return score_with(predictions, references, options, clusters)

    def _refuse_incomplete(self, given: int, clusters: object) -> None:
        rows = len(self) + given
        refuse_too_few(rows)
        if clusters is not None:
            as_song_codes(clusters, rows)

    @contextlib.contextmanager
    def _released_after_failure(self) -> Iterator[None]:
        """Give up the files and locks of all processes if scoring fails, which evaluate itself does not."""
        try:
            yield
        except Exception:
            self.data = None
            # The first process's lock is the last to go: the others wait for it.
            for lock, path in reversed(list(zip(self.filelocks or (), self.file_paths or (), strict=True))):
                Path(path).unlink(missing_ok=True)
                lock.release()
            self.filelocks = self.file_paths = None
            raise


def _is_given(predictions: object, references: object) -> bool:
    return predictions is not None or references is not None
