"""The code that a model's card shows: short, and run by the checker as it stands."""

from lyricsim_cards.text import short
from lyricsim_models.registry import ModelEntry

# Written for this project.
_LYRICS = """first = "Cruzo la noche buscando tu puerta,\\nllevo tu nombre en la voz."
second = "Vuelvo a tu calle de madrugada,\\ncanto tu nombre otra vez."
"""
_CROSS_ENCODER = """```python
from sentence_transformers import CrossEncoder

{lyrics}
model = CrossEncoder({place})
print(model.predict([(first, second)]))  # one score a pair on the scale of 0 to 5, not clipped to it
```

or in transformers alone:

```python
from transformers import pipeline

{lyrics}
scorer = pipeline("text-classification", model={place}, function_to_apply="none")
print(scorer({{"text": first, "text_pair": second}})["score"])
```"""
_BI_ENCODER = """```python
from sentence_transformers import SentenceTransformer

{lyrics}
model = SentenceTransformer({place})
cosine = model.similarity(*model.encode([first, second]))
print({slope} * cosine + {intercept})  # the line that training fitted, from cosine to 0 to 5
```

A catalogue is embedded once with `model.encode` and then searched by cosine."""


def cross_encoder_snippet(reference: str, revision: str | None = None) -> str:
    """How to score a pair with a cross-encoder; ``reference`` is a Hub id or a folder."""
    return _CROSS_ENCODER.format(lyrics=_LYRICS, place=_place(reference, revision))


def bi_encoder_snippet(reference: str, slope: float, intercept: float, revision: str | None = None) -> str:
    """How to score a pair with a bi-encoder, whose line from cosine to score is given."""
    place = _place(reference, revision)
    return _BI_ENCODER.format(lyrics=_LYRICS, place=place, slope=f"{slope:.6g}", intercept=f"{intercept:.6g}")


def _place(reference: str, revision: str | None) -> str:
    return f'"{reference}"' + (f', revision="{revision}"' if revision else "")


def training_command(entry: ModelEntry) -> str:
    """The command that trains one of the paper's models by its best point."""
    if entry.paper is None:
        raise ValueError(f"{entry.name} is no model of the paper")
    best = entry.paper.best
    return (
        f"accelerate launch training/finetune.py --model {entry.name} --dataset lyricsim \\\n"
        f"    --config filtered --output {trained_folder(entry)} --global-batch-size {best.batch_size} "
        f"--weight-decay {best.weight_decay} --learning-rate {short(best.learning_rate)}"
    )


def trained_folder(entry: ModelEntry) -> str:
    """Where a prepared card's command leaves the model."""
    return f"runs/{entry.name}"
