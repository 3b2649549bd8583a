"""The metric as one plain function: what ``compute`` returns, without evaluate."""

from .correlations import pearson_and_spearman


def score(predictions: object, references: object) -> dict[str, float]:
    """Score."""
    found = pearson_and_spearman(predictions, references)
    return {"pearson": found.pearson, "spearmanr": found.spearmanr, "combined_score": found.combined_score}
