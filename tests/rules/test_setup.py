"""Decks and setup: what is dealt, who looks at what, who begins."""

from collections import Counter

import pytest

from moonvale_engine import catalog, play
from moonvale_engine.actions import DRAW, PEEK, pack
from moonvale_engine.errors import OptionError
from moonvale_engine.events import SPECTATOR, seen_by
from moonvale_engine.options import Options, parse_deck
from moonvale_engine.state import FACEUP, State
from moonvale_engine.views import view
from tests.support.table import Table, table

SECRET = bytes(range(32))


def new(players: int = 4, secret: bytes = SECRET, villages: tuple[int, ...] = (), turn_limit: int = 200) -> State:
    return play.new_game(Options(players=players, villages=villages, turn_limit=turn_limit), secret)


def play_a_round(s: State) -> None:
    """Make the first choice of every list until the next round begins."""
    round = s.round
    while s.round == round:
        play.apply(s, play.legal_actions(s)[0])


def faces(s: State, handles: bytes | bytearray) -> list[int]:
    return [s.identity[h] for h in handles]


def test_a_deck_has_two_cards_each_of_0_and_13_and_four_of_all_others() -> None:  # SET-1
    s = new()
    copies = Counter(face & 15 for face in s.identity)
    assert copies == {0: 2, 13: 2, **dict.fromkeys(range(1, 13), 4)}
    assert len(s.identity) == 52


def test_every_number_has_the_card_type_that_the_table_picked() -> None:  # SET-1
    types = catalog.cards_in_play(Options(deck=parse_deck("coin")))
    assert [card.number for card in types] == list(range(14))
    assert {card.deck for card in types} == {"coin"}
    assert len({card.key for card in types}) == 14
    with pytest.raises(OptionError, match="deck: number 3"):
        Options(deck=("coin",) * 3 + ("dagger",) + ("coin",) * 10)


def test_a_game_has_one_token_picked_with_the_deck() -> None:  # SET-1
    assert Options().token == "coin"
    with pytest.raises(OptionError, match="token"):
        Options(token="bell")


@pytest.mark.parametrize("players", [2, 3, 4])
def test_four_villages_of_five_are_dealt_and_those_of_absent_seats_set_aside_unseen(players: int) -> None:  # SET-2
    s = new(players)
    assert [len(village) for village in s.villages] == [5] * players
    assert len(s.aside) == 5 * (4 - players)
    assert len(s.pile) == 1
    assert len(s.deck) == 31
    assert [h for h in range(52) if s.flags[h] & FACEUP] == list(s.pile)
    played = s.copy()
    while len(played.deck) > 1:
        play.apply(played, play.legal_actions(played)[0])
    assert played.aside == s.aside
    assert [played.known[h] for h in s.aside] == [0] * len(s.aside)


@pytest.mark.parametrize("players", [0, 1, 5])
def test_two_to_four_play(players: int) -> None:  # SET-2
    with pytest.raises(OptionError, match=r"players: must be 2\.\.4"):
        Options(players=players)


def test_the_next_round_is_dealt_from_all_52_cards() -> None:  # SET-3
    t = table(ann="9 8", bob="7", deck="12", deck_count=1, pile="3 ?4")
    s = t.state
    assert len(s.aside) == 46
    t.ann.draws().discards()
    assert t.round == 2
    assert [len(zone) for zone in (*s.villages, s.pile, s.deck, s.aside)] == [5, 5, 1, 31, 10]
    assert sorted([*s.villages[0], *s.villages[1], *s.pile, *s.deck, *s.aside]) == list(range(52))
    assert Counter(s.identity) == Counter(new().identity)
    assert [h for h in range(52) if s.flags[h] & FACEUP] == list(s.pile)
    assert [h for h in range(52) if s.known[h]] == list(s.pile)


def test_a_round_begins_with_nothing_left_of_the_last_one() -> None:  # SET-3
    t = table(ann="?1 ?2", bob="1 3 ?9", caller="ann", active="bob", deck="12", deck_count=1, turn=7)
    t.bob.uses(0).uses(1).flips(t.ann, 0).draws().discards()
    seen = t.ann.view
    assert (seen.round, seen.turn, seen.caller, seen.active, seen.extra_turns) == (2, 0, 255, 255, 0)
    assert seen.hand is None
    assert not t.state.ability_used
    t.ann.peeks(0, 1)
    t.bob.peeks(0, 1)
    assert (t.ann.view.turn, t.to_act) == (1, "ann")


def test_every_round_is_shuffled_anew() -> None:  # SET-3
    s = new(turn_limit=4)
    first = s.identity[:]
    play_a_round(s)
    assert s.identity != first


def test_each_player_looks_at_one_pair_of_the_own_five_cards() -> None:  # SET-4
    s = new()
    assert [play.legal_actions(s)] == [[pack(PEEK, a << 3 | b) for a in range(5) for b in range(a + 1, 5)]]
    seat = play.seat_to_act(s)
    Table(s).players[seat].peeks(1, 4)
    village = s.villages[seat]
    assert [s.known[h] for h in village] == [0, 1 << seat, 0, 0, 1 << seat]
    assert not s.flags[village[1]] & FACEUP


def test_which_cards_were_looked_at_is_public_and_what_was_seen_is_not() -> None:  # SET-4
    s = new()
    t = Table(s)
    seat = play.seat_to_act(s)
    other = (seat + 1) % 4
    t.players[seat].peeks(0, 2)
    (looked,) = t.happened("LOOKED")
    first, second = s.villages[seat][0], s.villages[seat][2]
    assert seen_by(looked, seat)[5] == (first, s.identity[first], second, s.identity[second])
    for viewer in (other, SPECTATOR):
        assert seen_by(looked, viewer)[5] == (first, 255, second, 255)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_players_look_in_turn_the_start_player_first(players: int) -> None:  # SET-4
    s = new(players)
    order: list[int] = []
    for _ in range(players):
        order.append(play.seat_to_act(s))
        play.apply(s, pack(PEEK, 0 << 3 | 1))
    assert order == [(s.holder + i) % players for i in range(players)]
    assert play.seat_to_act(s) == s.holder
    assert pack(DRAW) in play.legal_actions(s)


def test_the_seeded_shuffle_draws_the_first_start_player_who_holds_the_token_inactive() -> None:  # SET-5
    starts = Counter[int]()
    for seed in range(60):
        s = new(3, bytes([seed]) * 32)
        assert s.holder == play.seat_to_act(s) == new(3, bytes([seed]) * 32).holder
        assert not s.token_active
        starts[s.holder] += 1
    assert min(starts[seat] for seat in range(3)) > 8


def test_a_supplied_deal_is_played_in_rotation_with_the_same_cards_in_every_round() -> None:  # SET-6
    games = [new(4, villages=tuple((seat + turned) % 4 for seat in range(4)), turn_limit=4) for turned in range(4)]
    for round in (1, 2):
        plain = games[0]
        for turned, s in enumerate(games):
            assert s.round == round
            assert faces(s, s.deck) == faces(plain, plain.deck)
            assert faces(s, s.pile) == faces(plain, plain.pile)
            for seat in range(4):
                assert faces(s, s.villages[seat]) == faces(plain, plain.villages[(seat + turned) % 4])
        for s in games:
            play_a_round(s)


def test_the_first_start_player_rotates_with_a_supplied_deal() -> None:  # SET-6
    for seed in range(20):
        secret = bytes([seed]) * 32
        start = new(4, secret).holder
        for turned in range(4):
            s = new(4, secret, tuple((seat + turned) % 4 for seat in range(4)))
            assert s.options.villages[s.holder] == start


def test_two_players_may_get_any_two_of_the_dealt_villages() -> None:  # SET-6
    plain = new(4)
    for villages in ((2, 3), (3, 2)):
        s = new(2, villages=villages)
        assert [faces(s, village) for village in s.villages] == [faces(plain, plain.villages[v]) for v in villages]
        assert sorted(faces(s, s.aside)) == sorted(faces(plain, plain.villages[0]) + faces(plain, plain.villages[1]))
    assert new(2, villages=(2, 3)).holder != new(2, villages=(3, 2)).holder
    with pytest.raises(OptionError, match="villages"):
        Options(players=2, villages=(1, 1))
    with pytest.raises(OptionError, match="villages"):
        Options(players=2, villages=(0, 4))


def test_views_say_that_the_deal_was_supplied() -> None:  # SET-6
    for supplied in (False, True):
        s = play.new_game(Options(players=2, villages=(3, 1), deal_supplied=supplied), SECRET)
        for viewer in (0, 1, SPECTATOR):
            seen = view(s, viewer).options
            assert (seen.villages, seen.deal_supplied) == ((3, 1), supplied)
