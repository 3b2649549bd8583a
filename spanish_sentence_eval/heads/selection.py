"""The three ways in which a strength is chosen and a figure is read off: split, folds, folds in folds."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lyricsim_tools.errors import UserError
from spanish_sentence_eval.heads.fitting import Classifier, Fit, Job, Table, first_best, percent, rounded_mean

_NONE = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Outcome:
    """What a classification head found.

    Args:
        dev: accuracy that chose the strength, percent, two decimals.
        test: accuracy on the test rows, percent, two decimals.
        predicted: shape (n,), the class given to each test row (or each row of a pool).
        gold: shape (n,), its class.
        strengths: the strength that was chosen, for each outer fold if there are folds in folds.
    """

    dev: float
    test: float
    predicted: np.ndarray
    gold: np.ndarray
    strengths: tuple[float, ...]


def choose_on_split(
    table: Table, train: np.ndarray, dev: np.ndarray, test: np.ndarray, classifier: Classifier, noreg: bool
) -> Outcome:
    """Choose the strength on the dev rows; its fit is the final one (specification, section 2.2)."""
    grid = classifier.grids.noreg if noreg else classifier.grids.split
    [fits] = classifier.fit(table, [Job(train, dev, test, grid)])
    scores = [percent(fit.dev) for fit in fits]
    best = first_best(scores)
    return _outcome(table, scores[best], test, fits[best].predicted, (grid[best],))


def choose_by_folds(
    table: Table, train: np.ndarray, test: np.ndarray, classifier: Classifier, folds: int, seed: int
) -> Outcome:
    """Choose the strength by cross-validation on the training rows (specification, section 2.3)."""
    grid = classifier.grids.kfold
    fits = classifier.fit(table, fold_jobs(table, train, folds, seed, grid))
    scores = mean_scores(fits)
    best = first_best(scores)
    [[final]] = classifier.fit(table, [Job(train, None, test, (grid[best],))])
    return _outcome(table, scores[best], test, final.predicted, (grid[best],))


def choose_by_inner_folds(table: Table, classifier: Classifier, folds: int, seed: int) -> Outcome:
    """Test each outer fold by a strength chosen inside its training rows (specification, section 2.4)."""
    grid = classifier.grids.innerkfold
    outer = stratified(np.arange(len(table.y)), table.y, folds, seed)
    inner = [fold_jobs(table, train, folds, seed, grid) for train, _ in outer]
    fits = iter(classifier.fit(table, [job for jobs in inner for job in jobs]))
    scores = [mean_scores([next(fits) for _ in jobs]) for jobs in inner]
    chosen = [grid[first_best(fold)] for fold in scores]
    finals = classifier.fit(
        table, [Job(train, None, test, (c,)) for (train, test), c in zip(outer, chosen, strict=True)]
    )
    predicted = np.empty(len(table.y), dtype=np.int64)
    tests = []
    for (_, test), [final] in zip(outer, finals, strict=True):
        predicted[test] = final.predicted
        tests.append(percent((final.predicted == table.y[test]).mean()))
    dev = rounded_mean([max(fold) for fold in scores])
    return Outcome(dev, rounded_mean(tests), predicted, table.y, tuple(chosen))


def stratified(
    rows: np.ndarray, labels: np.ndarray, folds: int, seed: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Row numbers of the training and the held-out part of each shuffled stratified fold.

    Raises:
        UserError: there are more folds than rows of the most frequent class.
    """
    from sklearn.model_selection import StratifiedKFold

    if folds > (most := int(np.bincount(labels).max())):
        raise UserError(f"kfold: {folds} folds", f"at most {most}, the rows of a class", "set a lower kfold")

    splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
    return [(rows[train], rows[test]) for train, test in splitter.split(rows, labels)]


def fold_jobs(table: Table, train: np.ndarray, folds: int, seed: int, grid: tuple[float, ...]) -> list[Job]:
    """One job a fold, whose held-out part drives early stopping."""
    return [
        Job(rows, held_out, _NONE, grid) for rows, held_out in stratified(train, table.y[train], folds, seed)
    ]


def mean_scores(fits: Sequence[Sequence[Fit]]) -> list[float]:
    """For each strength, the mean of the folds' dev accuracies in percent with two decimals."""
    by_strength = zip(*fits, strict=True)
    return [float(np.round(100 * np.mean([fit.dev for fit in column]), 2)) for column in by_strength]


def _outcome(
    table: Table, dev: float, test: np.ndarray, predicted: np.ndarray, strengths: tuple[float, ...]
) -> Outcome:
    gold = table.y[test]
    return Outcome(dev, percent((predicted == gold).mean()), predicted, gold, strengths)
