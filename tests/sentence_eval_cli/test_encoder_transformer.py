"""Transformers are read as the literature did, or as they were trained to be read."""

import shutil

import numpy as np
import pytest
import torch
import transformers as hf
from tiny_encoders import (
    SENTENCES,
    save_bert,
    save_electra,
    save_gpt2,
    save_like_roberta,
    save_roberta,
    save_t5,
)

from lyricsim_tools.errors import UserError
from spanish_sentence_eval.encoders import EncoderOptions, as_batcher, build_encoder


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return save_bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="module")
def roberta(tmp_path_factory):
    return save_roberta(tmp_path_factory.mktemp("roberta"))


@pytest.fixture(scope="module")
def electra(tmp_path_factory):
    return save_electra(tmp_path_factory.mktemp("electra"))


def hidden_states(folder, ids, mask=None):
    """One sequence at a time, straight through the library."""
    model = hf.AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
    with torch.no_grad():
        return model(torch.tensor([ids]), attention_mask=mask, output_hidden_states=True)


def literature_ids(folder, tokens, first="[CLS]", last="[SEP]", cut=512):
    tokenizer = hf.AutoTokenizer.from_pretrained(folder)
    text = " ".join(token.lower() for token in tokens) or "."
    return tokenizer.convert_tokens_to_ids([first, *tokenizer.tokenize(text), last])[:cut]


def encode(folder, sentences=SENTENCES, **options):
    return build_encoder(str(folder), EncoderOptions(**options)).encode(sentences)


def test_compatible_avg_is_the_mean_of_the_first_token_over_all_layers(bert):
    vectors = encode(bert)
    for tokens, vector in zip(SENTENCES, vectors, strict=True):
        states = hidden_states(bert, literature_ids(bert, tokens)).hidden_states
        assert len(states) == 4
        expected = torch.stack([state[0, 0] for state in states]).mean(0).numpy()
        np.testing.assert_allclose(vector, expected, atol=1e-5)
    assert vectors.dtype == np.float32


@pytest.mark.parametrize("layer", [0, 2, 3])
def test_compatible_layer_number_is_the_first_token_of_that_hidden_state(bert, layer):
    states = hidden_states(bert, literature_ids(bert, SENTENCES[0])).hidden_states
    np.testing.assert_allclose(encode(bert, layer=str(layer))[0], states[layer][0, 0].numpy(), atol=1e-5)


def test_compatible_pooler_is_the_models_pooled_output(bert):
    output = hidden_states(bert, literature_ids(bert, SENTENCES[1])).pooler_output
    np.testing.assert_allclose(encode(bert, layer="pooler")[1], output[0].numpy(), atol=1e-5)


def test_compatible_roberta_gets_the_unknown_token_for_the_literal_strings(roberta):
    ids = literature_ids(roberta, SENTENCES[0])
    assert ids[0] == ids[-1] == 3
    states = hidden_states(roberta, ids).hidden_states
    np.testing.assert_allclose(encode(roberta, layer="3")[0], states[3][0, 0].numpy(), atol=1e-5)


def test_compatible_cuts_without_keeping_the_separator(tmp_path):
    folder = save_bert(tmp_path, positions=16)
    long = SENTENCES[-1]
    ids = literature_ids(folder, long, cut=16)
    assert ids[-1] != 3
    states = hidden_states(folder, ids).hidden_states
    np.testing.assert_allclose(encode(folder, [long], layer="3")[0], states[3][0, 0].numpy(), atol=1e-5)


# Of 34 positions: families that count from the padding id on lose its row and those before it.
USABLE = {
    "bert": ({}, 34),
    "roberta": ({}, 32),
    "longformer": ({"attention_window": 8}, 32),
    "data2vec-text": ({}, 32),
    "xmod": ({"languages": ("es_XX",), "default_language": "es_XX"}, 32),
    "ibert": ({}, 32),
    "nystromformer": ({"num_landmarks": 2, "segment_means_seq_len": 2}, 34),
}


@pytest.mark.parametrize("protocol", ["compatible", "corrected"])
@pytest.mark.parametrize("family", USABLE)
def test_a_sentence_longer_than_the_positions_is_cut_where_the_tokeniser_knows_no_limit(
    tmp_path, family, protocol
):
    own, usable = USABLE[family]
    folder = save_like_roberta(tmp_path, family, positions=34, **own)
    ids = literature_ids(folder, SENTENCES[-1], cut=usable)
    if protocol == "corrected":
        tokenizer = hf.AutoTokenizer.from_pretrained(folder)
        assert tokenizer.model_max_length > 10**20
        ids = tokenizer(" ".join(SENTENCES[-1]), truncation=True, max_length=usable)["input_ids"]
    expected = hidden_states(folder, ids).hidden_states[-1][0, 0].numpy()
    vectors = encode(folder, protocol=protocol, layer="last", pooling="cls")
    np.testing.assert_allclose(vectors[-1], expected, atol=1e-5)


def test_compatible_lower_cases_every_model(bert):
    upper = [[token.upper() for token in tokens] for tokens in SENTENCES[:4]]
    np.testing.assert_array_equal(encode(bert, upper), encode(bert, SENTENCES[:4]))


def test_corrected_default_is_the_mean_over_tokens_of_the_last_layer_with_case(bert):
    tokenizer = hf.AutoTokenizer.from_pretrained(bert)
    vectors = encode(bert, protocol="corrected")
    for tokens, vector in zip(SENTENCES, vectors, strict=True):
        ids = tokenizer(" ".join(tokens) or ".")["input_ids"]
        state = hidden_states(bert, ids).hidden_states[-1]
        np.testing.assert_allclose(vector, state[0].mean(0).numpy(), atol=1e-5)


def test_corrected_roberta_has_its_own_special_tokens_and_keeps_the_separator(roberta):
    tokenizer = hf.AutoTokenizer.from_pretrained(roberta)
    ids = tokenizer(" ".join(SENTENCES[-1]), truncation=True, max_length=64)["input_ids"]
    assert (ids[0], ids[-1], len(ids)) == (0, 2, 64)
    vectors = encode(roberta, protocol="corrected", pooling="cls", layer="1")
    expected = hidden_states(roberta, ids).hidden_states[1][0, 0]
    np.testing.assert_allclose(vectors[-1], expected.numpy(), atol=1e-5)


@pytest.mark.parametrize("protocol", ["compatible", "corrected"])
def test_a_sentence_has_the_same_vector_in_any_company(roberta, protocol):
    alone = np.concatenate([encode(roberta, [tokens], protocol=protocol) for tokens in SENTENCES])
    np.testing.assert_allclose(encode(roberta, protocol=protocol), alone, atol=1e-5)


def test_electra_hidden_states_work_and_its_pooler_is_refused(electra):
    assert encode(electra).shape == (len(SENTENCES), 16)
    with pytest.raises(UserError, match="no pooled output"):
        encode(electra, layer="pooler")


def test_a_pooler_that_the_checkpoint_lacks_is_refused_and_does_not_change_the_fingerprint(tmp_path):
    folder = save_bert(tmp_path, pooler=False)
    with pytest.raises(UserError, match="they would be random"):
        build_encoder(str(folder), EncoderOptions(layer="pooler"))
    first, second = (build_encoder(str(folder)).identity for _ in range(2))
    assert first == second


def test_fingerprint_follows_the_weights_and_not_the_place(tmp_path, bert):
    for name in ("same", "other"):
        shutil.copytree(bert, tmp_path / name)
    model = hf.AutoModel.from_pretrained(bert)
    model.embeddings.word_embeddings.weight.data[7, 7] += 1e-6
    model.save_pretrained(tmp_path / "other")
    here, same, other = (
        build_encoder(str(path)).identity for path in (bert, tmp_path / "same", tmp_path / "other")
    )
    assert same.key() == here.key()
    assert other.key() != here.key()


def test_fingerprint_is_the_same_after_encoding(bert):
    encoder = build_encoder(str(bert), EncoderOptions(protocol="corrected"))
    before = encoder.identity
    encoder.encode(SENTENCES)
    assert build_encoder(str(bert), EncoderOptions(protocol="corrected")).identity == before


@pytest.mark.parametrize(
    "other", [{"layer": "2"}, {"protocol": "corrected"}, {"prompt": "query: "}, {"precision": "bfloat16"}]
)
def test_every_option_that_changes_vectors_changes_the_key(bert, other):
    assert (
        build_encoder(str(bert), EncoderOptions(**other)).identity.key()
        != build_encoder(str(bert)).identity.key()
    )


def test_loading_and_encoding_leave_torchs_generator_alone(tmp_path):
    folder = save_bert(tmp_path, pooler=False)
    before = torch.get_rng_state()
    encode(folder)
    assert torch.equal(torch.get_rng_state(), before)


def test_bfloat16_is_close_to_float32(bert):
    difference = np.abs(encode(bert, precision="bfloat16") - encode(bert))
    assert 0 < difference.max() < 0.1


def test_batcher_form_gives_the_same_vectors(bert):
    batcher = as_batcher(build_encoder(str(bert)))
    np.testing.assert_array_equal(batcher(None, SENTENCES), encode(bert))


@pytest.mark.parametrize("layer", ["4", "-5", "top", "1.5", "--5", "²", "٣", ""])
def test_a_layer_that_does_not_exist_is_refused(bert, layer):
    with pytest.raises(UserError, match="from 0 \\(embeddings\\) to 3"):
        build_encoder(str(bert), EncoderOptions(layer=layer))


def test_token_means_are_refused_under_the_compatible_protocol(bert):
    with pytest.raises(UserError, match="always took the first token"):
        build_encoder(str(bert), EncoderOptions(pooling="mean"))


def test_a_pooling_beside_the_pooler_is_refused_under_the_corrected_protocol(bert):
    with pytest.raises(UserError, match="layer 'pooler' with pooling 'mean'"):
        build_encoder(str(bert), EncoderOptions(protocol="corrected", layer="pooler", pooling="mean"))
    identity = build_encoder(str(bert), EncoderOptions(protocol="corrected", layer="pooler")).identity
    assert (identity.settings["layer"], identity.settings["pooling"]) == ("pooler", "")


@pytest.mark.parametrize("protocol", ["compatible", "corrected"])
def test_an_encoder_decoder_is_refused_at_load(tmp_path, protocol):
    with pytest.raises(UserError, match="an encoder and a decoder"):
        build_encoder(str(save_t5(tmp_path)), EncoderOptions(protocol=protocol))


@pytest.mark.parametrize("kind", ["transformer", "sentence-transformers"])
def test_a_tokeniser_without_padding_pads_with_its_end_of_text(tmp_path, kind):
    encoder = build_encoder(str(save_gpt2(tmp_path)), EncoderOptions(protocol="corrected"), kind)
    alone = np.concatenate([encoder.encode([tokens]) for tokens in SENTENCES])
    np.testing.assert_allclose(encoder.encode(SENTENCES), alone, atol=1e-5)


@pytest.mark.parametrize("kind", ["transformer", "sentence-transformers"])
def test_a_tokeniser_with_neither_padding_nor_end_of_text_is_refused_at_load(tmp_path, kind):
    folder = save_gpt2(tmp_path, eos_token=None)
    with pytest.raises(UserError, match="no token for padding"):
        build_encoder(str(folder), EncoderOptions(protocol="corrected"), kind)


def test_a_folder_without_a_model_is_refused(tmp_path):
    with pytest.raises(UserError, match="cannot be loaded"):
        build_encoder(str(tmp_path), kind="transformer")


@pytest.mark.parametrize("kind", ["transformer", "sentence-transformers"])
def test_damaged_weights_are_refused(tmp_path, bert, kind):
    shutil.copytree(bert, tmp_path / "cut")
    weights = tmp_path / "cut" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(UserError, match="cannot be loaded"):
        build_encoder(str(tmp_path / "cut"), kind=kind)


def test_a_checkpoint_of_another_architecture_is_refused(tmp_path):
    save_bert(tmp_path)
    hf.BertConfig(
        vocab_size=200, hidden_size=16, num_hidden_layers=5, num_attention_heads=2, intermediate_size=32
    ).save_pretrained(tmp_path)
    with pytest.raises(UserError, match="lacks 32 weights"):
        build_encoder(str(tmp_path))
