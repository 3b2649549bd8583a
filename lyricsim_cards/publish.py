"""From a run's folder to a model on the Hub: its figures measured, its card written, its files pushed."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lyricsim_cards.measure import measure_folder, read_gold
from lyricsim_cards.model_card import write_model_card
from lyricsim_cards.model_folder import (
    ModelFolder,
    floor_scores,
    looks_like_hub_id,
    read_model_folder,
    unseen_scores,
)
from lyricsim_tools.hub import PushResult, push_folder
from lyricsim_tools.hub_request import require_owner


def publish_run(
    folder: Path,
    repo_id: str,
    *,
    public: bool = False,
    revision: str | None = None,
    dry_run: bool = False,
    unseen: Path | None = None,
    floors: Sequence[Path] = (),
) -> PushResult:
    """Write a complete run's card and publish its model.

    Args:
        folder: as training/finetune.py leaves it.
        repo_id: ``owner/name``.
        public: let everybody see the repository.
        revision: the branch to write, created if need be.
        dry_run: write the card, say what would be sent, and send nothing.
        unseen: a sibling run on songs never seen, for the card; None keeps what the card had.
        floors: runs of baselines on the same data, for the card; none keeps what the card had.

    Raises:
        UserError: the run isn't complete, its stated scores don't follow from its predictions, or the push
            fails; the message says how to repeat it.
    """
    require_owner(repo_id)
    model = read_model_folder(folder)
    changes: dict[str, Any] = {"repo_id": repo_id, "measured": _measured(model) or model.extras.measured}
    changes |= {"unseen": unseen_scores(unseen)} if unseen else {}
    changes |= {"floors": floor_scores(model, floors)} if floors else {}
    write_model_card(folder, dataclasses.replace(model.extras, **changes))
    return push_folder(
        folder,
        repo_id,
        repo_type="model",
        message=f"Publish {model.base} fine-tuned on {model.dataset}",
        public=public,
        revision=revision,
        dry_run=dry_run,
    )


def _measured(model: ModelFolder) -> dict[str, Any]:
    """Intervals and biases, where the run's dataset is one that can be loaded again: a folder or a Hub id."""
    dataset = str(model.settings["dataset"])
    if Path(dataset).is_file() or not (Path(dataset).is_dir() or looks_like_hub_id(dataset)):
        return {}
    return measure_folder(model, read_gold(dataset, model.settings.get("config")))
