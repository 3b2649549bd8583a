import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lyricsim_models.batches import (
    derived_seed,
    epoch_order,
    rows_of_step,
    split_rows,
    steps_per_epoch,
)

SIZES = st.integers(1, 60)
GOLDEN_ORDER = [4, 8, 10, 1, 9, 3, 6, 0, 7, 2, 11, 5]


@given(rows=st.integers(1, 600), size=st.integers(1, 40), seed=st.integers(0, 2**32 - 1))
def test_an_epochs_steps_partition_all_rows(rows: int, size: int, seed: int) -> None:
    steps = steps_per_epoch(rows, size)
    batches = [rows_of_step(seed, 3, step, rows, size) for step in range(steps)]
    assert sorted(np.concatenate(batches).tolist()) == list(range(rows))
    assert all(len(batch) == size for batch in batches[:-1])
    assert 1 <= len(batches[-1]) <= size


def test_the_order_follows_from_seed_and_epoch_and_nothing_else() -> None:
    np.random.seed(1)
    first = epoch_order(42, 0, 574)
    np.random.seed(2)
    assert (epoch_order(42, 0, 574) == first).all()
    assert (epoch_order(42, 1, 574) != first).any()
    assert (epoch_order(43, 0, 574) != first).any()


def test_the_order_is_the_same_on_every_platform_and_version() -> None:
    assert epoch_order(42, 0, 12).tolist() == GOLDEN_ORDER


@settings(max_examples=200)
@given(
    size=SIZES,
    world=st.integers(1, 5),
    per_device=st.integers(1, 9),
    seed=st.integers(0, 1000),
)
def test_a_split_holds_each_row_once_whatever_the_processes(
    size: int, world: int, per_device: int, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    rows = generator.permutation(100)[:size]
    lengths = generator.integers(1, 50, size=100)
    plan = split_rows(rows, lengths, world, per_device)
    assert len(plan) == -(-size // (per_device * world))
    assert all(len(micro_step) == world for micro_step in plan)
    weighted = [batch for micro_step in plan for batch in micro_step if batch.weight]
    assert sorted(np.concatenate([b.rows for b in weighted]).tolist()) == sorted(rows.tolist())
    assert all(1 <= len(b.rows) <= per_device for micro_step in plan for b in micro_step)


def test_a_process_without_rows_takes_part_with_weight_0() -> None:
    ((first, second, third),) = split_rows(np.array([5, 7]), np.arange(10), 3, 8)
    assert [len(b.rows) for b in (first, second, third)] == [1, 1, 1]
    assert [b.weight for b in (first, second, third)] == [1.0, 1.0, 0.0]


def test_micro_batches_hold_neighbours_in_length_so_that_padding_is_small() -> None:
    lengths = np.array([300, 20, 310, 25, 290, 30, 305, 22])
    plan = split_rows(np.arange(8), lengths, 1, 4)
    padded = sum(int(lengths[b.rows].max()) * len(b.rows) for (b,) in plan)
    assert padded == 310 * 4 + 30 * 4


def test_derived_seeds_differ_with_each_part() -> None:
    seeds = {derived_seed(*parts) for parts in ((1, 2, 3), (1, 3, 2), (2, 2, 3), (1, 2, 4), (1, 2))}
    assert len(seeds) == 5
    assert all(0 <= seed < 2**63 for seed in seeds)


@pytest.mark.parametrize(("rows", "size", "expected"), [(574, 8, 72), (574, 16, 36), (39, 16, 3), (1, 32, 1)])
def test_steps_of_an_epoch_count_the_tail(rows: int, size: int, expected: int) -> None:
    assert steps_per_epoch(rows, size) == expected
