"""Sentence encoders, usable by name on the command line or as the engines' ``batcher``."""

from spanish_sentence_eval.encoders.base import Encoder, EncoderOptions, Identity, as_batcher
from spanish_sentence_eval.encoders.registry import SHORT_NAMES, ShortName, build_encoder

__all__ = ["SHORT_NAMES", "Encoder", "EncoderOptions", "Identity", "ShortName", "as_batcher", "build_encoder"]
