"""One selection from beginning to end: catalogue → candidates → predictions → choice → folder."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lyricsim_annotation.candidates import (
    MISSED,
    Forbidden,
    Recalled,
    all_pairs,
    decode,
    every_pair,
    forbidden_pairs,
    recalled_pairs,
)
from lyricsim_annotation.catalogue import Catalogue, read_catalogue
from lyricsim_annotation.catalogue_scorers import CatalogueScorer, ScorerOptions
from lyricsim_annotation.rated import RatedPair, read_rated
from lyricsim_annotation.selection import BINS, Scored, bin_counts, choose, song_counts
from lyricsim_annotation.selection_folder import (
    PAIR_COLUMNS,
    PAIRS_FILE,
    PREDICTED,
    SELECTION_FILE,
    SONG_KEYS,
    SONGS_FILE,
)
from lyricsim_annotation.selection_plot import draw_selection
from lyricsim_dataset.records import RATING_MAX, RATING_MIN
from lyricsim_tools.atomic import atomic_folder, refuse_foreign_files, write_json, write_text
from lyricsim_tools.errors import UserError
from lyricsim_tools.versions import installed_versions

#: Pairs that are scored, at least and for each pair wanted, where the user does not say.
_LEAST_CANDIDATES, _CANDIDATES_A_PAIR = 10_000, 20
_PACKAGES = ("lyricsim", "numpy", "scikit-learn", "usearch", "torch", "transformers")


@dataclass(frozen=True)
class SelectionJob:
    """One selection, as asked for.

    Args:
        catalogue: songs to choose from; see :func:`read_catalogue`.
        models: which models score and recall.
        pairs: how many to choose.
        output: folder to write.
        rated: sources of pairs that are not to be chosen; see :func:`read_rated`.
        bins: parts of equal width that the scale is cut into.
        candidates: pairs to score at most; None: 20 for each pair wanted, 10,000 at least.
        seed: of every lot.
        overwrite: replace the folder of an earlier selection.
    """

    catalogue: str
    models: ScorerOptions
    pairs: int
    output: Path
    rated: tuple[str, ...] = ()
    bins: int = BINS
    candidates: int | None = None
    seed: int = 0
    overwrite: bool = False

    @property
    def budget(self) -> int:
        """Pairs to score at most."""
        return self.candidates or max(_LEAST_CANDIDATES, _CANDIDATES_A_PAIR * self.pairs)


@dataclass(frozen=True)
class Chosen:
    """The outcome of a selection.

    Args:
        candidates: all scored pairs.
        pairs: those that were chosen, in their order, each in the order in which it is shown.
        record: how they came about, as plain JSON values.
    """

    candidates: Scored
    pairs: Scored
    record: dict[str, Any]


def select(job: SelectionJob) -> dict[str, Any]:
    """Choose pairs and write the folder that raters work on.

    Returns:
        What ``selection.json`` holds.

    Raises:
        UserError: bad input, too few pairs, or an output that exists.
    """
    _refuse_existing(job)
    catalogue = read_catalogue(job.catalogue)
    rated = {source: read_rated(source) for source in job.rated}
    # Scoring may take hours, and a place that cannot be written to is told before it.
    with atomic_folder(job.output) as folder:
        chosen = choose_pairs(job, catalogue, rated)
        write_text(folder / PAIRS_FILE, pairs_text(chosen.pairs, catalogue))
        write_text(folder / SONGS_FILE, songs_text(chosen.pairs, catalogue))
        write_json(folder / SELECTION_FILE, chosen.record)
        draw_selection(folder, chosen.candidates, chosen.pairs, len(catalogue), job.bins, job.seed)
    return chosen.record


def _refuse_existing(job: SelectionJob) -> None:
    refuse_foreign_files(job.output)
    if (job.output / PAIRS_FILE).exists() and not job.overwrite:
        raise UserError(
            f"{job.output} holds a selection", "a new folder", "pass --overwrite, or choose another --output"
        )


def choose_pairs(job: SelectionJob, catalogue: Catalogue, rated: Mapping[str, set[RatedPair]]) -> Chosen:
    """Choose pairs of a catalogue that was read.

    Args:
        job: what is asked for.
        catalogue: the songs.
        rated: pairs that are not to be chosen, by the name of their source.

    Raises:
        UserError: no such model, or too few pairs.
    """
    forbidden = forbidden_pairs(catalogue, set().union(*rated.values()))
    scorer = CatalogueScorer([song.lyric for song in catalogue.songs], job.models)
    recalled = _recalled(job, scorer, forbidden)
    raw = scorer(recalled.codes)
    predicted = np.clip(raw, RATING_MIN, RATING_MAX)
    candidates = Scored(*decode(recalled.codes, len(catalogue)), predicted)
    rows = choose(candidates, job.pairs, bins=job.bins, seed=job.seed)
    pairs = _turned(candidates.take(rows), job.seed)
    record = {
        "settings": _settings(job),
        "scorer": scorer.identity,
        "catalogue": {"songs": len(catalogue), "sha256": catalogue.fingerprint},
        "rated": {source: len(found) for source, found in rated.items()},
        "candidates": _candidate_record(recalled, forbidden, scorer, raw),
        "chosen": _chosen_record(candidates, pairs, len(catalogue), job.bins),
        "versions": installed_versions(_PACKAGES),
    }
    return Chosen(candidates, pairs, record)


def _recalled(job: SelectionJob, scorer: CatalogueScorer, forbidden: Forbidden) -> Recalled:
    songs = len(forbidden.text)
    if all_pairs(songs) <= job.budget:
        return every_pair(forbidden)
    return recalled_pairs(scorer.recall_vectors, forbidden, job.budget, job.seed)


def _turned(pairs: Scored, seed: int) -> Scored:
    """Half of the pairs turned round by lot, so that no kind of song always stands on the left."""
    turn = np.random.default_rng([seed, 1]).random(len(pairs)) < 0.5
    return Scored(
        np.where(turn, pairs.second, pairs.first), np.where(turn, pairs.first, pairs.second), pairs.predicted
    )


def _settings(job: SelectionJob) -> dict[str, Any]:
    return {
        "catalogue": job.catalogue,
        "models": asdict(job.models),
        "pairs": job.pairs,
        "rated": list(job.rated),
        "bins": job.bins,
        "budget": job.budget,
        "seed": job.seed,
    }


def _candidate_record(
    recalled: Recalled, forbidden: Forbidden, scorer: CatalogueScorer, raw: np.ndarray
) -> dict[str, Any]:
    by_recall = "all" not in recalled.counts
    return {
        "pairs_of_the_catalogue": all_pairs(len(forbidden.text)),
        "excluded_as_rated": len(forbidden.rated),
        "rated_with_other_songs": forbidden.elsewhere,
        "excluded_as_identical_text": forbidden.identical,
        "scored": len(recalled.codes),
        "outside_the_scale_before_clipping": int(((raw < RATING_MIN) | (raw > RATING_MAX)).sum()),
        "found_by": "neighbours" if by_recall else "all pairs",
        "recall_model": scorer.recall_model if by_recall else None,
        "recall": recalled.counts if by_recall else None,
        "missed": MISSED if by_recall else "nothing: every pair that may be chosen was scored",
    }


def _chosen_record(candidates: Scored, pairs: Scored, songs: int, bins: int) -> dict[str, Any]:
    edges = np.linspace(RATING_MIN, RATING_MAX, bins + 1)
    counts = song_counts(pairs, songs)
    rows = zip(
        edges,
        edges[1:],
        bin_counts(candidates.predicted, bins),
        bin_counts(pairs.predicted, bins),
        strict=False,
    )
    return {
        "bins": [
            {"from": float(low), "to": float(high), "candidates": before, "chosen": after}
            for low, high, before, after in rows
        ],
        "songs_used": int((counts > 0).sum()),
        "pairs_of_a_song": {"fewest": int(counts.min()), "most": int(counts.max())},
    }


def pairs_text(pairs: Scored, catalogue: Catalogue) -> str:
    """The pairs as CSV."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*PAIR_COLUMNS, PREDICTED])
    for first, second, score in zip(pairs.first, pairs.second, pairs.predicted, strict=True):
        ids = catalogue.songs[first].song_id, catalogue.songs[second].song_id
        writer.writerow(["_".join(ids), *ids, f"{score:.6g}"])
    return stream.getvalue()


def songs_text(pairs: Scored, catalogue: Catalogue) -> str:
    """The songs that the pairs need, one JSON object a line, in the order of their ids."""
    used: Sequence[int] = np.union1d(pairs.first, pairs.second).tolist()
    rows = [dict(zip(SONG_KEYS, astuple(catalogue.songs[place]), strict=True)) for place in used]
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    return "".join(f"{line}\n" for line in lines)
