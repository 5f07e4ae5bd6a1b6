"""What must hold at every decision of every game, whoever plays it; used by the properties and by the fuzzer."""

from collections import Counter
from random import Random

from moonvale_engine import (
    SPECTATOR,
    EngineError,
    State,
    action_text,
    apply,
    decode,
    encode,
    observe,
    parse_action,
    parse_position,
    position_text,
    sample_world,
    seat_to_act,
    view,
    whole,
)
from moonvale_engine import actions as act

LONGEST_LIST = 128  # without the free abilities of residents
LONGEST_LIST_OF_ONE = 52 * 6  # each of these turns or discards any own card, plainly or for one of up to 4 Spotters


def check(s: State, rng: Random) -> None:
    """Check all invariants of a state at an open decision, or of a game that is over."""
    check_cards(s)
    check_choices(s)
    check_codec(s)
    check_notation(s)
    check_views(s)
    check_worlds(s, rng)


def check_cards(s: State) -> None:
    """52 handles, each in one zone; faceup cards are known to all; nothing is sideways outside the villages."""
    handles = [*s.deck, *s.pile, *s.aside, *b"".join(s.villages), *s.hand_cards(), *s.tucked[1::2]]
    assert sorted(handles) == list(range(52))
    in_villages = set(b"".join(s.villages))
    for h in handles:
        assert not s.flags[h] & 1 or s.known[h] == 31 or s.flags[h] & 128
        assert not s.flags[h] & 2 or h in in_villages


def check_choices(s: State) -> None:
    """A decision has choices, each once, not too many; an action that is not among them changes nothing."""
    if not s.choices:
        assert s.is_over()
        assert not s.stack
        return
    assert len(set(s.choices)) == len(s.choices)
    by_residents = Counter(act.x_of(action) for action in s.choices if act.is_free(action))
    assert len(s.choices) - by_residents.total() <= LONGEST_LIST
    assert max(by_residents.values(), default=0) <= LONGEST_LIST_OF_ONE
    before = encode(s)
    for action in (s.choices[0] ^ 63, act.pack(act.GIVE, 63, 63, 3), -1, 1 << 30):
        if action not in s.choices:
            try:
                apply(s, action)
            except EngineError:
                continue
            raise AssertionError("an action that is not in the list was carried out")
    assert encode(s) == before


def check_codec(s: State) -> None:
    """Encoding and decoding change nothing of what can follow."""
    data = encode(s)
    again = decode(data)
    assert encode(again) == data
    assert again.choices == s.choices


def check_notation(s: State) -> None:
    """Actions and positions, the whole one and each viewer's, round-trip."""
    for action in s.choices:
        assert parse_action(action_text(action)) == action
    text = position_text(whole(s))
    position = parse_position(text)
    assert encode(position.state) == encode(s)
    assert position.state.choices == s.choices
    for viewer in viewers(s):
        text = position_text(observe(s, viewer))
        position = parse_position(text)
        assert position_text(position) == text
        assert view(position.state, viewer) == view(s, viewer)


def check_views(s: State) -> None:
    """Only the seat to act has legal actions, and all that it needs to list them is in its own position (HID-4)."""
    for viewer in viewers(s):
        decision = view(s, viewer).decision
        if decision is None:
            assert s.is_over()
            continue
        assert decision.legal_actions == (tuple(s.choices) if viewer == seat_to_act(s) else ())
        known = observe(s, viewer)
        known.list_choices()
        assert tuple(known.state.choices) == decision.legal_actions


def check_worlds(s: State, rng: Random) -> None:
    """A sampled world looks to its viewer as the game does, and can be gone on with."""
    for viewer in viewers(s):
        world = sample_world(observe(s, viewer), rng)
        assert view(world, viewer) == view(s, viewer)
        assert sorted(face & 15 for face in world.identity) == sorted(face & 15 for face in s.identity)
        if world.choices:
            apply(world, rng.choice(world.choices))


def viewers(s: State) -> list[int]:
    return [*range(s.options.players), SPECTATOR]
