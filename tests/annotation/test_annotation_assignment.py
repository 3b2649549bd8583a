"""Who gets which pair: properties over random campaigns."""

import random
from collections import Counter, defaultdict

from hypothesis import given, settings
from hypothesis import strategies as st

from lyricsim_annotation.assignment import Board, fair_shares, has_room, next_pair


def names(count):
    return tuple(f"p{number}" for number in range(count))


def ratings(**raters_of_pair):
    return {pair: frozenset(raters) for pair, raters in raters_of_pair.items()}


class Campaign:
    """Raters who ask, answer, skip and go away in any order, as the server lets them."""

    def __init__(self, pairs, raters_per_pair, raters):
        self.pairs, self.wanted = names(pairs), raters_per_pair
        self.active = set(range(raters))
        self.rated, self.skipped = defaultdict(set), defaultdict(set)
        self.reserved = {}

    def board(self):
        freeze = lambda sets: {pair: frozenset(raters) for pair, raters in sets.items()}  # noqa: E731
        return Board(
            self.pairs,
            self.wanted,
            freeze(self.rated),
            freeze(self.skipped),
            dict(self.reserved),
            frozenset(self.active),
        )

    def ask(self, rater):
        if rater not in self.reserved:
            pair = next_pair(self.board(), rater)
            if pair is not None:
                self.reserved[rater] = pair
        return self.reserved.get(rater)

    def answer(self, rater):
        pair = self.reserved.pop(rater)
        assert rater not in self.rated[pair] | self.skipped[pair], "the same pair twice"
        self.rated[pair].add(rater)

    def loads(self):
        return Counter(rater for raters in self.rated.values() for rater in raters)


@settings(max_examples=30, deadline=None)
@given(
    pairs=st.integers(1, 12),
    wanted=st.integers(1, 4),
    raters=st.integers(1, 6),
    seed=st.integers(0, 2**32),
)
def test_no_pair_gets_too_many_raters_and_no_rater_a_pair_twice_whatever_happens(pairs, wanted, raters, seed):
    campaign, chance = Campaign(pairs, wanted, raters), random.Random(seed)
    for _ in range(8 * pairs * wanted):
        rater = chance.randrange(raters)
        event = chance.random()
        pair = campaign.ask(rater)
        if pair is None:
            continue
        if event < 0.5:
            campaign.answer(rater)
        elif event < 0.65:
            campaign.skipped[campaign.reserved.pop(rater)].add(rater)
        elif event < 0.75:  # abandoned, and the reservation expired
            del campaign.reserved[rater]
        held = Counter(campaign.reserved.values())
        assert all(len(campaign.rated[p]) + held[p] <= wanted for p in campaign.pairs)
        assert all(not campaign.board().has_seen(r, p) for r, p in campaign.reserved.items())


@settings(max_examples=30, deadline=None)
@given(
    pairs=st.integers(3, 25),
    wanted=st.integers(1, 3),
    raters=st.integers(3, 7),
    seed=st.integers(0, 2**32),
)
def test_raters_of_very_different_speed_end_with_nearly_equal_loads(pairs, wanted, raters, seed):
    campaign, chance = Campaign(pairs, wanted, raters), random.Random(seed)
    speeds = [chance.choice([1, 3, 20, 200]) for _ in range(raters)]
    idle = 0
    while any(len(campaign.rated[p]) < wanted for p in campaign.pairs) and idle < 5000:
        (rater,) = chance.choices(range(raters), speeds)
        pair = campaign.ask(rater)
        idle = 0 if pair else idle + 1
        if pair:
            campaign.answer(rater)
    assert all(len(campaign.rated[p]) == wanted for p in campaign.pairs), "the campaign came to a halt"
    loads = [campaign.loads()[rater] for rater in range(raters)]
    fair = pairs * wanted / raters
    assert max(loads) <= fair + 2
    assert min(loads) >= fair - 2


def test_whoever_has_done_his_share_waits_for_the_others():
    rated = ratings(p0=[1], p1=[1])
    board = Board(names(6), 1, rated, active=frozenset({1, 2, 3}))
    assert fair_shares(board) == {1: 2, 2: 2, 3: 2}
    assert next_pair(board, 1) is None
    assert next_pair(board, 2) == "p2"


def test_the_share_of_raters_who_went_away_goes_to_those_who_stay():
    rated = ratings(p0=[1], p1=[1])
    board = Board(names(6), 1, rated, active=frozenset({1, 2}))
    assert fair_shares(board) == {1: 3, 2: 3}
    alone = Board(names(6), 1, rated, active=frozenset({1}))
    assert fair_shares(alone) == {1: 6}


def test_started_pairs_are_finished_first_and_in_the_order_wanted():
    board = Board(names(4), 3, ratings(p2=[2]), active=frozenset({1, 2, 3}))
    assert next_pair(board, 1) == "p2"
    assert next_pair(board, 2) == "p0"


def test_a_pair_that_a_slower_rater_needs_for_his_share_is_left_to_him():
    # Rater 3 has rated nothing and needs both pairs; p0 lacks one rating, p1 two.
    board = Board(names(2), 2, ratings(p0=[2]), active=frozenset({1, 2, 3}))
    shares = fair_shares(board)
    assert shares == {1: 2, 2: 2, 3: 2}
    assert next_pair(board, 1) == "p1"


def test_a_reserved_rating_is_not_given_to_somebody_else_but_stays_with_its_holder():
    board = Board(names(1), 1, reserved={1: "p0"}, active=frozenset({1, 2}))
    assert not has_room(board, 2, "p0")
    assert has_room(board, 1, "p0")
    assert next_pair(board, 2) is None


def test_skipped_pairs_are_not_offered_again_and_do_not_count_as_work():
    board = Board(names(2), 1, skipped=ratings(p0=[1]), active=frozenset({1}))
    assert next_pair(board, 1) == "p1"
    assert board.loads == {}
