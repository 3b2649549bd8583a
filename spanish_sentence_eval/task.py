"""What a task is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from spanish_sentence_eval.features import Features
from spanish_sentence_eval.reading import Source, TaskData

Package = Literal["senteval", "discoeval"]
Head = Literal["split", "kfold", "innerkfold", "relatedness", "cosine"]
Encoding = Literal["columns", "alternating", "spans"]
Cleaning = Literal["repeated", "unordered", "placeholder", "swallowed", "shared_sentences"]


@dataclass(frozen=True)
class Task:
    """What makes a task, all of it.

    Args:
        name: the engine's name.
        package: the benchmark it belongs to, and the sub-folder of ``task_path``.
        kind: what is asked, in words.
        folder: the folder of its files below the package's.
        files: its files in ``folder``, in the loader's order.
        loader: reads them.
        features: makes rows of sentence vectors.
        head: what is trained on the rows.
        sizes: rows of each split in upstream's files; None where the file could not be counted.
        headline: the path of its declared headline figure in the result.
        chance: the headline figure of the majority class on the test rows (percent; 0 for correlations);
            None where unknown.
        licence: what was found about the data's licence.
        classes: how many; 0 where the file decides or there is none.
        label_ids: the class id of each label text.
        sentences: sentences a row.
        encoding: the order in which the batcher sees the sentences.
        noreg: no search for an L2 strength.
        overrides: classifier settings that the task forces.
        cleaning: what the corrected protocol leaves out for its second figures.
        aliases: other names of the source document.
        f1: report the F1 of class 1 as well.
    """

    name: str
    package: Package
    kind: str
    folder: str
    files: tuple[str, ...]
    loader: Callable[[Source], TaskData]
    features: Features
    head: Head
    sizes: Mapping[str, int | None]
    headline: tuple[str, ...]
    chance: float | None
    licence: str
    classes: int = 0
    label_ids: Mapping[str, int] = field(default_factory=dict)
    sentences: int = 1
    encoding: Encoding = "columns"
    noreg: bool = False
    overrides: Mapping[str, int] = field(default_factory=dict)
    cleaning: tuple[Cleaning, ...] = ()
    aliases: tuple[str, ...] = ()
    f1: bool = False

    def source(self, task_path: Path) -> Source:
        """Where the task's files are below ``task_path``."""
        return Source(
            self.name,
            task_path / self.package / self.folder,
            self.files,
            self.classes,
            self.label_ids,
            self.sentences,
        )


ACC = ("acc",)
MEAN_PEARSON = ("all", "pearson", "mean")
SHORT: Mapping[str, int] = {"max_epoch": 15, "epoch_size": 1}
DEEP: Mapping[str, int] = {"nhid": 2000, "tenacity": 8, "epoch_size": 15}


def split_sizes(train: int | None, dev: int | None, test: int | None) -> dict[str, int | None]:
    """Rows of each split; None where the file could not be counted."""
    return {"train": train, "dev": dev, "test": test}
