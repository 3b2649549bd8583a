"""What a card is told beyond its run, on top of what it was told before."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lyricsim_cards.measure import GoldPair, measure_folder
from lyricsim_cards.model_folder import CardExtras, ModelFolder, floor_scores, unseen_scores
from lyricsim_tools.errors import UserError


def extended(
    model: ModelFolder,
    *,
    repo_id: str | None = None,
    revision: str | None = None,
    dataset_id: str | None = None,
    gold: Mapping[str, Sequence[GoldPair]] | None = None,
    unseen: Path | None = None,
    floors: Sequence[Path] = (),
) -> CardExtras:
    """A card's extras with what is told now; the rest stays as an earlier call left it.

    Args:
        model: whose card it is.
        repo_id: where the model is (to be) published.
        revision: the branch there; goes with ``repo_id``.
        dataset_id: the dataset's id on the Hub.
        gold: split → the pairs that the run was scored on, to measure intervals and biases.
        unseen: a sibling run on songs never seen.
        floors: runs of baselines on the same data.

    Raises:
        UserError: one of the runs is not what its name here says, the run's stated scores don't follow from
            its predictions, or a revision is given alone.
    """
    if revision and not repo_id:
        raise UserError(f"--revision {revision} without --repo-id", "both", "say whose branch it is")
    told: dict[str, Any] = {
        "repo_id": repo_id,
        "dataset_id": dataset_id,
        "measured": measure_folder(model, gold) if gold else None,
        "unseen": unseen_scores(model, unseen) if unseen else None,
        "floors": floor_scores(model, floors),
    }
    given = {key: value for key, value in told.items() if value}
    if repo_id:
        given["revision"] = None if revision == "main" else revision
    return dataclasses.replace(model.extras, **given)
