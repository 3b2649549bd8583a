"""The dataset's records, its scale and its vocabularies: what every module of this room speaks of."""

from dataclasses import dataclass

RATING_MIN = 0
RATING_MAX = 5
SPLITS = ("train", "validation", "test")


@dataclass(frozen=True)
class ScaleStep:
    """One step of the raters' scale (paper, section 3.2), named as upstream does, explained in our words.

    Args:
        rating: the number a rater gave, ``RATING_MIN`` to ``RATING_MAX``.
        spanish: the step's name as the raters read it.
        english: the same name in English.
        meaning_spanish: what the step says about two lyrics.
        meaning_english: the same in English.
    """

    rating: int
    spanish: str
    english: str
    meaning_spanish: str
    meaning_english: str


SCALE = (
    ScaleStep(
        0,
        "Completamente diferente",
        "Completely different",
        "Las dos letras no tienen nada que ver.",
        "The two lyrics have nothing to do with each other.",
    ),
    ScaleStep(
        1,
        "Apenas existe similitud",
        "Barely any similarity",
        "Coinciden en rasgos menores que no cambian el sentido, como el registro o el entorno social.",
        "They share small traits that do not touch the meaning, such as register or social setting.",
    ),
    ScaleStep(
        2,
        "Poca similitud",
        "Little similarity",
        "Hablan de lo mismo al pie de la letra, pero ni el mensaje ni lo que se siente coincide.",
        "Their literal subject is related, yet neither message nor feeling is the same.",
    ),
    ScaleStep(
        3,
        "Similitud básica",
        "Basic similarity",
        "Se parecen en algo de fondo: el mensaje, lo que siente quien canta, la situación o lo contado.",
        "They agree in something that matters: message, the singer's feelings, situation or what is told.",
    ),
    ScaleStep(
        4,
        "Similitud notable / faltan detalles",
        "Notable similarity / missing details",
        "Dicen y sienten lo mismo, aunque la situación o lo narrado sea otro.",
        "They say and feel the same, though the situation or the story differs.",
    ),
    ScaleStep(
        5,
        "Similitud sobresaliente",
        "Outstanding similarity",
        "Coinciden mensaje, emoción, intención y situación; solo cambian las palabras o el género musical.",
        "Message, emotion, intent and situation agree; only the wording or the musical genre changes.",
    ),
)


@dataclass(frozen=True)
class Rating:
    """One judgement: one row of upstream's ``annotation_results.csv``.

    Args:
        annotator: the rater's id as upstream gives it (published renumbered only).
        song_id_1: the first song's id, in upstream's order.
        song_id_2: the second song's id, in upstream's order.
        rating: ``RATING_MIN`` to ``RATING_MAX``.
    """

    annotator: str
    song_id_1: str
    song_id_2: str
    rating: int

    @property
    def pair_id(self) -> str:
        """The pair's id: its two song ids in upstream's order."""
        return f"{self.song_id_1}_{self.song_id_2}"


@dataclass(frozen=True)
class Song:
    """One lyric, as published (proof-read by upstream) and as the raters read it.

    Args:
        song_id: upstream's id.
        artist: performer.
        title: track name.
        lyrics: the published text, NFC, lines ended by a line feed.
        lyrics_as_annotated: the text on the raters' screen, the same way.
    """

    song_id: str
    artist: str
    title: str
    lyrics: str
    lyrics_as_annotated: str

    @property
    def length(self) -> int:
        """Words of the published text by ``str.split()``, as the paper counts them."""
        return len(self.lyrics.split())


@dataclass(frozen=True)
class Pair:
    """Two songs and what their raters said.

    Args:
        pair_id: the two song ids in upstream's order, joined by an underscore.
        song_id_1: the first song's id.
        song_id_2: the second song's id.
        ratings: in the order of upstream's rows.
    """

    pair_id: str
    song_id_1: str
    song_id_2: str
    ratings: tuple[int, ...]

    @property
    def score(self) -> float:
        """The label: the mean of the ratings, ``RATING_MIN`` to ``RATING_MAX`` (paper, section 5)."""
        return sum(self.ratings) / len(self.ratings)
