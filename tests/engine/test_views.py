"""What views remind their players of, by the option memory (HID-3). What they show at all is tested with the rules."""

import pytest

from moonvale_engine import SPECTATOR, UNKNOWN, view
from tests.support.playing import positions, random_setup


@pytest.mark.parametrize("seed", range(6))
def test_at_the_table_views_do_not_say_who_has_seen_a_facedown_card(seed: int) -> None:
    for s in positions(random_setup(seed, memory="table", rounds=1)):
        for viewer in (*range(s.options.players), SPECTATOR):
            seen = view(s, viewer)
            for card in [*seen.pile, *(card for seat in seen.seats for card in seat.village)]:
                assert (card.seen_by == 0) == (card.face == UNKNOWN)


def test_assisted_views_say_who_has_seen_a_facedown_card() -> None:
    states = positions(random_setup(1, memory="assisted", rounds=1))
    s = [next(states) for _ in range(2)][-1]
    masks = [card.seen_by for card in view(s, SPECTATOR).seats[s.holder].village]
    assert sorted(masks) == [0, 0, 0, 1 << s.holder, 1 << s.holder]
