"""The catalogue for people: complete in every language, and it says of each card what the rules say."""

import pytest

from moonvale_engine import catalog
from moonvale_engine.texts import LANGUAGES, card_text, entries, token_entries
from moonvale_engine.tokens import TOKENS


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_card_type_and_token_has_a_name_and_a_sentence_of_its_own(language: str) -> None:
    cards = entries(language)
    assert {(entry.deck, entry.key) for entry in cards} == {(card.deck, card.key) for card in catalog.CARDS}
    tokens = token_entries(language)
    assert {entry.key for entry in tokens} == set(TOKENS)
    texts = [*(entry.ability for entry in cards), *(entry.ability for entry in tokens)]
    names = {*(entry.name for entry in cards), *(entry.name for entry in tokens)}
    assert len(names) == len(set(texts)) == len(texts)
    for text in texts:
        assert text[0].isupper()
        assert text.endswith(".")
        assert len(text) <= 120  # one line of a terminal


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_is_left_over(language: str) -> None:
    module = __import__(f"moonvale_engine.texts.{language}", fromlist=["CARDS"])
    assert set(module.CARDS) == {(card.deck, card.key) for card in catalog.CARDS}
    assert set(module.TOKENS) == set(TOKENS)


def test_entries_say_number_value_copies_and_kind_of_ability() -> None:
    coin = [entry for entry in entries() if entry.deck == "coin"]
    assert [entry.number for entry in coin] == list(range(14))
    assert [entry.value for entry in coin] == list(range(14))
    assert [entry.copies for entry in coin] == [2, *[4] * 12, 2]
    kinds = ["scoring", *["resident"] * 4, *["drawn"] * 8, "scoring"]
    assert [entry.kind for entry in coin] == kinds
    names = "Regifter, Con Artist, Curator, Pixie, Blob, Apprentice Tanner, Huntress, Nostro, Assassin, Psychic, "
    assert ", ".join(entry.name for entry in coin) == names + "Nosferatu, Golem, Village Idiot, Wolfman"


def test_an_unknown_language_or_card_is_refused() -> None:
    with pytest.raises(KeyError):
        entries("xx")
    with pytest.raises(KeyError):
        card_text("coin", "nobody")
