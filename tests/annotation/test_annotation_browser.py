"""The whole way in a real browser: select, three raters, export, build, load."""

import json
import os
import subprocess
import sys

import pytest
from browser import DRIVER, browsing
from campaign_files import sample_folder, serving, song
from support import REPOSITORY

from lyricsim_annotation.cli import main
from lyricsim_dataset.sample_rule import likeness, verses

# Few, for a browser is slow; enough for every split to get a pair.
SONGS, PAIRS = 8, 12
PNG = b"\x89PNG"
LISTENING = "body[data-listening]"


@pytest.fixture(autouse=True)
def _needs_a_browser():
    if not DRIVER and not os.environ.get("CI"):
        pytest.skip("needs chromedriver (Debian: chromium-driver)")
    assert DRIVER, "needs chromedriver (Debian: chromium-driver); CI must not skip this test"


class RaterAtWork:
    """Somebody in front of the page, who finds two verses as alike as the long words that they share."""

    def __init__(self, browser, link):
        self.browser, self.link = browser, link
        browser.open(link)

    def pair(self):
        """The pair on the page; None where the whole page has none."""
        return self._shown()[0]

    def _shown(self, other_than=None):
        script = f"""
            const main = document.readyState === 'complete' && document.querySelector('main');
            return main && main.dataset.pair !== {json.dumps(other_than)} && [main.dataset.pair || null]
        """
        return self.browser.until(lambda: self.browser.run(script), f"page without the pair {other_than}")

    def rating(self):
        first, second = self.browser.run(
            "return Array.from(document.querySelectorAll('.lyric'), (lyric) => lyric.innerText)"
        )
        return likeness(first, second)

    def wait_for_another(self, pair):
        self._shown(other_than=pair)

    def press(self, key):
        """Strike a key once the page listens to it."""
        self.browser.find(LISTENING)
        self.browser.press(key)

    def rate_by_key(self, rating=None):
        pair = self.pair()
        self.press(str(self.rating() if rating is None else rating))
        self.wait_for_another(pair)

    def rate_by_mouse(self):
        pair = self.pair()
        self.browser.find(LISTENING)
        self.browser.find(f".steps button[value='{self.rating()}']").click()
        self.wait_for_another(pair)


def choose(folder):
    """A selection by the real command, from the sample's songs."""
    lines = [json.dumps(song(v.song_id, v.lyrics, v.title, v.artist)) + "\n" for v in verses()[:SONGS]]
    (folder / "songs.jsonl").write_text("".join(lines))
    command = ["select", "--catalogue", folder / "songs.jsonl", "--scorer", "lexical", "--pairs", PAIRS]
    assert main([*map(str, command), "--output", str(folder / "chosen")]) == 0
    return folder / "chosen"


def rates_with_the_keyboard(rater):
    """All pairs by key, the page reloaded in the middle, one answer undone and given anew."""
    browser = rater.browser
    for _ in range(PAIRS // 2):
        rater.rate_by_key()
    pair = rater.pair()
    browser.run("window.isOld = true; location.reload()")
    browser.until(lambda: browser.run("return !window.isOld"), "new page")
    assert rater.pair() == pair
    rater.rate_by_key(5)
    following = rater.pair()
    rater.press("u")
    rater.wait_for_another(following)
    assert rater.pair() == pair
    assert "Antes pusiste un 5." in browser.text()
    while rater.pair():
        rater.rate_by_key()
    assert "Ya has visto todas las parejas" in browser.text()


def rates_with_the_mouse(rater):
    """All pairs by mouse, on the English page."""
    rater.browser.find("a.language").click()
    rater.browser.wait_for_text(".question", "How alike")
    while rater.pair():
        rater.rate_by_mouse()
    assert "You have seen every pair" in rater.browser.text()


def rates_and_skips(rater):
    """One pair skipped with a reason, the others by key and mouse in turn; a key struck twice counts once."""
    browser, skipped = rater.browser, rater.pair()
    browser.find("a.language").click()
    browser.wait_for_text(".question", "¿Cuánto")
    rater.press("s")
    browser.find("details.skip input[name=note]").write("<b>falta</b> una estrofa")
    browser.find("details.skip option[value=text]").click()
    browser.find("details.skip form button").click()
    rater.wait_for_another(skipped)
    second, rating = rater.pair(), rater.rating()
    browser.find(LISTENING)
    strike = f"document.body.dispatchEvent(new KeyboardEvent('keydown', {{key: '{rating}', bubbles: true}}));"
    browser.run(strike + strike)
    rater.wait_for_another(second)
    assert "1 de 11" in browser.text()
    while rater.pair():
        rater.rate_by_mouse()
        if rater.pair():
            rater.rate_by_key()
    return skipped


@pytest.mark.slow
def test_from_selection_to_a_filtered_configuration_in_a_browser(tmp_path, capsys):
    folder, database = choose(tmp_path), tmp_path / "ratings.sqlite"
    with (
        browsing(tmp_path) as browser,
        serving(folder, database, "--raters", "ana", "berta", "carla") as served,
    ):
        rates_with_the_keyboard(RaterAtWork(browser, served.raters["ana"]))
        stale = served.fields("berta")
        rates_with_the_mouse(RaterAtWork(browser, served.raters["berta"]))
        status, headers, _ = served.answer("berta", stale, rating="5")
        assert (status, headers["Location"]) == (303, f"{served.path('berta')}?said=already")
        skipped = rates_and_skips(RaterAtWork(browser, served.raters["carla"]))
        browser.open(served.organiser)
        report = browser.wait_for_text("main", "11 de 12")
        assert "35 de 36" in report
        assert "<b>falta</b> una estrofa" in report
        browser.screenshot(tmp_path / "organiser.png")
        assert (tmp_path / "organiser.png").read_bytes().startswith(PNG)
    exported = [
        "export",
        str(folder),
        "--database",
        str(database),
        "--output",
        str(tmp_path / "source"),
        "--json",
    ]
    capsys.readouterr()
    assert main(exported) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["pairs"], summary["ratings"], summary["empty_splits"]) == (11, 33, [])
    assert summary["left_out"] == [{"pair_id": skipped, "ratings": 2, "skipped": 1}]
    assert loaded(tmp_path) == summary["pairs_kept_by_the_rule"] == 11


def click_at_once(browser, selector):
    """Click on a page that has only just appeared; it is loaded anew until we come early enough."""
    script = f"""
        if (document.querySelector({json.dumps(LISTENING)})) {{ location.reload(); return false; }}
        document.querySelector({json.dumps(selector)}).click();
        return true;
    """
    browser.until(lambda: browser.run(script), f"early click on {selector}")


@pytest.mark.slow
def test_the_second_of_two_clicks_answers_and_undoes_nothing_on_the_page_that_came_meanwhile(tmp_path):
    folder, database = sample_folder(tmp_path / "chosen", 3), tmp_path / "ratings.sqlite"
    with browsing(tmp_path) as browser, serving(folder, database, "--raters", "ana") as served:
        rater = RaterAtWork(browser, served.raters["ana"])
        rater.rate_by_mouse()
        pair = rater.pair()
        for selector in (".steps button[value='0']", ".undo button"):
            click_at_once(browser, selector)
            browser.find(LISTENING)
            assert rater.pair() == pair
            assert "1 de 3" in browser.text()
        rater.rate_by_mouse()
        assert "2 de 3" in browser.text()


def loaded(folder):
    """Pairs of the filtered configuration, built and loaded as a user does."""
    environment = {**os.environ, "HF_HOME": str(folder / "cache"), "PYTHONPATH": str(REPOSITORY)}

    def run(*arguments):
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    run("-m", "lyricsim_dataset.cli", "build", "--source", "source", "--out", "grown")
    code = """
from datasets import load_dataset
pairs = load_dataset("grown", "filtered")
from lyricsim_dataset.sample_rule import likeness
rows = [row for split in pairs.values() for row in split]
assert all(row["score"] == likeness(row["lyrics_1"], row["lyrics_2"]) for row in rows)
assert all("\\n" in row["lyrics_1"] for row in rows)
print(len(rows))
"""
    return int(run("-c", code).split()[-1])
