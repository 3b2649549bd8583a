import pytest

from lyricsim_tools.errors import UserError
from spanish_sentence_eval import discoeval, senteval
from spanish_sentence_eval.tasks import GROUPS, TASKS, resolve_names


def test_there_are_21_and_11_tasks() -> None:
    assert (len(senteval.NAMES), len(discoeval.NAMES)) == (21, 11)
    assert set(TASKS) == {*senteval.NAMES, *discoeval.NAMES}


def test_groups_of_the_example_scripts_cover_every_task_once() -> None:
    grouped = [name for groups in GROUPS.values() for group in groups for name in group]
    assert sorted(grouped) == sorted(TASKS)


def test_documented_lists_of_lists_are_flattened_in_order() -> None:
    asked = [["SPwiki", "SPnews"], ["BSOnews"], "SICK-es-R", ["SentLen", "WC"], ["STS17"]]
    found = ["SPwiki", "SPmlsum", "BSOmlsum", "SICKRelatedness", "Length", "WordContent", "STS17"]
    assert resolve_names(asked) == found


def test_the_source_documents_own_lists_run_as_printed() -> None:
    discourse = [
        ["SPthesis", "SPnews", "SPwiki"],
        ["BSOthesis", "BSOnews", "BSOwiki"],
        ["DCopus", "DCwiki", "DCgdd"],
        ["SSPmlsum"],
        ["RST"],
    ]
    sentences = [
        ["TASS1", "TASS2", "MC", "BR", "FAC", "SQC"],
        ["PAWS", "NLI", "SICKEntailment"],
        ["SICKRelatedness", "STS14", "STS15", "STS17"],
        ["Length", "WordContent", "Depth", "BigramShift", "Tense", "SubjNumber", "ObjNumber"],
        ["OddManOut", "CoordinationInversion"],
    ]
    assert set(resolve_names(discourse)) == set(discoeval.NAMES)
    with pytest.warns(UserWarning, match="'BR' is left out"):
        assert set(resolve_names(sentences)) == set(senteval.NAMES)


def test_the_source_documents_table_of_names_is_understood() -> None:
    pairs = ["PAWS-es", "NLI-es", "SICK-es-E", "SICK-es-R"]
    probes = ["SentLen", "WC", "Tree Depth", "BiShift", "tense", "SubjNum", "ObjNum", "SOMO", "CoordInv"]
    found = resolve_names([pairs, probes])
    assert found[:4] == ["PAWS", "NLI", "SICKEntailment", "SICKRelatedness"]
    assert found[4:] == list(GROUPS["senteval"][3])


def test_a_task_named_twice_runs_once() -> None:
    assert resolve_names(["SICK-es-E", "SICKEntailment"]) == ["SICKEntailment"]


def test_br_is_warned_of_and_left_out() -> None:
    with pytest.warns(UserWarning, match="'BR' is left out"):
        assert resolve_names([["MC", "BR"]]) == ["MC"]


@pytest.mark.parametrize("name", ["PDTB-E", "PDTB-I"])
def test_pdtb_has_no_data(name: str) -> None:
    with pytest.raises(UserError, match="no data exists"):
        resolve_names(["MC", name])


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UserError, match=r"'STS99' is no task[\s\S]*STS17[\s\S]*RST"):
        resolve_names("STS99")


@pytest.mark.parametrize("tasks", [None, 17, ["STS17", 17], [["STS17", None]]])
def test_what_is_no_name_is_refused(tasks: object) -> None:
    with pytest.raises(UserError, match=r"(None|17) among the tasks"):
        resolve_names(tasks)  # type: ignore[arg-type]


def test_a_bad_name_is_refused_before_any_task_runs(small: dict[str, object]) -> None:
    def batcher(params: object, batch: object) -> object:
        raise AssertionError("no task may run")

    engine = senteval.engine.SE(small, batcher)
    with pytest.raises(UserError, match="is no task"):
        engine.eval([["STS17"], ["nonsense"]])
