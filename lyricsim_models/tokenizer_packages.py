"""Which packages a model's tokenizer needs besides transformers, and whether they are there."""

import importlib.util

from lyricsim_models.model_files import optional_file
from lyricsim_models.registry import IMPORT_NAMES, Model
from lyricsim_tools.errors import UserError

_SENTENCEPIECE_FILES = ("spm.model", "sentencepiece.bpe.model", "spiece.model", "tokenizer.model")


def needed_packages(model: Model) -> tuple[str, ...]:
    """What a model's record says; of an unknown one, what the files of its tokenizer say.

    A SentencePiece model without a ready-made ``tokenizer.json`` has to be converted first.
    """
    if model.entry is not None:
        return model.entry.packages
    if optional_file(model, "tokenizer.json") is not None:
        return ()
    converts = any(optional_file(model, name) is not None for name in _SENTENCEPIECE_FILES)
    return ("sentencepiece", "protobuf") if converts else ()


def require_packages(model: Model) -> None:
    """Refuse a model whose tokenizer cannot be loaded here, before transformers fails in other words.

    Raises:
        UserError: names the packages that are missing and how to install them.
    """
    needed = needed_packages(model)
    if missing := [name for name in needed if not _is_installed(name)]:
        raise UserError(
            f"the tokenizer of {model.reference} needs {' and '.join(missing)}, not installed here",
            f"the packages {' and '.join(needed)}",
            f"pip install {' '.join(missing)}",
        )


def _is_installed(distribution: str) -> bool:
    try:
        return importlib.util.find_spec(IMPORT_NAMES[distribution]) is not None
    except ModuleNotFoundError:
        return False
