"""The shipped coefficients and the baselines on LyricSIM itself."""

import json
from importlib import resources

import numpy as np
import pytest

from lyricsim_dataset.annotations import read_tables
from lyricsim_dataset.release import assemble
from lyricsim_dataset.sources import local_tree
from lyricsim_models.baselines import RIDGE_PENALTY, find_baseline, fit_baseline, lyric_pairs
from lyricsim_models.diagnostics import beside_scores
from lyricsim_models.evaluation import three_scores
from lyricsim_models.features import LEXICAL
from lyricsim_models.lexical import default_lexical_scorer, fit_lexical_scorer
from lyricsim_models.pair_table import PairTable
from lyricsim_models.provenance import digest


@pytest.fixture(scope="module")
def release(lyricsim_source):
    return assemble(read_tables(local_tree(lyricsim_source)))


def as_table(release, pairs):
    lyrics = {song.song_id: song.lyrics for song in release.tables.songs}
    first, second = tuple(p.song_id_1 for p in pairs), tuple(p.song_id_2 for p in pairs)
    return PairTable(
        pair_ids=tuple(p.pair_id for p in pairs),
        song_ids_1=first,
        song_ids_2=second,
        lyrics_1=tuple(lyrics[song] for song in first),
        lyrics_2=tuple(lyrics[song] for song in second),
        scores=tuple(p.score for p in pairs),
    )


def test_the_shipped_coefficients_are_those_of_the_training_split(release):
    train = as_table(release, release.splits["filtered"]["train"])
    shipped = default_lexical_scorer()
    again = fit_lexical_scorer(LEXICAL, lyric_pairs(train), np.array(train.gold), RIDGE_PENALTY, {})
    assert again.weights == pytest.approx(shipped.weights, rel=1e-5)
    assert again.intercept == pytest.approx(shipped.intercept, rel=1e-5)
    assert shipped.provenance["trained_on"]["pairs"] == len(train) == 574
    assert shipped.provenance["trained_on"]["pair_ids_sha256"] == digest(train.pair_ids)


def test_the_shipped_file_holds_figures_and_digests_and_no_text():
    content = json.loads(resources.files("lyricsim_models").joinpath("lexical.json").read_text("utf-8"))
    assert list(content) == ["intercept", "weights", "provenance"]
    assert set(content["weights"]) == set(LEXICAL)
    assert set(content["provenance"]) == {
        *("dataset", "config", "split", "data_fingerprint", "trained_on", "ridge_penalty"),
    }


def test_known_correlations_of_single_features_with_all_676_scores_come_out(release):
    pairs = as_table(release, release.filtered)
    found = {}
    for name in ("total-length", "jaccard", "word-overlap"):
        scores = three_scores(fit_baseline(find_baseline(name), pairs)(pairs), pairs.gold)
        found[name] = (round(100 * scores["pearson"], 1), round(100 * scores["spearmanr"], 1))
    assert found["total-length"] == (53.3, 57.8)
    assert found["jaccard"] == (63.8, 66.9)
    assert found["word-overlap"] == pytest.approx((65.0, 70.0), abs=0.1)


def test_lengths_alone_tell_zero_from_non_zero(release):
    pairs = as_table(release, release.filtered)
    predict = fit_baseline(find_baseline("length-only"), pairs)
    assert beside_scores(predict(pairs), pairs.gold)["zero_auc"] > 0.85


def test_song_identity_profits_from_test_pairs_left_in_training_and_lexical_features_do_not(release):
    leaked = release.splits["filtered-paper-split"]
    clean = release.splits["filtered"]
    scores = {
        (name, kind): three_scores(
            fit_baseline(find_baseline(name), as_table(release, splits["train"]))(
                as_table(release, splits["test"])
            ),
            as_table(release, splits["test"]).gold,
        )["combined_score"]
        for name in ("song-identity", "lexical")
        for kind, splits in (("clean", clean), ("leaked", leaked))
    }
    assert scores["song-identity", "leaked"] > scores["song-identity", "clean"] + 0.1
    assert abs(scores["lexical", "leaked"] - scores["lexical", "clean"]) < 0.03


@pytest.mark.slow
def test_on_songs_never_seen_the_lexical_scorer_beats_a_zero_shot_encoder(release, e5_folder):
    from lyricsim_dataset.song_splits import block_folds
    from lyricsim_models.zero_shot import zero_shot_encoder

    pairs = as_table(release, sorted(release.filtered, key=lambda p: p.pair_id))
    place = {pair_id: row for row, pair_id in enumerate(pairs.pair_ids)}
    predictions = np.full(len(pairs), np.nan)
    for fold in block_folds(release.filtered, release.groups):
        test = [place[pair_id] for pair_id in fold.test]
        train = pairs.take([place[pair_id] for pair_id in fold.train])
        predictions[test] = fit_baseline(find_baseline("lexical"), train)(pairs.take(test))
    embed = zero_shot_encoder(str(e5_folder))
    zero_shot = fit_baseline(find_baseline("zero-shot"), pairs, embed)(pairs)
    found = {
        name: three_scores(values, pairs.gold)["combined_score"]
        for name, values in (("lexical", predictions), ("zero-shot", zero_shot))
    }
    assert found["lexical"] > 0.65
    assert found["zero-shot"] < 0.56
