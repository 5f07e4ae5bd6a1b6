"""The catalogue tells every card type and token of the engine, with a text for people."""

import pytest
from google.protobuf.json_format import MessageToDict

from moonvale.v1 import catalog_pb2 as pb
from moonvale_engine import RULES_VERSION, Options
from moonvale_engine.catalog import CARDS
from moonvale_engine.events import UNKNOWN
from moonvale_engine.options import DECKS, TOKENS
from moonvale_engine.texts import card_text, token_text
from moonvale_service.convert import cards, catalog


def test_a_card_type_is_told_in_full() -> None:
    told = {card.key: card for card in catalog.card_types(RULES_VERSION)}["coin/nostro"]
    assert MessageToDict(told) == {
        "key": "coin/nostro",
        "deck": "coin",
        "name": "Nostro",
        "number": 7,
        "value": 7,
        "copies": 4,
        "abilityKind": "ABILITY_KIND_DRAWN",
        "ability": card_text("coin", "nostro").ability,
    }


def test_every_card_type_is_told_once_in_order() -> None:
    told = catalog.card_types(RULES_VERSION)
    assert {card.key for card in told} == {cards.key_of(card) for card in CARDS}
    assert [(card.deck, card.number) for card in told] == sorted((card.deck, card.number) for card in CARDS)
    assert all(card.HasField("number") and card.HasField("value") for card in told)


def test_each_deck_has_52_cards() -> None:
    for deck in DECKS:
        assert sum(card.copies for card in catalog.card_types(RULES_VERSION) if card.deck == deck) == 52


def test_every_kind_of_ability_is_told() -> None:
    assert {card.ability_kind for card in catalog.card_types(RULES_VERSION)} == set(pb.AbilityKind.values()[1:])


def test_every_token_is_told() -> None:
    assert [MessageToDict(token) for token in catalog.token_types()] == [
        {"key": "coin", "name": "Coin", "ability": token_text("coin").ability},
        {"key": "eye", "name": "Eye", "ability": token_text("eye").ability},
    ]
    assert tuple(token.key for token in catalog.token_types()) == TOKENS


def test_a_card_type_that_is_no_number_of_its_value_is_told_so() -> None:
    told = {card.key: (card.number, card.value) for card in catalog.card_types(RULES_VERSION)}
    assert {key: pair for key, pair in told.items() if pair[0] != pair[1]} == {"eye/nelly": (1, -1)}


@pytest.mark.parametrize("deck", DECKS)
def test_a_face_leads_to_its_card_type(deck: str) -> None:
    faces = cards.faces(Options(deck=(deck,) * 14))
    keys = {card.key: card for card in catalog.card_types(RULES_VERSION)}
    assert sorted({face & 15 for face in faces}) == list(range(14))
    for face in faces:
        told = cards.card(faces, 0, face).face
        assert (keys[told.key].deck, keys[told.key].number) == (deck, face & 15)
        assert (keys[told.key].number, keys[told.key].value) == (told.number, told.value)


def test_the_four_obsessors_differ_in_variant_and_demand() -> None:
    demands = ("odd", "at most -1", "odd", "at least 13")
    faces = cards.faces(Options(deck=("eye",) * 14, demands=demands))
    told = [MessageToDict(cards.card(faces, 0, 9 | variant << 4).face) for variant in range(4)]
    plain = {"key": "eye/obsessor", "number": 9, "value": 9}
    assert told == [
        plain | {"variant": 1, "demand": {"parity": "PARITY_ODD"}},
        plain | {"variant": 2, "demand": {"atMost": -1}},
        plain | {"variant": 3, "demand": {"parity": "PARITY_ODD"}},
        plain | {"variant": 4, "demand": {"atLeast": 13}},
    ]
    assert "variant" not in MessageToDict(cards.card(faces, 0, 8).face)


def test_an_unknown_face_is_absent() -> None:
    assert MessageToDict(cards.card(cards.faces(Options()), 7, UNKNOWN)) == {"handle": 7}
