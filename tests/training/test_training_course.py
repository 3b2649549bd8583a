import pytest
from hypothesis import given
from hypothesis import strategies as st

from lyricsim_models.config import Recipe, check_seed
from lyricsim_models.course import Schedule, course_of
from lyricsim_tools.errors import UserError


def test_the_rate_starts_at_its_highest_and_decays_linearly_to_zero() -> None:
    schedule = Schedule(total=8)
    assert [schedule.share(step) for step in range(9)] == [
        1,
        7 / 8,
        6 / 8,
        5 / 8,
        4 / 8,
        3 / 8,
        2 / 8,
        1 / 8,
        0,
    ]


@given(total=st.integers(2, 400), ratio=st.floats(0, 0.5))
def test_the_schedule_is_that_of_transformers(total: int, ratio: float) -> None:
    import torch
    from transformers import get_linear_schedule_with_warmup

    course = course_of(total, Recipe(global_batch_size=1, epochs=1, warmup_ratio=ratio))
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    theirs = get_linear_schedule_with_warmup(optimizer, course.schedule.warmup, total).lr_lambdas[0]
    steps = {0, 1, total // 3, total // 2, total - 1}
    assert [course.schedule.share(s) for s in steps] == pytest.approx([theirs(s) for s in steps])


def test_max_steps_wins_over_epochs_and_is_evaluated_at_its_end() -> None:
    course = course_of(39, Recipe(max_steps=7), checkpoint_every=3)
    assert (course.per_epoch, course.total) == (5, 7)
    assert [done for done in range(1, 8) if course.evaluates_after(done)] == [5, 7]
    assert [done for done in range(1, 8) if course.saves_after(done)] == [3, 5, 6, 7]
    assert course.place(6) == (1, 1)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("global_batch_size", 0),
        ("per_device_batch_size", 0),
        ("epochs", 0),
        ("max_steps", 0),
        ("max_length", 0),
        ("patience", 0),
        ("learning_rate", 0.0),
        ("learning_rate", float("nan")),
        ("weight_decay", -0.1),
        ("warmup_ratio", 1.0),
        ("dropout", 1.0),
        ("max_gradient_norm", 0.0),
        ("architecture", "poly-encoder"),
        ("line_breaks", "drop"),
    ],
)
def test_a_setting_that_cannot_work_is_refused_by_its_option(option: str, value: object) -> None:
    with pytest.raises(UserError, match="--" + option.replace("_", "-")):
        Recipe(**{option: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_a_seed_that_no_generator_takes_is_refused(seed: int) -> None:
    with pytest.raises(UserError, match="seed"):
        check_seed(seed)


def test_the_defaults_are_the_papers() -> None:
    recipe = Recipe()
    assert (recipe.global_batch_size, recipe.learning_rate, recipe.weight_decay) == (8, 5e-5, 0.01)
    assert (recipe.epochs, recipe.max_length, recipe.warmup_ratio) == (5, 512, 0)
