"""English texts: name and ability of each card type, by deck and key, and of each token."""

from __future__ import annotations

from typing import Final

CARDS: Final[dict[tuple[str, str], tuple[str, str]]] = {
    ("coin", "regifter"): (
        "Regifter",
        "Faceup at scoring: hand another card of your village, as it lies, to an opponent you choose.",
    ),
    ("coin", "con_artist"): (
        "Con Artist",
        "Before or after your main action: lay this card facedown to play one more turn right after this one.",
    ),
    ("coin", "curator"): (
        "Curator",
        "Once on your turn, nearly whenever you like: rotate one of your cards, or throw a rotated one out.",
    ),
    ("coin", "pixie"): (
        "Pixie",
        "Before or after your main action: lay this card facedown, and flip one other card, wherever it lies.",
    ),
    ("coin", "blob"): (
        "Blob",
        "In place of drawing: put a faceup pile card's ability to work; each faceup Blob reaches one card deeper.",
    ),
    ("coin", "apprentice_tanner"): (
        "Apprentice Tanner",
        "Joins your village faceup, at the left or the right, and flips one other card, wherever it lies.",
    ),
    ("coin", "huntress"): (
        "Huntress",
        "Lay a faceup card facedown, then turn up a different one that lies facedown; both wherever they lie.",
    ),
    ("coin", "nostro"): (
        "Nostro",
        "Choose a village and have a secret look at everything facedown in it.",
    ),
    ("coin", "assassin"): (
        "Assassin",
        "Send a faceup card, whoever owns it, to the bottom of the pile.",
    ),
    ("coin", "psychic"): (
        "Psychic",
        "Have a secret look at one, two or three facedown cards, one by one, in whichever villages you like.",
    ),
    ("coin", "nosferatu"): (
        "Nosferatu",
        "Of the three pile cards beneath this one, take one for an exchange, or put a faceup one to work.",
    ),
    ("coin", "golem"): (
        "Golem",
        "A card you choose in any village sinks to the pile's bottom; the topmost other pile card replaces it.",
    ),
    ("coin", "village_idiot"): (
        "Village Idiot",
        "Choose a way round the table and a card in every village: each moves into the next village that way.",
    ),
    ("coin", "wolfman"): (
        "Wolfman",
        "Faceup at scoring: your village counts 0 if the rest of it adds up to 12 or less.",
    ),
}

TOKENS: Final[dict[str, tuple[str, str]]] = {
    "coin": (
        "Coin",
        "After a call that succeeded, once in the next round: on your turn, flip one card, wherever it lies.",
    ),
}
