"""Ranking a catalogue for a query song: recall by vectors, then a closer look at the nearest ones."""

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from lyricsim_models.features import Embed
from lyricsim_models.model_files import weights_identity
from lyricsim_models.nearest import nearest
from lyricsim_models.pair_scorers import OpenScorer, is_lexical, open_scorer
from lyricsim_models.pair_table import is_identity
from lyricsim_models.registry import is_pair_model, resolve
from lyricsim_models.score_file import refuse_output
from lyricsim_models.streams import check_rows, read_rows
from lyricsim_models.team import refuse_launcher
from lyricsim_tools.atomic import atomic_file, sha256_of, write_text
from lyricsim_tools.errors import UserError

_WRITTEN = ("query", "rank", "song_id", "score")


@dataclass(frozen=True)
class Catalogue:
    """n songs.

    Args:
        song_ids: unique names.
        lyrics: their texts.
        titles: for people; empty texts where the file has none.
    """

    song_ids: tuple[str, ...]
    lyrics: tuple[str, ...]
    titles: tuple[str, ...]


@dataclass(frozen=True)
class RankingJob:
    """One ranking, as asked for.

    Args:
        model: finds candidates: any encoder; or ``lexical``, a lexical scorer's JSON or a cross-encoder of
            ours, which then score every song of the catalogue.
        catalogue: file with ``song_id`` and ``lyrics``, perhaps ``title``.
        queries: ids of songs of the catalogue; a song is not ranked for itself.
        query_files: files that hold a lyric each.
        top: songs to return for each query.
        recall: candidates that the reranker scores.
        reranker: model that scores the candidates pair by pair; None for none.
        vectors: file that keeps the catalogue's vectors; None for none.
        batch_size: texts or pairs computed at once.
        max_length: most tokens of a sequence.
        prompt: text before each lyric for the encoder; None for what its authors prescribe.
        symmetric: pairs are scored in both orders; None: as the model was trained to be used.
    """

    model: str
    catalogue: Path
    queries: tuple[str, ...] = ()
    query_files: tuple[Path, ...] = ()
    top: int = 10
    recall: int = 100
    reranker: str | None = None
    vectors: Path | None = None
    batch_size: int = 32
    max_length: int = 512
    prompt: str | None = None
    symmetric: bool | None = None


@dataclass(frozen=True)
class Ranked:
    """One line of a ranking: the song at ``rank`` (from 1) for a query, with its score."""

    query: str
    rank: int
    song_id: str
    title: str
    score: float


@dataclass(frozen=True)
class Query:
    """A lyric to find songs for; ``row`` is its own row in the catalogue, or None."""

    name: str
    lyrics: str
    row: int | None


def read_catalogue(path: Path) -> Catalogue:
    """Read and check a catalogue.

    Raises:
        UserError: a missing column, an empty lyric, an id twice: which rows.
    """
    check_rows(path, ("lyrics",), " and song_id (and title if known)")
    ids: dict[str, int] = {}
    lyrics: list[str] = []
    titles: list[str] = []
    for number, row in enumerate(read_rows(path), start=1):
        song = row.get("song_id")
        if not is_identity(song) or str(song) in ids:
            given = f"row {number} of {path} has the song_id {song!r}"
            first = f", as row {ids[str(song)]} has" if str(song) in ids else ""
            raise UserError(f"{given}{first}", "an id for every song, each once", "correct the catalogue")
        ids[str(song)] = number
        lyrics.append(row["lyrics"])
        titles.append(str(row.get("title") or ""))
    return Catalogue(tuple(ids), tuple(lyrics), tuple(titles))


def rank(job: RankingJob) -> list[Ranked]:
    """Rank the catalogue for every query.

    Raises:
        UserError: a bad catalogue, an unknown query, no such model.
    """
    refuse_launcher("a ranking")
    catalogue = read_catalogue(job.catalogue)
    queries = _queries(job, catalogue)
    found = _recall(job, catalogue, queries)
    if job.reranker is not None:
        scorer = _open(job, job.reranker)
        found = [_rescore(scorer, catalogue, q, rows) for q, (rows, _) in zip(queries, found, strict=True)]
    return [
        Ranked(query.name, place, catalogue.song_ids[row], catalogue.titles[row], float(score))
        for query, (rows, scores) in zip(queries, found, strict=True)
        for place, (row, score) in enumerate(zip(rows[: job.top], scores[: job.top], strict=True), start=1)
    ]


def _queries(job: RankingJob, catalogue: Catalogue) -> list[Query]:
    place = {song: row for row, song in enumerate(catalogue.song_ids)}
    if unknown := [song for song in job.queries if song not in place]:
        raise UserError(
            f"{job.catalogue} has no song {', '.join(unknown)}", "ids of its songs", "check --query"
        )
    own = [Query(song, catalogue.lyrics[place[song]], place[song]) for song in job.queries]
    return own + [_query_of_file(path) for path in job.query_files]


def _query_of_file(path: Path) -> Query:
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            f"{path} cannot be read: {error}", "a UTF-8 text file", "check --query-text"
        ) from error
    if not text.strip():
        raise UserError(f"{path} is empty", "a lyric", "check --query-text")
    return Query(path.name, text, None)


Found = list[tuple[np.ndarray, np.ndarray]]


def _recall(job: RankingJob, catalogue: Catalogue, queries: Sequence[Query]) -> Found:
    """Candidates of each query, best first: all songs where the model only knows pairs."""
    if is_lexical(job.model) or is_pair_model(resolve(job.model)):
        scorer = _open(job, job.model)
        everyone = np.arange(len(catalogue.lyrics))
        return [_rescore(scorer, catalogue, q, everyone[everyone != q.row]) for q in queries]
    count = job.recall if job.reranker else job.top
    from lyricsim_models.sentence_folder import read_line
    from lyricsim_models.zero_shot import zero_shot_encoder

    embed = zero_shot_encoder(job.model, job.batch_size, job.prompt, job.max_length)
    vectors = _vectors(job, catalogue, embed)
    slope, intercept = read_line(resolve(job.model))
    sought = embed([query.lyrics for query in queries])
    _refuse_non_finite(sought.sum(axis=1), lambda place: f"query {queries[place].name}", "vector")
    rows, similarity = nearest(vectors, sought, count + 1)
    keep = [r != -1 if q.row is None else r != q.row for q, r in zip(queries, rows, strict=True)]
    return [
        (r[k][:count], slope * s[k][:count] + intercept)
        for r, s, k in zip(rows, similarity, keep, strict=True)
    ]


def _open(job: RankingJob, model: str) -> OpenScorer:
    return open_scorer(model, batch_size=job.batch_size, max_length=job.max_length, symmetric=job.symmetric)


def _rescore(
    scorer: OpenScorer, catalogue: Catalogue, query: Query, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    scores = np.asarray(scorer.score([query.lyrics] * len(rows), [catalogue.lyrics[row] for row in rows]))
    _refuse_non_finite(scores, lambda place: f"{_song(catalogue, rows[place])} for {query.name}", "score")
    order = np.argsort(-scores, kind="stable")
    return rows[order], scores[order]


def _vectors(job: RankingJob, catalogue: Catalogue, embed: Embed) -> np.ndarray:
    """The catalogue's vectors, from the file that keeps them where it fits catalogue and model."""
    if job.vectors is None:
        return _embedded(catalogue, embed)
    model = resolve(job.model)
    weights = weights_identity(job.model)
    identity = json.dumps(
        [model.reference, weights, job.prompt, job.max_length, sha256_of(job.catalogue)], sort_keys=True
    )
    kept = _kept_vectors(job.vectors, identity)
    if kept is not None:
        return kept
    vectors = _embedded(catalogue, embed)
    with atomic_file(job.vectors) as partial, partial.open("wb") as stream:
        np.savez(stream, identity=np.array(identity), vectors=vectors)
    return vectors


def _embedded(catalogue: Catalogue, embed: Embed) -> np.ndarray:
    vectors = embed(list(catalogue.lyrics))
    _refuse_non_finite(vectors.sum(axis=1), lambda row: _song(catalogue, row), "vector")
    return vectors


def _song(catalogue: Catalogue, row: int) -> str:
    return f"song {catalogue.song_ids[row]} (row {row + 1} of the catalogue)"


def _refuse_non_finite(values: np.ndarray, name: Callable[[int], str], what: str) -> None:
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise UserError(
            f"{name(int(bad[0]))} got a {what} that is not finite, {len(bad)} of {len(values)} did",
            f"a finite {what} for every song and query",
            "use another precision or another model",
        )


def _kept_vectors(path: Path, identity: str) -> np.ndarray | None:
    """What an earlier ranking kept; None where there is nothing, or it is of another catalogue or model.

    Raises:
        UserError: the file is something else, which is not written over.
    """
    if not path.exists():
        return None
    try:
        with np.load(path, allow_pickle=False) as kept:
            return np.asarray(kept["vectors"]) if str(kept["identity"]) == identity else None
    except (ValueError, KeyError, TypeError, AttributeError, EOFError, OSError, BadZipFile) as error:
        raise UserError(
            f"{path} holds no vectors: {error}",
            "a file that --vectors wrote, or a new name",
            "remove it, or choose another --vectors",
        ) from error


def write_ranking(path: Path, lines: Sequence[Ranked], *, overwrite: bool = False) -> None:
    """Write a ranking as CSV or JSONL: ``query, rank, song_id, score``.

    Raises:
        UserError: another ending, the file exists, or it is a folder.
    """
    refuse_output(path, overwrite)
    rows = [{name: getattr(line, name) for name in _WRITTEN} for line in lines]
    if path.suffix == ".jsonl":
        write_text(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
        return
    stream = io.StringIO()
    writer = csv.DictWriter(stream, _WRITTEN, lineterminator="\n")
    writer.writeheader()
    writer.writerows({**row, "score": f"{row['score']:.7g}"} for row in rows)
    write_text(path, stream.getvalue())
