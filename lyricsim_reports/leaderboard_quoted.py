"""The paper's Tables 3 to 5 as the leaderboard quotes them (pure)."""

from lyricsim_models.registry import Scores
from lyricsim_reports.page import Heading, Part, Table, Text
from lyricsim_reports.paper import SPLIT_STATEMENT, ReportedModel, reported_models


def quoted_parts() -> list[Part]:
    """The paper's figures with what is known of their split."""
    models = reported_models()
    developed = [model for model in models if model.development]
    return [
        Heading("Quoted: the paper's Tables 3 to 5"),
        Text(SPLIT_STATEMENT),
        Table(
            ("model", "STS combined", "combined", "Spearman", "Pearson"),
            tuple((m.title, _percent(m.sts_combined), *_three(m.test)) for m in models),
            "Table 3, test (68 pairs), quoted, one run each, no interval given.",
        ),
        Table(
            ("model", "combined", "Spearman", "Pearson"),
            tuple((m.title, *_three(m.development)) for m in developed),
            "Table 4, development (38 pairs), quoted; the best checkpoint was chosen on these pairs.",
        ),
        Table(
            ("model", "batch", "weight decay", "learning rate", "development", "test"),
            tuple(_best(m) for m in developed),
            "Table 5, best configuration, quoted.",
        ),
    ]


def _three(scores: Scores | None) -> tuple[str, ...]:
    return () if scores is None else tuple(map(_percent, (scores.combined, scores.spearman, scores.pearson)))


def _best(model: ReportedModel) -> tuple[object, ...]:
    if model.best is None or model.development is None:
        return (model.title, None, None, None, None, _percent(model.test.combined))
    point = model.best
    scores = (_percent(model.development.combined), _percent(model.test.combined))
    return (model.title, point.batch_size, f"{point.weight_decay:g}", f"{point.learning_rate:g}", *scores)


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
