"""The command, from its options to its results file."""

import json
import logging
import re
import shlex
import threading

import pytest
from filelock import FileLock
from made_up_benchmark import write_tree

from spanish_sentence_eval import cli, senteval
from spanish_sentence_eval.encoders import as_batcher, build_encoder
from spanish_sentence_eval.report import markdown
from spanish_sentence_eval.results import FORMAT, keep_in_file
from spanish_sentence_eval.tasks import TASKS

QUICK = ("--max_epoch", "4", "--kfold", "2")
GOLDEN_STS17 = 0.5256134010


def run(tree, tmp_path, *options, tasks=("STS17", "TASS1"), expect=0, model="chars64"):
    """The results document of an in-process run."""
    output = tmp_path / "results.json"
    places = ("--data", str(tree), "--output", str(output), "--cache", str(tmp_path / "cache"))
    chosen = ("--tasks", *tasks) if tasks else ()
    status = cli.main(["run", "--model", model, *chosen, *places, "--any-data", *QUICK, *options])
    assert status == expect
    return json.loads(output.read_text()) if output.exists() else None


def error_of(capsys):
    """The one error message, without the log before it."""
    text = capsys.readouterr().err
    assert text.count("error: ") == 1
    return text[text.index("error: ") :]


def test_a_run_on_upstreams_data_gives_the_published_golden_figure(
    sentence_evaluation_source, tmp_path, capsys
):
    output = tmp_path / "results.json"
    arguments = ["run", "--model", "chars64", "--tasks", "STS17", "--data", str(sentence_evaluation_source)]
    assert cli.main([*arguments, "--output", str(output), "--cache", str(tmp_path / "cache")]) == 0
    record = json.loads(output.read_text())["tasks"]["STS17"]
    assert record["headline"]["value"] == pytest.approx(GOLDEN_STS17, abs=1e-6)
    assert record["figures"]["track3.es-es"]["nsamples"] == 250
    assert record["data"]["pinned"] is True
    shown = capsys.readouterr().out
    assert "0.5256" in shown
    assert "0.4296 to 0.6099" in shown


def test_the_document_says_what_was_run_on_what(tree, tmp_path):
    results = run(tree, tmp_path)
    assert results["encoder"]["kind"] == "characters"
    assert results["settings"]["protocol"] == "compatible"
    assert (results["settings"]["seed"], results["settings"]["device"]) == (1111, "cpu")
    assert results["environment"]["versions"]["torch"]
    record = results["tasks"]["TASS1"]
    assert set(record["data"]["files"]) == {
        f"senteval/TASS/task1/{split}.txt" for split in ("train", "dev", "test")
    }
    assert record["data"]["pinned"] is False
    assert len(record["hits"]) == record["figures"]["ntest"] == 40
    assert record["headline"]["value"] == pytest.approx(100 * record["hits"].count("1") / 40, abs=0.005)
    assert record["headline"]["interval"]["method"] == "Wilson"


def test_every_kind_of_head_goes_through(tree, tmp_path, capsys):
    tasks = ("MC", "TASS1", "SICKEntailment", "SICKRelatedness", "STS14", "SSPmlsum", "BSOwiki", "RST")
    results = run(tree, tmp_path, tasks=tasks)
    assert set(results["tasks"]) == set(tasks)
    assert results["tasks"]["BSOwiki"]["headline"]["n"] == 40
    assert results["tasks"]["BSOwiki"]["figures"]["ntest"] == 80
    assert "bootstrap" in results["tasks"]["STS14"]["headline"]["interval"]["method"]
    shown = capsys.readouterr().out
    assert "1 of 4" not in shown
    assert "2 of 4" in shown


def test_a_finished_task_is_not_run_again(tree, tmp_path, caplog, monkeypatch):
    caplog.set_level(logging.INFO)
    first = run(tree, tmp_path)
    monkeypatch.setattr("spanish_sentence_eval.runner.evaluate_task", None)
    (tmp_path / "results.json").unlink()
    assert run(tree, tmp_path)["tasks"] == first["tasks"]
    assert caplog.text.count("was finished before") == 2


@pytest.mark.parametrize(
    "change", [("--seed", "5"), ("--protocol", "corrected"), ("--sklearn",), ("--nhid", "3")]
)
def test_another_setting_runs_the_task_again(tree, tmp_path, caplog, change):
    caplog.set_level(logging.INFO)
    run(tree, tmp_path)
    (tmp_path / "results.json").unlink()
    run(tree, tmp_path, *change)
    assert "finished before" not in caplog.text


def test_other_data_run_the_task_again(tree, tmp_path, caplog):
    caplog.set_level(logging.INFO)
    first = run(tree, tmp_path)
    other = write_tree(tmp_path / "other", seed=1)
    second = run(other, tmp_path)
    assert "finished before" not in caplog.text
    assert first["tasks"]["STS17"]["data"]["digest"] != second["tasks"]["STS17"]["data"]["digest"]


def test_heads_take_the_engines_number_of_threads_unless_told_otherwise(tree, tmp_path):
    assert run(tree, tmp_path, tasks=("STS17",))["environment"]["threads"] is None
    (tmp_path / "results.json").unlink()
    told = run(tree, tmp_path, "--threads", "3", "--no-cache", tasks=("STS17",))
    assert told["environment"]["threads"] == 3


def test_two_runs_that_write_one_results_file_lose_no_task(tree, tmp_path):
    results = run(tree, tmp_path, tasks=("STS17",))
    path = tmp_path / "results.json"
    record = results["tasks"]["STS17"]

    def add(names):
        for name in names:
            keep_in_file(path, {**results, "tasks": {name: record}})

    writers = [threading.Thread(target=add, args=(list(TASKS)[part::2],)) for part in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert set(json.loads(path.read_text())["tasks"]) == set(TASKS)


def test_a_results_file_that_another_run_never_lets_go_is_one_clear_message(
    tree, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr("spanish_sentence_eval.results._PATIENCE", 0.1)
    with FileLock(tmp_path / ".results.json.lock"):
        assert run(tree, tmp_path, tasks=("STS17",), expect=1) is None
    assert "could not be acquired" in error_of(capsys)
    assert run(tree, tmp_path, tasks=("STS17",))["tasks"]


def test_a_results_file_grows_by_the_tasks_of_later_runs(tree, tmp_path):
    run(tree, tmp_path, tasks=("STS17",))
    assert set(run(tree, tmp_path, tasks=("STS14",))["tasks"]) == {"STS17", "STS14"}


def test_another_encoders_results_file_is_not_overwritten(tree, tmp_path, capsys):
    before = run(tree, tmp_path, tasks=("STS17",))
    after = run(tree, tmp_path, "--seed", "5", tasks=("STS17",), expect=1)
    assert after == before
    assert "results of another settings (seed differ)" in error_of(capsys)


def test_a_foreign_file_is_not_overwritten(tree, tmp_path, capsys):
    (tmp_path / "results.json").write_text('{"mine": 1}')
    run(tree, tmp_path, tasks=("STS17",), expect=1)
    assert (tmp_path / "results.json").read_text() == '{"mine": 1}'
    assert "no results file" in error_of(capsys)


def test_figures_only_leaves_no_item_behind(tree, tmp_path):
    record = run(tree, tmp_path, "--no-items", tasks=("STS17",))["tasks"]["STS17"]
    assert not {"hits", "scores", "gold"} & set(record)


def test_json_output_is_the_results_file(tree, tmp_path, capsys):
    results = run(tree, tmp_path, "--json", tasks=("STS17",))
    assert json.loads(capsys.readouterr().out) == results


def test_the_source_documents_options_and_names_work(tree, tmp_path, capsys):
    options = ("--benchmark", "senteval", "--task_index", "2", "--skip-missing")
    results = run(tree, tmp_path, *options, tasks=())
    assert set(results["tasks"]) == {"SICKRelatedness", "STS14", "STS17"}
    assert results["skipped"] == {"STS15": "files absent"}
    (tmp_path / "results.json").unlink()
    assert set(run(tree, tmp_path, tasks=("SICK-es-R", "BR"))["tasks"]) == {"SICKRelatedness"}
    assert "warning: 'BR' is left out" in capsys.readouterr().err


def test_tasks_that_are_asked_for_twice_add_up(tree, tmp_path):
    results = run(tree, tmp_path, "--tasks", "TASS1", tasks=("STS17",))
    assert set(results["tasks"]) == {"STS17", "TASS1"}


def test_chance_is_the_majority_class_of_the_items_that_were_tested(tmp_path):
    tree = write_tree(tmp_path / "data")
    path = tree / "senteval/TASS/task1/test.txt"
    path.write_text(re.sub(r"\t2$", "\t1", path.read_text("utf-8"), flags=re.MULTILINE), "utf-8")
    results = run(tree, tmp_path, tasks=("TASS1", "BSOwiki", "STS17"))["tasks"]
    assert {name: record["chance"] for name, record in results.items()} == {
        "TASS1": 65.0,
        "BSOwiki": 50.0,
        "STS17": 0.0,
    }


@pytest.mark.parametrize(
    ("file", "lines", "task", "options"),
    [
        ("senteval/SICK/SICK_test.txt", ["header"], "SICKRelatedness", ()),
        ("senteval/SICK/SICK_test.txt", ["header"], "SICKEntailment", ()),
        ("senteval/SICK/SICK_trial.txt", ["header", "1\tuna\tdos\t3\tNEUTRAL"], "SICKRelatedness", ()),
        ("senteval/STS/STS17-es-test/STS.gs.track3.es-es.txt", ["4", *[""] * 39], "STS17", ()),
        ("senteval/TASS/task1/train.txt", ["una\t1", "dos\t1"], "TASS1", ("--sklearn",)),
        ("senteval/MC/muchocine.pos", ["una"], "MC", ("--sklearn",)),
    ],
)
def test_data_of_ones_own_that_no_figure_can_be_had_of_are_named(
    tmp_path, capsys, file, lines, task, options
):
    tree = write_tree(tmp_path / "data")
    (tree / file).write_text("\n".join(lines) + "\n", "utf-8")
    run(tree, tmp_path, *options, tasks=(task,), expect=1)
    text = error_of(capsys)
    assert f"{task}: " in text
    assert file.rpartition("/")[2] in text


def test_one_pair_that_cleaning_leaves_has_no_cleaned_correlation(tmp_path):
    tree = write_tree(tmp_path / "data")
    folder = tree / "senteval/SICK"
    lines = (folder / "SICK_train.txt").read_text("utf-8")
    (folder / "SICK_test.txt").write_text(lines + "99\tuna frase\totra\t3.00\tNEUTRAL\n", "utf-8")
    results = run(tree, tmp_path, "--protocol", "corrected", tasks=("SICKRelatedness",))
    figures = results["tasks"]["SICKRelatedness"]["figures"]
    assert figures["deduplicated"] == {"left_out": {"train": 0, "dev": 0, "test": 40}}


def test_model_name_is_another_word_for_model(tree, tmp_path):
    arguments = ["run", "--model_name", "chars64", "--tasks", "STS17", "--any-data", "--data", str(tree)]
    places = ["--output", str(tmp_path / "r.json"), "--no-cache"]
    assert cli.main([*arguments, *places]) == 0


@pytest.mark.parametrize(
    ("options", "tasks", "message"),
    [
        ((), ("STS16",), "'STS16' is no task"),
        ((), ("PDTB-E",), "no data exists"),
        ((), (), "no task was asked for"),
        (("--benchmark", "senteval"), ("STS17",), "--tasks beside --benchmark"),
        (("--task_index", "0"), ("STS17",), "--tasks beside --benchmark"),
        (("--seed", "4294967296"), ("STS17",), "seed is 4294967296"),
        (("--threads", "0"), ("STS17",), "threads is 0"),
        (("--benchmark", "discoeval", "--task_index", "5"), (), "0 to 4 for discoeval"),
        ((), ("BR",), "none of the tasks asked for exists"),
        ((), ("PAWS",), "PAWS: 2 of 2 files are missing"),
        (("--skip-missing",), ("PAWS",), "none of PAWS has all its files"),
        (("--kfold", "1"), ("STS17",), "kfold"),
        (("--dropout", "1.5"), ("STS17",), "dropout"),
        (("--threads", "-1"), ("STS17",), "threads"),
        (("--batch-size", "0"), ("STS17",), "at least 1"),
        (("--device", "cuda:99"), ("STS17",), "on this machine"),
        (("--layer", "avg"), ("STS17",), "--layer avg for a characters model"),
        (("--prompt", "query: "), ("STS17",), "--prompt query:  for a characters model"),
        (("--optim", "adam,lr=-0.1"), ("TASS1",), "classifier['optim'] is 'adam,lr=-0.1'"),
    ],
)
def test_a_wrong_option_is_one_clear_message_and_nothing_is_written(
    tree, tmp_path, capsys, options, tasks, message
):
    assert run(tree, tmp_path, *options, tasks=tasks, expect=1) is None
    text = error_of(capsys)
    assert message in text
    assert "what to do:" in text


def test_a_place_that_cannot_be_written_is_one_clear_message(tree, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert (
        run(tree, tmp_path, "--cache", str(tmp_path / "file" / "cache"), tasks=("STS17",), expect=1) is None
    )
    assert "the system refuses" in error_of(capsys)


def test_a_model_that_does_not_exist_is_one_clear_message(tree, tmp_path, capsys):
    assert run(tree, tmp_path, tasks=("STS17",), model="nobody/nothing", expect=1) is None
    assert "'nobody/nothing' cannot be loaded" in error_of(capsys)


def test_a_folder_without_data_is_one_clear_message(tmp_path, capsys):
    assert run(tmp_path, tmp_path, expect=1) is None
    assert "no data in" in error_of(capsys)


def test_files_that_are_not_upstreams_are_refused_by_default(tree, tmp_path, capsys):
    places = ["--data", str(tree), "--output", str(tmp_path / "r.json")]
    assert cli.main(["run", "--model", "chars64", "--tasks", "STS17", *places]) == 1
    text = error_of(capsys)
    assert "has" in text
    assert "the pinned senteval/STS" in text
    assert "--any-data" in text


def test_the_list_names_every_task_with_its_facts(tree, capsys):
    assert cli.main(["list", "--json", "--data", str(tree)]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert [fact["task"] for fact in facts] == list(TASKS)
    assert all(fact["licence"] and fact["kind"] and fact["headline"] for fact in facts)
    by_name = {fact["task"]: fact for fact in facts}
    assert by_name["SQC"]["sizes"] == {"train": 6071, "test": 675}
    assert (by_name["SQC"]["chance"], by_name["Depth"]["chance"]) == (23.26, None)
    assert "SICK-es-R" in by_name["SICKRelatedness"]["aliases"]
    state = {fact["task"]: fact["files"] for fact in facts}
    assert state["STS17"] == "other than upstream's"
    assert state["PAWS"] == "2 of 2 missing"
    assert cli.main(["list"]) == 0
    shown = capsys.readouterr().out
    assert "CoordinationInversion" in shown
    assert "acknowledgement of Google" in shown


def test_the_markdown_page_has_figures_and_neither_paths_nor_items(tree, tmp_path):
    results = run(tree, tmp_path, tasks=("STS17", "TASS1"))
    page = tmp_path / "page.md"
    assert cli.main(["report", str(tmp_path / "results.json"), "--markdown", str(page)]) == 0
    text = page.read_text()
    assert f"| {results['tasks']['TASS1']['headline']['value']:.2f} |" in text
    assert "| TASS1 (own data) | SC | acc |" in text
    assert "--tasks TASS1 STS17" in text
    assert "- not run: MC, FAC" in text
    assert str(tmp_path) not in text
    assert results["tasks"]["TASS1"]["hits"] not in text


def command_of(page):
    """The arguments of the run that a page tells."""
    line = page.read_text("utf-8").split("```")[1].replace("\\\n", " ").strip().splitlines()[0]
    return shlex.split(line)[1:]


@pytest.mark.parametrize(
    "options",
    [
        ("--nhid", "3", "--head-batch-size", "8", "--tenacity", "1", "--epoch_size", "2"),
        ("--optim", "sgd,lr=0.1", "--sklearn", "--threads", "1"),
        ("--dropout", "0.25", "--nhid", "2", "--protocol", "corrected"),
    ],
)
def test_the_pages_command_gives_the_same_figures_again(tree, tmp_path, options):
    results = run(tree, tmp_path, *options, tasks=("TASS1",))
    page = tmp_path / "page.md"
    assert cli.main(["report", str(tmp_path / "results.json"), "--markdown", str(page)]) == 0
    again = tmp_path / "again.json"
    told = [str(tree) if a == "DIR" else str(again) if a == "results.json" else a for a in command_of(page)]
    assert cli.main([*told, "--no-cache"]) == 0
    repeated = json.loads(again.read_text())
    assert repeated["settings"] == results["settings"]
    assert repeated["tasks"]["TASS1"]["figures"] == results["tasks"]["TASS1"]["figures"]


def test_the_pages_command_names_what_was_loaded_and_how(tree, tmp_path):
    results = run(tree, tmp_path, tasks=("TASS1",))
    read = {"protocol": "corrected", "layer": "pooler", "pooling": "", "prompt": "ask $: "}
    hub = {"name": "owner/model", "kind": "transformer", "source": "owner/model", "revision": "abc123"}
    own = {"name": "sent2vec", "kind": "sent2vec", "source": "/home/me/model.bin", "revision": None}
    page = markdown(
        {**results, "encoder": {**hub, "fingerprint": "f", "settings": {**read, "precision": "bfloat16"}}}
    )
    for part in ("--model owner/model", "--revision abc123", "--precision bfloat16", "--layer pooler"):
        assert f" {part} \\\n" in page
    assert "--prompt 'ask $: '" in page
    assert "--pooling" not in page
    page = markdown({**results, "encoder": {**own, "fingerprint": "f", "settings": {"lower": "yes"}}})
    assert "--model_path model.bin" in page
    assert "/home/me" not in page
    record = {**results["tasks"]["TASS1"], "data": {"pinned": True}}
    assert "--any-data" in page
    assert "--any-data" not in markdown({**results, "tasks": {"TASS1": record}})


def test_a_report_prints_the_same_tables_as_the_run(tree, tmp_path, capsys):
    run(tree, tmp_path)
    shown = capsys.readouterr().out
    assert cli.main(["report", str(tmp_path / "results.json")]) == 0
    assert capsys.readouterr().out == shown


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no file"),
        ("{", "is not JSON"),
        ("[]", "no results file"),
        (json.dumps({"format": FORMAT}), "no results file"),
    ],
)
def test_a_wrong_results_file_is_one_clear_message(tmp_path, capsys, content, message):
    path = tmp_path / "results.json"
    if content is not None:
        path.write_text(content)
    assert cli.main(["report", str(path)]) == 1
    assert message in error_of(capsys)


def test_the_corrected_protocol_shows_figures_without_repeated_rows_beside_the_plain_ones(
    tree, tmp_path, capsys
):
    results = run(tree, tmp_path, "--protocol", "corrected", tasks=("SSPmlsum", "STS17"))
    figures = results["tasks"]["SSPmlsum"]["figures"]
    assert set(figures["deduplicated"]) >= {"acc", "left_out"}
    assert "predictions" not in figures["deduplicated"]
    shown = capsys.readouterr().out
    assert "cleaned" in shown
    assert f"{figures['deduplicated']['acc']:.2f}" in shown


def test_a_split_of_which_cleaning_leaves_nothing_has_no_cleaned_figure(tmp_path, capsys):
    tree = write_tree(tmp_path / "data")
    folder = tree / "senteval/SICK"
    (folder / "SICK_test.txt").write_bytes((folder / "SICK_train.txt").read_bytes())
    tasks = ("SICKRelatedness", "SICKEntailment")
    results = run(tree, tmp_path, "--protocol", "corrected", tasks=tasks)["tasks"]
    assert all(results[name]["figures"]["deduplicated"]["left_out"]["test"] == 40 for name in tasks)
    assert "cleaned" not in capsys.readouterr().out


def test_an_undefined_relatedness_is_said_to_be_so_and_counts_in_no_average(tmp_path, capsys):
    tree = write_tree(tmp_path / "data")
    for split in ("trial", "test"):
        path = tree / f"senteval/SICK/SICK_{split}.txt"
        path.write_text(re.sub(r"\t\d\.\d\d\t", "\t3.00\t", path.read_text("utf-8")), "utf-8")
    tasks = ("SICKRelatedness", "STS17")
    results = run(tree, tmp_path, "--protocol", "corrected", tasks=tasks)["tasks"]
    record = results["SICKRelatedness"]
    assert (record["headline"]["value"], record["headline"]["interval"]) == (None, None)
    for figures in (record["figures"], record["figures"]["deduplicated"]):
        assert [figures[key] for key in ("devpearson", "pearson", "spearman")] == [None] * 3
    capsys.readouterr()
    page = tmp_path / "page.md"
    assert cli.main(["report", str(tmp_path / "results.json"), "--markdown", str(page)]) == 0
    row = "| SS | pearson | undefined | – | – | 0.0000 | undefined | 40 | undefined |"
    assert f"| SICKRelatedness (own data) {row}" in page.read_text("utf-8")
    assert f"| SS | {results['STS17']['headline']['value']:.4f} | 1 of 4 |" in page.read_text("utf-8")
    assert cli.main(["compare", str(tmp_path / "results.json"), str(tmp_path / "results.json")]) == 0
    assert "not comparable: a figure is undefined" in capsys.readouterr().out


def test_a_named_encoder_is_a_batcher_for_the_engine(sentence_evaluation_source):
    params = {"task_path": str(sentence_evaluation_source / "data")}
    batcher = as_batcher(build_encoder("chars64"))
    result = senteval.engine.SE(params, batcher).eval("STS17")
    assert result["all"]["pearson"]["mean"] == pytest.approx(GOLDEN_STS17, abs=1e-6)
