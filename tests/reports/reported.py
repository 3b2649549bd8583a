"""Benchmarks and results made in memory."""

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from lyricsim_dataset.annotations import Tables
from lyricsim_dataset.configurations import PAIR_CONFIGS
from lyricsim_dataset.release import assemble, rows
from lyricsim_dataset.splits import membership_digest
from lyricsim_models.evaluation import three_scores
from lyricsim_models.pair_table import pair_table
from lyricsim_models.provenance import digest, fingerprint
from lyricsim_reports.benchmark import Benchmark
from lyricsim_reports.measured import Measured, measured_scores, pairs_of, prediction_array, split_digest
from lyricsim_reports.plain import without_nan
from lyricsim_reports.result_file import BLOCK_SPLIT, BLOCKS, Result

RESAMPLES = 100


def benchmark_of(tables: Tables) -> Benchmark:
    """What reading the built folder would give."""
    release = assemble(tables)
    splits, records = {}, {}
    for config in PAIR_CONFIGS:
        columns = {
            split: {name: [row[name] for row in its] for name in its[0]}
            for split, its in rows(release, config).items()
        }
        splits[config.name] = {split: pair_table(its, split) for split, its in columns.items()}
        ids = {split: table.pair_ids for split, table in splits[config.name].items()}
        records[config.name] = {"digest": membership_digest(ids)}
    record = {"sample": False, "splits": records, "source": {"fingerprint": "0" * 64, "modified": []}}
    return Benchmark(record, tables, splits, release.groups)


def noisy(benchmark: Benchmark, noise: float, seed: int) -> dict[str, float]:
    """Predictions of all filtered pairs: the scores and normal noise."""
    pairs = benchmark.whole("filtered")
    errors = np.random.default_rng(seed).normal(0, noise, len(pairs))
    return {
        pair: float(np.float32(s + e)) for pair, s, e in zip(pairs.pair_ids, pairs.gold, errors, strict=True)
    }


def result(
    benchmark: Benchmark,
    system: str,
    *predictions: Mapping[str, float],
    resamples: int = RESAMPLES,
    **others: Any,
) -> Result:
    """A result of block cross-validation, one list of predictions a seed, with the scores that follow."""
    seeds = tuple(range(1, len(predictions) + 1))
    draft = Result(
        system=system,
        title=others.pop("title", system.capitalize()),
        kind=others.pop("kind", "model"),
        model="invented",
        revision=None,
        dataset=benchmark.origin.name,
        data_fingerprint=fingerprint({BLOCK_SPLIT: benchmark.whole("filtered")}),
        config="filtered",
        split_digest="",
        protocol=BLOCKS,
        training_share=others.pop("training_share", 1.0),
        seeds=seeds,
        settings={},
        versions={"lyricsim": "0"},
        git_revision=None,
        command="none",
        resamples=resamples,
        scores={},
        predictions={str(seed): dict(its) for seed, its in zip(seeds, predictions, strict=True)},
    )
    draft = dataclasses.replace(draft, split_digest=split_digest(draft, benchmark), **others)
    pairs = pairs_of(draft, benchmark)
    return dataclasses.replace(
        draft, scores=measured_scores(prediction_array(draft, pairs), pairs, resamples)
    )


def measured(benchmark: Benchmark, system: str, *predictions: Mapping[str, float], **others: Any) -> Measured:
    its = result(benchmark, system, *predictions, **others)
    pairs = pairs_of(its, benchmark)
    return Measured(its, pairs, prediction_array(its, pairs), its.scores)


def write(folder: Path, its: Result) -> Path:
    """A result as a file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / its.file_name
    path.write_text(json.dumps(without_nan(its.to_dict())))
    return path


def write_run(folder: Path, benchmark: Benchmark, predictions: Mapping[str, float], **settings: Any) -> Path:
    """A folder as ``training/cross_validate.py`` leaves it."""
    pairs = benchmark.whole("filtered")
    folder.mkdir(parents=True)
    groups = digest(f"{song} {group}" for song, group in benchmark.groups.items())
    recorded = {
        "model": "some/encoder",
        "dataset": "/a/machine/of/mine/lyricsim-sample",
        "config": "filtered",
        "data_fingerprint": fingerprint({BLOCK_SPLIT: pairs}),
        "seed": 7,
        "recipe": {"architecture": "bi-encoder", "epochs": 3, "symmetric": True},
        "protocol": {"name": BLOCKS, "groups_sha256": groups, "validation_share": 0.0},
        **settings,
    }
    record = {"status": "complete", "settings": recorded, "versions": {"lyricsim": "0"}, "git_revision": None}
    scores = three_scores([predictions[pair] for pair in pairs.pair_ids], pairs.gold)
    (folder / "run.json").write_text(json.dumps(record))
    (folder / "metrics.json").write_text(json.dumps({BLOCK_SPLIT: scores}))
    lines = ["pair_id,prediction", *[f"{pair},{value:.7g}" for pair, value in predictions.items()]]
    (folder / "predictions.csv").write_text("\n".join(lines) + "\n")
    return folder
