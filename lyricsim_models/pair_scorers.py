"""A model's name → a function from pairs to predictions, spread over all processes of the job."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lyricsim_models.embedding_cache import EmbeddingCache
from lyricsim_models.features import cosines
from lyricsim_models.lexical import LexicalScorer, default_lexical_scorer, read_lexical_scorer
from lyricsim_models.model_files import optional_file, weights_identity
from lyricsim_models.pair_table import PairTable
from lyricsim_models.provenance import SEEN_FILE, Seen, read_seen
from lyricsim_models.registry import resolve
from lyricsim_models.team import Alone, Team, refuse_launcher

if TYPE_CHECKING:
    from lyricsim_models.scoring import PairScorer

#: The scorer that comes with the package.
LEXICAL = "lexical"
# Two lists of n lyrics → n scores.
Score = Callable[[Sequence[str], Sequence[str]], np.ndarray]


@dataclass(frozen=True)
class OpenScorer:
    """A model ready to score, in every process of the job.

    Args:
        score: two equally long lists of lyrics to their predictions; computes what it is given, alone.
        identity: what tells this model from another, as plain JSON values.
        seen: pairs and songs it was trained or selected on; None where it does not say.
        team: the processes that share the work.
    """

    score: Score
    identity: Mapping[str, Any]
    seen: Seen | None = None
    team: Team = field(default_factory=Alone)

    def __call__(self, table: PairTable) -> np.ndarray:
        """Predictions of all pairs, shape (pairs,), in their order, the same in all processes."""
        rows = shared_rows(table, self.team)
        own = table.take(rows[self.team.rank])
        found = self.score(own.lyrics_1, own.lyrics_2).tolist() if len(own) else []
        predictions = np.empty(len(table))
        for places, values in zip(rows, self.team.gather([found]), strict=True):
            predictions[places] = values
        return predictions


def shared_rows(table: PairTable, team: Team) -> list[np.ndarray]:
    """Rows of each process: dealt out in order of length, so that all have as much to do."""
    lengths = [len(a) + len(b) for a, b in zip(table.lyrics_1, table.lyrics_2, strict=True)]
    order = np.argsort(lengths, kind="stable")
    return [order[rank :: team.world] for rank in range(team.world)]


def open_scorer(
    model: str, *, batch_size: int = 32, max_length: int = 512, symmetric: bool | None = None
) -> OpenScorer:
    """Load whatever a user names.

    Args:
        model: ``lexical``, a JSON file of ``training/fit_lexical.py``, a folder that training wrote, a
            registry name or a Hub id.
        batch_size: most pairs that a process computes at once.
        max_length: most tokens of a sequence.
        symmetric: mean of both orders; None: as the model was trained to be used.

    Raises:
        UserError: no such model.
    """
    if is_lexical(model):
        refuse_launcher("the lexical scorer")
        return _lexical(default_lexical_scorer() if model == LEXICAL else read_lexical_scorer(Path(model)))
    from lyricsim_models.scoring import load_scorer
    from lyricsim_models.workers import Workers

    workers = Workers()
    scorer = load_scorer(model, device=workers.device, symmetric=symmetric, max_length=max_length)
    identity = {
        "model": model,
        **weights_identity(model),
        "max_length": scorer.loaded.max_length,
        "symmetric": scorer.symmetric,
        "mixed_precision": workers.mixed_precision,
    }

    def score(first: Sequence[str], second: Sequence[str]) -> np.ndarray:
        with workers.autocast():
            return compute(first, second)

    compute = _score_function(scorer, batch_size)
    return OpenScorer(score, identity, _seen_by(model), workers)


def is_lexical(model: str) -> bool:
    """Whether a name means a lexical scorer."""
    return model == LEXICAL or model.endswith(".json")


def _lexical(scorer: LexicalScorer) -> OpenScorer:
    identity = {"model": LEXICAL, **scorer.to_json()}
    return OpenScorer(lambda first, second: scorer.score(list(zip(first, second, strict=True))), identity)


def _score_function(scorer: "PairScorer", batch_size: int) -> Score:
    from lyricsim_models.encoders import SentenceScorer

    module = scorer.loaded.scorer
    if not isinstance(module, SentenceScorer):
        return partial(scorer.predict, batch_size=batch_size)
    # A lyric stands in many pairs; its vector is computed once.
    vectors = EmbeddingCache(partial(scorer.embed, batch_size=batch_size))
    slope, intercept = module.line.detach().cpu().tolist()

    def score(first: Sequence[str], second: Sequence[str]) -> np.ndarray:
        found: np.ndarray = slope * cosines(vectors, list(zip(first, second, strict=True))) + intercept
        return found

    return score


def _seen_by(model: str) -> Seen | None:
    """What a model folder or a repository on the Hub says of its training."""
    path = optional_file(resolve(model), SEEN_FILE)
    return None if path is None else read_seen(path.parent)
