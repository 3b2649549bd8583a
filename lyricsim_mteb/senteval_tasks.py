"""The similarity tasks of Spanish SentEval whose data are at hand, as mteb tasks."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from mteb.abstasks.task_metadata import TaskMetadata

from lyricsim_mteb.similarity_task import Pairs, SimilarityTask
from lyricsim_tools.errors import UserError
from spanish_sentence_eval.encoders.base import text_of
from spanish_sentence_eval.heads.cosine import similarities
from spanish_sentence_eval.manifest import (
    COMMIT,
    REPOSITORY,
    TaskFiles,
    check_files,
    data_folder,
    files_of,
)
from spanish_sentence_eval.reading import Split
from spanish_sentence_eval.tasks import TASKS

#: Names the folder that holds ``senteval/``.
DATA_VARIABLE = "SPANISH_SENTEVAL_DATA"
_SPANISH = ["spa-Latn"]
_REFERENCE = f"https://github.com/{REPOSITORY}"


def _metadata(name: str, task: str, description: str, **differs: Any) -> TaskMetadata:
    fields: dict[str, Any] = {
        "name": name,
        "description": f"{description} As Spanish SentEval has it: tokens joined by spaces.",
        "dataset": {"path": REPOSITORY, "revision": COMMIT},
        "reference": _REFERENCE,
        "type": "STS",
        "category": "t2t",
        "modalities": ["text"],
        "eval_splits": ["test"],
        # Subsets, though of one language, so that both of SentEval's means can be had.
        "eval_langs": dict.fromkeys(TASKS[task].sizes, _SPANISH),
        # SentEval's headline for these tasks.
        "main_score": "cosine_pearson",
        "domains": ["News", "Encyclopaedic", "Written"],
        "task_subtypes": [],
        # What upstream states: nothing. TASKS[task].licence says what was found elsewhere.
        "license": "not specified",
        "annotations_creators": "human-annotated",
        "dialect": [],
        "sample_creation": "found",
        "bibtex_citation": "",
        "is_public": True,
    }
    return TaskMetadata(**fields | differs)


class _SentEvalTask(SimilarityTask):
    """A task of Spanish SentEval.

    Args:
        source: as for :class:`SimilarityTask`.
        check_sizes: refuse data with another number of pairs than upstream's; False for data of your own.
        options: as for :class:`SimilarityTask`.
    """

    source_variable = DATA_VARIABLE
    default_source = "data"
    #: The engine's name.
    task: ClassVar[str]

    def __init__(self, source: str | None = None, *, check_sizes: bool = True, **options: Any) -> None:
        super().__init__(source, **options)
        self._check_sizes = check_sizes
        files = self._files()
        if files and not files.pinned:
            self._say_other_data(files.digest)

    def _files(self) -> TaskFiles | None:
        """The task's files, None if some are absent, of which :meth:`load_data` tells when it needs them."""
        try:
            folder = data_folder(Path(self.source))
            return check_files(folder, self.task, files_of(TASKS[self.task]), any_data=True)
        except UserError:
            return None

    def _parts(self) -> Mapping[str, Split]:
        record = TASKS[self.task]
        splits = record.loader(record.source(data_folder(Path(self.source)))).splits
        for name, split in splits.items() if self._check_sizes else ():
            if len(split.labels) != record.sizes[name]:
                raise UserError(
                    f"{self.task}: {len(split.labels)} pairs of {name} in {self.source}",
                    f"{record.sizes[name]}, as in upstream's file",
                    "fetch the file again; for data of your own pass check_sizes=False",
                )
        return splits

    def subset_pairs(self) -> Mapping[str, Pairs]:
        return {name: _columns(split) for name, split in self._parts().items()}

    def cosines(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """In the vectors' own precision, as SentEval's cosine head has it."""
        return similarities(self.task, first, second, None)


def _columns(split: Split) -> Pairs:
    first, second = ([text_of(tokens) for tokens in column] for column in split.columns)
    return first, second, split.labels.astype(float).tolist()


class SpanishSentEvalSTS14(_SentEvalTask):
    """SemEval-2014 in Spanish: subsets news and wikipedia."""

    task = "STS14"
    metadata = _metadata(
        "SpanishSentEvalSTS14",
        task,
        "Spanish test pairs of SemEval-2014 task 10, scored 0 to 4.",
        date=("2014-01-01", "2014-12-31"),
    )
    max_score = 4


class SpanishSentEvalSTS15(_SentEvalTask):
    """SemEval-2015 in Spanish: subsets newswire and wikipedia."""

    task = "STS15"
    metadata = _metadata(
        "SpanishSentEvalSTS15",
        task,
        "Spanish test pairs of SemEval-2015 task 2, scored 0 to 4.",
        date=("2015-01-01", "2015-12-31"),
    )
    max_score = 4


class SpanishSentEvalSTS17(_SentEvalTask):
    """SemEval-2017 track 3, Spanish."""

    task = "STS17"
    metadata = _metadata(
        "SpanishSentEvalSTS17",
        task,
        "Spanish pairs (track 3) of SemEval-2017 task 1, scored 0 to 5.",
        date=("2017-01-01", "2017-12-31"),
        domains=["Web", "Written"],
        sample_creation="human-translated",
    )


class SpanishSentEvalSICKRelatedness(_SentEvalTask):
    """The test split of SICK's relatedness by cosine; SentEval trains a head on it: another figure."""

    task = "SICKRelatedness"
    metadata = _metadata(
        "SpanishSentEvalSICKRelatedness",
        task,
        "Test pairs of SICK in Spanish, relatedness 1 to 5, by cosine with nothing trained (SentEval itself "
        "trains a regression head on this task).",
        date=("2012-01-01", "2014-12-31"),
        eval_langs=_SPANISH,
        domains=["Web", "Written"],
        task_subtypes=["Textual Entailment"],
        # How it was translated is not said.
        sample_creation=None,
    )
    min_score = 1

    def subset_pairs(self) -> Mapping[str, Pairs]:
        """The test split."""
        return {"default": _columns(self._parts()["test"])}


SENTEVAL_TASKS = (
    SpanishSentEvalSTS14,
    SpanishSentEvalSTS15,
    SpanishSentEvalSTS17,
    SpanishSentEvalSICKRelatedness,
)
