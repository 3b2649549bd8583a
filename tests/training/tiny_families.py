"""Tiny random models of each family, with tokenizers trained on synthetic verses, and synthetic pairs."""

import csv
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

WORDS = """
amor noche luna corazón mar cielo fuego sueño camino río viento sol beso dolor vida muerte mano ojos
voz canto ñandú tierra ciudad lluvia piel café canción recuerdo olvido alma silencio puerta ventana
""".split()  # noqa: SIM905
SIZES: dict[str, Any] = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
}
FAMILIES = ("bert", "roberta", "xlm-roberta", "deberta-v2", "modernbert")
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]


def verse(generator: random.Random, lines: int, words: int = 4) -> str:
    return "\n".join(" ".join(generator.choice(WORDS) for _ in range(words)) for _ in range(lines))


def corpus() -> list[str]:
    generator = random.Random(7)
    return [verse(generator, 4) for _ in range(60)] + [" ".join(WORDS)]


def write_pairs(path: Path, sizes: dict[str, int], seed: int = 0, lines: tuple[int, int] = (1, 4)) -> Path:
    """A CSV of pairs whose score follows from shared words, so that a tiny model can learn a little."""
    generator = random.Random(seed)
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["pair_id", "song_id_1", "song_id_2", "lyrics_1", "lyrics_2", "score", "split"])
        for split, size in sizes.items():
            for row in range(size):
                first = verse(generator, generator.randint(*lines))
                second = verse(generator, generator.randint(*lines))
                shared = len({*first.split()} & {*second.split()})
                ids = f"{split}{row}a", f"{split}{row}b"
                writer.writerow([f"{split}-{row}", *ids, first, second, min(5, shared / 2), split])
    return path


def write_family(folder: Path, family: str, **changes: Any) -> Path:
    """A loadable encoder of a family; ``changes`` go into its configuration."""
    import torch

    tokenizer, build = _BUILDERS[family]()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        model = build(tokenizer, changes)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _bert() -> tuple[Any, Callable[[Any, dict[str, Any]], Any]]:
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel, BertTokenizer

    learner = BertWordPieceTokenizer(lowercase=False, strip_accents=False)
    learner.train_from_iterator(corpus(), vocab_size=200, min_frequency=1, show_progress=False)
    tokenizer = BertTokenizer(vocab=learner.get_vocab(), do_lower_case=False, strip_accents=False)

    def build(tokenizer: Any, changes: dict[str, Any]) -> Any:
        return BertModel(BertConfig(**{**SIZES, "vocab_size": len(tokenizer), **changes}))

    return tokenizer, build


def _byte_pairs() -> tuple[dict[str, int], list[tuple[str, str]]]:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    learner = Tokenizer(models.BPE())
    learner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    learner.train_from_iterator(corpus(), trainer)
    model = json.loads(learner.to_str())["model"]
    return model["vocab"], [tuple(merge) for merge in model["merges"]]


def _pieces() -> list[tuple[str, float]]:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    learner = Tokenizer(models.Unigram())
    learner.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=200, special_tokens=SPECIAL, unk_token="<unk>", show_progress=False
    )
    learner.train_from_iterator(corpus(), trainer)
    return [tuple(piece) for piece in json.loads(learner.to_str())["model"]["vocab"]]


def _roberta() -> tuple[Any, Callable[[Any, dict[str, Any]], Any]]:
    from transformers import RobertaConfig, RobertaModel, RobertaTokenizer

    vocabulary, merges = _byte_pairs()
    tokenizer = RobertaTokenizer(vocab=vocabulary, merges=merges)

    def build(tokenizer: Any, changes: dict[str, Any]) -> Any:
        # As in the published RoBERTa models: 514 positions hold 512 tokens, one segment.
        fixed = {"vocab_size": len(tokenizer), "max_position_embeddings": 514, "type_vocab_size": 1}
        return RobertaModel(RobertaConfig(**{**SIZES, **fixed, "pad_token_id": 1, **changes}))

    return tokenizer, build


def _xlm_roberta() -> tuple[Any, Callable[[Any, dict[str, Any]], Any]]:
    from transformers import XLMRobertaConfig, XLMRobertaModel, XLMRobertaTokenizer

    order = ["<s>", "<pad>", "</s>", "<unk>"]
    pieces = [(p, 0.0) for p in order] + [p for p in _pieces() if p[0] not in SPECIAL] + [("<mask>", 0.0)]
    tokenizer = XLMRobertaTokenizer(vocab=pieces, model_max_length=512)

    def build(tokenizer: Any, changes: dict[str, Any]) -> Any:
        fixed = {"vocab_size": len(tokenizer), "max_position_embeddings": 514, "type_vocab_size": 1}
        return XLMRobertaModel(XLMRobertaConfig(**{**SIZES, **fixed, "pad_token_id": 1, **changes}))

    return tokenizer, build


def _deberta() -> tuple[Any, Callable[[Any, dict[str, Any]], Any]]:
    from transformers import DebertaV2Config, DebertaV2Model, DebertaV2Tokenizer

    special = ["[PAD]", "[CLS]", "[SEP]", "[UNK]"]
    pieces = [(p, 0.0) for p in special] + [p for p in _pieces() if p[0] not in SPECIAL] + [("[MASK]", 0.0)]
    tokenizer = DebertaV2Tokenizer(vocab=pieces)

    def build(tokenizer: Any, changes: dict[str, Any]) -> Any:
        fixed = {
            "vocab_size": len(tokenizer),
            "relative_attention": True,
            "position_biased_input": False,
            "pos_att_type": ["p2c", "c2p"],
            "share_att_key": True,
            "norm_rel_ebd": "layer_norm",
            "position_buckets": 32,
            "max_relative_positions": -1,
            "type_vocab_size": 0,
            "pad_token_id": 0,
        }
        return DebertaV2Model(DebertaV2Config(**{**SIZES, **fixed, **changes}))

    return tokenizer, build


def _modernbert() -> tuple[Any, Callable[[Any, dict[str, Any]], Any]]:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import ModernBertConfig, ModernBertModel, PreTrainedTokenizerFast

    vocabulary, merges = _byte_pairs()
    backend = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    ends = [("<s>", vocabulary["<s>"]), ("</s>", vocabulary["</s>"])]
    backend.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> $B </s>", special_tokens=ends
    )
    names = {"cls_token": "<s>", "pad_token": "<pad>", "sep_token": "</s>", "unk_token": "<unk>"}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, mask_token="<mask>", **names)

    def build(tokenizer: Any, changes: dict[str, Any]) -> Any:
        import torch

        ids = {f"{name}_token_id": 0 for name in ("cls", "bos")} | {"eos_token_id": 2, "sep_token_id": 2}
        fixed = {"vocab_size": len(tokenizer), "pad_token_id": 1, **ids, "max_position_embeddings": 1024}
        # Published ModernBERT checkpoints of this project's registry are stored in bfloat16.
        return ModernBertModel(ModernBertConfig(**{**SIZES, **fixed, **changes})).to(torch.bfloat16)

    return tokenizer, build


_BUILDERS = {
    "bert": _bert,
    "roberta": _roberta,
    "xlm-roberta": _xlm_roberta,
    "deberta-v2": _deberta,
    "modernbert": _modernbert,
}
