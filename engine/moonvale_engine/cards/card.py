"""What a card type is: one entry of the literal tables, with its abilities as programs and plain functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from moonvale_engine.state import State
    from moonvale_engine.steps import Step

COIN: Final = "coin"
EYE: Final = "eye"

# Kinds of ability: when it can be used.
DRAWN: Final = "drawn"  # when drawn from the deck and discarded, or activated in the pile (ABL-3)
RESIDENT: Final = "resident"  # while it lies faceup in a village
SCORING: Final = "scoring"  # when it lies faceup at scoring
PILE_TOP: Final = "pile_top"  # while it lies faceup on top of the pile


class Card:
    """A card type. All fields but the first five describe its ability; a card has what its text says, no more."""

    def __init__(
        self,
        key: str,
        id: int,
        number: int,
        deck: str,
        ability: str,
        *,
        value: int | None = None,
        program: tuple[Step, ...] = (),
        usable: Callable[[State, int], bool] | None = None,
        stays: bool = False,
        activated_step: int = 0,
        free: Callable[[State, int, int], list[int]] | None = None,
        use: Callable[[State, int, int], None] | None = None,
        anytime: bool = False,
        main: Callable[[State, int], list[int]] | None = None,
        scoring: Callable[[State, int, int], list[int]] | None = None,
        score: Callable[[State, int, int], None] | None = None,
        village_sum: Callable[[State, int, int], int] | None = None,
        counts: Callable[[State, int], int] | None = None,
        variants: int = 1,
        meets: Callable[[State, int, int], bool] | None = None,
        reacts: bool = False,
        spots: bool = False,
        repeats: bool = False,
        since: int = 1,
    ) -> None:
        self.key = key
        self.id = id  # append-only; its program, if any, is number CARD_PROGRAMS + id
        self.number = number
        self.deck = deck
        self.ability = ability
        self.value = number if value is None else value
        self.program = program  # what using its ability runs; CARD_0 of the frame is the card itself
        self.usable = usable  # (state, the card): would its draw ability have an effect (ABL-1)?
        self.stays = stays  # drawn and used, it is not discarded: its program places it
        self.activated_step = activated_step  # where its program begins when activated in the pile (ABL-4)
        self.free = free  # (state, its spot, the card): the actions of its free ability
        self.use = use  # (state, the card, action): carry out the free ability, or push its program
        self.anytime = anytime  # its free ability may be used at nearly every own decision (TURN-2)
        self.main = main  # (state, faceup cards of this type): main actions that it offers
        self.scoring = scoring  # (state, seat, the card): uses of its scoring ability
        self.score = score  # (state, the card, action): carry one out
        self.village_sum = village_sum  # (state, the card, sum of its village): what the village counts
        self.counts = counts  # (state, the card): what it counts at scoring in place of its value
        self.variants = variants  # how many different cards of this type the deck has
        self.meets = meets  # (state, the card itself on top of the pile, a value): may that be put on it (OBS-2)?
        self.reacts = reacts  # its free ability may also be used in the window after any action (E02-2)
        self.spots = spots  # it may be declared when its owner discards; its program follows the discard (E03-1)
        self.repeats = repeats  # its main action may be repeated at the end of the turn by further ones (E04-1)
        self.since = since  # the version of the rules that brought it, as it is

    def __reduce__(self) -> tuple[Callable[[int, int], Card], tuple[int, int]]:
        """Copies and pickles are the entry of the table itself, which the rules compare by identity."""
        from moonvale_engine.catalog import card_type  # noqa: PLC0415  # the catalogue is made of cards

        return card_type, (self.id, self.since)
