"""Results, comparisons and tasks as rows for people, and results as a page of Markdown (pure)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any

from spanish_sentence_eval.compare import Comparison
from spanish_sentence_eval.headline import GROUP_OF, group_averages, unit_of
from spanish_sentence_eval.params import Classifier
from spanish_sentence_eval.task import Task
from spanish_sentence_eval.tasks import TASKS

Rows = list[list[str]]

_RESULT_COLUMNS = ("task", "group", "figure", "value", "95 % interval", "by", "chance", "dev", "n", "cleaned")
AVERAGE_COLUMNS = ("group", "mean of headline figures", "tasks")
COMPARISON_COLUMNS = ("task", "first", "second", "difference", "95 % interval", "p", "p (Holm)", "how")
_TASK_COLUMNS = ("task", "group", "kind", "head", "sizes", "headline", "chance")
LICENCE_COLUMNS = ("what was found about the data's licence", "tasks")
_NOTHING = "–"
_DEV_FIGURES = ("devacc", "devpearson")
_CLASSIFIER = vars(Classifier())
_OPTION_OF = {"batch_size": "head-batch-size"}
_WITH_PATH = ("sent2vec", "elmo")


def result_table(results: Mapping[str, Any]) -> tuple[Sequence[str], Rows]:
    """Columns, and one row a finished task in the benchmarks' order; "cleaned" where some task has it."""
    tasks = results["tasks"]
    rows = [_result_row(name, tasks[name]) for name in TASKS if name in tasks]
    if any(row[-1] != _NOTHING for row in rows):
        return _RESULT_COLUMNS, rows
    return _RESULT_COLUMNS[:-1], [row[:-1] for row in rows]


def average_rows(results: Mapping[str, Any]) -> Rows:
    """One row a group, as :data:`AVERAGE_COLUMNS`; an incomplete group says so."""
    values = {name: record["headline"]["value"] for name, record in results["tasks"].items()}
    return [
        [group, number(mean, _unit_of_group(group)), f"{found} of {all_of_them}"]
        for group, (mean, found, all_of_them) in group_averages(values).items()
    ]


def comparison_rows(comparisons: Sequence[Comparison]) -> Rows:
    """One row a task, as :data:`COMPARISON_COLUMNS`."""
    return [_comparison_row(comparison) for comparison in comparisons]


def task_facts(present: Mapping[str, str] | None = None) -> list[dict[str, Any]]:
    """What is known of each task, for machines: texts, numbers, None where unknown.

    Args:
        present: the state of each task's files, added as "files".
    """
    facts = [_facts_of(task) for task in TASKS.values()]
    return [{**fact, "files": present[fact["task"]]} if present else fact for fact in facts]


def task_table(facts: Sequence[Mapping[str, Any]]) -> tuple[Sequence[str], Rows]:
    """The same for people: columns, and one row a task."""
    columns = (*_TASK_COLUMNS, "files") if "files" in facts[0] else _TASK_COLUMNS
    shown = [
        {
            **fact,
            "sizes": _sizes_text(fact["sizes"]),
            "chance": _NOTHING if fact["chance"] is None else number(fact["chance"], fact["unit"]),
        }
        for fact in facts
    ]
    return columns, [[fact[column] for column in columns] for fact in shown]


def licence_rows() -> Rows:
    """The tasks behind each licence note, as :data:`LICENCE_COLUMNS`."""
    notes = dict.fromkeys(task.licence for task in TASKS.values())
    return [[note, ", ".join(name for name, task in TASKS.items() if task.licence == note)] for note in notes]


def number(value: float | None, unit: str) -> str:
    """A figure as people read it: percentages with two decimals, correlations with four."""
    if value is None:
        return "undefined"
    return f"{value:.2f}" if unit == "percent" else f"{value:.4f}"


def markdown(results: Mapping[str, Any]) -> str:
    """A page with the figures of a results document; no item, no path, no machine."""
    encoder, settings = results["encoder"], results["settings"]
    name = encoder["name"] if encoder.get("revision") else Path(encoder["name"]).name
    columns, rows = result_table(results)
    parts = [
        f"# Spanish SentEval and DiscoEval: {name}",
        _command(results, name),
        _protocol(settings),
        _table(columns, rows),
        _explanation(columns),
        _table(AVERAGE_COLUMNS, average_rows(results)),
        _not_run(results),
        _provenance(results),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _result_row(name: str, record: Mapping[str, Any]) -> list[str]:
    headline = record["headline"]
    unit, interval = headline["unit"], headline["interval"]
    dev = [number(record["figures"][key], unit) for key in _DEV_FIGURES if key in record["figures"]]
    return [
        name if record["data"]["pinned"] else f"{name} (own data)",
        record["group"],
        headline["name"],
        number(headline["value"], unit),
        _between(interval, unit),
        interval["method"] if interval else _NOTHING,
        _NOTHING if record["chance"] is None else number(record["chance"], unit),
        *(dev or [_NOTHING]),
        str(headline["n"]),
        _cleaned(name, record, unit),
    ]


def _cleaned(name: str, record: Mapping[str, Any], unit: str) -> str:
    """The headline figure without repeated, leaked or broken rows, where the corrected protocol has one."""
    found, path = record["figures"].get("deduplicated", {}), TASKS[name].headline
    if path[0] not in found:
        return _NOTHING
    for step in path:
        found = found[step]
    return number(found, unit)


def _between(interval: Mapping[str, Any] | None, unit: str) -> str:
    return f"{number(interval['low'], unit)} to {number(interval['high'], unit)}" if interval else _NOTHING


def _unit_of_group(group: str) -> str:
    return next(unit_of(task) for name, task in TASKS.items() if GROUP_OF[name] == group)


def _comparison_row(row: Comparison) -> list[str]:
    unit = unit_of(TASKS[row.task])
    return [
        row.task,
        number(row.first, unit),
        number(row.second, unit),
        _NOTHING if row.difference is None else _signed(row.difference, unit),
        _between(vars(row.interval) if row.interval else None, unit),
        _p(row.p),
        _p(row.p_holm),
        "; ".join(part for part in (row.method, row.remark) if part),
    ]


def _signed(value: float, unit: str) -> str:
    return f"{'+' if value >= 0 else ''}{number(value, unit)}"


def _p(value: float | None) -> str:
    if value is None:
        return _NOTHING
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"


def _facts_of(task: Task) -> dict[str, Any]:
    return {
        "task": task.name,
        "benchmark": task.package,
        "group": GROUP_OF[task.name],
        "kind": task.kind,
        "head": task.head,
        "sizes": dict(task.sizes),
        "headline": ".".join(task.headline),
        "unit": unit_of(task),
        "chance": task.chance,
        "licence": task.licence,
        "aliases": list(task.aliases),
    }


def _sizes_text(sizes: Mapping[str, int | None]) -> str:
    """The sizes of a task's splits or subsets; "?" where upstream's file could not be counted."""
    return " / ".join(
        f"{'?' if size is None else f'{size:,}'}{'' if split in _USUAL_SPLITS else f' {split}'}"
        for split, size in sizes.items()
    )


_USUAL_SPLITS = frozenset({"train", "dev", "test"})


def _command(results: Mapping[str, Any], name: str) -> str:
    settings = results["settings"]
    pinned = all(record["data"]["pinned"] for record in results["tasks"].values())
    options = [
        *_encoder_options(results["encoder"], name),
        *(f"--{key} {settings[key]}" for key in ("protocol", "path", "kfold", "seed")),
        *_head_options(results),
        f"--tasks {' '.join(name for name in TASKS if name in results['tasks'])}",
        f"--data DIR{'' if pinned else ' --any-data'} --output results.json",
    ]
    lines = " \\\n  ".join(options)
    return f"```\nspanish-senteval run {lines}\nspanish-senteval report results.json --markdown PAGE.md\n```"


def _encoder_options(encoder: Mapping[str, Any], name: str) -> list[str]:
    """What loads the encoder again, without the path of a file or folder."""
    read = encoder["settings"]
    return [
        f"--model {quote(name)}",
        f"--encoder {encoder['kind']}",
        *([f"--revision {encoder['revision']}"] if encoder.get("revision") else []),
        *([f"--model_path {quote(Path(encoder['source']).name)}"] if encoder["kind"] in _WITH_PATH else []),
        *([f"--prompt {_quoted(read['prompt'])}"] if read.get("prompt") else []),
        *(
            f"--{key} {read[key]}"
            for key in ("layer", "pooling")
            if encoder["kind"] == "transformer" and read[key]
        ),
        *(["--precision bfloat16"] if read.get("precision") == "bfloat16" else []),
    ]


def _head_options(results: Mapping[str, Any]) -> list[str]:
    """The heads' settings that are not the command's defaults."""
    settings, threads = results["settings"], results["environment"]["threads"]
    changed = {key: value for key, value in settings["classifier"].items() if value != _CLASSIFIER[key]}
    return [
        *([] if settings["usepytorch"] else ["--sklearn"]),
        *(f"--{_OPTION_OF.get(key, key)} {quote(str(value))}" for key, value in changed.items()),
        *([] if threads is None else [f"--threads {threads}"]),
    ]


def _quoted(text: str) -> str:
    """For a shell, in double quotes where nothing in them has a meaning of its own."""
    return f'"{text}"' if not set(text) & set('"$`\\!') else quote(text)


def _protocol(settings: Mapping[str, Any]) -> str:
    head = "torch heads" if settings["usepytorch"] else "scikit-learn heads"
    return (
        f"Protocol {settings['protocol']}, {head} on the {settings['path']} path, {settings['kfold']} folds, "
        f"seed {settings['seed']}, classifier {settings['classifier']}."
    )


def _explanation(columns: Sequence[str]) -> str:
    text = (
        "Accuracies are percentages of the test items with Wilson's interval (ordering tasks: n is the "
        "number of pairs, each of which is asked in both orders). Pearson correlations have Fisher's "
        "interval, or, for the mean over several subsets, the percentile bootstrap over pairs within each "
        'subset. "chance" is the majority class of the test items.'
    )
    cleaned = ' "cleaned" is the figure without repeated, leaked or broken rows.'
    return text + (cleaned if "cleaned" in columns else "")


def _not_run(results: Mapping[str, Any]) -> str:
    """The tasks that are not in the results, those that were left out by the reason."""
    skipped = results["skipped"]
    left = [name for name in TASKS if name not in results["tasks"]]
    by_reason = {
        reason: [name for name in left if skipped.get(name, "not run") == reason]
        for reason in dict.fromkeys(skipped.get(name, "not run") for name in left)
    }
    return "\n".join(f"- {reason}: {', '.join(names)}" for reason, names in by_reason.items())


def _provenance(results: Mapping[str, Any]) -> str:
    encoder, environment = results["encoder"], results["environment"]
    settings = "".join(f", {key} {value!r}" for key, value in encoder["settings"].items() if value)
    versions = ", ".join(f"{name} {found}" for name, found in environment["versions"].items())
    return (
        f"Encoder: {encoder['kind']}, fingerprint `{encoder['fingerprint'][:16]}`{settings}. "
        f"Device: {environment['device']}. Versions: {versions}."
    )


def _table(columns: Sequence[str], rows: Rows) -> str:
    lines = [columns, ["---", *["---:"] * (len(columns) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
