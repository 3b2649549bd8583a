"""What a rater sees: the task, two lyrics, six buttons (pure)."""

from collections.abc import Mapping
from dataclasses import dataclass

from lyricsim_annotation.markup import Markup, fill, joined, page, tag
from lyricsim_annotation.records import NOTE_LIMIT, SKIP_REASONS, Judgement, SongText, Task
from lyricsim_annotation.selection_folder import Selection
from lyricsim_annotation.texts import Language, other, say, step_meaning, step_name
from lyricsim_dataset.records import SCALE, ScaleStep


@dataclass(frozen=True)
class View:
    """A rater's page at one moment.

    Args:
        selection: the texts.
        task: what the store says is to be done.
        language: of the page; lyrics are shown as they are.
        path: of the page, without a slash at its end.
        forgery_token: proves that a form came from this page.
        request: names the one answer that this page may give.
        said: key of a message in ``texts.toml``; None: there is none.
    """

    selection: Selection
    task: Task
    language: Language
    path: str
    forgery_token: str
    request: str
    said: str | None = None


def render_rater(view: View) -> str:
    """The page as HTML."""
    task, language = view.task, view.language
    body = fill(
        "rater.html",
        language,
        rated=task.rated,
        most=max(1, task.share),
        progress=say(language, "progress", rated=task.rated, share=task.share),
        progress_label=say(language, "progress_label", rated=task.rated, share=task.share),
        other_lang=other(language),
        message=tag("p", say(language, view.said), class_="message", role="status") if view.said else "",
        task_open=Markup("" if task.rated + task.skipped else " open"),
        legend=joined([_legend_entry(step, language) for step in SCALE]),
        work=_done(view) if task.pair_id is None else _pair(view, task.pair_id),
    )
    return page(language, say(language, "rater_title"), body, script=True)


def _legend_entry(step: ScaleStep, language: Language) -> Markup:
    name = f"{step.rating} · {step_name(step, language)}"
    return joined([tag("dt", name), tag("dd", step_meaning(step, language))])


def _pair(view: View, pair_id: str) -> Markup:
    language, before = view.language, view.task.before
    pair = next(pair for pair in view.selection.pairs if pair.pair_id == pair_id)
    sides = {"a": view.selection.songs[pair.song_a], "b": view.selection.songs[pair.song_b]}
    return fill(
        "pair.html",
        language,
        pair_id=pair_id,
        action_answer=f"{view.path}/answer",
        hidden=_hidden({"request": view.request, "token": view.forgery_token, "pair": pair_id}),
        before_text="" if before is None else say(language, "before", before=before),
        steps=joined([_step_button(step, language, before) for step in SCALE]),
        undo_form=_undo_form(view),
        reasons=joined([_reason(code, language) for code in SKIP_REASONS]),
        skip_note_text=say(language, "skip_note", limit=NOTE_LIMIT),
        limit=NOTE_LIMIT,
        **{
            f"{part}_{side}": value
            for side, song in sides.items()
            for part, value in _shown(song, language).items()
        },
    )


def _shown(song: SongText, language: Language) -> Mapping[str, str]:
    title = song.title or say(language, "untitled")
    return {"title": title, "artist": song.artist, "lyric": song.lyric}


def _step_button(step: ScaleStep, language: Language, before: int | None) -> Markup:
    name = step_name(step, language)
    return tag(
        "button",
        joined([tag("b", step.rating), tag("span", name)]),
        name="rating",
        value=step.rating,
        title=step_meaning(step, language),
        aria_label=f"{step.rating}: {name}",
        aria_keyshortcuts=step.rating,
        class_="before" if step.rating == before else "step",
    )


def _reason(code: str, language: Language) -> Markup:
    return tag("option", say(language, f"reason_{code}"), value=code)


def _done(view: View) -> Markup:
    key = "share" if view.task.left else "all"
    return fill(
        "done.html",
        view.language,
        heading=say(view.language, "done_share_heading" if view.task.left else "done_heading"),
        what=say(view.language, f"done_{key}"),
        skipped_text=say(view.language, "skipped_count", skipped=view.task.skipped),
        undo_form=_undo_form(view),
    )


def _undo_form(view: View) -> Markup:
    last = view.task.last
    if last is None:
        return Markup()
    return fill(
        "undo.html",
        view.language,
        action_undo=f"{view.path}/undo",
        hidden=_hidden({"request": f"{view.request}-undo", "token": view.forgery_token}),
        event=last.event,
        undo_text=say(view.language, "undo_what", what=_said(last, view.language)),
    )


def _said(judgement: Judgement, language: Language) -> str:
    rating = judgement.verdict.rating
    return say(language, "undo_skip") if rating is None else f"{rating}"


def _hidden(values: Mapping[str, str]) -> Markup:
    return joined([tag("input", type="hidden", name=n, value=v) for n, v in values.items()])
