"""LyricSIM as mteb tasks: the published test split, unseen songs, all pairs, and the blocks of songs."""

import json
from collections.abc import Mapping
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np
from mteb.abstasks.task_metadata import TaskMetadata

from lyricsim_dataset.configurations import WHOLE
from lyricsim_dataset.loading import FOLDER_VARIABLE, built_folder
from lyricsim_dataset.song_splits import SONG_GROUPS
from lyricsim_dataset.sources import UPSTREAM_COMMIT, UPSTREAM_REPOSITORY
from lyricsim_dataset.verify import BUILD_RECORD
from lyricsim_models.cross_validation import all_pairs
from lyricsim_models.datafiles import read_splits
from lyricsim_models.features import unit_rows
from lyricsim_models.pair_table import PairTable
from lyricsim_mteb.similarity_task import Pairs, SimilarityTask
from lyricsim_tools.citation import PAPER_BIBTEX, PAPER_URL
from lyricsim_tools.loading import fresh_cache

_SPANISH = ["spa-Latn"]
_BLOCKS = [f"{a}-{b}" for a, b in combinations_with_replacement(range(SONG_GROUPS), 2)]


def _metadata(name: str, summary: str, **differs: Any) -> TaskMetadata:
    fields: dict[str, Any] = {
        "name": name,
        "description": f"Semantic similarity of Spanish song lyrics, three ratings a pair, 0 to 5. {summary}",
        # Upstream's own files at their pinned commit; the folder that is read is built from them.
        "dataset": {"path": UPSTREAM_REPOSITORY, "revision": UPSTREAM_COMMIT},
        "reference": PAPER_URL,
        "type": "STS",
        "category": "t2t",
        "modalities": ["text"],
        "eval_splits": ["test"],
        "eval_langs": _SPANISH,
        "main_score": "combined_score",
        "domains": ["Music", "Written"],
        "task_subtypes": [],
        # Upstream states none; the lyrics belong to their rights holders.
        "license": "not specified",
        "annotations_creators": "human-annotated",
        "dialect": [],
        "sample_creation": "found",
        "bibtex_citation": PAPER_BIBTEX,
        "is_public": True,
    }
    return TaskMetadata(**fields | differs)


class _LyricTask(SimilarityTask):
    source_variable = FOLDER_VARIABLE
    default_source = "lyricsim"
    #: Of the dataset.
    configuration = "filtered"

    def __init__(self, source: str | None = None, seed: int = 42, **options: Any) -> None:
        super().__init__(source, seed, **options)
        record = Path(self.source) / BUILD_RECORD
        origin = json.loads(record.read_text("utf-8"))["source"] if record.is_file() else {}
        if origin and (origin["commit"] != UPSTREAM_COMMIT or origin["modified"]):
            self._say_other_data(origin["fingerprint"])

    def _splits(self) -> dict[str, PairTable]:
        return read_splits(self._place(), self.configuration)

    def _place(self) -> str:
        is_hub_id = self.source.count("/") == 1 and not Path(self.source).exists()
        return self.source if is_hub_id else str(built_folder(self.source))

    def subset_pairs(self) -> Mapping[str, Pairs]:
        return {"default": _columns(self._splits()["test"])}

    def cosines(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """In double precision, as ``lyricsim_models.features.cosines`` has it."""
        return np.asarray((unit_rows(first) * unit_rows(second)).sum(axis=1))


class LyricSIM(_LyricTask):
    """The test split of the default configuration: 68 pairs, songs shared with the training pairs."""

    metadata = _metadata("LyricSIM", "Test split of the pairs whose raters agree; songs recur in training.")


class LyricSIMUnseenSongs(_LyricTask):
    """The test split whose songs no training pair has."""

    configuration = "filtered-song-disjoint"
    metadata = _metadata("LyricSIMUnseenSongs", "Test pairs of which no song occurs in the training pairs.")


class LyricSIMAllPairs(_LyricTask):
    """All 676 pairs whose raters agree: a test only for a model that was trained on none of them."""

    metadata = _metadata(
        "LyricSIMAllPairs", "All pairs whose raters agree, for models that were trained on none of them."
    )

    def subset_pairs(self) -> Mapping[str, Pairs]:
        """The pairs of all splits."""
        return {"default": _columns(all_pairs(self._splits()))}


class LyricSIMBlocks(_LyricTask):
    """The same 676 pairs in the 15 blocks of block cross-validation, a subset each.

    Subset ``0-3`` holds the pairs between song groups 0 and 3: what the fold of that name tests, whose model
    saw no song of either group.
    """

    metadata = _metadata(
        "LyricSIMBlocks",
        "All pairs whose raters agree, by block of song groups: a subset for each fold of cross-validation.",
        eval_langs=dict.fromkeys(_BLOCKS, _SPANISH),
    )

    def subset_pairs(self) -> Mapping[str, Pairs]:
        """The pairs of each block."""
        pairs, groups = all_pairs(self._splits()), self._song_groups()
        songs = zip(pairs.song_ids_1 or (), pairs.song_ids_2 or (), strict=True)
        blocks = ["-".join(map(str, sorted((groups[a], groups[b])))) for a, b in songs]
        rows = {name: [row for row, block in enumerate(blocks) if block == name] for name in _BLOCKS}
        return {name: _columns(pairs.take(own)) for name, own in rows.items() if own}

    def _song_groups(self) -> dict[str, int]:
        from datasets import load_dataset

        place = self._place()
        with fresh_cache(Path(place).is_dir()) as cache:
            songs = load_dataset(place, "songs", split=WHOLE, cache_dir=cache)
            return dict(zip(songs["song_id"], songs["song_group"], strict=True))


def _columns(pairs: PairTable) -> Pairs:
    return pairs.lyrics_1, pairs.lyrics_2, pairs.gold


LYRIC_TASKS = (LyricSIM, LyricSIMUnseenSongs, LyricSIMAllPairs, LyricSIMBlocks)
