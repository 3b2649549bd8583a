"""A small benchmark tree in upstream's formats, of sentences made up here."""

import pickle
import random
from collections.abc import Sequence
from pathlib import Path

from spanish_sentence_eval.tasks import TASKS, Task

_SUBJECTS = ("el faro", "mi vecina", "un gato", "la tormenta", "nadie", "el tren", "su abuelo", "la lámpara")
_VERBS = ("mira", "olvida", "canta", "rompe", "sueña", "espera", "teje", "pinta")
_OBJECTS = ("la noche", "una carta", "tres piedras", "el mar", "su nombre", "otra vez", "un puente", "pan")


def sentence(random_source: random.Random) -> str:
    parts = [random_source.choice(words) for words in (_SUBJECTS, _VERBS, _OBJECTS)]
    return " ".join(parts + random_source.sample(_OBJECTS, random_source.randint(0, 3))) + " ."


def write_tree(root: Path, rows: int = 60, seed: int = 5) -> Path:
    """All 32 tasks' files below ``root``; each split has ``rows`` rows."""
    maker = _Maker(random.Random(seed), rows)
    for task in TASKS.values():
        folder = root / task.package / task.folder
        folder.mkdir(parents=True, exist_ok=True)
        maker.write(task, folder)
    return root


class _Maker:
    def __init__(self, source: random.Random, rows: int) -> None:
        self._source = source
        self._rows = rows

    def write(self, task: Task, folder: Path) -> None:
        if task.package == "discoeval":
            return self._discourse(task, folder)
        return getattr(self, f"_{task.loader.__name__}")(task, folder)

    def _sentences(self, count: int) -> list[str]:
        return [sentence(self._source) for _ in range(count)]

    def _save(self, path: Path, rows: Sequence[Sequence[object]], header: str | None = None) -> None:
        lines = ["\t".join(str(field) for field in row) for row in rows]
        path.write_text("\n".join(([header] if header else []) + lines) + "\n", "utf-8")

    def _two_files(self, task: Task, folder: Path) -> None:
        for name, word in zip(task.files, ("bonito", "feo"), strict=True):
            self._save(folder / name, [[f"{text} {word}"] for text in self._sentences(self._rows)])

    def _text_then_label(self, task: Task, folder: Path) -> None:
        for name in task.files:
            texts = self._sentences(self._rows)
            self._save(folder / name, [[text, i % task.classes] for i, text in enumerate(texts)])

    def _coarse_and_fine(self, task: Task, folder: Path) -> None:
        names = list(task.label_ids)
        for name in task.files:
            texts = self._sentences(2 * self._rows)
            self._save(folder / name, [[f"{names[i % 6]}:fino {text}"] for i, text in enumerate(texts)])

    def _paraphrases(self, task: Task, folder: Path) -> None:
        for name in task.files:
            rows = [[i % 2, *self._sentences(2)] for i in range(self._rows)]
            self._save(folder / name, [*rows, [1, "NS", "una frase"]], "Quality\t#1 String\t#2 String")

    def _parallel_files(self, task: Task, folder: Path) -> None:
        labels = list(task.label_ids)
        for split in ("train", "dev", "test"):
            for name in ("s1", "s2"):
                (folder / f"{name}.{split}").write_text("\n".join(self._sentences(self._rows)), "utf-8")
            texts = [labels[i % 3] for i in range(self._rows)]
            (folder / f"labels.{split}").write_text("\n".join(texts), "utf-8")

    def _sick(self, task: Task, folder: Path) -> None:
        labels = ("CONTRADICTION", "NEUTRAL", "ENTAILMENT")
        for name in task.files:
            rows = [
                [i, *self._sentences(2), round(self._source.uniform(1, 5), 2), labels[i % 3]]
                for i in range(self._rows)
            ]
            self._save(folder / name, rows, "pair_ID\tsentence_A\tsentence_B\tscore\tjudgment")

    _entailment = _relatedness = _sick

    def _similarity_subsets(self, task: Task, folder: Path) -> None:
        for subset in task.files:
            pairs = [self._sentences(2) for _ in range(self._rows)]
            self._save(folder / f"STS.input.{subset}.txt", pairs)
            scores = [[round(self._source.uniform(0, 5), 1)] for _ in pairs]
            self._save(folder / f"STS.gs.{subset}.txt", scores)

    def _probing(self, task: Task, folder: Path) -> None:
        rows = [
            [mark, f"etiqueta{i % 3}", text]
            for mark in ("tr", "va", "te")
            for i, text in enumerate(self._sentences(self._rows))
        ]
        self._save(folder / task.files[0], rows)

    def _discourse(self, task: Task, folder: Path) -> None:
        for name in task.files:
            if task.name == "RST":
                rows = [self._relation(i) for i in range(self._rows)]
                (folder / name).write_bytes(pickle.dumps(rows, protocol=3))
            elif task.name.startswith("BSO"):
                self._save(folder / name, [self._sentences(2) for _ in range(self._rows)])
            else:
                labels = [i % task.classes for i in range(self._rows)]
                self._save(folder / name, [[label, *self._sentences(task.sentences)] for label in labels])

    def _relation(self, number: int) -> list[object]:
        label = ("NS-Causa", "NN-Lista", "NS-Medio")[number % 3]
        return [label, self._sentences(1 + number % 2), self._sentences(1)]
