"""A transformer small enough for a demonstration: random weights, tokenizer trained in place."""

from collections.abc import Sequence
from pathlib import Path

from lyricsim_tools.files import set_usual_modes


def write_tiny_model(folder: Path, texts: Sequence[str], seed: int = 0) -> Path:
    """Write a loadable two-layer BERT encoder that has learned nothing.

    Args:
        folder: where the model and its tokenizer go.
        texts: what the WordPiece vocabulary (at most 1,000 pieces) is learned from.
        seed: of the random weights; the global generator is left as it was.

    Returns:
        ``folder``.
    """
    import torch
    from transformers import BertConfig, BertModel, BertTokenizer

    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = BertTokenizer(vocab=_learn_vocabulary(texts), do_lower_case=False, strip_accents=False)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        BertModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    set_usual_modes(folder)
    return folder


def _learn_vocabulary(texts: Sequence[str]) -> dict[str, int]:
    from tokenizers import BertWordPieceTokenizer

    learner = BertWordPieceTokenizer(lowercase=False, strip_accents=False)
    learner.train_from_iterator(texts, vocab_size=1000, min_frequency=1, show_progress=False)
    return learner.get_vocab()
