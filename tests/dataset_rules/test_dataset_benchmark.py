"""The benchmark compares like with like, and prints what it promises."""

import importlib.util
from types import ModuleType

import pandas as pd
import pytest
from support import REPOSITORY
from upstream_tables import Upstream

from lyricsim_dataset.consensus import keep_ratings, kept_pairs


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("dataset_benchmark", REPOSITORY / "benchmarks/dataset.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_pandas_route_keeps_the_very_pairs_that_ours_keeps(
    benchmark: ModuleType, upstream: Upstream
) -> None:
    rows = [(rating.pair_id, rating.rating) for rating in upstream.tables.ratings]
    kept = benchmark.pandas_filter(pd.DataFrame(rows, columns=["pair_id", "rating"]))
    assert set(kept["pair_id"]) == upstream.kept_ids


def test_all_routes_over_made_up_ratings_keep_as_many(benchmark: ModuleType) -> None:
    routes = benchmark.routes_for(500, with_pandas=True, with_records=True)
    kept = int(keep_ratings(benchmark.made_up_ratings(500)).sum())
    assert 0 < kept < 500
    assert routes[benchmark.ARRAY]().sum() == kept
    assert len(routes[benchmark.PAIRS]()) == len(routes[benchmark.RECORDS]()) == kept
    assert routes[benchmark.PANDAS]()["pair_id"].nunique() == kept


def test_ratios_and_growth_are_given_for_every_size(
    benchmark: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(benchmark, "SHORTEST_MEASURE", 0)
    monkeypatch.setattr(benchmark, "UPSTREAM_PAIRS", 100)
    ratios, growth = benchmark.measure_filter(largest=10_000, pandas_largest=100, repetitions=1)
    assert [ratio.pairs for ratio in ratios] == [100, 10_000]
    assert ratios[0].pandas_to_group_and_filter > 0
    assert ratios[1].pandas_to_group_and_filter is None
    assert {step.route for step in growth} == {benchmark.ARRAY, benchmark.PAIRS, benchmark.RECORDS}


def test_importing_the_dataset_s_modules_imports_nothing_heavy(benchmark: ModuleType) -> None:
    assert benchmark.heavy_imports() == []


def test_the_two_routes_from_files_agree_on_means_and_lengths(
    benchmark: ModuleType, upstream: Upstream, lyricsim_source
) -> None:
    table = benchmark.pandas_read_and_filter(benchmark.locate(lyricsim_source)).set_index("pair_id")
    lengths = {song.song_id: song.length for song in upstream.tables.songs}
    for pair in kept_pairs(upstream.pairs):
        row = table.loc[pair.pair_id]
        assert row["rating"] == pytest.approx(pair.score)
        assert (row["length_1"], row["length_2"]) == (lengths[pair.song_id_1], lengths[pair.song_id_2])
