import json

import pytest
from dataset_files import change

from lyricsim_dataset import publish
from lyricsim_dataset.cli import main
from lyricsim_dataset.publish import BuildOptions, build

LOAD = """
from datasets import load_dataset
for config in ("filtered", "songs"):
    print({{split: rows.num_rows for split, rows in load_dataset("{name}", config).items()}})
"""


def push(hub, folder, name, *options, **environment):
    arguments = [
        "-m",
        "lyricsim_dataset.cli",
        "push",
        f"{hub.user}/{name}",
        "--folder",
        str(folder),
        *options,
    ]
    return hub.run(arguments, **environment)


@pytest.mark.slow
def test_a_pushed_folder_is_private_and_loads_from_the_hub(hub, sample_folder):
    done = push(hub, sample_folder, "lyricsim-sample")
    assert done.returncode == 0, done.stderr
    assert "private" in done.stdout
    assert hub.token not in done.stdout + done.stderr
    assert hub.server.store.repositories["dataset", f"{hub.user}/lyricsim-sample"].private
    files = hub.server.store.files("dataset", f"{hub.user}/lyricsim-sample", "main")
    assert {"README.md", "croissant.json", "build.json", "filtered/test-00000-of-00001.parquet"} <= set(files)
    assert not any(name.endswith((".py", ".lock", ".lyricsim-files.json")) for name in files)
    loaded = hub.python(LOAD.format(name=f"{hub.user}/lyricsim-sample"), cache="another")
    assert loaded.splitlines() == ["{'train': 162, 'validation': 10, 'test': 20}", "{'train': 24}"]


def test_the_published_card_names_the_repository_and_the_folders_own_is_left_alone(hub, own_sample):
    change(own_sample / "README.md", lambda text: text + "\nMine.\n")
    local = (own_sample / "README.md").read_text("utf-8")
    done = push(hub, own_sample, "my-sample")
    assert done.returncode == 0, done.stderr
    card = hub.server.store.files("dataset", f"{hub.user}/my-sample", "main")["README.md"].decode()
    assert f'load_dataset("{hub.user}/my-sample", "filtered")' in card
    assert "Mine." in card
    for wrong in ("<owner>", '"lyricsim-sample"', "this folder"):
        assert wrong not in card
    assert (own_sample / "README.md").read_text("utf-8") == local


def test_a_card_without_the_block_that_would_name_the_repository_does_not_go_out(sent, own_sample, capsys):
    change(own_sample / "README.md", lambda text: text.replace("lyricsim:begin loading", "loading"))
    assert main(["push", "somebody/lyricsim-sample", "--folder", str(own_sample)]) == 2
    assert "build` again" in capsys.readouterr().err
    assert sent == []


@pytest.mark.slow
def test_public_and_revision_are_asked_for(hub, sample_folder):
    done = push(hub, sample_folder, "lyricsim-sample", "--public", "--revision", "next")
    assert done.returncode == 0, done.stderr
    assert "(next, public)" in done.stdout
    repository = hub.server.store.repositories["dataset", f"{hub.user}/lyricsim-sample"]
    assert not repository.private
    assert "README.md" in hub.server.store.files("dataset", f"{hub.user}/lyricsim-sample", "next")


def test_a_dry_run_sends_nothing(hub, sample_folder):
    done = push(hub, sample_folder, "lyricsim-sample", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "nothing was sent" in done.stdout
    assert "filtered/train-00000-of-00001.parquet" in done.stdout
    assert hub.server.log == []


@pytest.fixture
def sent(monkeypatch):
    """What this process would have handed to the Hub's client."""
    folders = []
    monkeypatch.setattr(publish, "push_folder", lambda folder, *_, **__: folders.append(folder))
    return folders


def test_the_sample_does_not_go_out_under_lyricsims_name(sent, sample_folder, capsys):
    assert main(["push", "somebody/lyricsim", "--folder", str(sample_folder)]) == 2
    assert "could be taken for LyricSIM's" in capsys.readouterr().err
    assert sent == []


def test_a_damaged_folder_does_not_go_out(sent, own_sample, capsys):
    (own_sample / "raw" / "test-00000-of-00001.parquet").write_bytes(b"damaged")
    assert main(["push", "somebody/lyricsim-sample", "--folder", str(own_sample)]) == 2
    assert "raw/test-00000-of-00001.parquet: changed" in capsys.readouterr().err
    assert sent == []


def test_without_login_the_message_says_how(hub, sample_folder):
    done = push(hub, sample_folder, "lyricsim-sample", HF_TOKEN="")
    assert done.returncode == 2
    assert "hf auth login" in done.stderr
    repeated = f"lyricsim-dataset push {hub.user}/lyricsim-sample --folder {sample_folder} --message"
    assert repeated in done.stderr


@pytest.mark.slow
def test_a_second_push_after_a_change_is_what_load_dataset_then_sees(hub, tree, tmp_path):
    options = BuildOptions(source=tree, allow_modified=True)
    folder, name = tmp_path / "lyricsim", f"{hub.user}/lyricsim"
    code = f"""
from datasets import load_dataset
print(sum(sum(three) for rows in load_dataset("{name}", "raw").values() for three in rows["ratings"]))
"""
    seen = []
    for _ in range(2):
        build(options, folder)
        done = push(hub, folder, "lyricsim")
        assert done.returncode == 0, done.stderr
        seen.append(json.loads(hub.python(code)))
        change(tree / "data/raw/annotation_results.csv", lambda text: text.replace(",5, ", ",4, ", 1))
    assert seen[1] == seen[0] - 1
