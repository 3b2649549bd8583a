"""Small data trees in upstream's formats, out of invented words."""

import pickle
import random
from pathlib import Path

_WORDS = (
    "casa",
    "perro",
    "luna",
    "río",
    "mesa",
    "verde",
    "alto",
    "canta",
    "duerme",
    "corre",
    "lento",
    "nube",
    "fuego",
)


def write_tree(folder: Path, rows: int = 40, seed: int = 0) -> Path:
    """STS17, STS14, TASS1, SICK, MC, SSPmlsum, BSOwiki and RST with a few rows each."""
    draw = random.Random(seed)
    for year, subsets in ((17, ("track3.es-es",)), (14, ("news", "wikipedia"))):
        for subset in subsets:
            _write_similarity(folder / f"senteval/STS/STS{year}-es-test", subset, rows, draw)
    for split in ("train", "dev", "test"):
        lines = [f"{_sentence(draw, i % 3)}\t{i % 3}" for i in range(rows)]
        _write(folder / f"senteval/TASS/task1/{split}.txt", lines)
    for split in ("train", "trial", "test"):
        _write(folder / f"senteval/SICK/SICK_{split}.txt", ["header", *_sick_rows(rows, draw)])
    for name, label in (("pos", 1), ("neg", 0)):
        _write(folder / f"senteval/MC/muchocine.{name}", [_sentence(draw, label) for _ in range(rows)])
    for split in ("train", "valid", "test"):
        sections = [f"{i % 2}\t{_sentence(draw, i % 2)}" for i in range(rows)]
        pairs = [f"{_sentence(draw, 0)}\t{_sentence(draw, 1)}" for _ in range(rows)]
        _write(folder / f"discoeval/SSP/mlsum/{split}.txt", sections)
        _write(folder / f"discoeval/BSO/wiki/{split}.txt", pairs)
    for split in ("TRAIN", "DEV", "TEST"):
        _write_relations(folder / f"discoeval/RST/RST_{split}.pkl", rows, draw)
    return folder


def _sentence(draw: random.Random, label: int) -> str:
    words = [draw.choice(_WORDS) for _ in range(draw.randint(2, 9))]
    return " ".join([*words, "zz" * label, str(draw.randint(0, 999))]).replace("  ", " ")


def _write(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _write_similarity(folder: Path, subset: str, rows: int, draw: random.Random) -> None:
    pairs, gold = [], []
    for i in range(rows):
        first = _sentence(draw, i % 2)
        pairs.append(f"{first}\t{first if i % 4 == 0 else _sentence(draw, i % 3)}")
        gold.append(str(5.0 if i % 4 == 0 else draw.randint(0, 4)))
    _write(folder / f"STS.input.{subset}.txt", pairs)
    _write(folder / f"STS.gs.{subset}.txt", gold)


def _sick_rows(rows: int, draw: random.Random) -> list[str]:
    labels = ("CONTRADICTION", "NEUTRAL", "ENTAILMENT")
    return [
        f"{i}\t{_sentence(draw, 0)}\t{_sentence(draw, k)}\t{1 + k + draw.random():.2f}\t{labels[k]}"
        for i in range(rows)
        for k in [i % 3]
    ]


def _write_relations(path: Path, rows: int, draw: random.Random) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    labels = ("NN-Lista", "NS-Fondo")
    items = [[labels[i % 2], [_sentence(draw, i % 2)], [_sentence(draw, 0)] * 2] for i in range(rows)]
    path.write_bytes(pickle.dumps(items, protocol=3))
