"""The catalogue tells every card type and token of the engine, with a text for people."""

from google.protobuf.json_format import MessageToDict

from moonvale.v1 import catalog_pb2 as pb
from moonvale_engine import Options
from moonvale_engine.catalog import CARDS, cards_in_play
from moonvale_engine.options import DECKS, TOKENS
from moonvale_engine.texts import card_text, token_text
from moonvale_service.convert import cards, catalog


def test_a_card_type_is_told_in_full() -> None:
    told = {card.key: card for card in catalog.card_types()}["coin/nostro"]
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
    told = catalog.card_types()
    assert {card.key for card in told} == {cards.key_of(card.id) for card in CARDS}
    assert [(card.deck, card.number) for card in told] == sorted((card.deck, card.number) for card in CARDS)
    assert all(card.HasField("number") and card.HasField("value") for card in told)


def test_each_deck_has_52_cards() -> None:
    for deck in DECKS:
        assert sum(card.copies for card in catalog.card_types() if card.deck == deck) == 52


def test_every_kind_of_ability_is_told() -> None:
    assert {card.ability_kind for card in catalog.card_types()} == set(pb.AbilityKind.values()[1:])


def test_every_token_is_told() -> None:
    assert [MessageToDict(token) for token in catalog.token_types()] == [
        {"key": "coin", "name": "Coin", "ability": token_text("coin").ability}
    ]
    assert tuple(token.key for token in catalog.token_types()) == TOKENS


def test_a_face_leads_to_its_card_type() -> None:
    types = cards_in_play(Options())
    keys = {card.key: card for card in catalog.card_types()}
    for number in range(14):
        face = cards.card(types, 0, number).face
        assert (keys[face.key].number, keys[face.key].value) == (face.number, face.value) == (number, number)
