import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lyricsim_models.grid import (
    Attempt,
    GridRun,
    given_up,
    grid_runs,
    is_open,
    is_repeat,
    points_of,
    run_of,
    runs_to_enter,
    summarise,
    winner,
)
from lyricsim_models.registry import GridPoint, paper_models

POINT, OTHER = GridPoint(8, 0.1, 1e-5), GridPoint(16, 0.01, 5e-5)
RUN = GridRun("bertin", POINT, 42)


def complete(number, point, seed, score, model="bertin", test=None):
    return Attempt(number, GridRun(model, point, seed), "complete", score, test)


def test_the_papers_grid_has_24_points_and_holds_every_best_one():
    points = points_of()
    assert len(set(points)) == 24
    assert {entry.paper.best for entry in paper_models()} <= set(points)


def test_all_models_meet_all_points_with_all_seeds_once():
    runs = grid_runs(["a", "b"], points_of(), [1, 2, 3])
    assert len(set(runs)) == len(runs) == 144
    assert len({run.key for run in runs}) == 144


def test_settings_are_the_training_scripts_options():
    options = GridRun("PlanTL-GOB-ES/roberta-base-bne", POINT, 7).options()
    assert options == [
        *("--model", "PlanTL-GOB-ES/roberta-base-bne", "--global-batch-size", "8"),
        *("--weight-decay", "0.1", "--learning-rate", "1e-05", "--seeds", "7"),
    ]


def test_a_run_survives_the_study():
    assert run_of(RUN.parameters()) == RUN


@pytest.mark.parametrize("model", ["owner/model", "/a/b/", "./x"])
def test_a_runs_key_is_one_folder_name(model):
    assert "/" not in GridRun(model, POINT, 1).key


@pytest.mark.parametrize(
    ("states", "entered"),
    [
        ([], True),
        (["waiting"], False),
        (["running"], False),
        (["complete"], False),
        (["failed"], False),
        (["dead"], True),
        (["dead", "dead"], True),
        (["dead", "dead", "dead"], False),
        (["dead", "waiting"], False),
        (["complete", "repeat"], False),
        (["dead", "repeat"], True),
        (["released", "released", "released", "dead", "dead"], True),
    ],
)
def test_only_runs_nobody_has_done_or_will_do_are_entered(states, entered):
    attempts = [Attempt(number, RUN, state) for number, state in enumerate(states)]
    assert (runs_to_enter([RUN], attempts, most_attempts=3) == [RUN]) is entered


@pytest.mark.parametrize(
    ("states", "is_given_up"),
    [
        (["dead", "dead"], True),
        (["dead", "repeat", "released", "dead"], True),
        (["dead", "released", "released"], False),
        (["dead", "dead", "running"], False),
        (["dead", "dead", "complete"], False),
    ],
)
def test_a_run_is_given_up_when_enough_workers_died_of_it_and_nobody_has_its_result(states, is_given_up):
    attempts = [Attempt(number, RUN, state) for number, state in enumerate(states)]
    assert (given_up(attempts, most_attempts=2) == [RUN]) is is_given_up


STATES = st.sampled_from(["waiting", "running", "complete", "failed", "dead", "released", "repeat"])


@given(st.lists(STATES, min_size=1, max_size=6))
def test_of_all_tries_at_a_run_at_most_one_that_lives_is_no_repeat(states):
    attempts = [Attempt(number, RUN, state) for number, state in enumerate(states)]
    living = [a for a in attempts if a.state not in ("dead", "released", "repeat")]
    assert sum(not is_repeat(a, attempts) for a in living) == min(1, len(living))


def test_a_try_at_another_run_is_no_repeat():
    assert not is_repeat(Attempt(3, RUN, "waiting"), [complete(1, OTHER, 42, 0.5)])


def test_a_search_is_open_while_something_waits_or_runs():
    assert not is_open([Attempt(0, RUN, s) for s in ("complete", "failed", "dead", "released", "repeat")])
    assert is_open([Attempt(0, RUN, "running")])
    assert is_open([Attempt(0, RUN, "waiting")])


def test_seeds_are_averaged_and_the_best_mean_comes_first():
    rows = summarise(
        [
            complete(0, POINT, 1, 0.7, test=0.6),
            complete(1, POINT, 2, 0.9, test=0.8),
            complete(2, OTHER, 1, 0.85),
            Attempt(3, GridRun("bertin", OTHER, 2), "failed", failure="NaN"),
            Attempt(4, GridRun("alberti", OTHER, 1), "running"),
        ]
    )
    assert [(row.model, row.point) for row in rows] == [
        ("bertin", OTHER),
        ("bertin", POINT),
        ("alberti", OTHER),
    ]
    assert rows[1].seeds == (1, 2)
    assert rows[1].development == pytest.approx(0.8)
    assert rows[1].development_deviation == pytest.approx(0.1414, abs=1e-4)
    assert rows[1].test == pytest.approx(0.7)
    assert rows[0].failed == 1
    assert rows[0].test is None
    assert rows[2].development is None


def test_one_lucky_seed_does_not_win_against_a_point_with_all_seeds():
    rows = summarise([complete(0, POINT, 1, 0.7), complete(1, POINT, 2, 0.7), complete(2, OTHER, 1, 0.9)])
    assert winner(rows).point == POINT
    assert winner(summarise([])) is None


def test_each_model_has_a_winner_of_its_own():
    rows = summarise([complete(0, POINT, 1, 0.9), complete(1, OTHER, 1, 0.5, model="alberti")])
    assert winner(rows, "alberti").point == OTHER


@given(
    st.permutations(
        [
            complete(n, p, s, x)
            for n, (p, s, x) in enumerate(
                (p, s, 0.1 * i) for i, (p, s) in enumerate(itertools.product([POINT, OTHER], [1, 2]))
            )
        ]
    )
)
def test_a_summary_does_not_depend_on_the_order_of_tries(attempts):
    assert summarise(attempts) == summarise(sorted(attempts, key=lambda a: a.number))
