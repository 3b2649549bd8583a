"""Running the code of cards: a Hub on loopback, an empty cache, and what each card speaks of in place."""

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lyricsim_cards.card_code import failures, snippets_of
from lyricsim_cards.check_options import CheckOptions
from lyricsim_cards.model_folder import RUN_FILE, read_model_folder
from lyricsim_models.registry import ModelEntry, load_registry
from lyricsim_tools.errors import UserError

SERVER = Path("tests") / "hub_server" / "serve.py"
SAMPLE = "lyricsim-sample"


@dataclass(frozen=True)
class Hub:
    """Where the code is to publish and download.

    Args:
        url: its address.
        token: an access token.
        owner: who may write, and stands in for ``<owner>``.
    """

    url: str
    token: str
    owner: str


def run_snippets(cards: Sequence[Path], options: CheckOptions) -> list[tuple[Path, str]]:
    """Run every snippet of every card, in the card's order, and say which fail.

    Raises:
        UserError: no endpoint was named and there is no local Hub below the root.
    """
    with _hub(cards, options) as hub, tempfile.TemporaryDirectory() as stage:
        sample = _build_sample(Path(stage))
        return [
            (path, what)
            for number, path in enumerate(cards)
            for what in _run_card(path, hub, options.root.resolve(), sample, Path(stage) / str(number))
        ]


def _run_card(path: Path, hub: Hub, root: Path, sample: Path, workplace: Path) -> list[str]:
    workplace.mkdir()
    _place(path.resolve().parent, root, sample, workplace)
    environment = _environment(hub, workplace)
    _publish(path, hub, workplace, environment)
    snippets = snippets_of(path.read_text("utf-8").replace("<owner>", hub.owner))
    return list(failures(snippets, workplace, environment))


def _place(folder: Path, root: Path, sample: Path, workplace: Path) -> None:
    """Link the checkout's folders, the sample as ``lyricsim``, and the card's own folder."""
    links = {path.name: path for path in [*root.glob("lyricsim_*"), root / "training"] if path.is_dir()}
    links |= {"lyricsim": sample, SAMPLE: sample}
    if _prepared(folder) is None:
        links[folder.name] = folder
    for name, target in links.items():
        (workplace / name).symlink_to(target)


def _publish(path: Path, hub: Hub, workplace: Path, environment: dict[str, str]) -> None:
    """Put on the Hub what the card's code downloads from there."""
    folder, card = path.resolve().parent, path.read_text("utf-8")
    if (folder / RUN_FILE).is_file():
        repo_id = read_model_folder(folder).extras.repo_id
        if repo_id:
            _push(folder, repo_id, "model", workplace, environment)
    if entry := _prepared(folder):
        _push(_tiny_base(workplace), entry.hub_id, "model", workplace, environment)
    for name, kind in (
        ("lyricsim", "dataset"),
        ("lyricsim_metric", "space"),
        ("lyricsim_comparison", "space"),
    ):
        if f'"<owner>/{name}"' in card:
            _push((workplace / name).resolve(), f"{hub.owner}/{name}", kind, workplace, environment)


def _push(folder: Path, repo_id: str, kind: str, workplace: Path, environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "lyricsim_tools.push_cli", str(folder), repo_id, "--type", kind]
    done = subprocess.run(command, cwd=workplace, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise UserError(
            f"{folder} could not be pushed to the Hub for the check: {done.stderr.strip()}",
            "a Hub that takes it",
            "correct what it says, or leave the code out with --no-snippets",
        )


def _build_sample(folder: Path) -> Path:
    code = "import sys; from lyricsim_dataset.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "build", "--sample", "--out", str(folder / SAMPLE)]
    subprocess.run(command, check=True, capture_output=True)
    return folder / SAMPLE


def _tiny_base(workplace: Path) -> Path:
    """A tiny random encoder in the place of a base model: the code is what's checked, not the scores."""
    from lyricsim_models.tiny import write_tiny_model

    return write_tiny_model(
        workplace / "tiny", ["Cruzo la noche buscando tu puerta", "canto tu nombre otra vez"]
    )


def _environment(hub: Hub, workplace: Path) -> dict[str, str]:
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("HF_", "TRANSFORMERS_"))
    }
    return {
        **kept,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
        # Small models only: more threads than cores cost more than they bring.
        "OMP_NUM_THREADS": "1",
        "HF_ENDPOINT": hub.url,
        "HF_TOKEN": hub.token,
        "HF_HOME": str(workplace / "cache"),
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_UPDATE_DOWNLOAD_COUNTS": "0",
    }


@contextlib.contextmanager
def _hub(cards: Sequence[Path], options: CheckOptions) -> Iterator[Hub]:
    if options.endpoint:
        from huggingface_hub import HfApi, get_token

        owner = HfApi(endpoint=options.endpoint).whoami()["name"]
        yield Hub(options.endpoint, get_token() or "", owner)
        return
    server = options.root / SERVER
    if not server.is_file():
        raise UserError(
            f"there is no local Hub at {server}",
            "a checkout of the repository as --root",
            "name it, or a Hub with --endpoint, or leave the code out with --no-snippets",
        )
    owners = {owner for path in cards for owner in _owners(path)}
    command = [sys.executable, str(server), *[word for owner in owners for word in ("--owner", owner)]]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Hub(*(process.stdout.readline().split() if process.stdout else ()))
        finally:
            process.terminate()


def _owners(path: Path) -> list[str]:
    """Whose repositories a card's code needs."""
    folder = path.resolve().parent
    if (folder / RUN_FILE).is_file():
        repo_id = read_model_folder(folder).extras.repo_id
        return [repo_id.split("/")[0]] if repo_id else []
    entry = _prepared(folder)
    return [entry.hub_id.split("/")[0]] if entry else []


def _prepared(folder: Path) -> ModelEntry | None:
    """The registry's entry of a card that was prepared before training.

    Such a folder is named as the model is, and a folder of that name would be taken for the model.
    """
    return None if (folder / RUN_FILE).is_file() else load_registry().get(folder.name)
