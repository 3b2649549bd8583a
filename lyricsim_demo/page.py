"""The page itself: Gradio components around ``answers``; gradio is imported only here."""

import html
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lyricsim_demo.answers import SEPARATOR, Score, Verdict, compare, rank
from lyricsim_tools.errors import UserError

if TYPE_CHECKING:
    import gradio

# Written for this project.
_FIRST = """Cruzo la noche buscando tu puerta,
llevo tu nombre en la voz,
y aunque la calle parezca desierta
sigo."""
_SECOND = """Vuelvo a tu calle de madrugada,
canto tu nombre otra vez,
y aunque no quede una luz encendida
vendré."""
_THIRD = """Saca las sillas, que empieza la fiesta,
sube la música ya,
hoy en el barrio ninguno se acuesta."""
_HEADINGS = ["Puesto", "Puntuación", "Según la escala", "Primer verso"]


def build_page(score: Score, model: str) -> "gradio.Blocks":
    """The page.

    Args:
        score: two lists of lyrics to their scores.
        model: its name, shown to the reader.

    Raises:
        UserError: gradio is not installed.
    """
    gradio = _gradio()
    with gradio.Blocks(title="LyricSIM") as page:
        gradio.Markdown(
            f"# LyricSIM\n¿Cuánto se parecen dos letras en lo que dicen? De 0 a 5. Modelo: `{model}`.\n\n"
            "La puntuación estima lo que diría un lector; no prueba que haya plagio."
        )
        with gradio.Tab("Comparar"):
            _add_comparison(gradio, score)
        with gradio.Tab("Ordenar una lista"):
            _add_ranking(gradio, score)
    return page


def _add_comparison(gradio: Any, score: Score) -> None:
    with gradio.Row():
        first = gradio.Textbox(_FIRST, label="Primera letra", lines=10, elem_id="first")
        second = gradio.Textbox(_SECOND, label="Segunda letra", lines=10, elem_id="second")
    button = gradio.Button("Comparar", variant="primary", elem_id="compare")
    result = gradio.HTML(elem_id="verdict")
    button.click(lambda a, b: shown(lambda: show_verdict(compare(score, a, b))), [first, second], result)


def _add_ranking(gradio: Any, score: Score) -> None:
    query = gradio.Textbox(_FIRST, label="Letra de partida", lines=5, elem_id="query")
    lyrics = gradio.Textbox(
        f"{_THIRD}\n{SEPARATOR}\n{_SECOND}",
        label=f"Letras que ordenar, separadas por líneas con {SEPARATOR}",
        lines=12,
        elem_id="lyrics",
    )
    button = gradio.Button("Ordenar", variant="primary", elem_id="rank")
    result = gradio.HTML(elem_id="ranking")
    button.click(lambda a, b: shown(lambda: show_ranking(score, a, b)), [query, lyrics], result)


def shown(answer: Callable[[], str]) -> str:
    """An answer as HTML, or what is wrong with the input."""
    try:
        return answer()
    except UserError as error:
        given, expected, remedy = map(html.escape, (error.given, error.expected, error.remedy))
        return f"<p role='alert'><strong>{given}</strong>. Se espera {expected}: {remedy}.</p>"


def show_verdict(verdict: Verdict) -> str:
    """A verdict as HTML: the number large, the scale's words below."""
    number, step = _number(verdict.score), verdict.step
    return (
        f"<p style='font-size:3rem;margin:0'><strong>{number}</strong> <small>de 5</small></p>"
        f"<p style='font-size:1.4rem;margin:0'>{html.escape(step.spanish)}</p>"
        f"<p>{html.escape(step.meaning_spanish)}</p>"
    )


def show_ranking(score: Score, query: str, lyrics: str) -> str:
    """A ranked list as an HTML table."""
    rows = [
        [str(r.place), _number(r.verdict.score), r.verdict.step.spanish, r.beginning]
        for r in rank(score, query, lyrics)
    ]
    head = "".join(f"<th style='text-align:left;padding:.3rem 1rem'>{name}</th>" for name in _HEADINGS)
    body = "".join(f"<tr>{''.join(_cell(value) for value in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(text: str) -> str:
    return f"<td style='padding:.3rem 1rem'>{html.escape(text)}</td>"


def _number(score: float) -> str:
    return f"{score:.2f}".replace(".", ",")


def _gradio() -> Any:
    # Read at import: the page must work without a network.
    os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
    try:
        import gradio
    except ImportError as error:
        raise UserError(
            "gradio is not installed", "the extra [demo]", "pip install 'lyricsim[demo]', or 'gradio>=6'"
        ) from error
    return gradio
