"""Running the code of cards: a Hub on loopback, an empty cache, and what each card speaks of in place."""

import contextlib
import ipaddress
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from lyricsim_cards.card_code import failures, snippets_of
from lyricsim_cards.check_options import CheckOptions
from lyricsim_cards.model_folder import RUN_FILE, read_model_folder
from lyricsim_cards.rebuilt import build_dataset
from lyricsim_dataset.verify import BUILD_RECORD
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
        is_ours: whether it was started for the check, so that nothing of anybody's is there.
    """

    url: str
    token: str
    owner: str
    is_ours: bool = False

    def holds(self, repo_id: str, kind: str) -> bool:
        """Whether a repository of somebody's is there, which is then used as it is."""
        from huggingface_hub import HfApi

        api = HfApi(endpoint=self.url, token=self.token)
        return not self.is_ours and api.repo_exists(repo_id, repo_type=kind)


def run_snippets(cards: Sequence[Path], options: CheckOptions) -> list[tuple[Path, str]]:
    """Run every snippet of every card, in the card's order, and say which fail.

    Raises:
        UserError: the endpoint is not on this machine, or none was named and there is no local Hub below
            the root.
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
    snippets = snippets_of(path.read_text("utf-8", "replace").replace("<owner>", hub.owner))
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
    """Put on the Hub what the card's code downloads from there, unless the Hub has it."""

    def push(folder: Path, repo_id: str, kind: str, revision: str | None = None) -> None:
        if not hub.holds(repo_id, kind):
            _push(folder, repo_id, kind, revision, workplace, environment)

    folder, card = path.resolve().parent, path.read_text("utf-8", "replace")
    if (folder / RUN_FILE).is_file():
        extras = read_model_folder(folder).extras
        if extras.repo_id:
            push(folder, extras.repo_id, "model", extras.revision)
    if entry := _prepared(folder):
        push(_tiny_base(workplace), entry.hub_id, "model")
    for name, kind in (
        ("lyricsim", "dataset"),
        ("lyricsim_metric", "space"),
        ("lyricsim_comparison", "space"),
    ):
        if f'"<owner>/{name}"' in card:
            folder = (workplace / name).resolve()
            if kind == "dataset":
                folder = _without_record(folder, workplace / "published")
            push(folder, f"{hub.owner}/{name}", kind)


def _without_record(built: Path, copy: Path) -> Path:
    """The sample as a folder that goes out under LyricSIM's name, which only a Hub for checks may get."""
    ignored = shutil.ignore_patterns(BUILD_RECORD)
    return Path(shutil.copytree(built, copy, ignore=ignored, dirs_exist_ok=True))


def _push(
    folder: Path,
    repo_id: str,
    kind: str,
    revision: str | None,
    workplace: Path,
    environment: dict[str, str],
) -> None:
    command = [sys.executable, "-m", "lyricsim_tools.push_cli", str(folder), repo_id, "--type", kind]
    command += ["--revision", revision] if revision else []
    done = subprocess.run(command, cwd=workplace, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise UserError(
            f"{folder} could not be pushed to the Hub for the check: {done.stderr.strip()}",
            "a Hub that takes it",
            "correct what it says, or leave the code out with --no-snippets",
        )


def _build_sample(folder: Path) -> Path:
    build_dataset(folder / SAMPLE, "--sample").check_returncode()
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

        _require_loopback(options.endpoint)
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
            url, token, owner = (process.stdout.readline() if process.stdout else "").split()
            yield Hub(url, token, owner, is_ours=True)
        finally:
            process.terminate()


def _require_loopback(endpoint: str) -> None:
    """The code that is run publishes what it likes, which is for no Hub that people use."""
    host = urlsplit(endpoint).hostname or ""
    with contextlib.suppress(ValueError):
        if host == "localhost" or ipaddress.ip_address(host).is_loopback:
            return
    raise UserError(
        f"--endpoint {endpoint} is not on this machine, and the code of cards publishes there",
        "a Hub on the loopback interface, such as http://127.0.0.1:8000",
        "leave --endpoint out for a Hub that is started for the check",
    )


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
