"""The pages in a real browser, driven once."""

import os
import subprocess
import sys

import pytest
from browser import DRIVER, browsing
from support import REPOSITORY

PNG = b"\x89PNG"


def needs(name, found):
    if not found:
        reason = f"needs {name}"
        if os.environ.get("CI"):
            pytest.fail(f"{reason}; CI must not skip this test")
        pytest.skip(reason)


@pytest.fixture
def served(tmp_path):
    """Start a page as its user does; returns a function from arguments to the page's address."""
    processes = []

    def start(*arguments):
        process = subprocess.Popen(
            [sys.executable, "-u", *arguments],
            cwd=REPOSITORY,
            env={**os.environ, "GRADIO_ANALYTICS_ENABLED": "False", "HF_HOME": str(tmp_path / "cache")},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        processes.append(process)
        for line in process.stdout:
            if "Running on local URL:" in line:
                return line.split()[-1]
        raise AssertionError("the page did not start")

    yield start
    for process in processes:
        process.terminate()
        process.wait()
        process.stdout.close()


@pytest.fixture(autouse=True)
def _requirements():
    needs("chromedriver (Debian: chromium-driver)", DRIVER)
    pytest.importorskip("gradio") if not os.environ.get("CI") else __import__("gradio")


@pytest.mark.slow
def test_the_scoring_page_compares_two_lyrics_ranks_a_list_and_explains(served, tmp_path):
    address = served("-m", "lyricsim_demo")
    assert address.startswith("http://127.0.0.1:")
    with browsing(tmp_path) as browser:
        browser.open(address)
        browser.find("#compare").click()
        verdict = browser.wait_for_text("#verdict", "de 5")
        assert "Apenas existe similitud" in verdict
        browser.screenshot(tmp_path / "compare.png")
        browser.find("#first textarea").write(" ")
        browser.find("#compare").click()
        browser.wait_for_text("#verdict", "La primera letra está vacía")
        browser.find("button[role=tab]:nth-of-type(2)").click()
        browser.find("#rank").click()
        ranking = browser.wait_for_text("#ranking", "Puesto")
        assert ranking.index("Vuelvo a tu calle") < ranking.index("Saca las sillas")
        browser.screenshot(tmp_path / "rank.png")
    assert all((tmp_path / name).read_bytes().startswith(PNG) for name in ("compare.png", "rank.png"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("space", "shown"), [("lyricsim_metric", "pearson"), ("lyricsim_comparison", "pearson_difference")]
)
def test_the_page_of_a_space_answers(served, tmp_path, space, shown):
    with browsing(tmp_path) as browser:
        browser.open(served(f"{space}/app.py"))
        browser.find("button.primary").click()
        deadline_text = browser.wait_for_text("body", f"{shown}_ci")
        assert "combined_score" in deadline_text
        browser.screenshot(tmp_path / "space.png")
    assert (tmp_path / "space.png").read_bytes().startswith(PNG)
