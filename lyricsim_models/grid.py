"""The paper's search space and what its runs say: points, what is to do, ranking (pure; knows no storage)."""

import itertools
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lyricsim_models.registry import GridPoint
from lyricsim_tools.errors import UserError

#: The paper's grid, 24 points (section 5.3).
BATCH_SIZES = (8, 16, 32)
WEIGHT_DECAYS = (0.1, 0.01)
LEARNING_RATES = (1e-5, 2e-5, 3e-5, 5e-5)

State = Literal["waiting", "running", "complete", "failed", "dead", "released", "repeat"]
# Tries that say nothing about their run and that nobody works on.
_VOID: tuple[State, ...] = ("dead", "released", "repeat")


def points_of(
    batch_sizes: Iterable[int] = BATCH_SIZES,
    weight_decays: Iterable[float] = WEIGHT_DECAYS,
    learning_rates: Iterable[float] = LEARNING_RATES,
) -> list[GridPoint]:
    """All combinations, smallest batch first; by default the paper's 24 points."""
    return [GridPoint(*values) for values in itertools.product(batch_sizes, weight_decays, learning_rates)]


@dataclass(frozen=True)
class GridRun:
    """One training run: a model, a point of the grid, a seed."""

    model: str
    point: GridPoint
    seed: int

    @property
    def key(self) -> str:
        """A name that no other run has, fit for a folder."""
        model = self.model.strip("/").replace("/", "--")
        point = self.point
        return (
            f"{model}_b{point.batch_size}_wd{point.weight_decay:g}_lr{point.learning_rate:g}_seed{self.seed}"
        )

    def parameters(self) -> dict[str, Any]:
        """The run's settings by the names that a study shows."""
        point = self.point
        return {
            "model": self.model,
            "global_batch_size": point.batch_size,
            "weight_decay": point.weight_decay,
            "learning_rate": point.learning_rate,
            "seed": self.seed,
        }

    def options(self) -> list[str]:
        """The run's settings as ``training/finetune.py`` takes them."""
        point = self.point
        return [
            *("--model", self.model, "--global-batch-size", str(point.batch_size)),
            *("--weight-decay", f"{point.weight_decay:g}", "--learning-rate", f"{point.learning_rate:g}"),
            *("--seeds", str(self.seed)),
        ]


def run_of(parameters: Mapping[str, Any]) -> GridRun:
    """The inverse of ``GridRun.parameters``."""
    point = GridPoint(
        parameters["global_batch_size"], parameters["weight_decay"], parameters["learning_rate"]
    )
    return GridRun(parameters["model"], point, parameters["seed"])


def grid_runs(models: Sequence[str], points: Sequence[GridPoint], seeds: Sequence[int]) -> list[GridRun]:
    """Every model at every point with every seed; first all with the first seed."""
    return [GridRun(m, p, s) for s, m, p in itertools.product(seeds, models, points)]


def refuse_bad_search(points: Iterable[GridPoint], seeds: Iterable[int]) -> None:
    """Refuse settings that no run could be made with, before any run is entered.

    Raises:
        UserError: names the option and its first bad value.
    """
    points = list(points)
    limits: tuple[tuple[str, list[float], Callable[[float], bool], str], ...] = (
        ("--batch-sizes", [p.batch_size for p in points], lambda v: v >= 1, "at least 1"),
        ("--weight-decays", [p.weight_decay for p in points], lambda v: 0 <= v <= 1, "0 to 1"),
        ("--learning-rates", [p.learning_rate for p in points], lambda v: 1e-9 <= v <= 1, "1e-9 to 1"),
        ("--seeds", list(seeds), lambda v: 0 <= v < 1 << 32, "0 to 4294967295"),
    )
    for option, values, is_good, expected in limits:
        for value in values:
            if not is_good(value):
                raise UserError(f"{option} {value:g}", expected, "pass another value")


@dataclass(frozen=True)
class Attempt:
    """One try at a run, as the study keeps it.

    Args:
        number: order in which tries were entered.
        run: what is tried.
        state: ``failed`` ran and ended in an error; ``dead`` lost its worker; ``released`` was given
            back by a worker that was stopped; ``repeat`` was entered by two workers at once and never run.
        development: combined score on the validation split, 0 to 1; None unless complete.
        test: combined score on the test split; None unless complete.
        failure: the last words of a failed run.
        precision: its mixed precision; None where it was not recorded.
    """

    number: int
    run: GridRun
    state: State
    development: float | None = None
    test: float | None = None
    failure: str = ""
    precision: str | None = None


def precisions(attempts: Iterable[Attempt]) -> set[str]:
    """The mixed precisions that finished runs were made in."""
    return {a.precision for a in attempts if a.state == "complete" and a.precision is not None}


def refuse_other_precision(attempts: Iterable[Attempt], precision: str | None) -> None:
    """Refuse a run whose score does not compare with those of the search.

    Raises:
        UserError: names both precisions.
    """
    others = precisions(attempts) - {precision}
    if precision is not None and others:
        raise UserError(
            f"a run in mixed precision {precision!r}, finished ones in {', '.join(sorted(others))}",
            "one precision for all runs of a search",
            "start this worker again with the others' --launcher or Accelerate configuration",
        )


def runs_to_enter(runs: Iterable[GridRun], attempts: Sequence[Attempt], most_attempts: int) -> list[GridRun]:
    """Runs that no worker has done, is doing or will find waiting.

    Args:
        runs: all of the search.
        attempts: what the study holds.
        most_attempts: a run that so many workers died of is not tried again.
    """
    tried = _by_run(attempts)
    return [run for run in runs if _is_void(tried[run]) and _deaths(tried[run]) < most_attempts]


def given_up(attempts: Iterable[Attempt], most_attempts: int) -> list[GridRun]:
    """Runs without a result that so many workers died of that nobody tries them again."""
    tried = _by_run(attempts)
    return [run for run, tries in tried.items() if _is_void(tries) and _deaths(tries) >= most_attempts]


def is_repeat(attempt: Attempt, attempts: Iterable[Attempt]) -> bool:
    """Whether an earlier try stands for the same run, so that this one must not be made."""
    return any(a.run == attempt.run and a.number < attempt.number and a.state not in _VOID for a in attempts)


def is_open(attempts: Iterable[Attempt]) -> bool:
    """Whether some run is still under way, whose worker may yet die."""
    return any(a.state in ("waiting", "running") for a in attempts)


@dataclass(frozen=True)
class PointSummary:
    """What all seeds of a model at a point say; scores 0 to 1, deviations None below two seeds.

    Args:
        model: as asked for.
        point: of the grid.
        seeds: the seeds that are complete.
        development: mean combined score on the validation split; None where no seed is complete.
        development_deviation: sample standard deviation over seeds.
        test: mean combined score on the test split; never used to choose.
        failed: tries that ended in an error.
    """

    model: str
    point: GridPoint
    seeds: tuple[int, ...]
    development: float | None
    development_deviation: float | None
    test: float | None
    failed: int


def summarise(attempts: Sequence[Attempt]) -> list[PointSummary]:
    """One row a model and point, best development score first; rows without a score last."""
    groups: dict[tuple[str, GridPoint], list[Attempt]] = defaultdict(list)
    for attempt in attempts:
        groups[attempt.run.model, attempt.run.point].append(attempt)
    rows = [_summary(model, point, tries) for (model, point), tries in groups.items()]
    return sorted(rows, key=lambda r: (r.development is None, -(r.development or 0.0)))


def winner(rows: Sequence[PointSummary], model: str | None = None) -> PointSummary | None:
    """The best mean development score among the rows with the most seeds done; None if none has a score.

    Comparing a mean of three seeds with one lucky seed would choose luck.
    """
    scored = [r for r in rows if r.development is not None and model in (None, r.model)]
    most = max((len(r.seeds) for r in scored), default=0)
    return next((r for r in scored if len(r.seeds) == most), None)


def _summary(model: str, point: GridPoint, tries: Sequence[Attempt]) -> PointSummary:
    done = sorted((a for a in tries if a.state == "complete"), key=lambda a: a.run.seed)
    scores = [a.development for a in done if a.development is not None]
    tests = [a.test for a in done if a.test is not None]
    return PointSummary(
        model=model,
        point=point,
        seeds=tuple(a.run.seed for a in done),
        development=statistics.fmean(scores) if scores else None,
        development_deviation=statistics.stdev(scores) if len(scores) > 1 else None,
        test=statistics.fmean(tests) if tests else None,
        failed=sum(a.state == "failed" for a in tries),
    )


def _is_void(tries: Iterable[Attempt]) -> bool:
    return all(a.state in _VOID for a in tries)


def _deaths(tries: Iterable[Attempt]) -> int:
    return sum(a.state == "dead" for a in tries)


def _by_run(attempts: Iterable[Attempt]) -> dict[GridRun, list[Attempt]]:
    groups: dict[GridRun, list[Attempt]] = defaultdict(list)
    for attempt in attempts:
        groups[attempt.run].append(attempt)
    return groups
