"""Events: what folding the log of actions yields, each with its audience from birth.

An event is a flat tuple ``(kind, seat, a, b, audience, cards)``. ``cards`` holds pairs of handle and face, one after
the other. ``audience`` is a mask of those who may read what the event hides: the faces, or, for ``ACTED``, the action.
Bit s is seat s, bit 4 everybody else. How many events there are, their kinds, seats, places and handles are public.
"""

from __future__ import annotations

from typing import Final

Event = tuple[int, int, int, int, int, tuple[int, ...]]

EVERYBODY: Final = 31  # all seats and the spectators
SPECTATOR: Final = 4  # the viewer that is no seat
NOBODY: Final = 255  # a seat or a card that is not there
UNKNOWN: Final = 255  # a face that the viewer may not know; as action: -1

# Places a card can be at, in events: a square (0..255), or one of these.
DECK: Final = 256  # the top of the deck
DECK_BOTTOM: Final = 257
PILE_BOTTOM: Final = 258
HAND: Final = 259
ASIDE: Final = 260  # out of the round
PILE: Final = 512  # + depth, 0 on top

# Kinds.
ACTED: Final = 0  # the seat chose a (an action) because of b (a cause); what follows comes of it
RESIGNED: Final = 1
ROUND_BEGAN: Final = 2  # round a; seat is the start player; cards: the first of the pile
TURN_BEGAN: Final = 3  # turn a of the round; b: TURN_PLAIN, ...
MOVED: Final = 4  # a card goes from place a to place b
FLIPPED: Final = 5  # the card at square a now lies faceup (b = 1) or facedown (b = 0)
TURNED: Final = 6  # the card at square a now lies sideways (b = 1) or upright (b = 0)
LOOKED: Final = 7  # the seat sees the cards
SHOWN: Final = 8  # everybody sees the cards; a: why
ABILITY_BEGAN: Final = 9  # of the card, which lies at place a
TOKEN_USED: Final = 10
TURN_ADDED: Final = 11  # one more turn follows
CALLED: Final = 12
ROUND_ENDED: Final = 13  # a: why
SCORED: Final = 14  # the seat's village sums up to a and scores b
TOKEN_AWARDED: Final = 15  # to the seat; a = 1: on its active side
GAME_OVER: Final = 16  # a: why; cards: the seats from the first place to the last
PREDICTED: Final = 17  # the seat said that the top card of the deck has the value a (E04-1)
KEPT: Final = 18  # the card in hand fits nowhere and joins the village (OBS-4)
SEARCHED: Final = 19  # the seat looked through the deck; cards: what it holds, by number, the handles NOBODY (EYE-1)
SHUFFLED: Final = 20  # the deck was shuffled: it now holds a cards, with new handles (EYE-1)
TUCKED: Final = 21  # the card, which was at place a, lies under the card that is at square b (E01-1)
AWAY: Final = 22  # an agent plays the seat from now on
RETURNED: Final = 23  # the seat's player has taken it back

KINDS: Final[tuple[str, ...]] = (
    "ACTED",
    "RESIGNED",
    "ROUND_BEGAN",
    "TURN_BEGAN",
    "MOVED",
    "FLIPPED",
    "TURNED",
    "LOOKED",
    "SHOWN",
    "ABILITY_BEGAN",
    "TOKEN_USED",
    "TURN_ADDED",
    "CALLED",
    "ROUND_ENDED",
    "SCORED",
    "TOKEN_AWARDED",
    "GAME_OVER",
    "PREDICTED",
    "KEPT",
    "SEARCHED",
    "SHUFFLED",
    "TUCKED",
    "AWAY",
    "RETURNED",
)

# Causes of an action (ACTED b).
BY_PLAYER: Final = 0
BY_POLICY: Final = 1  # the fixed policy plays a resigned seat (END-7)
# Kinds of turn (TURN_BEGAN b), a mask.
TURN_ADDITIONAL: Final = 1  # the same player goes on (C01-1)
TURN_FINAL: Final = 2  # somebody has called (TURN-4)
# Why cards are shown (SHOWN a).
SHOWN_FAILED_SET: Final = 0  # EXC-4
SHOWN_ROUND_END: Final = 1  # END-1
SHOWN_REFUSED: Final = 2  # an Obsessor refuses them (OBS-3, OBS-5)
# Why a round ended (ROUND_ENDED a).
END_BY_CALL: Final = 0  # TURN-4
END_BY_DECK: Final = 1  # TURN-5
END_BY_LIMIT: Final = 2  # TURN-6
# Why the game is over (GAME_OVER a).
OVER_BY_ROUNDS: Final = 0  # END-6
OVER_BY_RESIGNATION: Final = 1  # END-7


def seen_by(event: Event, viewer: int) -> Event:
    """Return the event as a viewer (a seat, or SPECTATOR) gets it; a hidden face is UNKNOWN, a hidden action -1."""
    kind, seat, a, b, audience, cards = event
    if audience >> viewer & 1:
        return event
    if kind == ACTED:
        return (kind, seat, -1, b, audience, cards)
    hidden = tuple([UNKNOWN if i & 1 else card for i, card in enumerate(cards)])
    return (kind, seat, a, b, audience, hidden)
