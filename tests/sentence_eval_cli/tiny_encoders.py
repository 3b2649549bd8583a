"""Random transformers of a few thousand weights, with tokenisers trained on invented sentences."""

from pathlib import Path
from typing import Any

import torch
import transformers as hf
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

SENTENCES = [
    ["La", "lluvia", "cae", "sobre", "el", "tejado", "rojo"],
    ["Hoy", "compré", "tres", "manzanas", "y", "un", "melón"],
    ["¿", "Quién", "abrió", "la", "ventana", "del", "salón", "?"],
    ["Silencio"],
    [],
    ("una palabra tras otra " * 40).split(),
]
_TEXTS = [" ".join(tokens) for tokens in SENTENCES]
_SIZE = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 32}


def save_bert(folder: Path, positions: int = 512, pooler: bool = True) -> Path:
    """A BERT with WordPiece; special tokens [CLS], [SEP]; padding id 0."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    trainer = trainers.WordPieceTrainer(vocab_size=200, special_tokens=special)
    tokenizer = _trained(pieces, trainer, pre_tokenizers.Whitespace())
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    config = hf.BertConfig(vocab_size=200, max_position_embeddings=positions, **_SIZE)
    return _save(folder, tokenizer, names, positions, lambda: hf.BertModel(config, add_pooling_layer=pooler))


def save_roberta(folder: Path) -> Path:
    """A RoBERTa whose tokeniser has no "[CLS]"; padding id 1; 66 positions, of which 64 are usable."""
    return save_like_roberta(folder, "roberta", positions=66, limit=64)


def save_like_roberta(
    folder: Path, family: str, positions: int = 34, limit: int | None = None, **own: Any
) -> Path:
    """A model of another family with a RoBERTa's tokeniser, which may declare no limit; padding id 1."""
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trainer = trainers.WordPieceTrainer(vocab_size=200, special_tokens=special)
    pieces = Tokenizer(models.WordPiece(unk_token="<unk>"))
    tokenizer = _trained(pieces, trainer, pre_tokenizers.Whitespace())
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    names = {"pad_token": "<pad>", "unk_token": "<unk>", "cls_token": "<s>", "sep_token": "</s>"}
    sizes = {"vocab_size": 200, "max_position_embeddings": positions, "pad_token_id": 1, **_SIZE}
    config = hf.AutoConfig.for_model(family, **sizes, **own)
    return _save(folder, tokenizer, names, limit, lambda: hf.AutoModel.from_config(config))


def save_electra(folder: Path) -> Path:
    """An Electra: an architecture without pooled output, with narrower embeddings than hidden states."""
    save_bert(folder)
    config = hf.ElectraConfig(vocab_size=200, embedding_size=8, **_SIZE)
    _seeded(lambda: hf.ElectraModel(config)).save_pretrained(folder)
    return folder


def save_gpt2(folder: Path, **names: str | None) -> Path:
    """A GPT-2, whose tokeniser has one special token, the end of text, and none for padding."""
    end = "<|endoftext|>"
    trainer = trainers.WordPieceTrainer(vocab_size=200, special_tokens=[end])
    pieces = _trained(Tokenizer(models.WordPiece(unk_token=end)), trainer, pre_tokenizers.Whitespace())
    config = hf.GPT2Config(vocab_size=200, n_embd=16, n_layer=3, n_head=2, n_positions=64)
    return _save(
        folder, pieces, {"eos_token": end, "unk_token": end, **names}, 64, lambda: hf.GPT2Model(config)
    )


def save_t5(folder: Path) -> Path:
    """A T5: an encoder and a decoder."""
    save_bert(folder)
    config = hf.T5Config(vocab_size=200, d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2)
    _seeded(lambda: hf.T5Model(config)).save_pretrained(folder)
    return folder


def _trained(tokenizer: Tokenizer, trainer: Any, splitter: Any) -> Tokenizer:
    tokenizer.pre_tokenizer = splitter
    tokenizer.train_from_iterator([*_TEXTS, *(text.lower() for text in _TEXTS)], trainer)
    return tokenizer


def _save(folder: Path, tokenizer: Tokenizer, names: dict[str, str], limit: int | None, make: Any) -> Path:
    fast = hf.PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=limit, **names)
    fast.save_pretrained(folder)
    _seeded(make).save_pretrained(folder)
    return folder


def _seeded(make: Any) -> Any:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return make()
