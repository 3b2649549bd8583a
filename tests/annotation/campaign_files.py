"""Selection folders made by hand from the sample's verses, and a server in a process of its own."""

import csv
import html
import http.client
import json
import re
import subprocess
import sys
from contextlib import contextmanager
from itertools import combinations
from urllib.parse import urlencode, urlsplit

from support import REPOSITORY

from lyricsim_annotation.database import open_campaign
from lyricsim_annotation.records import Verdict
from lyricsim_annotation.selection_folder import read_selection
from lyricsim_annotation.store import Store, Timing
from lyricsim_dataset.sample_rule import verses

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def song(song_id, lyric="Una letra\nde dos versos", title="Título", artist="Artista"):
    return {"id": song_id, "title": title, "artist": artist, "lyric": lyric}


def write_folder(folder, songs, pairs):
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(one, ensure_ascii=False) + "\n" for one in songs]
    (folder / "songs.jsonl").write_text("".join(lines), "utf-8")
    with (folder / "pairs.csv").open("w", encoding="utf-8", newline="") as stream:
        rows = [(f"{a}_{b}", a, b, "1.5") for a, b in pairs]
        csv.writer(stream).writerows([("pair_id", "song_a", "song_b", "predicted"), *rows])
    return folder


def sample_folder(folder, pairs):
    """The first pairs of the sample's verses."""
    found = verses()
    songs = [song(one.song_id, one.lyrics, one.title, one.artist) for one in found]
    chosen = list(combinations([one.song_id for one in found], 2))[:pairs]
    return write_folder(folder, songs, chosen)


class Clock:
    """A clock that the test moves."""

    def __init__(self):
        self.now = 1_000_000.0

    def __call__(self):
        return self.now


def new_store(tmp_path, pairs=4, raters=("ana", "berta", "carla"), timing=None, clock=None, wanted=None):
    selection = read_selection(sample_folder(tmp_path / "chosen", pairs))
    database = tmp_path / "ratings.sqlite"
    campaign = open_campaign(database, selection, wanted)
    ids = [pair.pair_id for pair in selection.pairs]
    store = Store(database, campaign, ids, timing or Timing(), clock or Clock())
    store.invite(raters)
    return store


def rate(store, rater, rating, request=None):
    """Rate what is on a rater's screen; returns the pair."""
    pair = store.current(rater).pair_id
    store.answer(rater, pair, request or f"{rater}-{pair}-{rating}", Verdict(rating))
    return pair


class Served:
    """A running server and its links."""

    def __init__(self, process, links):
        self.process = process
        self.raters, self.organiser = links["raters"], links["organiser"]
        self.netloc = urlsplit(self.organiser).netloc

    def path(self, rater):
        return urlsplit(self.raters[rater]).path

    def ask(self, method, path, body=None, headers=None):
        """Status, headers and text of an answer; redirects are not followed."""
        connection = http.client.HTTPConnection(self.netloc, timeout=60)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()
        finally:
            connection.close()

    def fields(self, rater):
        """What the rater's page would send, without an answer; None where there is no pair."""
        return fields_of(self.ask("GET", self.path(rater))[2])

    def answer(self, rater, fields, **more):
        body = urlencode({**fields, **more})
        return self.ask("POST", f"{self.path(rater)}/answer", body, FORM)


def fields_of(page):
    """The hidden fields of a page's rating form; None where it shows no pair."""
    if "data-pair=" not in page:
        return None
    form = page.split('class="rate"')[1]
    return {
        name: html.unescape(re.search(rf'name="{name}" value="([^"]*)"', form)[1])
        for name in ("request", "token", "pair")
    }


def start_server(folder, database, *arguments):
    command = [sys.executable, "-m", "lyricsim_annotation.cli", "serve", folder, "--database", database]
    process = subprocess.Popen(
        [*map(str, command), "--port", "0", "--json", *arguments],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    line = process.stdout.readline()
    if not line:
        raise AssertionError(process.communicate()[1])
    return Served(process, json.loads(line))


@contextmanager
def serving(folder, database, *arguments):
    """A server that ends with the block."""
    served = start_server(folder, database, *arguments)
    try:
        yield served
    finally:
        served.process.terminate()
        served.process.communicate()
