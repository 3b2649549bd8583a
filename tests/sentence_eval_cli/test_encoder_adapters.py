"""Encoders by name: short names, sentence-transformers, sent2vec, ELMo, characters, devices."""

import json
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from huggingface_hub.constants import HF_HUB_CACHE
from tiny_encoders import save_bert

from lyricsim_tools.errors import UserError
from spanish_sentence_eval.encoders import SHORT_NAMES, EncoderOptions, build_encoder
from spanish_sentence_eval.encoders.devices import choose_device
from spanish_sentence_eval.encoders.registry import kind_of

SENTENCES = [["Hola", "Mundo"], ["ADIÓS"], []]


def test_the_source_documents_five_short_names_are_known():
    assert {name: model.hub_id for name, model in SHORT_NAMES.items()} == {
        "beto": "dccuchile/bert-base-spanish-wwm-uncased",
        "bertin": "bertin-project/bertin-roberta-base-spanish",
        "roberta": "BSC-LT/roberta-base-bne",
        "electra": "skimai/electra-small-spanish",
        "mbert": "google-bert/bert-base-multilingual-uncased",
    }
    assert "gone from the Hub" in SHORT_NAMES["roberta"].note


def test_the_kind_is_guessed_from_the_name(tmp_path):
    (tmp_path / "modules.json").write_text("[]")
    assert kind_of(str(tmp_path)) == "sentence-transformers"
    assert kind_of("sentence-transformers/LaBSE") == "sentence-transformers"
    assert kind_of("beto") == kind_of("owner/name") == "transformer"
    assert (kind_of("sent2vec"), kind_of("elmo"), kind_of("chars64")) == ("sent2vec", "elmo", "characters")


def test_an_unknown_kind_is_refused():
    with pytest.raises(UserError, match="one of transformer, sentence-transformers"):
        build_encoder("beto", kind="word2vec")


def cached_on_hub(repository, *, modules=None):
    """A tiny model in the local Hub cache, as a download would have left it; its commit."""
    root = Path(HF_HUB_CACHE) / f"models--{repository.replace('/', '--')}"
    commit = "0123456789abcdef0123456789abcdef01234567"
    snapshot = save_bert(root / "snapshots" / commit)
    (root / "refs").mkdir()
    (root / "refs" / "main").write_text(commit)
    for name, content in (modules or {}).items():
        (snapshot / name).parent.mkdir(exist_ok=True)
        (snapshot / name).write_text(json.dumps(content))
    return commit


def test_a_hub_model_states_the_commit_that_was_loaded():
    commit = cached_on_hub("made-up/tiny-bert")
    identity = build_encoder("made-up/tiny-bert").identity
    assert (identity.revision, identity.source) == (commit, "made-up/tiny-bert")


def test_a_sentence_transformers_model_from_the_hub_states_its_commit_and_fingerprint():
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    ]
    pooling = {"word_embedding_dimension": 16, "pooling_mode_mean_tokens": True}
    commit = cached_on_hub(
        "made-up/tiny-st", modules={"modules.json": modules, "1_Pooling/config.json": pooling}
    )
    first, second = (build_encoder("made-up/tiny-st", kind="sentence-transformers") for _ in range(2))
    assert first.identity.revision == commit
    assert first.identity == second.identity
    assert first.encode(SENTENCES).shape == (3, 16)


def test_characters_are_counted_by_code_point_modulo_64():
    vectors = build_encoder("chars64").encode([["ab", "a"], ["ñ"], []])
    assert vectors.dtype == np.float32
    assert vectors.shape == (3, 64)
    assert vectors[0, [33, 34, 32]].tolist() == [0.5, 0.25, 0.25]
    assert vectors[1, ord("ñ") % 64] == 1
    assert not vectors[2].any()


def test_sentence_transformers_put_the_prompt_before_every_sentence(e5_folder):
    plain = build_encoder(str(e5_folder))
    asked = build_encoder(str(e5_folder), EncoderOptions(prompt="query: "))
    expected = plain.encode([["query:", *tokens] for tokens in SENTENCES[:2]])
    np.testing.assert_allclose(asked.encode(SENTENCES[:2]), expected, atol=1e-6)
    assert plain.identity.kind == "sentence-transformers"
    assert plain.identity.key() != asked.identity.key()
    assert plain.identity.fingerprint == asked.identity.fingerprint


def test_sentence_transformers_agree_with_the_transformer_read_as_trained(e5_folder):
    pooled = build_encoder(str(e5_folder), EncoderOptions(prompt="query: ")).encode(SENTENCES)
    read = build_encoder(
        str(e5_folder), EncoderOptions(protocol="corrected", prompt="query: "), kind="transformer"
    ).encode(SENTENCES)
    read /= np.linalg.norm(read, axis=1, keepdims=True)
    np.testing.assert_allclose(pooled, read, atol=1e-5)


def test_layers_of_a_sentence_transformers_model_are_refused(e5_folder):
    with pytest.raises(UserError, match="declares its own pooling"):
        build_encoder(str(e5_folder), EncoderOptions(layer="avg"))


@pytest.mark.parametrize(
    ("name", "library", "kind"),
    [
        ("sent2vec", "sent2vec", "sent2vec"),
        ("elmo", "elmoformanylangs", "elmo"),
        ("owner/model", "sentence_transformers", "sentence-transformers"),
    ],
)
def test_a_missing_library_is_named_with_how_to_get_it(name, library, kind, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    path = str(tmp_path) if name != "owner/model" else None
    with pytest.raises(UserError, match=f"{library}' is not installed"):
        build_encoder(name, EncoderOptions(model_path=path), kind)


@pytest.mark.parametrize("name", ["sent2vec", "elmo"])
def test_models_without_a_hub_id_need_an_existing_path(name, tmp_path):
    with pytest.raises(UserError, match="without --model_path"):
        build_encoder(name)
    with pytest.raises(UserError, match="does not exist"):
        build_encoder(name, EncoderOptions(model_path=str(tmp_path / "nothing")))


def test_a_path_for_a_model_that_is_named_by_its_folder_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"--model_path .* for a transformer model"):
        build_encoder("beto", EncoderOptions(model_path=str(tmp_path)))


@pytest.mark.parametrize("name", ["chars64", "sent2vec", "elmo"])
@pytest.mark.parametrize(
    "unread",
    [
        {"layer": "avg"},
        {"pooling": "cls"},
        {"prompt": "query: "},
        {"precision": "bfloat16"},
        {"revision": "main"},
    ],
)
def test_an_option_that_a_kind_does_not_read_is_refused(name, unread, tmp_path):
    path = None if name == "chars64" else str(tmp_path)
    [option] = unread
    with pytest.raises(UserError, match=f"--{option} .* for a .* model"):
        build_encoder(name, EncoderOptions(model_path=path, **unread))


def test_sent2vec_gets_lower_cased_text_and_a_full_stop_for_nothing(tmp_path, monkeypatch):
    class Model:
        def load_model(self, path):
            self.path = path

        def embed_sentences(self, texts):
            assert texts == ["hola mundo", "adiós", "."]
            return np.ones((3, 5))

    monkeypatch.setitem(sys.modules, "sent2vec", types.SimpleNamespace(Sent2vecModel=Model))
    (tmp_path / "model.bin").write_bytes(b"weights")
    encoder = build_encoder("sent2vec", EncoderOptions(model_path=str(tmp_path / "model.bin")))
    vectors = encoder.encode(SENTENCES)
    assert vectors.shape == (3, 5)
    assert vectors.dtype == np.float32


def test_elmo_averages_the_tokens_of_lower_cased_sentences(tmp_path, monkeypatch):
    class Embedder:
        def __init__(self, path):
            self.path = path

        def sents2elmo(self, sentences):
            assert sentences == [["hola", "mundo"], ["adiós"], ["."]]
            return [np.arange(2 * len(tokens), dtype=float).reshape(-1, 2) for tokens in sentences]

    monkeypatch.setitem(sys.modules, "elmoformanylangs", types.SimpleNamespace(Embedder=Embedder))
    (tmp_path / "config.json").write_text("{}")
    encoder = build_encoder("elmo", EncoderOptions(model_path=str(tmp_path)))
    assert encoder.encode(SENTENCES).tolist() == [[1.0, 2.0], [0.0, 1.0], [0.0, 1.0]]


def test_a_device_that_is_not_there_is_refused_and_auto_finds_one():
    assert choose_device("cpu") == "cpu"
    assert choose_device() in ("cpu", "mps", "cuda")
    with pytest.raises(UserError, match="on this machine"):
        choose_device("cuda:99")


def test_auto_prefers_cuda_then_mps(monkeypatch):
    import torch

    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert choose_device() == "mps"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert choose_device() == "cuda"
    assert choose_device("cuda:1") == "cuda:1"


def test_naming_encoders_imports_no_model_library():
    code = (
        "import sys, spanish_sentence_eval.encoders, spanish_sentence_eval.cli_options\n"
        "print({'torch', 'transformers', 'sentence_transformers', 'sent2vec'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"
