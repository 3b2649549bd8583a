"""The 21 tasks of Spanish SentEval."""

from collections.abc import Mapping
from typing import Any

from spanish_sentence_eval import features, loaders
from spanish_sentence_eval.task import ACC, MEAN_PEARSON, SHORT, Task, split_sizes

_SENTIMENT = "nothing found about a licence; scraped reviews"
_TASS = "Twitter's terms forbid passing the texts on; non-commercial research under the TASS licence"
_SICK = "translation: nothing found; SICK itself CC BY-NC-SA 3.0"
_STS = "task sites: nothing found; copies say CC BY 4.0; news text of third parties"
_PROBING = "nothing found"
_TEXT_FILES = ("train.txt", "dev.txt", "test.txt")


def _pool(name: str, kind: str, files: tuple[str, ...], size: int, chance: float, licence: str) -> Task:
    return Task(
        name,
        "senteval",
        kind,
        name,
        files,
        loaders.two_files,
        features.vector,
        "innerkfold",
        {"pool": size},
        ACC,
        chance,
        licence,
        classes=2,
    )


def _tass(number: int, kind: str, classes: int, sizes: dict[str, int | None], chance: float) -> Task:
    return Task(
        f"TASS{number}",
        "senteval",
        kind,
        f"TASS/task{number}",
        _TEXT_FILES,
        loaders.text_then_label,
        features.vector,
        "split",
        sizes,
        ACC,
        chance,
        _TASS,
        classes=classes,
        cleaning=("repeated", "swallowed") if number == 1 else (),
    )


def _sick(name: str, kind: str, **differs: Any) -> Task:
    return Task(
        name,
        "senteval",
        kind,
        "SICK",
        ("SICK_train.txt", "SICK_trial.txt", "SICK_test.txt"),
        features=features.symmetric,
        sizes=split_sizes(4439, 495, 4906),
        licence=_SICK,
        sentences=2,
        cleaning=("unordered",),
        **differs,
    )


def _sts(year: int, sizes: Mapping[str, int | None]) -> Task:
    return Task(
        f"STS{year}",
        "senteval",
        "pair, similarity, nothing trained",
        f"STS/STS{year}-es-test",
        tuple(sizes),
        loaders.similarity_subsets,
        features.concatenation,
        "cosine",
        sizes,
        MEAN_PEARSON,
        0.0,
        _STS,
        sentences=2,
        encoding="alternating",
        aliases=(f"STS{year}-es", f"STS-{year}", f"STS-es-{year}"),
    )


def _probe(name: str, kind: str, stem: str, *aliases: str, **differs: Any) -> Task:
    return Task(
        name,
        "senteval",
        f"probing, {kind}",
        "Probing",
        (f"{stem}.txt",),
        loaders.probing,
        features.vector,
        "split",
        split_sizes(None, None, None),
        ACC,
        None,
        _PROBING,
        aliases=aliases,
        **differs,
    )


SENTEVAL = (
    _pool(
        "MC",
        "sentence, sentiment",
        ("muchocine.pos", "muchocine.neg"),
        2623,
        51.47,
        "unknown; research use only",
    ),
    _pool("FAC", "sentence, subjectivity", ("fac.objective", "fac.subjective"), 5000, 50.0, _SENTIMENT),
    _tass(1, "sentence, polarity", 3, split_sizes(4802, 2443, 7260), 40.47),
    _tass(2, "sentence, emotion", 7, split_sizes(5886, 857, 1665), 49.07),
    Task(
        "SQC",
        "senteval",
        "sentence, question type",
        "SQC",
        ("train.txt", "test.txt"),
        loaders.coarse_and_fine,
        features.vector,
        "kfold",
        {"train": 6071, "test": 675},
        ACC,
        23.26,
        "nothing found; derived from the UIUC/TREC questions",
        classes=6,
        label_ids={"ABBR": 0, "DESC": 1, "ENTY": 2, "HUM": 3, "LOC": 4, "NUM": 5},
        cleaning=("repeated",),
    ),
    Task(
        "PAWS",
        "senteval",
        "pair, paraphrase",
        "PAWS",
        ("paraphrase_train.txt", "paraphrase_test.txt"),
        loaders.paraphrases,
        features.symmetric,
        "kfold",
        {"train": None, "test": 2000},
        ACC,
        54.65,
        "free for any purpose, acknowledgement of Google appreciated",
        classes=2,
        sentences=2,
        cleaning=("placeholder",),
        aliases=("PAWS-es", "PAWSX-es", "PAWS-X-es"),
        f1=True,
    ),
    Task(
        "NLI",
        "senteval",
        "pair, inference",
        "NLI",
        ("s1", "s2", "labels"),
        loaders.parallel_files,
        features.full,
        "split",
        split_sizes(5010, 2490, 2490),
        ACC,
        33.33,
        "XNLI: CC BY-NC 4.0; esXNLI: nothing found",
        classes=3,
        label_ids={"entailment": 0, "neutral": 1, "contradiction": 2},
        sentences=2,
        encoding="alternating",
        noreg=True,
        overrides=SHORT,
        aliases=("NLI-es",),
    ),
    _sick(
        "SICKEntailment",
        "pair, inference",
        loader=loaders.entailment,
        head="split",
        headline=ACC,
        chance=56.87,
        classes=3,
        label_ids={"CONTRADICTION": 0, "NEUTRAL": 1, "ENTAILMENT": 2},
        aliases=("SICK-es-E", "SICK-E", "SICK-E-es"),
    ),
    _sick(
        "SICKRelatedness",
        "pair, relatedness 1 to 5",
        loader=loaders.relatedness,
        head="relatedness",
        headline=("pearson",),
        chance=0.0,
        aliases=("SICK-es-R", "SICK-R", "SICK-R-es"),
    ),
    _sts(14, {"news": 480, "wikipedia": 324}),
    _sts(15, {"newswire": 500, "wikipedia": 251}),
    _sts(17, {"track3.es-es": 250}),
    _probe("Length", "sentence length", "sentence_length", "SentLen"),
    _probe("WordContent", "which word", "word_content", "WC", overrides={"nhid": 0}),
    _probe("Depth", "tree depth", "tree_depth", "Tree Depth", "TreeDepth"),
    _probe("BigramShift", "swapped words", "bigram_shift", "BiShift", "BShift"),
    _probe("Tense", "tense of the main verb", "past_present", "tense"),
    _probe("SubjNumber", "number of the subject", "subj_number", "SubjNum"),
    _probe("ObjNumber", "number of the object", "obj_number", "ObjNum"),
    _probe("OddManOut", "replaced word", "odd_man_out", "SOMO"),
    _probe("CoordinationInversion", "swapped clauses", "coordination_inversion", "CoordInv"),
)
