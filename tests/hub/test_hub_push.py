import json
import shlex

import pytest
from folders import CARD, PUBLISHED, model_folder, push, write_files
from runs import run_folder

from lyricsim_cards.model_card import write_model_card
from lyricsim_tools.errors import UserError
from lyricsim_tools.hub import push_folder, require_owner
from lyricsim_tools.hub_commit import RECORD_NAME


def published(hub, repo_type="model", name="m", revision="main"):
    files = hub.server.store.files(repo_type, f"{hub.user}/{name}", revision)
    return {k: v for k, v in files.items() if k not in (".gitattributes", RECORD_NAME)}


def commits(hub):
    repository = hub.server.store.repositories["model", f"{hub.user}/m"]
    return len(list(repository.history(repository.head)))


def test_a_model_is_published_privately_without_checkpoints_states_and_pickles(hub, tmp_path):
    done = push(hub, model_folder(tmp_path))
    assert done.returncode == 0, done.stderr
    assert set(published(hub)) == PUBLISHED
    assert hub.server.store.repositories["model", f"{hub.user}/m"].private
    assert "private" in done.stdout


def test_public_is_said_aloud(hub, tmp_path):
    folder = model_folder(tmp_path)
    push(hub, folder)
    assert push(hub, folder, "--public").returncode == 0
    assert not hub.server.store.repositories["model", f"{hub.user}/m"].private


def test_a_public_repository_is_not_written_without_saying_so(hub, tmp_path):
    folder = model_folder(tmp_path)
    push(hub, folder, "--public")
    (folder / "config.json").write_text('{"a": 1}')
    done = push(hub, folder)
    assert done.returncode == 2
    assert "is public" in done.stderr
    assert "--public" in done.stderr
    assert published(hub)["config.json"] == b"{}"


def test_a_dry_run_makes_no_request(hub, tmp_path):
    done = push(hub, model_folder(tmp_path), "--dry-run", "--json", HF_ENDPOINT="http://127.0.0.1:9")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert set(result["uploaded"]) == PUBLISHED
    assert result["dry_run"]
    assert hub.server.log == []


def test_a_revision_gets_a_branch_of_its_own(hub, tmp_path):
    folder = model_folder(tmp_path)
    push(hub, folder)
    (folder / "model.safetensors").write_bytes(b"other weights")
    assert push(hub, folder, "--revision", "song-disjoint").returncode == 0
    assert published(hub)["model.safetensors"] == b"weights"
    assert published(hub, revision="song-disjoint")["model.safetensors"] == b"other weights"


def test_pushing_again_sends_nothing(hub, tmp_path):
    folder = model_folder(tmp_path)
    push(hub, folder)
    before = commits(hub), len(hub.server.requests("PUT"))
    done = push(hub, folder)
    assert "already up to date" in done.stdout
    assert (commits(hub), len(hub.server.requests("PUT"))) == before
    assert len(hub.server.requests("POST", "/commit/")) == 1


def test_only_what_changed_is_sent_and_what_went_is_taken_out(hub, tmp_path):
    folder = model_folder(tmp_path)
    push(hub, folder)
    (folder / "config.json").write_text('{"a": 1}')
    (folder / "tokenizer.json").unlink()
    result = json.loads(push(hub, folder, "--json").stdout)
    assert set(result["uploaded"]) == {"config.json", RECORD_NAME}
    assert result["deleted"] == ["tokenizer.json"]
    assert set(published(hub)) == PUBLISHED - {"tokenizer.json"}
    assert len(hub.server.requests("PUT")) == 1


def test_a_file_that_went_from_the_folder_stays_if_somebody_edited_it(hub, tmp_path):
    folder = model_folder(tmp_path)
    push(hub, folder)
    hub.server.store.put("model", f"{hub.user}/m", {"tokenizer.json": b"edited by hand"})
    (folder / "tokenizer.json").unlink()
    assert push(hub, folder).returncode == 0
    assert published(hub)["tokenizer.json"] == b"edited by hand"


def test_hand_edits_outside_the_generated_blocks_survive_every_later_push(hub, tmp_path):
    folder = model_folder(tmp_path)
    push(hub, folder)
    edited = CARD.replace("## Notes\n", "## Notes\nWritten by hand.\n").replace("tags:", "title: Mine\ntags:")
    hub.server.store.put("model", f"{hub.user}/m", {"README.md": edited.encode()})
    for score in ("2", "3"):
        (folder / "README.md").write_text(CARD.replace("Score: 1", f"Score: {score}"))
        assert push(hub, folder).returncode == 0
        card = published(hub)["README.md"].decode()
        assert f"Score: {score}" in card
        assert "Score: 1" not in card
        assert "Written by hand." in card
        assert "title: Mine" in card
    assert "already up to date" in push(hub, folder).stdout


def test_an_unedited_card_is_replaced_whole(hub, tmp_path):
    folder = model_folder(tmp_path)
    push(hub, folder)
    (folder / "README.md").write_text(CARD.replace("# A model", "# Another title"))
    push(hub, folder)
    assert "# Another title" in published(hub)["README.md"].decode()


@pytest.mark.parametrize("edited", ["model.safetensors", "config.json"])
def test_files_that_others_edited_are_not_overwritten_unasked(hub, tmp_path, edited):
    folder = model_folder(tmp_path)
    push(hub, folder)
    hub.server.store.put("model", f"{hub.user}/m", {edited: b"edited by hand"})
    (folder / edited).write_bytes(b"new")
    done = push(hub, folder)
    assert done.returncode == 2
    assert f"already holds other content under these names: {edited}" in done.stderr
    assert published(hub)[edited] == b"edited by hand"
    assert push(hub, folder, "--overwrite").returncode == 0
    assert published(hub)[edited] == b"new"


def test_a_repository_with_other_content_is_left_alone_unless_told(hub, tmp_path):
    foreign = {"model.safetensors": b"precious", "README.md": b"# Theirs\n", "notes.txt": b"keep"}
    hub.server.store.put("model", f"{hub.user}/m", foreign)
    hub.server.store.repositories["model", f"{hub.user}/m"].private = True
    done = push(hub, model_folder(tmp_path))
    assert done.returncode == 2
    assert "model.safetensors" in done.stderr
    assert published(hub) == foreign
    command = shlex.split(done.stderr.strip().splitlines()[-1])
    assert command[0] == "lyricsim-push"
    assert push(hub, *command[1:2], *command[3:]).returncode == 0
    after = published(hub)
    assert after["model.safetensors"] == b"weights"
    assert after["notes.txt"] == b"keep"


def test_a_repository_whose_history_was_squashed_is_no_new_one(hub, tmp_path):
    hub.server.store.put("model", f"{hub.user}/m", {"model.safetensors": b"precious"})
    repository = hub.server.store.repositories["model", f"{hub.user}/m"]
    repository.private = True
    tree = repository.head.tree
    repository.branches.clear()
    repository.commit("main", tree, "Super-squash branch 'main'")
    assert commits(hub) == 1
    done = push(hub, model_folder(tmp_path))
    assert done.returncode == 2
    assert "model.safetensors" in done.stderr
    assert published(hub) == {"model.safetensors": b"precious"}


@pytest.mark.parametrize("kind", ["model", "space"])
def test_a_card_that_is_not_utf_8_is_explained(hub, tmp_path, kind):
    folder = write_files(model_folder(tmp_path), {"README.md": b"Canci\xf3n"})
    done = push(hub, folder, "--type", kind)
    assert done.returncode == 2
    assert "README.md is not UTF-8" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_run_is_published_with_a_card_that_loads_it_from_there(hub, tmp_path):
    folder = write_files(run_folder(tmp_path / "x"), {"model.safetensors": b"weights"})
    write_model_card(folder)
    before = (folder / "README.md").read_bytes()
    refused = push(hub, folder, "--revision", "b")
    assert refused.returncode == 2
    command = shlex.split(refused.stderr.strip().splitlines()[-1])
    assert command == ["lyricsim-cards", "publish", str(folder), f"{hub.user}/m", "--revision", "b"]
    assert hub.server.log == []
    publish = ["-m", "lyricsim_cards.cli", *command[1:]]
    dry = hub.run([*publish, "--dry-run"])
    assert "nothing was sent" in dry.stdout, dry.stderr
    assert ((folder / "README.md").read_bytes(), hub.server.log) == (before, [])
    done = hub.run(publish)
    assert done.returncode == 0, done.stderr
    card = published(hub, revision="b")["README.md"].decode()
    assert f'CrossEncoder("{hub.user}/m", revision="b")' in card
    assert f'model="{hub.user}/m", revision="b"' in card
    assert "already up to date" in push(hub, folder, "--revision", "b").stdout
    assert push(hub, folder).returncode == 2


def test_what_build_wrote_goes_by_its_own_push(hub, tmp_path):
    folder = write_files(tmp_path / "lyricsim", {"README.md": b"x", "build.json": b"{}"})
    refused = push(hub, folder, "--type", "dataset", "--public", "--revision", "b")
    assert refused.returncode == 2
    command = f"lyricsim-dataset push {hub.user}/m --folder {folder} --revision b --public"
    assert command in refused.stderr
    assert hub.server.log == []


def test_a_dataset_goes_without_scripts_and_a_space_with_them(hub, tmp_path):
    files = {"README.md": b"---\nsdk: gradio\n---\n", "lyricsim.py": b"x = 1", "data.parquet": b"PAR1"}
    folder = write_files(tmp_path / "d", files)
    assert push(hub, folder, "--type", "dataset").returncode == 0
    assert set(published(hub, "dataset")) == {"README.md", "data.parquet"}
    assert push(hub, folder, "--type", "space").returncode == 0
    assert published(hub, "space") == files


def test_a_space_says_its_sdk(hub, tmp_path):
    done = push(hub, write_files(tmp_path / "s", {"app.py": b""}), "--type", "space")
    assert done.returncode == 2
    assert "which SDK the Space uses" in done.stderr


@pytest.mark.parametrize("name", ["lyricsim", "a/b/c", "", "/x", "x/", "a b/c", "me/a--b", "me/-a", "../x"])
def test_an_id_without_an_owner_is_explained(name):
    with pytest.raises(UserError, match="owner/name"):
        require_owner(name)


def test_an_id_with_an_owner_is_accepted():
    assert require_owner("some-org/LyricSIM_1.0") == "some-org/LyricSIM_1.0"


def test_an_empty_folder_no_folder_and_a_model_without_weights_are_explained(tmp_path):
    for folder, reason in (
        (tmp_path / "none", "is not a folder"),
        (write_files(tmp_path / "e", {".hidden": b""}), "nothing to publish"),
        (write_files(tmp_path / "w", {"config.json": b"{}", "model.bin": b""}), "no .safetensors weights"),
    ):
        with pytest.raises(UserError, match=reason):
            push_folder(folder, "me/m", repo_type="model", message="m")


def test_importing_the_rule_loads_no_client(hub):
    loaded = hub.python("import lyricsim_tools.hub, sys; print('huggingface_hub' in sys.modules)")
    assert loaded == "False"
