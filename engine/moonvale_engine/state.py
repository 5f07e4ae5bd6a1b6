"""The state of a game between two decisions: flat bytes and small ints, and the stack of frames.

A handle is the place of a card in the shuffled deck of the round, so it says nothing of what the card is. Zones hold
handles; ``identity`` alone says what each handle is, and few functions may read it.
"""

from __future__ import annotations

from typing import Final

from moonvale_engine.cards.card import Card
from moonvale_engine.events import NOBODY, UNKNOWN, Event
from moonvale_engine.options import Options

CARDS: Final = 52
VILLAGES: Final = 4  # dealt, whatever the number of players (SET-2)
VILLAGE_SIZE: Final = 5

# Flags of a handle.
FACEUP: Final = 1
SIDEWAYS: Final = 2  # turned by 90 degrees
USED: Final = 4  # its ability was used: this turn in play (ABL-5), this round at scoring (C00-2)
SPENT: Final = 8  # used up until another player has begun a turn (C01-2)
FLIPPED: Final = 16  # by the Twister in progress (E06-1)
SPOTTED: Final = 32  # looked at by the Spotter in progress (E03-1)
POOLED: Final = 64  # shuffled by the Eye token: the pool says more of it than its own knowledge mask (EYE-1)
HIDDEN: Final = 128  # in the deck where nobody knows how it lies (EYE-1)

POOL_FACEUP: Final = 64  # of a face in the pool: it lies faceup

# A frame, addressed from the end of the stack: the top frame's program is stack[PROGRAM].
FRAME: Final = 10  # bytes of a frame
PROGRAM: Final = -10  # which program
STEP: Final = -9  # which step of it
SEAT: Final = -8  # whose frame it is: the seat that its steps ask
N: Final = -7  # a count
X: Final = -6  # two small ints, as the program likes
Y: Final = -5
CARD_0: Final = -4  # four handles, or NOBODY
CARD_1: Final = -3
CARD_2: Final = -2
CARD_3: Final = -1


class State:
    """A whole game, or, with UNKNOWN faces and no secret, what one viewer knows of it (a position)."""

    def __init__(
        self,
        options: Options,
        cards: tuple[Card, ...],
        secret: bytes,
        entropy: tuple[bytes, ...],
        identity: bytes,
        flags: bytearray,
        known: bytearray,
        deck: bytes,
        pile: bytes,
        aside: bytes,
        villages: list[bytes],
        stack: bytearray,
        resigned: bytes,
        totals: tuple[int, ...],
        scores: tuple[int, ...],
        hand: int,
        round: int,
        turn: int,
        active: int,
        holder: int,
        token_active: bool,
        caller: int,
        extra_turns: int,
        shuffles: int,
        ability_used: bool,
        over: int,
        put: int = NOBODY,
        tucked: bytes = b"",
        pool: bytes = b"",
        excluded: bytes = b"",
        choices: list[int] | None = None,
    ) -> None:
        self.options = options
        self.cards = cards  # the 14 card types of the deck in play, by number
        self.secret = secret  # 32 bytes, or none in a position
        self.entropy = entropy  # what the seats added to the secret, in seat order
        self.identity = identity  # handle -> face (number | variant << 4), or UNKNOWN
        self.flags = flags  # handle -> FACEUP | SIDEWAYS | ...
        self.known = known  # handle -> mask of those who have legally seen the card since it was shuffled (HID-3)
        self.deck = deck  # handles, the top last
        self.pile = pile  # handles, the top last
        self.aside = aside  # handles out of the round (SET-2)
        self.villages = villages  # seat -> handles, from the owner's left
        self.stack = stack  # frames; the top one is the open decision; empty when the game is over
        self.resigned = resigned  # seats, in the order of resigning
        self.totals = totals  # seat -> points of the finished rounds
        self.scores = scores  # points of the finished rounds, round by round, seat by seat
        self.hand = hand  # the handle in the active player's hand, or NOBODY
        self.round = round  # 1..options.rounds
        self.turn = turn  # turns begun in this round
        self.active = active  # whose turn it is, or was last
        self.holder = holder  # whom the token lies nearest to: the start player
        self.token_active = token_active
        self.caller = caller  # who called in this round, or NOBODY
        self.extra_turns = extra_turns  # owed to the active player (C01-1)
        self.shuffles = shuffles  # made in this round
        self.ability_used = ability_used  # this turn, the token's included (TURN-3)
        self.over = over  # NOBODY while the game goes on, else why it is over
        self.put = put  # the card that the present action has put on top of the pile last, or NOBODY (E02-2)
        #: Pairs of handles: a card, and the one tucked under it (E01-1).
        self.tucked = tucked
        #: Pairs of bytes: a face (with POOL_FACEUP) that the Eye token's shuffle made anonymous, and who knows that one
        #: of the POOLED cards has it (EYE-1).
        self.pool = pool
        #: Triples of bytes: a handle, and a mask of the numbers that, as all could see, it can't have (E03-1, OBS-4).
        self.excluded = excluded
        #: The choices of the open decision, in the order of DEC-3: made by ``play.settle``, never stored.
        self.choices: list[int] = [] if choices is None else choices
        #: Where the rules write what happens, or nowhere.
        self.events: list[Event] | None = None

    def copy(self) -> State:
        """Return an independent copy that writes its events nowhere."""
        return State(
            self.options,
            self.cards,
            self.secret,
            self.entropy,
            self.identity,
            self.flags[:],
            self.known[:],
            self.deck,
            self.pile,
            self.aside,
            self.villages[:],
            self.stack[:],
            self.resigned,
            self.totals,
            self.scores,
            self.hand,
            self.round,
            self.turn,
            self.active,
            self.holder,
            self.token_active,
            self.caller,
            self.extra_turns,
            self.shuffles,
            self.ability_used,
            self.over,
            self.put,
            self.tucked,
            self.pool,
            self.excluded,
            self.choices,
        )

    def hand_cards(self) -> bytes:
        """Return the handles in hand: one or none."""
        return b"" if self.hand == NOBODY else bytes((self.hand,))

    def is_over(self) -> bool:
        return self.over != NOBODY

    def __reduce__(self) -> tuple[type[State], tuple[object, ...]]:
        return State, (
            self.options,
            self.cards,
            self.secret,
            self.entropy,
            self.identity,
            self.flags,
            self.known,
            self.deck,
            self.pile,
            self.aside,
            self.villages,
            self.stack,
            self.resigned,
            self.totals,
            self.scores,
            self.hand,
            self.round,
            self.turn,
            self.active,
            self.holder,
            self.token_active,
            self.caller,
            self.extra_turns,
            self.shuffles,
            self.ability_used,
            self.over,
            self.put,
            self.tucked,
            self.pool,
            self.excluded,
            self.choices,
        )

    def __copy__(self) -> State:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, object]) -> State:
        return self.copy()


def push(s: State, program: int, seat: int, card: int = NOBODY, x: int = 0, step: int = 0) -> None:
    """Put a frame on the stack: the program runs, from its step, before what lies below goes on."""
    s.stack += bytes((program, step, seat, 0, x, 0, card, NOBODY, NOBODY, NOBODY))


def face_value(s: State, face: int) -> int:
    """Return the value printed on a card of this face (-1 for Nelly)."""
    return s.cards[face & 15].value


def value_of(s: State, h: int) -> int:
    """Return the printed value of a card whose identity the rules may use here."""
    return s.cards[s.identity[h] & 15].value


def type_of(s: State, h: int) -> Card:
    """Return the card type of a handle whose identity the rules may use here."""
    return s.cards[s.identity[h] & 15]


def clockwise(s: State, seat: int) -> list[int]:
    """Return all seats, clockwise, beginning with this one."""
    n = s.options.players
    return [(seat + i) % n for i in range(n)]


def set_face(s: State, h: int, face: int) -> None:
    """Say what a card is, or UNKNOWN."""
    s.identity = s.identity[:h] + bytes((face,)) + s.identity[h + 1 :]


def is_known(s: State, h: int) -> bool:
    """Whether this position says what the card is."""
    return s.identity[h] != UNKNOWN


def find_seat(s: State, h: int) -> int:
    """Return the seat in whose village a card lies, or NOBODY."""
    for seat, village in enumerate(s.villages):
        if h in village:
            return seat
    return NOBODY
