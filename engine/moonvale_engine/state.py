"""The state of a game between two decisions: flat bytes and small ints, and the stack of frames.

A handle is the place of a card in the shuffled deck of the round, so it says nothing of what the card is. Zones hold
handles; ``identity`` alone says what each handle is, and few functions may read it.
"""

from __future__ import annotations

from typing import Final

from moonvale_engine.cards.card import Card
from moonvale_engine.deck import Types
from moonvale_engine.events import NOBODY, UNKNOWN, Event
from moonvale_engine.options import Options
from moonvale_engine.rules import Rules

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

#: Bytes of a frame, as it is stored: program, step, seat, n, x, y, and the four noted handles.
FRAME: Final = 10
NOTHING_NOTED: Final = bytes((NOBODY, NOBODY, NOBODY, NOBODY))

#: handle -> its byte
BYTES: Final = tuple([bytes((h,)) for h in range(256)])


class Frame:
    """A frame below the top one, with the field names of the state's top frame. It is never changed."""

    def __init__(
        self, program: int, step: int, seat: int, n: int, x: int, y: int, noted: bytes, below: Frame | None
    ) -> None:
        self.program = program
        self.step = step
        self.seat = seat
        self.n = n
        self.x = x
        self.y = y
        self.noted = noted
        self.below = below

    def __reduce__(self) -> tuple[type[Frame], tuple[object, ...]]:
        return Frame, (self.program, self.step, self.seat, self.n, self.x, self.y, self.noted, self.below)


class State:
    """A whole game, or, with UNKNOWN faces and no secret, what one viewer knows of it (a position).

    What is ``bytes`` or a tuple is never changed but replaced, so that copies share it.
    """

    def __init__(
        self,
        options: Options,
        rules: Rules,
        types: Types,
        secret: bytes,
        entropy: tuple[bytes, ...],
        identity: bytes,
        flags: bytearray,
        known: bytearray,
        deck: bytes,
        pile: bytes,
        aside: bytes,
        villages: list[bytes],
        below: Frame | None,
        program: int,
        step: int,
        seat: int,
        n: int,
        x: int,
        y: int,
        noted: bytes,
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
        put: int,
        tucked: bytes,
        pool: bytes,
        excluded: bytes,
        choices: list[int],
    ) -> None:
        self.options = options
        self.rules = rules  # those of the version that the options name
        self.types = types  # the 14 card types of the deck in play
        self.secret = secret  # 32 bytes, or none in a position
        self.entropy = entropy  # what the seats added to the secret, in seat order
        self.identity = identity  # handle -> face (number | variant << 4), or UNKNOWN
        self.flags = flags  # handle -> FACEUP | SIDEWAYS | ...
        self.known = known  # handle -> mask of those who have legally seen the card since it was shuffled (HID-3)
        self.deck = deck  # handles, the top last
        self.pile = pile  # handles, the top last
        self.aside = aside  # handles out of the round (SET-2)
        self.villages = villages  # seat -> handles, from the owner's left
        self.below = below  # the frame below the top one, which goes on when that is done, or None
        # The top frame, which asks the open decision; when the game is over there is none.
        self.program = program  # its number
        self.step = step  # which step of the program
        self.seat = seat  # whose frame it is: the seat that its steps ask, or NOBODY when the game is over
        self.n = n  # a count
        self.x = x  # two small ints, as the program likes
        self.y = y
        self.noted = noted  # four handles, or NOBODY: in an ability the card itself and those that were chosen
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
        #: The choices of the open decision, in the order of DEC-3: made by ``play.settle``, never stored or changed.
        self.choices = choices
        #: Where the rules write what happens, or nowhere.
        self.events: list[Event] | None = None
        #: Faces as one big number, to be masked at once, and those that it was made of: see ``views.visible_faces``.
        self.number = 0
        self.numbered = b""

    def copy(self) -> State:
        """Return an independent copy that writes its events nowhere."""
        return State(
            self.options,
            self.rules,
            self.types,
            self.secret,
            self.entropy,
            self.identity,
            self.flags.copy(),
            self.known.copy(),
            self.deck,
            self.pile,
            self.aside,
            self.villages.copy(),
            self.below,
            self.program,
            self.step,
            self.seat,
            self.n,
            self.x,
            self.y,
            self.noted,
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

    @property
    def cards(self) -> tuple[Card, ...]:
        """The 14 card types of the deck in play, by number."""
        return self.types.cards

    @property
    def stack(self) -> bytes:
        """All frames, FRAME bytes each, the top one last; none when the game is over."""
        if self.over != NOBODY:
            return b""
        top = Frame(self.program, self.step, self.seat, self.n, self.x, self.y, self.noted, self.below)
        return b"".join([bytes((f.program, f.step, f.seat, f.n, f.x, f.y)) + f.noted for f in frames_up_to(top)])

    def hand_cards(self) -> bytes:
        """Return the handles in hand: one or none."""
        return b"" if self.hand == NOBODY else BYTES[self.hand]

    def is_over(self) -> bool:
        return self.over != NOBODY

    def __copy__(self) -> State:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, object]) -> State:
        return self.copy()

    def __reduce__(self) -> tuple[type[State], tuple[object, ...]]:
        return State, (
            self.options,
            self.rules,
            self.types,
            self.secret,
            self.entropy,
            self.identity,
            self.flags,
            self.known,
            self.deck,
            self.pile,
            self.aside,
            self.villages,
            self.below,
            self.program,
            self.step,
            self.seat,
            self.n,
            self.x,
            self.y,
            self.noted,
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


def new_state(options: Options, rules: Rules, secret: bytes, entropy: tuple[bytes, ...]) -> State:
    """Return the state of a game before its first round, at the first step of the first program.

    ``rules``: those of the version that the options name.
    """
    types = rules.types_in_play(options)
    players = options.players
    return State(
        types.options or options,  # so that games with equal options share them
        rules,
        types,
        secret,
        entropy,
        identity=bytes((UNKNOWN,)) * CARDS,
        flags=bytearray(CARDS),
        known=bytearray(CARDS),
        deck=b"",
        pile=b"",
        aside=b"",
        villages=[b""] * players,
        below=None,
        program=0,
        step=0,
        seat=0,
        n=0,
        x=0,
        y=0,
        noted=NOTHING_NOTED,
        resigned=b"",
        totals=(0,) * players,
        scores=(),
        hand=NOBODY,
        round=0,
        turn=0,
        active=NOBODY,
        holder=NOBODY,
        token_active=False,
        caller=NOBODY,
        extra_turns=0,
        shuffles=0,
        ability_used=False,
        over=NOBODY,
        put=NOBODY,
        tucked=b"",
        pool=b"",
        excluded=b"",
        choices=[],
    )


def push(s: State, program: int, seat: int, card: int = NOBODY, x: int = 0, step: int = 0) -> None:
    """Put a frame on the stack: the program runs, from its step, before what lies below goes on."""
    s.below = Frame(s.program, s.step, s.seat, s.n, s.x, s.y, s.noted, s.below)
    s.program = program
    s.step = step
    s.seat = seat
    s.n = 0
    s.x = x
    s.y = 0
    s.noted = NOTHING_NOTED if card == NOBODY else BYTES[card] + NOTHING_NOTED[1:]


def pop(s: State) -> None:
    """The top frame is done; the one below it goes on. The last one ends the game."""
    frame = s.below
    if frame is None:
        drop_frames(s)
        return
    s.program = frame.program
    s.step = frame.step
    s.seat = frame.seat
    s.n = frame.n
    s.x = frame.x
    s.y = frame.y
    s.noted = frame.noted
    s.below = frame.below


def drop_frames(s: State) -> None:
    """The game is over: nobody is to act."""
    s.below = None
    s.program = s.step = s.n = s.x = s.y = 0
    s.seat = NOBODY
    s.noted = NOTHING_NOTED


def frames_up_to(frame: Frame | None) -> list[Frame]:
    """Return a frame and those below it, the lowest one first."""
    frames: list[Frame] = []
    while frame is not None:
        frames.append(frame)
        frame = frame.below
    frames.reverse()
    return frames


def set_stack(s: State, stack: bytes) -> None:
    """Take the frames from stored bytes, whole ones, at least one."""
    s.below = None
    for at in range(0, len(stack), FRAME):
        program, step, seat, n, x, y = stack[at : at + 6]
        s.below = Frame(program, step, seat, n, x, y, stack[at + 6 : at + FRAME], s.below)
    pop(s)


def faceup_cards(s: State, seat: int, number: int, unless: int = 0) -> list[int]:
    """Return the handles of a village that have a number and lie faceup, unless they have one of these flags."""
    flags = FACEUP | unless
    return [h for h in s.villages[seat] if s.identity[h] & 15 == number and s.flags[h] & flags == FACEUP]


def note(s: State, i: int, h: int) -> None:
    """Note a handle in the top frame, at one of four places."""
    s.noted = s.noted[:i] + BYTES[h] + s.noted[i + 1 :]


def value_of(s: State, h: int) -> int:
    """Return the printed value of a card whose identity the rules may use here."""
    return s.types.values[s.identity[h]]


def type_of(s: State, h: int) -> Card:
    """Return the card type of a handle whose identity the rules may use here."""
    return s.types.cards[s.identity[h] & 15]


def clockwise(s: State, seat: int) -> list[int]:
    """Return all seats, clockwise, beginning with this one."""
    return _CLOCKWISE[s.options.players][seat]


#: number of players, seat -> all seats from that one on. Not to be changed.
_CLOCKWISE: Final = [[[(seat + i) % n for i in range(n)] for seat in range(n)] for n in range(5)]


def set_face(s: State, h: int, face: int) -> None:
    """Say what a card is, or UNKNOWN."""
    s.identity = s.identity[:h] + BYTES[face] + s.identity[h + 1 :]


def find_seat(s: State, h: int) -> int:
    """Return the seat in whose village a card lies, or NOBODY."""
    for seat, village in enumerate(s.villages):
        if h in village:
            return seat
    return NOBODY


def spot_of(village: bytes, h: int) -> int:
    """Return the spot of a card in its village."""
    for spot, other in enumerate(village):
        if other == h:
            return spot
    raise ValueError(f"{h} is not there")
