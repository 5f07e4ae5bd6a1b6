"""The catalogue: all card types and all programs, in literal tables whose numbers never change."""

from __future__ import annotations

from functools import cache

from moonvale_engine import hand, programs, reactions, round, scoring, turn
from moonvale_engine.cards.card import Card
from moonvale_engine.cards.coin.apprentice_tanner import APPRENTICE_TANNER
from moonvale_engine.cards.coin.assassin import ASSASSIN
from moonvale_engine.cards.coin.blob import BLOB
from moonvale_engine.cards.coin.con_artist import CON_ARTIST
from moonvale_engine.cards.coin.curator import CURATOR
from moonvale_engine.cards.coin.golem import GOLEM
from moonvale_engine.cards.coin.huntress import HUNTRESS
from moonvale_engine.cards.coin.nosferatu import NOSFERATU
from moonvale_engine.cards.coin.nostro import NOSTRO
from moonvale_engine.cards.coin.pixie import PIXIE
from moonvale_engine.cards.coin.psychic import PSYCHIC
from moonvale_engine.cards.coin.regifter import REGIFTER
from moonvale_engine.cards.coin.village_idiot import VILLAGE_IDIOT
from moonvale_engine.cards.coin.wolfman import WOLFMAN
from moonvale_engine.cards.eye.dracula import DRACULA
from moonvale_engine.cards.eye.drunk import DRUNK
from moonvale_engine.cards.eye.gambler import GAMBLER
from moonvale_engine.cards.eye.ghost import GHOST
from moonvale_engine.cards.eye.illusionist import ILLUSIONIST
from moonvale_engine.cards.eye.mad_bomber import MAD_BOMBER
from moonvale_engine.cards.eye.nelly import NELLY
from moonvale_engine.cards.eye.obsessor import OBSESSOR
from moonvale_engine.cards.eye.simon import SIMON
from moonvale_engine.cards.eye.split_seer import SPLIT_SEER
from moonvale_engine.cards.eye.spotter import SPOTTER
from moonvale_engine.cards.eye.tanner import TANNER
from moonvale_engine.cards.eye.twister import TWISTER
from moonvale_engine.cards.eye.underminer import UNDERMINER
from moonvale_engine.options import Options
from moonvale_engine.steps import Step
from moonvale_engine.tokens import TOKENS

#: All card types; the place of each is its id.
CARDS: tuple[Card, ...] = (
    REGIFTER,
    CON_ARTIST,
    CURATOR,
    PIXIE,
    BLOB,
    APPRENTICE_TANNER,
    HUNTRESS,
    NOSTRO,
    ASSASSIN,
    PSYCHIC,
    NOSFERATU,
    GOLEM,
    VILLAGE_IDIOT,
    WOLFMAN,
    ILLUSIONIST,
    NELLY,
    SIMON,
    SPOTTER,
    GAMBLER,
    TANNER,
    TWISTER,
    GHOST,
    SPLIT_SEER,
    OBSESSOR,
    DRACULA,
    UNDERMINER,
    DRUNK,
    MAD_BOMBER,
)


def card_type(id: int) -> Card:
    """Return the card type of an id."""
    return CARDS[id]


_CORE: dict[int, tuple[Step, ...]] = {
    programs.ROUND: round.PROGRAM,
    programs.TURN: turn.PROGRAM,
    programs.HAND: hand.HAND_PROGRAM,
    programs.EXCHANGE: hand.EXCHANGE_PROGRAM,
    programs.FAILED_SET: hand.FAILED_SET_PROGRAM,
    programs.SCORER: scoring.SCORER_PROGRAM,
    programs.REACTIONS: reactions.PROGRAM,
}
_BY_ID: dict[int, tuple[Step, ...]] = {
    **_CORE,
    **{programs.TOKENS + token.id: token.program for token in TOKENS.values()},
    **{programs.CARDS + card.id: card.program for card in CARDS},
}

#: All programs; the place of each is its number. One without steps is not in use.
PROGRAMS: tuple[tuple[Step, ...], ...] = tuple(_BY_ID.get(i, ()) for i in range(max(_BY_ID) + 1))

_BY_DECK_AND_NUMBER = {(card.deck, card.number): card for card in CARDS}


@cache
def _types(deck: tuple[str, ...]) -> tuple[Card, ...]:
    return tuple([_BY_DECK_AND_NUMBER[name, number] for number, name in enumerate(deck)])


def cards_in_play(options: Options) -> tuple[Card, ...]:
    """Return the card type of each number 0..13 (SET-1)."""
    return _types(options.deck)


#: Why a game is over, in the order of the events' constants.
OVER_NAMES = ("rounds", "resignation")


def _name(i: int) -> str:
    if i >= programs.CARDS:
        return CARDS[i - programs.CARDS].key
    if i >= programs.TOKENS:
        return next((f"{token.key}_token" for token in TOKENS.values() if programs.TOKENS + token.id == i), "")
    return _CORE_NAMES.get(i, "")


_CORE_NAMES = {
    programs.ROUND: "round",
    programs.TURN: "turn",
    programs.HAND: "hand",
    programs.EXCHANGE: "exchange",
    programs.FAILED_SET: "failed_set",
    programs.SCORER: "scorer",
    programs.REACTIONS: "reactions",
}

#: The name of each program, as texts of positions write it; empty where there is none.
PROGRAM_NAMES: tuple[str, ...] = tuple([_name(i) for i in range(len(PROGRAMS))])


def face_text(cards: tuple[Card, ...], face: int) -> str:
    """Return how texts write a face: its printed value, and which of several different cards it is (``9.2``)."""
    card = cards[face & 15]
    return str(card.value) if card.variants == 1 else f"{card.value}.{(face >> 4) + 1}"
