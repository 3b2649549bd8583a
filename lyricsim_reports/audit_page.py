"""Audits of splits as one document (pure)."""

from collections.abc import Mapping, Sequence

from lyricsim_reports.audit import Audit
from lyricsim_reports.learning import SHARES
from lyricsim_reports.origin import Origin
from lyricsim_reports.page import Heading, Page, Part, Table, Text
from lyricsim_reports.plain import percent
from lyricsim_reports.probes import ProbeScore

_MEANING = (
    "A probe knows no meaning: song identity is which two songs a pair has and nothing of their text. "
    "What a probe scores on a split, a model may score without understanding a lyric. Scores are combined "
    "(mean of Pearson's and Spearman's correlation) in per cent, of a support vector regression with an "
    "RBF kernel."
)
_SHOWN = (
    "What this shows: how much a split with these properties gives away, on these data. A high score of "
    "song identity where test pairs are left in train, next to a lower one where they are not, shows that "
    "such a split rewards remembering. What it can't show: which split somebody else used."
)
_PAPER = (
    "The paper's was not published; that its printed sizes fit one with the test pairs left in, and that "
    "its scores (86.2 for its SVM) lie nearer to that column than to the clean one, is an inference. "
    "Against it: a slip in the printed sizes fits too, and the leak would leave its development scores "
    "unexplained. "
)
_BOUND = "Probes are a lower bound: that no probe scores high does not show that a split is free of leaks."


def audit_page(
    audits: Sequence[Audit], origin: Origin, curves: Mapping[str, Sequence[float]] | None = None
) -> Page:
    """The document: a summary of all splits, the probes side by side, then each split."""
    title = f"Audit of splits of {origin.described}, which is not LyricSIM"
    parts: list[Part] = [
        *([] if origin.is_upstreams else [Text(origin.warning)]),
        Text(_MEANING),
        Heading("What the parts share"),
        _shared_table(audits),
        Heading("What models without meaning score"),
        _probe_table(audits, drawn=True),
        _probe_table(audits, drawn=False),
        Table(("split", "how it was drawn anew"), tuple((a.name, a.rule) for a in audits)),
        Heading("What this can and can't prove"),
        Text(f"{_SHOWN} {_PAPER if origin.is_upstreams else ''}{_BOUND}"),
        *[part for a in audits if a.duplicates for part in _duplicate_parts(a)],
        *(_curve_parts(curves) if curves else []),
    ]
    return Page("Audit of splits" if origin.is_upstreams else title, tuple(parts))


def _curve_parts(curves: Mapping[str, Sequence[float]]) -> list[Part]:
    rows = tuple((title, *map(_percent, scores)) for title, scores in curves.items())
    caption = (
        "Combined score in per cent by share of each block's training pairs, drawn by label, on songs "
        "never seen. What is flat here has learned all that counting can tell from few pairs."
    )
    columns = ("model without meaning", *[f"{100 * share:g} %" for share in SHARES])
    return [Heading("Learning curves of models without meaning"), Table(columns, rows, caption)]


def _shared_table(audits: Sequence[Audit]) -> Table:
    columns = (
        "split",
        "train / validation / test",
        "different pairs",
        "test pairs in train or validation",
        "test pairs whose texts train has",
        "test pairs with 0 / 1 / 2 songs in train",
        "near-duplicate songs",
    )
    return Table(columns, tuple(_shared_row(a) for a in audits))


def _shared_row(a: Audit) -> tuple[object, ...]:
    with_test = len({pair for leak in a.leaks if "test" in leak.splits for pair in leak.pairs})
    sizes = " / ".join(str(a.sizes.get(part, 0)) for part in ("train", "validation", "test"))
    seen = " / ".join(map(str, a.songs_seen))
    return (a.name, sizes, a.population, with_test, a.same_texts, seen, len(a.duplicates))


def _probe_table(audits: Sequence[Audit], drawn: bool) -> Table:
    rows = tuple(
        (probes[0].probe, *[_over_draws(p) if drawn else _percent(p.itself) for p in probes])
        for probes in zip(*[a.probes for a in audits], strict=True)
    )
    draws = max(a.probes[0].draws for a in audits)
    caption = (
        f"Mean ± standard deviation over {draws} draws by each split's own rule."
        if drawn
        else "The splits themselves, one draw each: with so few test pairs, an accident of about ten points."
    )
    return Table(("probe", *[a.name for a in audits]), rows, caption)


def _over_draws(probe: ProbeScore) -> str:
    if not probe.defined:
        return "undefined (constant)" if probe.draws else "not drawn"
    spread = "" if probe.deviation != probe.deviation else f" ± {100 * probe.deviation:.1f}"
    missing = "" if probe.defined == probe.draws else f" ({probe.draws - probe.defined} undefined)"
    return f"{percent(probe.mean)}{spread}{missing}"


def _percent(value: float) -> str:
    return "undefined (constant)" if value != value else percent(value)


def _duplicate_parts(a: Audit) -> list[Part]:
    rows = tuple((*d.songs, f"{d.similarity:.2f}") for d in a.duplicates)
    caption = f"{a.name}: songs of train and test whose texts share their word trigrams."
    return [Table(("song", "song", "shared share"), rows, caption)]
