import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from tiny_families import FAMILIES, corpus
from training_support import Family

from lyricsim_models.config import LineBreaks, Recipe
from lyricsim_models.encoders import Loaded, load, position_limits
from lyricsim_models.pairs import collate, concatenate
from lyricsim_models.registry import resolve
from lyricsim_models.tokenizers import LINE_BREAK_TOKEN, load_tokenizer, usable_length
from lyricsim_tools.errors import UserError

LONG = " ".join(["amor"] * 300) + "\n" + " ".join(["noche"] * 300)


def loaded(family: Family, name: str, **recipe: object) -> Loaded:
    return load(resolve(str(family(name))), Recipe(**recipe), seed=1)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("asked", "tokenizer", "positions", "offset", "expected"),
    [
        (512, 10**30, 514, 2, 512),
        (600, 10**30, 514, 2, 512),
        (128, 512, 514, 2, 128),
        (512, 384, 514, 2, 384),
        (4096, 8192, 8192, 0, 4096),
        (512, 512, None, 0, 512),
    ],
)
def test_usable_length_is_what_all_sides_accept(
    asked: int, tokenizer: int, positions: int | None, offset: int, expected: int
) -> None:
    assert usable_length(asked, tokenizer, positions, offset) == expected


@pytest.mark.parametrize(
    ("name", "limits"),
    [
        ("bert", (512, 0)),
        ("roberta", (514, 2)),
        ("xlm-roberta", (514, 2)),
        ("deberta-v2", (512, 0)),
        ("modernbert", (1024, 0)),
    ],
)
def test_the_unused_first_positions_of_each_family_are_known(
    family: Family, name: str, limits: tuple[int, int]
) -> None:
    assert position_limits(loaded(family, name).scorer.encoder) == limits


@pytest.mark.parametrize(("kind", "usable"), [("ibert", 32), ("nystromformer", 34), ("longformer", 32)])
def test_families_with_position_tables_of_their_own_take_as_much_as_is_said(kind: str, usable: int) -> None:
    import torch
    from transformers import AutoConfig, AutoModel

    sizes = {"vocab_size": 60, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    extra = {"attention_window": [4]} if kind == "longformer" else {}
    config = AutoConfig.for_model(
        kind, **sizes, **extra, intermediate_size=16, max_position_embeddings=34, pad_token_id=1
    )
    encoder = AutoModel.from_config(config).eval()
    rows, unused = position_limits(encoder)
    assert rows - unused == usable
    with torch.no_grad():
        encoder(input_ids=torch.full((1, usable), 5), attention_mask=torch.ones(1, usable, dtype=torch.long))


@pytest.mark.parametrize("architecture", ["cross-encoder", "bi-encoder"])
@pytest.mark.parametrize("name", FAMILIES)
def test_a_pair_of_600_words_passes_through_every_family(
    family: Family, name: str, architecture: str
) -> None:
    import torch

    model = loaded(family, name, architecture=architecture, max_length=1024)
    rows = model.tokenize([LONG, "amor"], ["noche", LONG])
    assert rows.truncated.tolist() == [name != "modernbert" or architecture == "x"] * 2
    assert rows.lengths.max() <= model.max_length
    with torch.no_grad():
        scores = model.scorer.eval()(**collate(rows, np.array([0, 1]), model.pad_id))
    assert scores.shape == (2,)
    assert torch.isfinite(scores).all()


@pytest.mark.parametrize("architecture", ["cross-encoder", "bi-encoder"])
@pytest.mark.parametrize("name", FAMILIES)
def test_a_batch_of_one_row_keeps_its_axis_and_its_score(
    family: Family, name: str, architecture: str
) -> None:
    import torch

    model = loaded(family, name, architecture=architecture)
    model.scorer.eval()
    rows = model.tokenize(["amor noche", "luna mar cielo", "sol"], ["beso", "río", "voz canto alma"])
    with torch.no_grad():
        together = model.scorer(**collate(rows, np.arange(3), model.pad_id))
        alone = [model.scorer(**collate(rows, np.array([i]), model.pad_id)) for i in range(3)]
    assert [score.shape for score in alone] == [(1,)] * 3
    assert torch.cat(alone) == pytest.approx(together, abs=1e-5)


def test_segment_ids_reach_bert_and_spare_models_with_one_segment(family: Family) -> None:
    bert = loaded(family, "bert").tokenize(["amor"], ["noche luna"]).sides[0]
    assert bert["token_type_ids"][0].tolist()[-1] == 1
    for name in ("roberta", "xlm-roberta", "deberta-v2", "modernbert"):
        assert "token_type_ids" not in loaded(family, name).tokenize(["amor"], ["noche"]).sides[0]


def test_the_longer_lyric_of_a_pair_loses_tokens_and_the_pair_is_counted(family: Family) -> None:
    model = loaded(family, "bert", max_length=16)
    rows = model.tokenize(["amor noche", "sol"], [LONG, "mar"])
    assert rows.truncated.tolist() == [True, False]
    assert rows.lengths.tolist()[0] == 16
    kept = model.tokenizer.convert_ids_to_tokens(rows.sides[0]["input_ids"][0].tolist())
    assert kept[1:3] == ["amor", "noche"]


@pytest.mark.parametrize(
    ("name", "architecture", "prompt", "least"),
    [
        ("bert", "cross-encoder", None, 5),
        ("roberta", "cross-encoder", None, 6),
        ("bert", "bi-encoder", None, 3),
        ("bert", "bi-encoder", "amor noche ", 5),
    ],
)
def test_a_length_that_leaves_no_token_of_a_lyric_is_refused(
    family: Family, name: str, architecture: str, prompt: str | None, least: int
) -> None:
    for length in range(1, least):
        with pytest.raises(UserError, match=f"sequences of at most {length} tokens") as caught:
            loaded(family, name, architecture=architecture, prompt=prompt, max_length=length)
        assert f"at least {least}" in caught.value.expected
    model = loaded(family, name, architecture=architecture, prompt=prompt, max_length=least)
    rows = model.tokenize([LONG], [LONG])
    amor = model.tokenizer("amor", add_special_tokens=False)["input_ids"][0]
    assert rows.lengths.tolist() == [least]
    assert all(side["input_ids"][0].tolist().count(amor) >= 1 for side in rows.sides)


@pytest.mark.parametrize("architecture", ["cross-encoder", "bi-encoder"])
def test_a_tokenizer_that_cannot_pad_is_refused(family: Family, tmp_path: Path, architecture: str) -> None:
    folder = shutil.copytree(family("modernbert"), tmp_path / "model")
    path = folder / "tokenizer_config.json"
    settings = {k: v for k, v in json.loads(path.read_text()).items() if k != "pad_token"}
    path.write_text(json.dumps(settings))
    with pytest.raises(UserError, match="has no padding token"):
        load(resolve(str(folder)), Recipe(architecture=architecture), seed=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("architecture", ["cross-encoder", "bi-encoder"])
@pytest.mark.parametrize("size", [4, 1000])
def test_weights_that_were_cut_off_are_refused(
    family: Family, tmp_path: Path, architecture: str, size: int
) -> None:
    folder = shutil.copytree(family("bert"), tmp_path / "model")
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(UserError, match="cannot be loaded"):
        load(resolve(str(folder)), Recipe(architecture=architecture), seed=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", FAMILIES)
def test_line_breaks_are_kept_shown_or_made_spaces(family: Family, name: str) -> None:
    verses, prose = "amor noche\n\nluna", "amor noche luna"
    ids = {
        choice: [
            loaded(family, name, line_breaks=choice)
            .tokenize([text], ["mar"])
            .sides[0]["input_ids"][0]
            .tolist()
            for text in (verses, prose)
        ]
        for choice in ("keep", "token", "space")
    }
    assert ids["space"][0] == ids["space"][1]
    marker = max(ids["token"][0])
    assert ids["token"][0].count(marker) == 2
    assert [i for i in ids["token"][0] if i != marker] == ids["token"][1]
    sees_verses = name in ("roberta", "modernbert")
    assert (ids["keep"][0] != ids["keep"][1]) is sees_verses


def test_spanish_letters_and_marks_have_stable_tokens(family: Family) -> None:
    text = "¿Ñandú? ¡corazón! … ♪"
    model = loaded(family, "roberta")
    ids = model.tokenize([text], ["amor"]).sides[0]["input_ids"][0].tolist()
    assert text in model.tokenizer.decode(ids)


@pytest.fixture(scope="module")
def unconverted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A DeBERTa folder as it is published: a SentencePiece model with bytes and nothing made from it."""
    import sentencepiece

    folder = tmp_path_factory.mktemp("deberta")
    (folder / "config.json").write_text('{"model_type": "deberta-v2"}')
    special = {"pad": "[PAD]", "bos": "[CLS]", "eos": "[SEP]", "unk": "[UNK]"}
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter("\n".join(corpus()).split("\n")),
        model_prefix=str(folder / "spm"),
        vocab_size=300,
        byte_fallback=True,
        user_defined_symbols=["[MASK]"],
        minloglevel=2,
        **{f"{name}_piece": piece for name, piece in special.items()},
        **{f"{name}_id": place for place, name in enumerate(special)},
    )
    return folder


@pytest.mark.parametrize("text", ["¿amor? ¡♪!", "日本 amor", "🎵🎶 canción\n☕", "noche  luna", "Ñandú"])
def test_what_a_sentencepiece_vocabulary_lacks_is_spelt_in_bytes(
    unconverted: Path, tmp_path: Path, text: str
) -> None:
    from sentencepiece import SentencePieceProcessor
    from transformers import AutoTokenizer

    pieces = SentencePieceProcessor(model_file=str(unconverted / "spm.model"))
    tokenizer = load_tokenizer(resolve(str(unconverted)))
    ids = tokenizer(text)["input_ids"]
    assert ids == [tokenizer.cls_token_id, *pieces.encode(text), tokenizer.sep_token_id]
    assert tokenizer.unk_token_id not in ids
    assert tokenizer.decode(ids, skip_special_tokens=True).split() == text.split()
    tokenizer.save_pretrained(tmp_path)
    shutil.copy(unconverted / "config.json", tmp_path)
    assert AutoTokenizer.from_pretrained(tmp_path)(text)["input_ids"] == ids
    assert load_tokenizer(resolve(str(tmp_path)))(text)["input_ids"] == ids


@pytest.mark.parametrize(("choice", "marks"), [("token", 2), ("space", 0)])
def test_bytes_and_the_rule_for_line_breaks_go_together(
    unconverted: Path, choice: LineBreaks, marks: int
) -> None:
    tokenizer = load_tokenizer(resolve(str(unconverted)), choice)
    ids = tokenizer("amor ♪\n\n¿mar")["input_ids"]
    assert tokenizer.unk_token_id not in ids
    assert tokenizer.convert_ids_to_tokens(ids).count(LINE_BREAK_TOKEN) == marks


def test_a_tokenizer_that_was_converted_without_bytes_stays_as_its_model_learned_it(
    unconverted: Path, tmp_path: Path
) -> None:
    from transformers import AutoTokenizer

    converted = AutoTokenizer.from_pretrained(unconverted)
    converted.save_pretrained(tmp_path)
    shutil.copy(unconverted / "config.json", tmp_path)
    ids = load_tokenizer(resolve(str(tmp_path)))("¿mar")["input_ids"]
    assert ids == converted("¿mar")["input_ids"]
    assert converted.unk_token_id in ids


def test_both_orders_can_be_put_into_one_table(family: Family) -> None:
    model = loaded(family, "bert")
    forward, backward = model.tokenize(["amor"], ["mar sol"]), model.tokenize(["mar sol"], ["amor"])
    both = concatenate([forward, backward])
    assert len(both) == 2
    assert both.sides[0]["input_ids"][1].tolist() == backward.sides[0]["input_ids"][0].tolist()


def test_padding_stops_at_the_models_limit(family: Family) -> None:
    model = loaded(family, "bert")
    rows = model.tokenize(["amor"], ["mar"])
    assert collate(rows, np.array([0]), model.pad_id, 8)["input_ids"].shape == (1, 8)
    assert collate(rows, np.array([0]), model.pad_id, 128, 100)["input_ids"].shape == (1, 100)
