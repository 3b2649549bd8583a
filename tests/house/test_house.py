"""Rules that hold over the whole repository."""

import ast
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from support import REPOSITORY, shared_path

PACKAGES = sorted(p.parent.name for p in REPOSITORY.glob("*/__init__.py"))


def tracked_files() -> list[Path]:
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    return [path for name in listing.stdout.split("\0") if name and (path := REPOSITORY / name).is_file()]


def tracked_texts() -> dict[str, str]:
    texts = {}
    for path in tracked_files():
        try:
            texts[path.relative_to(REPOSITORY).as_posix()] = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue
    return texts


def test_no_line_of_upstreams_data_is_committed():
    upstream = set()
    for source in shared_path("sources").rglob("*"):
        if source.suffix in {".tsv", ".csv", ".txt"}:
            lines = [line.strip().strip('"') for line in source.read_text("utf-8", "replace").splitlines()]
            # The columns' names are the format, which the sample shares.
            lines = lines[1:] if lines[0].count(",") > 2 or lines[0].count("\t") > 2 else lines
            upstream.update(line for line in lines if len(line) >= 15)
    assert len(upstream) > 100_000
    for name, text in tracked_texts().items():
        copied = [line for line in text.splitlines() if line.strip().strip('"') in upstream]
        assert not copied, f"{name} holds lines of upstream's data"


def test_no_file_names_a_path_of_one_machine_or_trusts_remote_code():
    for name, text in tracked_texts().items():
        assert not re.search(r"(?<![\w.])/(work|farm|root)/", text), name
        assert name.startswith("tests/") or not re.search(r"trust_remote_code\s*=\s*True", text), name


def borrowed_names(source: str) -> set[str]:
    """Names that a module imports from others, and attributes that it reads, with their dots."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Attribute):
            names.add(ast.unparse(node))
    return names


def foreign_loops(source: str) -> list[str]:
    """What a module takes of PyTorch's outdated data parallelism and of transformers' training loop."""
    loop = re.compile(r"(?!spanish_sentence_eval\.).*\b(DataParallel|(Seq2Seq)?Trainer)")
    return sorted(name for name in borrowed_names(source) if loop.fullmatch(name))


@pytest.mark.parametrize(
    "line",
    [
        "from torch.nn import DataParallel",
        "model = torch.nn.DataParallel(model)",
        "from transformers import AutoModel, Trainer as Loop",
        "from transformers.trainer import Trainer",
        "transformers.Seq2SeqTrainer(model)",
    ],
)
def test_a_foreign_training_loop_is_seen(line):
    assert foreign_loops(line)


def test_training_is_accelerates_and_our_own_loop():
    ours = {
        name: text
        for name, text in tracked_texts().items()
        if name.endswith(".py") and not name.startswith("benchmarks/")
    }
    assert "lyricsim_models/loop.py" in ours
    assert {name: found for name, text in ours.items() if (found := foreign_loops(text))} == {}


@pytest.fixture(scope="module")
def wheel_names(tmp_path_factory) -> list[str]:
    folder = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        folder,
    ]
    clone = folder / "clone"
    subprocess.run(["git", "clone", "--quiet", "--depth", "1", f"file://{REPOSITORY}", clone], check=True)
    subprocess.run([*command, clone], check=True, cwd=folder)
    (wheel,) = folder.glob("lyricsim-*.whl")
    return zipfile.ZipFile(wheel).namelist()


def test_the_wheel_ships_the_packages_with_their_data_and_nothing_else(wheel_names):
    assert {name.split("/")[0] for name in wheel_names if ".dist-info" not in name} == set(PACKAGES)
    assert all(package.startswith(("lyricsim_", "spanish_sentence_eval")) for package in PACKAGES)
    committed_data = [
        path.relative_to(REPOSITORY).as_posix()
        for path in tracked_files()
        if path.relative_to(REPOSITORY).parts[0] in PACKAGES and path.suffix not in {".py"}
    ]
    assert set(committed_data) <= set(wheel_names)


@pytest.mark.parametrize(
    "module",
    [
        "lyricsim_dataset",
        "lyricsim_metric.correlations",
        "lyricsim_annotation.server",
        "lyricsim_cards",
        "lyricsim_models.cross_validation",
        "lyricsim_models.run_folder",
        "lyricsim_tools.hub",
        "spanish_sentence_eval",
    ],
)
def test_light_things_import_light(module):
    heavy = {"torch", "transformers", "matplotlib", "evaluate"}
    code = f"import sys, {module}; print(sorted({heavy!r} & set(sys.modules)))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == "[]"
