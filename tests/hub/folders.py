"""Small folders to publish, and the push command."""

import subprocess
from pathlib import Path

from hub_server.fixtures import HubForTest

from lyricsim_tools.card_blocks import block

CARD = f"---\nlicense: mit\ntags:\n- lyrics\n---\n# A model\n\n{block('facts', 'Score: 1')}\n\n## Notes\n"


def model_folder(parent: Path, weights: bytes = b"weights", card: str = CARD) -> Path:
    """What training leaves behind: an export among checkpoints, optimizer states and caches."""
    files = {
        "README.md": card.encode(),
        "config.json": b"{}",
        "model.safetensors": weights,
        "tokenizer.json": b"{}",
        "run.json": b'{"seed": 1}',
        ".eval_results/lyricsim.yaml": b"[]\n",
        "pytorch_model.bin": b"pickle",
        "optimizer.pt": b"state",
        "checkpoint-3/model.safetensors": b"older",
        "checkpoints/best/model.safetensors": b"older",
        "__pycache__/x.pyc": b"",
        ".hidden": b"secret",
        "modeling.py": b"import os",
    }
    return write_files(parent / "model", files)


def write_files(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


PUBLISHED = {
    "README.md",
    "config.json",
    "model.safetensors",
    "tokenizer.json",
    "run.json",
    ".eval_results/lyricsim.yaml",
}


def push(
    hub: HubForTest, folder: Path, *options: str, repo_id: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run ``lyricsim-push`` as a user does."""
    kind = () if "--type" in options else ("--type", "model")
    arguments = ["-m", "lyricsim_tools.push_cli", str(folder), repo_id or f"{hub.user}/m", *kind, *options]
    return hub.run(arguments, **environment)
