"""The catalogue: the versions of the rules, all card types and all programs, in tables whose numbers never change."""

from __future__ import annotations

from typing import Final

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
from moonvale_engine.errors import UnknownRulesError
from moonvale_engine.options import Options
from moonvale_engine.rules import Program, Rules
from moonvale_engine.tokens import TOKENS

#: All card types; the place of each is its id.
CARDS: Final[tuple[Card, ...]] = (
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


#: The programs that are not an ability's.
CORE: Final[dict[int, Program]] = {
    programs.ROUND: ("round", round.PROGRAM),
    programs.TURN: ("turn", turn.PROGRAM),
    programs.HAND: ("hand", hand.HAND_PROGRAM),
    programs.EXCHANGE: ("exchange", hand.EXCHANGE_PROGRAM),
    programs.FAILED_SET: ("failed_set", hand.FAILED_SET_PROGRAM),
    programs.SCORER: ("scorer", scoring.SCORER_PROGRAM),
    programs.REACTIONS: ("reactions", reactions.PROGRAM),
}

#: The versions of the rules that this engine plays (docs/rules_versions.md). One that games were played by stays.
VERSIONS: Final[dict[int, Rules]] = {
    1: Rules(1, CORE, TOKENS, CARDS, failed_call=10, penalty_from=3, call_limit=4),
}


def rules_of(version: int) -> Rules:
    """Return the rules of a version. Raises UnknownRulesError, which names those that there are."""
    rules = VERSIONS.get(version)
    if rules is None:
        raise UnknownRulesError("rules", version, known_versions())
    return rules


def known_versions() -> tuple[int, ...]:
    """Return the versions of the rules that this engine plays, the newest last."""
    return tuple(sorted(VERSIONS))


def card_type(id: int, since: int) -> Card:
    """Return the card type of an id as the version says that brought it. Raises UnknownRulesError."""
    return rules_of(since).cards[id]


def cards_in_play(options: Options) -> tuple[Card, ...]:
    """Return the card type of each number 0..13 (SET-1). Raises UnknownRulesError."""
    return rules_of(options.rules).types_in_play(options).cards


#: Why a game is over, in the order of the events' constants.
OVER_NAMES = ("rounds", "resignation")
