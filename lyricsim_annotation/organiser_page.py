"""What the organiser sees: progress, load, agreement so far and the skipped pairs (pure)."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime

from lyricsim_annotation.charts import bars, line
from lyricsim_annotation.markup import Markup, fill, joined, page, tag
from lyricsim_annotation.progress import REPETITIONS, Figures, RaterFigures
from lyricsim_annotation.records import Judgement
from lyricsim_annotation.selection_folder import Selection
from lyricsim_annotation.texts import Language, other, say
from lyricsim_dataset.agreement import LEVELS, PermutedAlphas
from lyricsim_dataset.records import SCALE

_RATER_HEAD = (
    "o_rater",
    "o_ratings",
    "o_share",
    "o_percent",
    "o_skips",
    "o_mean",
    "o_severity",
    "o_state",
    "o_last",
)
_SKIP_HEAD = ("o_pair", "o_rater", "o_reason", "o_note", "o_when")


def render_organiser(figures: Figures, selection: Selection, language: Language, idle_hours: float) -> str:
    """The page as HTML.

    Args:
        figures: the campaign.
        selection: for the titles of skipped pairs.
        language: of the page.
        idle_hours: after which an unseen rater counts as away.
    """
    from lyricsim_reports.reliability import FEWEST_RATINGS

    body = fill(
        "organiser.html",
        language,
        other_lang=other(language),
        cards=_cards(figures, language),
        rater_head=_head(_RATER_HEAD, language),
        rater_rows=joined([_rater_row(rater, language) for rater in figures.raters]),
        raters_note=say(language, "o_raters_note", fewest=FEWEST_RATINGS, hours=f"{idle_hours:g}"),
        distribution=_distribution(figures, language),
        agreement_head=_head(("o_measure", *(f"o_{level}" for level in LEVELS)), language),
        agreement_rows=_agreement(figures, language),
        null_note=say(language, "o_null_note", repetitions=REPETITIONS),
        three_only=say(language, "o_three_only", pairs=figures.three),
        history=_history(figures, language),
        skipped_table=_skips(figures, selection, language),
    )
    return page(language, say(language, "organiser_title"), body)


def _cards(figures: Figures, language: Language) -> Markup:
    def card(value: int, key: str, total: int | None = None) -> Markup:
        of = "" if total is None else f" {say(language, 'o_of', total=total)}"
        return tag("li", joined([tag("b", f"{value}{of}"), tag("span", say(language, key))]))

    return joined(
        [
            card(figures.complete, "o_complete", figures.pairs),
            card(figures.ratings, "o_ratings", figures.wanted),
            card(figures.kept, "o_kept", figures.three),
            card(len(figures.skips), "o_skips"),
        ]
    )


def _rater_row(its: RaterFigures, language: Language) -> Markup:
    cells = (
        its.rated,
        "–" if its.share is None else max(its.share, its.rated),
        "–" if math.isnan(its.weight) else f"{100 * its.weight:.0f} %",
        its.skipped,
        _figure(its.mean, language),
        _figure(math.nan if its.severity is None else its.severity, language, signed=True),
        say(language, "o_active" if its.active else "o_idle"),
        _moment(its.rater.seen),
    )
    return _row(its.rater.name, cells)


def _distribution(figures: Figures, language: Language) -> Markup:
    return bars(
        [str(step.rating) for step in SCALE],
        [
            (say(language, "o_all"), "all", figures.distribution),
            (say(language, "o_filtered"), "filtered", figures.kept_distribution),
        ],
        say(language, "o_distribution_label"),
    )


def _agreement(figures: Figures, language: Language) -> Markup:
    def alphas(values: Sequence[float]) -> list[str]:
        return [_figure(value, language) for value in values]

    by_within = {null.within: null for null in figures.null}
    rows = [
        _row(
            say(language, "o_alpha_raw", pairs=figures.paired),
            alphas([figures.alpha[level] for level in LEVELS]),
        ),
        _row(
            say(language, "o_alpha_filtered", pairs=figures.kept),
            alphas([figures.kept_alpha[level] for level in LEVELS]),
        ),
        _row(say(language, "o_null_all"), _null(by_within.get("all ratings"), language)),
        _row(say(language, "o_null_each"), _null(by_within.get("each annotator"), language)),
    ]
    return joined(rows)


def _null(null: PermutedAlphas | None, language: Language) -> list[str]:
    """Chance is measured at the ordinal level only, as the dataset's card has it."""
    if null is None or math.isnan(null.mean):
        return [say(language, "o_undefined"), "", ""]
    return [f"{_figure(null.mean, language)} ± {_figure(null.deviation, language)}", "", ""]


def _history(figures: Figures, language: Language) -> Markup:
    points = [(float(pairs), alpha) for pairs, alpha in figures.history if not math.isnan(alpha)]
    if len(points) < 2:
        return tag("p", say(language, "o_undefined"), class_="note")
    return line(
        points, say(language, "o_history_pairs"), say(language, "o_history_alpha"), say(language, "o_history")
    )


def _skips(figures: Figures, selection: Selection, language: Language) -> Markup:
    if not figures.skips:
        return tag("p", say(language, "o_no_skips"), class_="note")
    names = {its.rater.number: its.rater.name for its in figures.raters}
    rows = [_skip_row(skip, names[skip.rater], selection, language) for skip in figures.skips]
    head = tag("thead", tag("tr", _head(_SKIP_HEAD, language)))
    table = tag("table", joined([head, tag("tbody", joined(rows))]), class_="words")
    return tag("div", table, class_="wide")


def _skip_row(skip: Judgement, name: str, selection: Selection, language: Language) -> Markup:
    pair = next(pair for pair in selection.pairs if pair.pair_id == skip.pair_id)
    titles = [selection.songs[song].title or say(language, "untitled") for song in (pair.song_a, pair.song_b)]
    reason = say(language, f"reason_{skip.verdict.reason}")
    return _row(f"{' / '.join(titles)} ({skip.pair_id})", (name, reason, skip.verdict.note, _moment(skip.at)))


def _head(keys: Sequence[str], language: Language) -> Markup:
    return joined([tag("th", say(language, key), scope="col") for key in keys])


def _row(name: str, cells: Sequence[object]) -> Markup:
    return tag("tr", joined([tag("th", name, scope="row"), *(tag("td", cell) for cell in cells)]))


def _figure(value: float, language: Language, signed: bool = False) -> str:
    if math.isnan(value):
        return say(language, "o_undefined")
    text = f"{value:+.2f}" if signed else f"{value:.2f}"
    return (text.replace(".", ",") if language == "es" else text).replace("-", "−")


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
