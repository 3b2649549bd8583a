"""The tree of an annotation campaign: its own pins, its own name, and no build that would lack a split."""

import json

import pytest
from dataset_files import change

from lyricsim_dataset.annotations import read_tables
from lyricsim_dataset.publish import BuildOptions, build, push
from lyricsim_dataset.raw_format import means_text, pairs_text, ratings_text, songs_text
from lyricsim_dataset.sample_rule import verses
from lyricsim_dataset.sources import (
    ANNOTATED_LYRICS_FILE,
    CAMPAIGN_FILE,
    LYRICS_FILE,
    PINS,
    RATINGS_FILE,
    REFERENCE_FILE,
    campaign_record,
    local_tree,
    sample_tree,
)
from lyricsim_dataset.verify import checks, read_record
from lyricsim_tools.errors import UserError


@pytest.fixture
def campaign(tmp_path):
    """The sample's files under a campaign's name."""
    folder = tmp_path / "source"
    contents = {pin.path: sample_tree().path(pin.path).read_bytes() for pin in PINS}
    for path, content in contents.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    (folder / CAMPAIGN_FILE).write_text(json.dumps(campaign_record("annotation-0f", contents)))
    return folder


def test_a_campaigns_tree_is_accepted_by_its_own_record(campaign):
    found = local_tree(campaign)
    assert (found.campaign, found.modified, found.sample) == ("annotation-0f", (), False)
    assert found.fingerprint == sample_tree().fingerprint


def test_a_file_changed_after_the_export_is_told_and_marked_if_meant(campaign):
    change(campaign / RATINGS_FILE, lambda text: text.replace(",0,", ",1,", 1))
    with pytest.raises(UserError, match=r"is not the exported data/raw/annotation_results.csv") as caught:
        local_tree(campaign)
    assert "export those files again" in str(caught.value)
    assert local_tree(campaign, allow_modified=True).modified == (RATINGS_FILE,)


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ("{", "JSONDecodeError"),
        ("[]", "TypeError"),
        ('{"campaign": "x"}', "KeyError"),
        ('{"campaign": "x", "files": {}}', f"no record of {RATINGS_FILE}"),
        ('{"campaign": "x", "files": 7}', "TypeError"),
    ],
)
def test_a_record_that_says_nothing_is_refused(campaign, record, said):
    (campaign / CAMPAIGN_FILE).write_text(record)
    with pytest.raises(UserError, match=said):
        local_tree(campaign)


def test_a_campaign_without_a_name_is_refused(campaign):
    record = json.loads((campaign / CAMPAIGN_FILE).read_text())
    (campaign / CAMPAIGN_FILE).write_text(json.dumps({**record, "campaign": ""}))
    with pytest.raises(UserError, match="no record of the name"):
        local_tree(campaign)


@pytest.mark.slow
def test_a_build_from_a_campaign_says_that_it_is_not_lyricsim(campaign, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    folder = build(BuildOptions(source=campaign), tmp_path / "grown")
    source = read_record(folder)["source"]
    assert source["campaign"] == "annotation-0f"
    assert source["repository"] is source["commit"] is None
    card = (folder / "README.md").read_text("utf-8")
    assert "NOT LyricSIM as its authors published it" in card
    assert "annotation campaign annotation-0f" in card
    assert "linhd-postdata" not in card
    assert not any(check.problem for check in checks(folder))
    with pytest.raises(UserError, match=r"the campaign 'annotation-0f' would be published as me/LyricSIM"):
        push(folder, "me/LyricSIM", message="m", dry_run=True)


def test_a_campaigns_data_are_never_written_to_lyricsims_folder_unasked(campaign, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(UserError, match=r"'annotation-0f' without a folder to write(.|\n)*--out"):
        build(BuildOptions(source=campaign))
    assert list((tmp_path / "here").iterdir()) == []


def test_too_few_pairs_are_told_before_anything_is_written(tmp_path):
    folder, songs = tmp_path / "source", verses()[:5]
    tables = read_tables(sample_tree())
    ids = {song.song_id for song in songs}
    ratings = [r for r in tables.ratings if {r.song_id_1, r.song_id_2} <= ids]
    texts = {
        RATINGS_FILE: ratings_text(ratings),
        LYRICS_FILE: songs_text(songs),
        ANNOTATED_LYRICS_FILE: pairs_text(songs, ratings),
        REFERENCE_FILE: means_text(songs, []),
    }
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8", newline="")
    with pytest.raises(UserError, match=r"of 10 pairs, which leaves no pair for") as caught:
        build(BuildOptions(source=folder, allow_modified=True), tmp_path / "new")
    assert "validation of filtered" in str(caught.value)
    assert not (tmp_path / "new").exists()
    assert read_tables(local_tree(folder, allow_modified=True)).ratings == tuple(ratings)
