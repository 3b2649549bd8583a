"""From a run's folder to a model on the Hub: its figures measured, its card written, its files pushed."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from lyricsim_cards.extras import extended
from lyricsim_cards.measure import GoldPair, read_gold
from lyricsim_cards.model_card import write_model_card
from lyricsim_cards.model_folder import ModelFolder, looks_like_hub_id, read_model_folder
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
        dry_run: write no card, say which files would be sent, and send nothing.
        unseen: a sibling run on songs never seen, for the card; None keeps what the card had.
        floors: runs of baselines on the same data, for the card; none keeps what the card had.

    Raises:
        UserError: the run isn't complete, its stated scores don't follow from its predictions, or the push
            fails; the message says how to repeat it.
    """
    require_owner(repo_id)
    model = read_model_folder(folder)
    extras = extended(
        model, repo_id=repo_id, revision=revision, gold=_gold(model), unseen=unseen, floors=floors
    )
    if not dry_run:
        write_model_card(folder, extras)
    return push_folder(
        folder,
        repo_id,
        repo_type="model",
        message=f"Publish {model.base} fine-tuned on {model.dataset}",
        public=public,
        revision=revision,
        dry_run=dry_run,
    )


def _gold(model: ModelFolder) -> Mapping[str, Sequence[GoldPair]]:
    """The run's pairs, where its dataset is one that can be loaded again: a folder or a Hub id."""
    dataset = str(model.settings["dataset"])
    if Path(dataset).is_file() or not (Path(dataset).is_dir() or looks_like_hub_id(dataset)):
        return {}
    return read_gold(dataset, model.settings.get("config"))
