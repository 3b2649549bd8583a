import errno
import json
import os
import re
import shutil
import subprocess
import sys

import datasets
import pytest
from dataset_files import change, command, python, tree_of

from lyricsim_dataset import load
from lyricsim_dataset.annotations import read_tables
from lyricsim_dataset.cli import main
from lyricsim_dataset.configurations import CONFIG_NAMES
from lyricsim_dataset.publish import BuildOptions, build
from lyricsim_dataset.sources import RATINGS_FILE, REFERENCE_FILE, sample_tree
from lyricsim_dataset.splits import SEED
from lyricsim_dataset.verify import checks, read_record, require_intact
from lyricsim_tools.card_blocks import join_head, split_head
from lyricsim_tools.errors import UserError

READ_EVERYTHING = """
from datasets import get_dataset_config_names, load_dataset
names = get_dataset_config_names("lyricsim-sample")
print(len(names), {split: rows.num_rows for split, rows in load_dataset("lyricsim-sample").items()})
for name in names:
    for split, rows in load_dataset("lyricsim-sample", name).items():
        assert rows.num_rows == len(list(load_dataset("lyricsim-sample", name, split=split, streaming=True)))
"""


def head_of(folder):
    return split_head((folder / "README.md").read_text("utf-8"))[0]


def files_of(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_load_dataset_reads_all_seven_beside_the_folder(sample_folder, tmp_path):
    done = python(READ_EVERYTHING, sample_folder.parent, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("7 {'train': 162, 'validation': 10, 'test': 20}")


def test_the_folder_holds_parquet_card_and_records_and_no_script(sample_folder):
    kinds = {os.path.splitext(name)[1] for name in files_of(sample_folder)}
    assert kinds == {".parquet", ".md", ".json"}
    folders = {path.name for path in sample_folder.iterdir() if path.is_dir()}
    assert folders == set(CONFIG_NAMES)


def test_the_cards_head_describes_what_is_there(sample_folder):
    head = head_of(sample_folder)
    assert head["language"] == ["es"]
    assert head["license"] == "apache-2.0"
    assert head["size_categories"] == ["n<1K"]
    assert [config["config_name"] for config in head["configs"] if config.get("default")] == ["filtered"]
    for info in head["dataset_info"]:
        for split in info["splits"]:
            rows = load(info["config_name"], split["name"], sample_folder)
            assert rows.num_rows == split["num_examples"]
            assert [feature["name"] for feature in info["features"]] == list(rows.features)


def test_the_record_says_what_the_build_was_made_of_and_by(sample_folder):
    record = read_record(sample_folder)
    assert record["source"]["fingerprint"] == sample_tree().fingerprint
    assert record["seed"] == SEED
    assert record["versions"]["datasets"] == datasets.__version__
    assert "not installed" not in record["versions"].values()
    assert all(len(split["digest"]) == 64 for split in record["splits"].values())


def test_two_builds_of_one_source_are_byte_for_byte_the_same(sample_folder, tmp_path):
    again = build(BuildOptions(sample=True), tmp_path / "lyricsim-sample")
    assert files_of(again) == files_of(sample_folder)


@pytest.mark.slow
def test_a_rebuild_with_one_label_changed_is_seen_in_the_same_cache(tree, tmp_path):
    options, folder = BuildOptions(source=tree, allow_modified=True), tmp_path / "lyricsim"
    tables = read_tables(tree_of(tree))
    best = next(pair.pair_id for pair in tables.pairs if pair.ratings == (5, 5, 5))
    row = next(rating for rating in tables.ratings if rating.pair_id == best)
    old, new = (f"{row.annotator},{rating}, {row.song_id_1}, {row.song_id_2}" for rating in (5, 4))
    code = f"""
from datasets import load_dataset
splits = load_dataset("lyricsim", "filtered").values()
print(*[row["score"] for rows in splits for row in rows if row["pair_id"] == "{best}"])
"""
    build(options, folder)
    infos = head_of(folder)["dataset_info"]
    assert python(code, tmp_path, tmp_path / "home").stdout == "5.0\n"
    change(tree / RATINGS_FILE, lambda text: text.replace(old, new))
    build(options, folder)
    # As if all sizes had stayed the same: then only the rows' digest tells the two builds apart.
    head, body = split_head((folder / "README.md").read_text("utf-8"))
    (folder / "README.md").write_text(join_head({**head, "dataset_info": infos}, body), "utf-8")
    assert python(code, tmp_path, tmp_path / "home").stdout == f"{14 / 3}\n"


def test_a_digest_changes_with_the_rows_of_its_configuration_alone(tree, tmp_path):
    options, folder = BuildOptions(source=tree, allow_modified=True), tmp_path / "lyricsim"

    def digests():
        return {
            config["config_name"]: config["description"][-18:]
            for config in head_of(build(options, folder))["configs"]
        }

    before = digests()
    assert len(set(before.values())) == 7
    change(tree / RATINGS_FILE, lambda text: text.replace(",5, ", ",4, ", 1))
    after = digests()
    assert {name for name in before if before[name] == after[name]} == {"songs"}


def test_a_rebuild_with_fewer_rows_is_no_size_mismatch(tree, tmp_path):
    build(BuildOptions(source=tree, allow_modified=True), tmp_path / "lyricsim")
    before = load("annotations", "train", tmp_path / "lyricsim").num_rows
    change(tree / RATINGS_FILE, lambda text: text.rsplit("\r\n", 1)[0])
    build(BuildOptions(source=tree, allow_modified=True, min_raters=2), tmp_path / "lyricsim")
    assert load("annotations", "train", tmp_path / "lyricsim").num_rows == before - 1


def test_without_lyrics_there_are_ids_and_ratings_only(tmp_path):
    folder = build(BuildOptions(sample=True, with_lyrics=False), tmp_path / "lyricsim-sample")
    pairs, songs = load("filtered", "train", folder), load("songs", "train", folder)
    assert pairs.column_names == ["pair_id", "song_id_1", "song_id_2", "ratings", "score"]
    assert songs.column_names == ["song_id", "song_group"]
    assert not any(b"barca" in content for content in files_of(folder).values())
    card = (folder / "README.md").read_text("utf-8")
    assert "**Without lyrics.**" in card
    assert "`lyrics_1`" not in card


def test_a_modified_source_is_marked_in_card_and_record(tree, tmp_path):
    change(tree / RATINGS_FILE, lambda text: text.replace(",5, ", ",4, ", 1))
    folder = build(BuildOptions(source=tree, allow_modified=True), tmp_path / "lyricsim")
    card = (folder / "README.md").read_text("utf-8")
    assert "> **MODIFIED SOURCE: built from files that differ from upstream's" in card
    assert RATINGS_FILE in read_record(folder)["source"]["modified"]
    assert "MODIFIED SOURCE" in json.loads((folder / "croissant.json").read_text("utf-8"))["description"]


def test_pairs_without_three_ratings_are_raw_only_and_the_card_claims_no_reliability(tree, tmp_path):
    change(tree / RATINGS_FILE, lambda text: text.rsplit("\r\n", 1)[0])
    folder = build(BuildOptions(source=tree, allow_modified=True, min_raters=2), tmp_path / "lyricsim")
    two = [
        pair for split in load("raw", folder=folder).values() for pair in split if len(pair["ratings"]) == 2
    ]
    kept = {pair for split in load("filtered", folder=folder).values() for pair in split["pair_id"]}
    assert len(two) == 1
    assert two[0]["score"] == sum(two[0]["ratings"]) / 2
    assert two[0]["pair_id"] not in kept
    assert "Krippendorff" not in (folder / "README.md").read_text("utf-8")


def test_a_source_without_upstreams_means_is_built_without_comparison(tree, tmp_path):
    (tree / REFERENCE_FILE).unlink()
    folder = build(BuildOptions(source=tree, allow_modified=True), tmp_path / "lyricsim")
    assert read_record(folder)["compared_with_upstream"] is None
    assert "no list of filtered means" in (folder / "README.md").read_text("utf-8")


def test_a_folder_that_is_not_ours_is_left_alone(tmp_path):
    (tmp_path / "sample").mkdir()
    (tmp_path / "sample" / "thesis.tex").write_text("three years")
    with pytest.raises(UserError, match=r"did not write: thesis\.tex"):
        build(BuildOptions(sample=True), tmp_path / "sample")
    assert files_of(tmp_path / "sample") == {"thesis.tex": b"three years"}


def test_a_file_added_to_a_built_folder_is_not_deleted(own_sample):
    (own_sample / "notes.txt").write_text("mine")
    before = files_of(own_sample)
    with pytest.raises(UserError, match=r"notes\.txt"):
        build(BuildOptions(sample=True), own_sample)
    assert files_of(own_sample) == before


def test_the_card_loads_the_folder_by_the_name_that_it_was_built_with(tree, tmp_path):
    folder = build(BuildOptions(source=tree, allow_modified=True), tmp_path / "lyricsim-new")
    code = re.findall(r"load_dataset\((.*)\)", (folder / "README.md").read_text("utf-8"))
    assert code == ['"lyricsim-new", "filtered"']


def test_edits_to_the_card_outride_a_rebuild(own_sample):
    change(own_sample / "README.md", lambda text: text + "\nA note by hand.\n")
    edited = (own_sample / "README.md").read_bytes()
    build(BuildOptions(sample=True), own_sample)
    assert (own_sample / "README.md").read_bytes() == edited


def test_a_card_whose_head_was_broken_by_hand_stops_the_rebuild(own_sample):
    change(own_sample / "README.md", lambda text: text.replace("---\n", "---\n: [\n", 1))
    before = files_of(own_sample)
    with pytest.raises(UserError, match="not YAML"):
        build(BuildOptions(sample=True), own_sample)
    assert files_of(own_sample) == before


def test_a_full_disk_leaves_the_earlier_build_and_nothing_else(own_sample, tmp_path):
    """The process may write no file above 20 kB, so one of the build's files cannot be finished."""
    before = files_of(own_sample)
    code = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
from lyricsim_dataset.cli import main
build = ["build", "--sample", "--without-lyrics"]
print(main(build), main([*build, "--out", "other-sample"]))
"""
    done = python(code, tmp_path, tmp_path.parent / "home")
    assert done.stdout == "2 2\n", done.stderr
    assert done.stderr.count("could not be written") == 2
    assert "Traceback" not in done.stderr
    assert files_of(own_sample) == before
    assert [path.name for path in tmp_path.iterdir() if not path.name.endswith(".lock")] == [own_sample.name]


@pytest.mark.parametrize(("number", "expected"), [(errno.ENOSPC, "room for"), (errno.EACCES, "may write to")])
def test_a_disk_that_refuses_is_the_users_error_and_leaves_nothing(monkeypatch, tmp_path, number, expected):
    def refuse(*arguments):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("lyricsim_dataset.publish.write_json", refuse)
    with pytest.raises(UserError, match=rf"(?s)could not be written: {os.strerror(number)}.*{expected}"):
        build(BuildOptions(sample=True), tmp_path / "sample")
    assert [path.name for path in tmp_path.iterdir()] == [".sample.lock"]


def test_an_error_that_is_not_the_disks_is_not_called_so(monkeypatch, tmp_path):
    def broken(*arguments):
        raise ConnectionResetError(104, "reset")

    monkeypatch.setattr("lyricsim_dataset.publish.render_card", broken)
    with pytest.raises(ConnectionResetError):
        build(BuildOptions(sample=True), tmp_path / "sample")
    assert not (tmp_path / "sample").exists()


@pytest.mark.slow
def test_parallel_builds_of_one_folder_end_with_a_whole_one(tmp_path):
    arguments = [sys.executable, "-m", "lyricsim_dataset.cli", "build", "--sample"]
    running = [
        subprocess.Popen(arguments, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    ended = [(process.communicate(timeout=300)[1], process.returncode) for process in running]
    assert [code for _, code in ended] == [0, 0], ended
    assert all(check.problem is None for check in checks(tmp_path / "lyricsim-sample"))
    visible = [path.name for path in tmp_path.iterdir() if not path.name.endswith(".lock")]
    assert visible == ["lyricsim-sample"]


def test_verification_names_what_was_changed(own_sample):
    assert {check.problem for check in checks(own_sample)} == {None}
    (own_sample / "raw" / "test-00000-of-00001.parquet").unlink()
    (own_sample / "songs" / "train-00000-of-00001.parquet").write_bytes(b"other")
    (own_sample / "lyricsim.py").write_text("")
    problems = {check.what: check.problem for check in checks(own_sample) if check.problem}
    assert problems["raw/test-00000-of-00001.parquet"] == "missing"
    assert problems["songs/train-00000-of-00001.parquet"].startswith("changed: SHA-256")
    assert problems["lyricsim.py"] == "a script"
    assert len(problems) == 3
    with pytest.raises(UserError, match="is not what the build wrote"):
        require_intact(own_sample)


def test_verification_sees_what_was_added_and_what_describes_the_files(own_sample):
    change(own_sample / "README.md", lambda text: text.replace("raw/test-0", "filtered/test-0"))
    change(own_sample / "croissant.json", lambda text: text.replace('"sha256": "', '"sha256": "0', 1))
    (own_sample / "notes.txt").write_text("mine")
    shutil.copy(own_sample / "raw" / "test-00000-of-00001.parquet", own_sample / "raw" / "extra.parquet")
    (own_sample / ".hidden").write_text("never published")
    assert {check.what: check.problem for check in checks(own_sample) if check.problem} == {
        "README.md": "its head names other files than the record",
        "croissant.json": "names other files than the record",
        "notes.txt": "not written by the build",
        "raw/extra.parquet": "not written by the build",
    }


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("README.md", None, "missing"),
        ("README.md", "---\n[\n---\n", "its head cannot be read"),
        ("croissant.json", None, "missing"),
        ("croissant.json", "{}", "cannot be read"),
    ],
)
def test_a_description_that_is_missing_or_broken_is_named(own_sample, name, content, problem):
    (own_sample / name).unlink() if content is None else (own_sample / name).write_text(content)
    assert {c.what: c.problem for c in checks(own_sample) if c.problem} == {name: problem}


def test_the_cards_words_may_be_edited(own_sample):
    change(own_sample / "README.md", lambda text: text + "\n## Notes\n\nOurs.\n")
    assert {check.problem for check in checks(own_sample)} == {None}


def test_verification_recomputes_the_splits_digests(own_sample):
    digest = read_record(own_sample)["splits"]["raw"]["digest"]
    change(own_sample / "build.json", lambda text: text.replace(digest, "0" * 64))
    assert [check.what for check in checks(own_sample) if check.problem] == ["splits of raw"]


@pytest.mark.parametrize("content", [None, "{", "{}", "[]"])
def test_a_folder_without_a_readable_record_is_the_users_error(tmp_path, content):
    if content:
        (tmp_path / "build.json").write_text(content)
    with pytest.raises(UserError, match=r"build\.json"):
        read_record(tmp_path)


def test_croissant_metadata_validates_and_reads_the_same_rows(sample_folder):
    mlcroissant = pytest.importorskip("mlcroissant")
    described = mlcroissant.Dataset(jsonld=sample_folder / "croissant.json")
    assert not described.metadata.issues.errors
    records = list(described.records("filtered/test"))
    rows = load("filtered", "test", sample_folder)
    assert len(records) == rows.num_rows
    assert [record["filtered/test/score"] for record in records] == rows["score"][:]
    assert [record["filtered/test/pair_id"].decode() for record in records] == rows["pair_id"][:]
    assert [list(record["filtered/test/ratings"]) for record in records] == rows["ratings"][:]


def test_croissant_names_every_file_with_its_hash(sample_folder):
    described = json.loads((sample_folder / "croissant.json").read_text("utf-8"))
    recorded = {
        f["path"]: f["sha256"]
        for c in read_record(sample_folder)["configurations"].values()
        for f in c["files"]
    }
    assert {f["contentUrl"]: f["sha256"] for f in described["distribution"]} == recorded


def test_the_helper_loads_from_any_directory(sample_folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert isinstance(load(folder=sample_folder), datasets.DatasetDict)
    monkeypatch.setenv("LYRICSIM_FOLDER", str(sample_folder))
    assert load("raw", "test[:5]").num_rows == 5


def test_the_helper_says_what_it_wants(sample_folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=r"(?s)no configuration 'raww'.*one of filtered, raw"):
        load("raww", folder=sample_folder)
    with pytest.raises(UserError, match=r"(?s)is not a built dataset.*LYRICSIM_FOLDER"):
        load("raw")


def test_a_place_that_cannot_be_written_is_one_message(tmp_path, capsys):
    (tmp_path / "file").touch()
    assert main(["build", "--sample", "--out", str(tmp_path / "file" / "lyricsim-sample")]) == 2
    assert "cannot be read or written" in capsys.readouterr().err


def test_the_samples_metadata_do_not_name_upstream_as_creator(sample_folder):
    creator = json.loads((sample_folder / "croissant.json").read_text("utf-8"))["creator"]["name"]
    assert "not LyricSIM" in creator
    assert "linhd" not in creator


def test_the_command_line_prints_errors_without_a_traceback(tmp_path):
    done = command("build", "--source", "nowhere", cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "what to do: give a local copy" in done.stderr
    assert list(tmp_path.iterdir()) == []
