"""What the pages say and what they let through, without a socket."""

import base64
import hashlib
import re
import sqlite3
from dataclasses import replace
from string import Template

import pytest
from campaign_files import fields_of, new_store, rate, sample_folder, song, write_folder

from lyricsim_annotation.application import Application, Request
from lyricsim_annotation.database import open_campaign
from lyricsim_annotation.guard import allowed_hosts, form_fields, is_loopback, is_wildcard
from lyricsim_annotation.markup import content_policy
from lyricsim_annotation.records import SKIP_REASONS, Outcome, Verdict
from lyricsim_annotation.selection_folder import read_selection
from lyricsim_annotation.store import Store
from lyricsim_annotation.texts import LANGUAGES, texts
from lyricsim_dataset.records import SCALE

HOST = "127.0.0.1:8420"
HOSTILE = '<script>alert("x")</script>\'"&amp;<img src=x onerror=alert(1)>'


def application(tmp_path, **options):
    store = new_store(tmp_path, **options)
    return Application(store, read_selection(tmp_path / "chosen"), allowed_hosts("127.0.0.1", []))


def get(app, path, query=None, **headers):
    return app.respond(Request("GET", path, query or {}, {"host": HOST, **headers}))


def post(app, path, body, **headers):
    return app.respond(Request("POST", path, {}, {"host": HOST, **headers}, body.encode()))


def link(app, number=1):
    return f"/r/{app.store.raters()[number - 1].token}"


def organiser(app):
    return f"/o/{app.store.campaign.organiser}"


def form(app, path, **more):
    fields = fields_of(get(app, path).text) | more
    return "&".join(f"{name}={value}" for name, value in fields.items())


def test_both_languages_say_everything_with_the_same_blanks():
    spanish, english = (texts()[language] for language in LANGUAGES)
    assert spanish.keys() == english.keys()
    for key in spanish:
        assert set(Template(spanish[key]).get_identifiers()) == set(Template(english[key]).get_identifiers())
        assert spanish[key].strip()
        assert english[key].strip()
    assert {f"reason_{reason}" for reason in SKIP_REASONS} <= spanish.keys()
    assert {f"said_{o.value}" for o in Outcome} - {"said_stored"} <= spanish.keys()


def test_the_task_is_not_told_in_the_papers_words():
    spanish = texts()["es"]
    told = " ".join(text for key, text in spanish.items() if key.startswith("task_"))
    for phrase in (
        "hasta qué punto",
        "sin importancia semántica",
        "situación lírica",
        "contexto social/cultural",
    ):
        assert phrase not in told.lower()


@pytest.mark.parametrize(("language", "field"), [("es", "spanish"), ("en", "english")])
def test_the_raters_page_shows_two_lyrics_with_their_line_breaks_and_the_whole_scale(
    tmp_path, language, field
):
    app = application(tmp_path)
    page = get(app, link(app), {"lang": language}).text
    assert f'<html lang="{language}">' in page
    assert page.count('class="lyric"') == 2
    assert "Se apagó la luz del faro\ny la noche entró en el puerto," in page
    for step in SCALE:
        assert f'name="rating" value="{step.rating}"' in page
        assert getattr(step, field) in page
        assert getattr(step, f"meaning_{field}") in page.replace("&#x27;", "'")
    assert texts()[language]["task_what"].replace("'", "&#x27;") in page
    other = texts()["en" if language == "es" else "es"]["scale_label"]
    assert other not in page


def test_the_language_stays_until_it_is_switched(tmp_path):
    app = application(tmp_path)
    switched = get(app, link(app), {"lang": "en"})
    assert "How alike" in switched.text
    cookie = switched.cookie.split(";")[0]
    assert "How alike" in get(app, link(app), cookie=cookie).text
    assert "¿Cuánto se parecen?" in get(app, link(app)).text
    assert "¿Cuánto se parecen?" in get(app, link(app), {"lang": "xx"}, cookie="language=<b>").text


def test_an_answer_moves_on_and_shows_progress_and_the_way_back(tmp_path):
    app = application(tmp_path)
    answer = post(app, f"{link(app)}/answer", form(app, link(app), rating=3))
    assert (answer.status, answer.location) == (303, link(app))
    page = get(app, link(app)).text
    assert "1 de 4" in page
    assert "la última respuesta: 3" in page


@pytest.mark.parametrize(
    "change",
    [
        {"rating": "6"},
        {"rating": "-1"},
        {"rating": "3.5"},
        {"rating": "%D9%A3"},
        {"rating": ""},
        {},
        {"rating": "3", "reason": "text"},
        {"reason": "made-up"},
        {"reason": "text", "note": "n" * 501},
        {"rating": "3", "pair": ""},
        {"rating": "3", "request": ""},
    ],
)
def test_an_answer_that_says_nothing_clear_is_refused(tmp_path, change):
    app = application(tmp_path)
    refused = post(app, f"{link(app)}/answer", form(app, link(app), **change))
    assert refused.status == 400
    assert "No se ha guardado" in refused.text
    assert app.store.judgements() == []


@pytest.mark.parametrize("event", ["", "x", "-1", "1e3", "9" * 40])
def test_an_undo_of_nothing_is_refused(tmp_path, event):
    app = application(tmp_path)
    rate(app.store, 1, 2)
    fields = form(app, link(app), event=event)
    assert post(app, f"{link(app)}/undo", fields).status == 400
    assert len(app.store.judgements()) == 1


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_a_form_from_another_site_is_refused(tmp_path, headers):
    app = application(tmp_path)
    assert post(app, f"{link(app)}/answer", form(app, link(app), rating=3), **headers).status == 403
    assert app.store.judgements() == []


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("lab.example", "https://lab.example", 303),
        ("127.0.0.1:8420", "https://lab.example", 303),
        ("localhost:8420", "https://lab.example:8443", 303),
        ("[::1]:8420", "https://LAB.example", 303),
        ("lab.example", "https://lab.example:8443", 403),
        ("lab.example", "https://other.example", 403),
        ("127.0.0.1:8420", "https://evil.example", 403),
        ("127.0.0.1:8420", "https://lab.example.evil.example", 403),
        ("127.0.0.1:8420", "http://localhost:8420", 403),
        ("127.0.0.1:8420", "http://127.0.0.1:9999", 403),
        ("127.0.0.1:8420", "http://0.0.0.0:8420", 403),
        ("127.0.0.1:8420", "null", 403),
        ("127.0.0.1:8420", "http://[", 403),
    ],
)
def test_a_proxy_may_replace_the_name_that_raters_type_by_this_machines(tmp_path, host, origin, status):
    app = application(tmp_path)
    app.hosts = allowed_hosts("0.0.0.0", ["lab.example", "other.example"])
    fields = form(app, link(app), rating=3)
    assert post(app, f"{link(app)}/answer", fields, host=host, origin=origin).status == status
    assert len(app.store.judgements()) == (status == 303)


def test_a_form_without_the_pages_token_or_with_anothers_is_refused(tmp_path):
    app = application(tmp_path)
    others = fields_of(get(app, link(app, 2)).text)["token"]
    for token in ("", "guess", others):
        assert post(app, f"{link(app)}/answer", form(app, link(app), rating=3, token=token)).status == 403
    own = post(app, f"{link(app)}/answer", form(app, link(app), rating=3), origin=f"http://{HOST}")
    assert own.status == 303


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8420", "", "127.0.0.1.evil.example", "[::1"])
def test_a_request_for_another_host_sees_nothing(tmp_path, host):
    app = application(tmp_path)
    answer = app.respond(Request("GET", link(app), headers={"host": host}))
    assert answer.status == 421
    assert "lyric" not in answer.text.split("</style>")[1].replace("LyricSIM", "")


def test_unknown_links_and_paths_are_all_the_same_404(tmp_path):
    app = application(tmp_path)
    token = app.store.raters()[0].token
    paths = [
        "/",
        "/r/",
        "/r/guess",
        "/o/guess",
        f"/o/{token}",
        f"/r/{app.store.campaign.organiser}",
        "/favicon.ico",
    ]
    paths += [f"{link(app)}/answer", f"{link(app)}/nothing", f"{organiser(app)}/more", "/r/ñ"]
    answers = {(get(app, path).status, get(app, path).text) for path in paths}
    assert len(answers) == 1
    assert answers.pop()[0] == 404
    assert post(app, organiser(app), "").status == 404
    assert post(app, "/r/guess/answer", "").status == 404


def test_markup_in_lyrics_titles_names_and_notes_is_shown_as_text(tmp_path):
    hostile = [song(name, HOSTILE, HOSTILE, HOSTILE) for name in ("1", "2")]
    selection = read_selection(write_folder(tmp_path / "chosen", hostile, [("1", "2")]))
    campaign = open_campaign(tmp_path / "r.sqlite", selection)
    store = Store(tmp_path / "r.sqlite", campaign, ["1_2"])
    store.invite([HOSTILE])
    app = Application(store, selection, allowed_hosts("127.0.0.1", []))
    rater = get(app, link(app)).text
    store.answer(1, "1_2", "r", Verdict(reason="other", note=HOSTILE))
    for page in (rater, get(app, organiser(app)).text, get(app, link(app)).text):
        assert "<img" not in page
        assert "<script>alert" not in page
    assert rater.count("&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;") == 6


def test_the_policy_lets_nothing_run_but_our_own_script(tmp_path):
    app = application(tmp_path)
    page = get(app, link(app)).text
    policy = content_policy()
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    for name in ("style", "script"):
        (inner,) = re.findall(rf"<{name}>(.*?)</{name}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inner.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    assert not re.search(r"\son\w+=|\sstyle=", page)


def test_the_pages_load_nothing_from_elsewhere(tmp_path):
    app = application(tmp_path)
    for page in (get(app, link(app)).text, get(app, organiser(app)).text):
        assert not re.search(r"https?:|@import|url\(|src=", page)


def test_a_stale_tab_is_told_and_sees_the_current_pair(tmp_path):
    app = application(tmp_path)
    first_tab = form(app, link(app), rating=3)
    second_tab = form(app, link(app), rating=5)
    post(app, f"{link(app)}/answer", first_tab)
    answer = post(app, f"{link(app)}/answer", second_tab)
    assert answer.location == f"{link(app)}?said=already"
    page = get(app, link(app), {"said": "already"}).text
    assert "Vale aquella respuesta" in page
    assert "data-pair=" in page
    assert [j.verdict.rating for j in app.store.judgements()] == [3]


def test_what_is_said_comes_from_our_texts_alone(tmp_path):
    app = application(tmp_path)
    assert 'role="status"' not in get(app, link(app), {"said": "stored"}).text
    assert "hostile" not in get(app, link(app), {"said": "hostile"}).text


def test_a_rater_learns_it_if_the_database_fails(tmp_path, capsys):
    app = application(tmp_path)
    fields = form(app, link(app), rating=3)
    damaged = sqlite3.connect(tmp_path / "ratings.sqlite")
    damaged.execute("ALTER TABLE judgement RENAME TO gone")
    refused = post(app, f"{link(app)}/answer", fields)
    assert refused.status == 500
    assert "No se ha guardado" in refused.text
    assert "no such table: judgement" in capsys.readouterr().err
    damaged.execute("ALTER TABLE gone RENAME TO judgement")
    assert post(app, f"{link(app)}/answer", fields).status == 303
    assert len(app.store.judgements()) == 1


def test_whoever_is_done_is_thanked_and_may_still_undo(tmp_path):
    app = application(tmp_path, pairs=1)
    rate(app.store, 1, 2)
    page = get(app, link(app)).text
    assert "Ya has visto todas las parejas" in page
    assert ">Deshacer</button>" in page


def test_whoever_has_done_his_share_is_told_that_more_may_come(tmp_path):
    app = application(tmp_path, pairs=4, raters=tuple("abcdef"))
    for _ in range(2):
        rate(app.store, 1, 2)
    assert "Tu parte está hecha" in get(app, link(app)).text


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_organisers_page_has_progress_load_agreement_and_reasons(tmp_path, language):
    app = application(tmp_path, pairs=3)
    undefined = {"es": "indefinido", "en": "undefined"}[language]
    empty = get(app, organiser(app), {"lang": language}).text
    assert empty.count(undefined) >= 6
    assert "nan" not in re.sub(r"<style>.*?</style>", "", empty, flags=re.DOTALL).lower()
    for rater, ratings in ((1, (0, 1, 3)), (2, (0, 1, 3)), (3, (0, 2))):
        for rating in ratings:
            rate(app.store, rater, rating)
    app.store.answer(3, app.store.current(3).pair_id, "skip", Verdict(reason="text", note="verso cortado"))
    page = get(app, organiser(app), {"lang": language}).text
    of = {"es": "de", "en": "of"}[language]
    assert f"<b>2 {of} 3</b>" in page
    assert f"<b>8 {of} 9</b>" in page
    assert "verso cortado" in page
    assert texts()[language]["reason_text"] in page
    assert "38 %" in page
    assert "<svg" in page


def test_the_organisers_figures_follow_every_change(tmp_path):
    app = application(tmp_path)
    rate(app.store, 1, 2)
    assert "<b>1 de 12</b>" in get(app, organiser(app)).text
    app.store.undo(1, app.store.current(1).last.event, "u")
    assert "<b>0 de 12</b>" in get(app, organiser(app)).text


@pytest.mark.parametrize("body", [b"a=1&a=2", b"\xff", b"a=%ff", b"&".join(b"%d=1" % n for n in range(11))])
def test_a_body_that_is_no_form_of_ours_is_no_form(body):
    assert form_fields(body) is None


def test_addresses_are_told_apart():
    assert all(map(is_loopback, ("127.0.0.1", "127.8.8.8", "::1", "localhost")))
    assert not any(map(is_loopback, ("0.0.0.0", "192.168.1.7", "::", "example.org")))
    assert all(map(is_wildcard, ("0.0.0.0", "::")))
    assert allowed_hosts("192.168.1.7", ["Lab.Example"]) == {"192.168.1.7", "lab.example"}


def test_control_characters_in_a_note_are_blanks(tmp_path):
    app = application(tmp_path)
    fields = form(app, link(app), reason="other", note="uno%0Ados%00")
    assert post(app, f"{link(app)}/answer", fields).status == 303
    assert app.store.judgements()[0].verdict.note == "uno dos"
    assert replace(app.store.judgements()[0].verdict, note="") == Verdict(reason="other")


def test_the_sample_folder_is_what_the_tests_think_it_is(tmp_path):
    assert len(read_selection(sample_folder(tmp_path, 5)).pairs) == 5
