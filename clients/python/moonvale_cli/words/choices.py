"""Choices: what the seat to act may do next. Each says it as an order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from moonvale.v1 import view_pb2
from moonvale.v1.action_pb2 import DIRECTION_CLOCKWISE, END_LEFT, Action
from moonvale.v1.card_pb2 import VillageSpot
from moonvale.v1.view_pb2 import View
from moonvale_cli.words.table import (
    Table,
    a_face,
    card_ability,
    card_name,
    face_words,
    in_brackets,
    ordinal,
    spots_words,
    the_card,
)


def choice_words(action: Action, view: View) -> str:
    """Return what choosing an action means, as an order, to the seat whose view this is."""
    verb = action.WhichOneof("verb")
    if verb is None:
        return "Do something that this version of the command does not know"
    return CHOICES[verb](action, view, Table(view))


def _own(view: View, spot: int) -> str:
    village = view.seats[view.decision.seat].village
    return f"your {ordinal(spot)} card{in_brackets(village[spot])}"


def _card_at(view: View, table: Table, at: VillageSpot) -> str:
    card = view.seats[at.seat].village[at.spot]
    known = f" ({face_words(card.face)}, faceup)" if card.faceup else in_brackets(card)
    return f"{table.whose(at.seat)} {ordinal(at.spot)} card{known}"


def _pile_card(view: View, depth: int) -> str:
    card = view.pile[depth]
    return the_card(card) if card.HasField("face") else "the facedown card"


def _depth(depth: int) -> str:
    return f", {ordinal(depth)} from the top" if depth else ""


def _draw(action: Action, view: View, table: Table) -> str:
    if view.HasField("deck_top"):
        return f"Draw {the_card(view.deck_top)}, which lies open on the deck"
    return f"Draw a card from the deck ({view.deck_count} left)"


def _discard(action: Action, view: View, table: Table) -> str:
    usable = any(other.HasField("use") for other in view.decision.legal_actions)
    return f"Discard {the_card(view.hand)}{', and do not use its ability' if usable else ''}"


def _use(action: Action, view: View, table: Table) -> str:
    return f"Use the ability of {the_card(view.hand)}: {card_ability(view.hand.face.key)}"


def _name(action: Action, view: View, table: Table) -> str:
    if view.decision.kind == view_pb2.DECISION_KIND_SET:
        return f"Exchange {_own(view, action.name.spot)} as well"
    return f"Put it in place of {_own(view, action.name.spot)}"


def _close(action: Action, view: View, table: Table) -> str:
    village = [card.handle for card in view.seats[view.decision.seat].village]
    named = [village.index(handle) for handle in view.decision.picked if handle in village]
    return f"Carry out the exchange of your {spots_words(named)}"


def _turn_card(action: Action, view: View, table: Table) -> str:
    turned = action.turn_card
    way = "upright" if view.seats[view.decision.seat].village[turned.spot].sideways else "sideways"
    return f"With {_own(view, turned.resident_spot)}, turn {_self(turned.resident_spot, turned.spot, view)} {way}"


def _discard_resident(action: Action, view: View, table: Table) -> str:
    thrown = action.discard_resident
    what = f"{_self(thrown.resident_spot, thrown.spot, view)}{_spotters(thrown.spotters)}"
    return f"With {_own(view, thrown.resident_spot)}, discard {what}"


def _self(resident: int, spot: int, view: View) -> str:
    return "itself" if resident == spot else _own(view, spot)


def _pick(action: Action, view: View, table: Table) -> str:
    return f"{_capital(_card_at(view, table, action.pick.card))}{_spotters(action.pick.spotters)}"


def _take(action: Action, view: View, table: Table) -> str:
    depth = action.take.depth
    return f"Take {_pile_card(view, depth)} from the pile{_depth(depth)}, for an exchange"


def _activate(action: Action, view: View, table: Table) -> str:
    depth = action.activate.depth
    ability = card_ability(view.pile[depth].face.key)
    return f"Use the ability of {_pile_card(view, depth)} in the pile{_depth(depth)}: {ability}"


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _turn_direction(action: Action, view: View, table: Table) -> str:
    clockwise = action.turn_direction.direction == DIRECTION_CLOCKWISE
    step = 1 if clockwise else -1
    next_seat = (view.decision.seat + step) % len(view.seats)
    return f"{'Clockwise' if clockwise else 'Counterclockwise'}: from you towards {table.name(next_seat)}"


def _give(action: Action, view: View, table: Table) -> str:
    given = action.give
    return f"With {_own(view, given.resident_spot)}, give {_own(view, given.spot)} to {table.object(given.seat)}"


def _spotters(count: int) -> str:
    return f", with {count} Spotters" if count > 1 else ", with a Spotter" if count else ""


def _choose(action: Action, view: View, table: Table) -> str:
    chosen = action.choose
    demand = view.options.demands[max(chosen.variant, 1) - 1]
    names = [
        a_face(held.face)
        for held in view.pool
        if held.face.number == chosen.number and (not held.face.HasField("demand") or held.face.demand == demand)
    ]
    card = names[0] if names else f"a card with the number {chosen.number}"
    return f"Draw {card}{', which lies faceup in the deck' if chosen.faceup else ''}"


def _declare(action: Action, view: View, table: Table) -> str:
    count = action.declare.spotters
    who = (
        f"{count} Spotters: if the exchange succeeds, they look"
        if count > 1
        else "a Spotter: if the exchange succeeds, it looks"
    )
    return f"Declare {who} for more cards like these"


def _undermine(action: Action, view: View, table: Table) -> str:
    depth = action.undermine.depth
    return f"{_capital(_pile_card(view, depth))} in the pile{_depth(depth) or ', on top'}"


def _tuck(action: Action, view: View, table: Table) -> str:
    tucked = action.tuck
    return f"Tuck {_own(view, tucked.resident_spot)} under {_card_at(view, table, tucked.card)}"


def _bomb(action: Action, view: View, table: Table) -> str:
    bomb = action.bomb
    return f"With {_own(view, bomb.resident_spot)}, take {_card_at(view, table, bomb.card)} out of the round"


#: Of each verb of an Action.
CHOICES: Final[dict[str, Callable[[Action, View, Table], str]]] = {
    "peek": lambda action, view, table: f"Look at your {spots_words(action.peek.spots)}",
    "draw": _draw,
    "take": _take,
    "call": lambda action, view, table: "Call for the vote: all others have one more turn, then the round ends",
    "activate": _activate,
    "use_resident": lambda action, view, table: f"Use the ability of {_own(view, action.use_resident.spot)}",
    "turn_card": _turn_card,
    "discard_resident": _discard_resident,
    "use_token": lambda action, view, table: f"Use the {table.token} token: flip any card",
    "discard": _discard,
    "use": _use,
    "name": _name,
    "close": _close,
    "place": lambda action, view, table: f"Put the new card where {_own(view, action.place.spot)} lies",
    "place_end": lambda action, view, table: (
        f"Put it at the {'left' if action.place_end.end == END_LEFT else 'right'} end of"
        f" {table.whose(action.place_end.seat)} village"
    ),
    "pick": _pick,
    "village": lambda action, view, table: f"{_capital(table.whose(action.village.seat))} village",
    "turn_direction": _turn_direction,
    "stop": lambda action, view, table: "Look at no more cards",
    "end_turn": lambda action, view, table: "End your turn",
    "done": lambda action, view, table: "Use no more abilities",
    "give": _give,
    "draw_with_token": lambda action, view, table: f"Use the {table.token} token: look through the deck for your draw",
    "choose": _choose,
    "gamble": lambda action, view, table: "Gamble: predict what the top card of the deck is",
    "predict": lambda action, view, table: f"Predict {action.predict.value}",
    "decline": lambda action, view, table: "Discard none",
    "keep": lambda action, view, table: "Keep it: it fits nowhere, and joins your village",
    "declare": _declare,
    "undermine": _undermine,
    "pass_reaction": lambda action, view, table: "Do not react",
    "tuck": _tuck,
    "bomb": _bomb,
}

#: What is asked, of each kind of decision; {} is the card in hand, or what it is whose ability asks.
QUESTIONS: Final = {
    view_pb2.DECISION_KIND_PEEK: "Which two of your cards do you look at?",
    view_pb2.DECISION_KIND_TURN: "It is your turn. What do you do?",
    view_pb2.DECISION_KIND_HAND: "What do you do with {} in your hand?",
    view_pb2.DECISION_KIND_SET: "Do you exchange more cards at once? All must have the same number.",
    view_pb2.DECISION_KIND_PLACE: "Where does the new card go?",
    view_pb2.DECISION_KIND_TARGET: "What do you choose for the {}?",
    view_pb2.DECISION_KIND_LOOK: "Which card do you look at with the {}?",
    view_pb2.DECISION_KIND_TURN_END: "Do you use an ability before your turn ends?",
    view_pb2.DECISION_KIND_SCORING: "The round is being scored. Do you use an ability?",
    view_pb2.DECISION_KIND_EYE_PICK: "Which card of the deck do you draw?",
    view_pb2.DECISION_KIND_PREDICT: "What is the top card of the deck?",
    view_pb2.DECISION_KIND_REWARD: "That was right. Which of your cards do you discard?",
    view_pb2.DECISION_KIND_REACTION: "A card of value {value} came to the pile. Do you discard one that equals it?",
    view_pb2.DECISION_KIND_OBSESSOR: "Which of the Obsessors shall lie on top of the pile?",
}
#: What is asked of a target, by the ability that asks and the verb of its choices.
TARGETS: Final = {
    ("", "pick"): "Which card do you flip with the {} token?",
    ("coin/apprentice_tanner", "pick"): "Which card do you flip with the Apprentice Tanner?",
    ("coin/assassin", "pick"): "Which card do you send to the bottom of the pile with the Assassin?",
    ("coin/golem", "pick"): "Which card do you replace by the next one of the pile with the Golem?",
    ("coin/huntress", "pick"): "Which card do you flip with the Huntress?",
    ("coin/nosferatu", "take"): "Which card of the pile do you take or use with the Nosferatu?",
    ("coin/nostro", "village"): "Whose village do you look at with the Nostro?",
    ("coin/pixie", "pick"): "Which card do you flip with the Pixie?",
    ("coin/village_idiot", "pick"): "Which card of this village moves with the Village Idiot?",
    ("coin/village_idiot", "turn_direction"): "Which way do cards move with the Village Idiot?",
    ("eye/ghost", "pick"): "Which card do you discard with the Ghost?",
    ("eye/spotter", "village"): "Whose village does the Spotter search for another {value}?",
    ("eye/twister", "pick"): "Which card do you flip with the Twister?",
    ("eye/underminer", "pick"): "Which card do you exchange with one of the pile, with the Underminer?",
    ("eye/underminer", "undermine"): "Which card of the pile takes its place, with the Underminer?",
}


def question_words(view: View, table: Table) -> str:
    """Return what the open decision of a view asks the reader."""
    decision = view.decision
    question = QUESTIONS.get(decision.kind, "What do you choose?")
    if decision.kind == view_pb2.DECISION_KIND_HAND:
        return question.format(the_card(view.hand))
    if decision.kind == view_pb2.DECISION_KIND_TARGET and decision.legal_actions:
        verb = decision.legal_actions[0].WhichOneof("verb") or ""
        question = TARGETS.get((decision.ability, verb), question)
    asker = card_name(decision.ability) if decision.ability else table.token
    return question.format(asker, value=decision.value)
