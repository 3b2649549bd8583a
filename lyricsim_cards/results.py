"""A model's scores as the Hub reads them: ``model-index`` in the head, and ``.eval_results/*.yaml``."""

from collections.abc import Mapping, Sequence
from typing import Any

from lyricsim_cards.model_folder import ModelFolder

# Key in metrics.json → the name people read.
SCORES = {"pearson": "Pearson", "spearmanr": "Spearman", "combined_score": "Combined"}
TASK = "text-classification"
TASK_NAME = "semantic similarity of lyrics"


def model_index(model: ModelFolder) -> list[dict[str, Any]]:
    """The ``model-index`` of a card; values on the 0–1 scale, as in ``metrics.json``."""
    from huggingface_hub import EvalResult
    from huggingface_hub.repocard_data import eval_results_to_model_index

    found = [
        EvalResult(
            task_type=TASK,
            task_name=TASK_NAME,
            dataset_type=model.dataset,
            dataset_name="LyricSIM" if model.is_on_lyricsim else model.dataset,
            dataset_config=model.settings.get("config"),
            dataset_split=split,
            metric_type=key,
            metric_name=name,
            metric_value=value,
        )
        for split, key, name, value in _defined(model.metrics)
    ]
    return eval_results_to_model_index(model.reference.split("/")[-1], found) if found else []


def eval_results(model: ModelFolder) -> str | None:
    """The text of ``.eval_results/lyricsim.yaml``; None without scores, or a dataset's id on the Hub."""
    import yaml
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

    if not model.extras.dataset_id or not _defined(model.metrics):
        return None
    config = model.settings.get("config") or "default"
    entries = [
        EvalResultEntry(
            dataset_id=model.extras.dataset_id,
            task_id=f"{config}_{split}_{key}",
            value=value,
            notes=f"{name} on the {split} split of {config}, 0 to 1",
        )
        for split, key, name, value in _defined(model.metrics)
    ]
    return yaml.safe_dump(eval_result_entries_to_yaml(entries), sort_keys=False, allow_unicode=True)


def _defined(metrics: Mapping[str, Any]) -> Sequence[tuple[str, str, str, float]]:
    return [
        (split, key, name, float(metrics[split][key]))
        for split in ("validation", "test")
        for key, name in SCORES.items()
        if metrics.get(split, {}).get(key) is not None
    ]
