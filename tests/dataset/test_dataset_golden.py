"""Facts of the real files (paper, sections 3 to 5); none of their text stands here."""

import csv
import json
from collections import Counter

import pytest
from dataset_files import python

from lyricsim_dataset import load
from lyricsim_dataset.annotations import read_tables
from lyricsim_dataset.reference import compare, read_reference
from lyricsim_dataset.release import assemble
from lyricsim_dataset.sources import RATINGS_FILE, REFERENCE_FILE, locate
from lyricsim_dataset.verify import checks, read_record
from lyricsim_tools.card_blocks import split_head

pytestmark = pytest.mark.xdist_group("lyricsim")

SIZES = {
    "filtered": {"train": 574, "validation": 34, "test": 68},
    "raw": {"train": 2358, "validation": 139, "test": 278},
    "songs": {"train": 75},
    "annotations": {"train": 8325},
    "filtered-paper-split": {"train": 638, "validation": 38, "test": 68},
}


@pytest.fixture(scope="module")
def tables(lyricsim_source):
    return read_tables(locate(lyricsim_source))


@pytest.fixture(scope="module")
def release(tables):
    return assemble(tables)


def everything(config, folder):
    return [row for split in load(config, folder=folder).values() for row in split]


def test_the_tables_have_upstreams_counts(tables):
    assert (len(tables.songs), len(tables.pairs), len(tables.ratings)) == (75, 2775, 8325)
    assert len({rating.annotator for rating in tables.ratings}) == 63
    assert {len(pair.ratings) for pair in tables.pairs} == {3}
    unordered = {frozenset((pair.song_id_1, pair.song_id_2)) for pair in tables.pairs}
    assert len(unordered) == 75 * 74 // 2


def test_the_two_texts_of_a_song_differ_in_74_of_75(tables):
    assert sum(song.lyrics == song.lyrics_as_annotated for song in tables.songs) == 1
    assert sum(song.lyrics.split() == song.lyrics_as_annotated.split() for song in tables.songs) == 1


def test_the_longest_and_the_shortest_lyric(tables):
    lengths = [song.length for song in tables.songs]
    assert (min(lengths), max(lengths)) == (3, 158)


def test_kept_pairs_and_their_labels_are_exactly_upstreams(release, lyricsim_source):
    agreement = compare(release.filtered, read_reference(lyricsim_source / REFERENCE_FILE))
    assert (agreement.upstream, agreement.kept, agreement.shared, agreement.equal) == (676,) * 4


def test_pair_ids_are_upstreams_whatever_their_order(release, lyricsim_source):
    with (lyricsim_source / REFERENCE_FILE).open(encoding="utf-8", newline="") as stream:
        upstream = {row["pair_id"]: (row["song_1"], row["song_2"]) for row in csv.DictReader(stream)}
    assert {p.pair_id: (p.song_id_1, p.song_id_2) for p in release.filtered} == upstream
    ascending = sum(int(pair.song_id_1) < int(pair.song_id_2) for pair in release.filtered)
    assert 0.42 < ascending / 676 < 0.43


@pytest.mark.parametrize("config", SIZES)
def test_each_split_has_its_size(real_folder, config):
    assert {split: rows.num_rows for split, rows in load(config, folder=real_folder).items()} == SIZES[config]


def test_song_disjoint_splits_are_large_enough_and_all_pairs_are_accounted_for(real_folder):
    splits = read_record(real_folder)["splits"]
    filtered, raw = splits["filtered-song-disjoint"], splits["raw-song-disjoint"]
    assert filtered["rows"]["test"] >= 60
    assert filtered["rows"]["train"] >= 250
    assert sum(filtered["rows"].values()) + filtered["left_out"] == 676
    assert sum(raw["rows"].values()) + raw["left_out"] == 2775
    assert not any("test" in leak["splits"] for split in (filtered, raw) for leak in split["shared"])


def test_every_filtered_pair_has_its_split_in_raw_too(real_folder):
    for suffix in ("", "-song-disjoint"):
        raw = load(f"raw{suffix}", folder=real_folder)
        for split, rows in load(f"filtered{suffix}", folder=real_folder).items():
            assert set(rows["pair_id"]) <= set(raw[split]["pair_id"])


def test_published_annotations_hold_no_platform_id_and_make_the_published_scores(
    real_folder, lyricsim_source
):
    annotations = everything("annotations", real_folder)
    with (lyricsim_source / RATINGS_FILE).open(encoding="utf-8-sig", newline="") as stream:
        upstream = list(csv.DictReader(stream, skipinitialspace=True))
    renumbered = {row["annotator_id"]: a["annotator"] for row, a in zip(upstream, annotations, strict=True)}
    assert sorted(renumbered.values()) == list(range(1, 64))
    assert [a["rating"] for a in annotations] == [int(row["sim_rating"]) for row in upstream]
    totals = Counter()
    for row in annotations:
        totals[row["pair_id"]] += row["rating"]
    assert {row["pair_id"]: row["score"] for row in everything("raw", real_folder)} == {
        pair: total / 3 for pair, total in totals.items()
    }
    content = b"".join(path.read_bytes() for path in real_folder.rglob("*.json"))
    assert not any(member.encode() in content for member in renumbered)


def test_song_groups_are_five_of_fifteen(real_folder):
    assert Counter(load("songs", "train", real_folder)["song_group"]) == dict.fromkeys(range(5), 15)


def test_the_card_prints_recomputed_figures(real_folder):
    card = (real_folder / "README.md").read_text("utf-8")
    for said in (
        "| ordinal | 0.28 | 0.90 |",
        "| interval | 0.28 | 0.86 |",
        "| nominal | 0.07 | 0.62 |",
        "279 pairs (41.3 %) are exactly 0",
        "By the text alone 1,057 pairs would be kept",
        "The busiest gave 1,465\nratings (17.6 %)",
        "are kept here, 676 with exactly its label",
        "68 test pairs are then\nseen before the test",
        "| `filtered` | 574 / 34 / 68 | 0 | 0 |",
        "states no licence. The lyrics belong to their rights",
    ):
        assert said in card
    for split in read_record(real_folder)["splits"].values():
        assert split["digest"] in card


def test_the_head_of_the_card(real_folder):
    head = split_head((real_folder / "README.md").read_text("utf-8"))[0]
    assert head["license"] == "other"
    assert head["language"] == ["es"]
    assert head["size_categories"] == ["1K<n<10K"]
    assert len(head["configs"]) == len(head["dataset_info"]) == 7


def test_load_dataset_verbatim_beside_the_folder(real_folder, tmp_path):
    code = """
import json
from datasets import get_dataset_config_names, load_dataset
names = get_dataset_config_names("lyricsim")
loaded = {"default": load_dataset("lyricsim"), **{name: load_dataset("lyricsim", name) for name in names}}
print(json.dumps({name: {split: rows.num_rows for split, rows in d.items()} for name, d in loaded.items()}))
"""
    done = python(code, real_folder.parent, tmp_path)
    assert done.returncode == 0, done.stderr
    sizes = json.loads(done.stdout)
    assert len(sizes) == 8
    assert sizes["default"] == SIZES["filtered"]
    assert {config: sizes[config] for config in SIZES} == SIZES


def test_croissant_validates_without_a_warning(real_folder):
    mlcroissant = pytest.importorskip("mlcroissant")
    issues = mlcroissant.Dataset(jsonld=real_folder / "croissant.json").metadata.issues
    assert not issues.errors
    assert not issues.warnings


def test_the_built_folder_verifies(real_folder):
    assert {check.problem for check in checks(real_folder)} == {None}
