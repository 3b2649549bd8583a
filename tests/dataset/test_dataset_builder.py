import datasets
import pytest
from dataset_files import change

from lyricsim_dataset.configurations import CONFIG_NAMES, CONFIGURATIONS
from lyricsim_dataset.lyricsim import LyricSIM
from lyricsim_dataset.sources import RATINGS_FILE
from lyricsim_tools.errors import UserError

PAIR_COLUMNS = [
    "pair_id",
    "song_id_1",
    "song_id_2",
    "artist_1",
    "artist_2",
    "title_1",
    "title_2",
    "lyrics_1",
    "lyrics_2",
    "ratings",
    "score",
    "length_1",
    "length_2",
]


def sample_builder(tmp_path, config=None, **options):
    return LyricSIM(cache_dir=str(tmp_path), config_name=config, sample=True, **options)


@pytest.mark.parametrize("config", CONFIG_NAMES)
def test_every_configuration_builds_in_process(tmp_path, config):
    builder = sample_builder(tmp_path, config)
    builder.download_and_prepare()
    built = builder.as_dataset()
    split = config not in ("songs", "annotations")
    assert list(built) == (["train", "validation", "test"] if split else ["train"])
    assert all(data.num_rows > 0 for data in built.values())
    assert built["train"].features == builder.info.features


def test_the_seven_configurations_and_their_default():
    assert list(LyricSIM.builder_configs) == [
        "filtered",
        "raw",
        "filtered-song-disjoint",
        "raw-song-disjoint",
        "songs",
        "annotations",
        "filtered-paper-split",
    ]
    assert LyricSIM.DEFAULT_CONFIG_NAME == "filtered"
    assert all(config.summary for config in CONFIGURATIONS)


def test_pairs_have_the_promised_columns_with_a_float_label(tmp_path):
    features = sample_builder(tmp_path).info.features
    assert list(features) == PAIR_COLUMNS
    assert features["score"] == datasets.Value("float64")
    assert features["ratings"] == datasets.List(datasets.Value("int64"))
    assert not any(isinstance(feature, datasets.ClassLabel) for feature in features.values())


def test_songs_and_annotations_have_the_promised_columns(tmp_path):
    assert list(sample_builder(tmp_path, "songs").info.features) == [
        "song_id",
        "artist",
        "title",
        "lyrics",
        "lyrics_as_annotated",
        "length",
        "song_group",
    ]
    assert list(sample_builder(tmp_path, "annotations").info.features) == [
        "pair_id",
        "song_id_1",
        "song_id_2",
        "annotator",
        "rating",
    ]


def test_rows_say_what_their_columns_promise(tmp_path):
    builder = sample_builder(tmp_path)
    builder.download_and_prepare()
    for row in builder.as_dataset(split="test"):
        assert row["pair_id"] == f"{row['song_id_1']}_{row['song_id_2']}"
        assert row["score"] == sum(row["ratings"]) / 3
        assert row["length_1"] == len(row["lyrics_1"].split())
        assert row["length_2"] == len(row["lyrics_2"].split())


def test_it_streams_what_it_builds(tmp_path):
    builder = sample_builder(tmp_path)
    streamed = list(builder.as_streaming_dataset(split="test"))
    builder.download_and_prepare()
    assert streamed == list(builder.as_dataset(split="test"))


def test_a_cached_build_is_used_again_but_not_for_other_content(tree, tmp_path):
    def score():
        builder = LyricSIM(cache_dir=str(tmp_path / "cache"), data_dir=str(tree), allow_modified=True)
        builder.download_and_prepare()
        return builder.cache_dir, list(builder.as_dataset(split="train")["ratings"])

    first = score()
    assert score() == first
    change(tree / RATINGS_FILE, lambda text: text.replace(",5, ", ",4, "))
    second = score()
    assert second[0] != first[0]
    assert second[1] != first[1]


def test_a_modified_source_is_marked_in_the_info(tree, tmp_path):
    builder = LyricSIM(cache_dir=str(tmp_path), data_dir=str(tree), allow_modified=True)
    builder.download_and_prepare()
    described = builder.as_dataset(split="test").info.description
    assert described.startswith("MODIFIED SOURCE: built from files that differ from upstream's")
    assert RATINGS_FILE in described


def test_the_sample_is_marked_in_the_info_and_in_its_name(tmp_path):
    builder = sample_builder(tmp_path)
    assert builder.dataset_name == "lyricsim-sample"
    assert builder.info.description.startswith("NOT LyricSIM")


def test_a_bad_source_is_the_users_error_and_leaves_no_cache(tree, tmp_path):
    change(tree / RATINGS_FILE, lambda text: text.replace(",5, ", ",6, "))
    builder = LyricSIM(cache_dir=str(tmp_path / "cache"), data_dir=str(tree), allow_modified=True)
    with pytest.raises(UserError, match="not a whole number 0 to 5"):
        builder.download_and_prepare()
    assert not list((tmp_path / "cache").rglob("*.arrow"))
