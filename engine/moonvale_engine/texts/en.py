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
    ("eye", "illusionist"): (
        "Illusionist",
        "Faceup at scoring: takes one point off for each card that is left in the deck.",
    ),
    ("eye", "nelly"): (
        "Nelly",
        "Faceup at scoring: hide her under a card above 0, whoever owns it; that card then counts as a minus.",
    ),
    ("eye", "simon"): (
        "Simon",
        "Once on every player's turn: throw out one of your faceup cards that equals the pile's top card.",
    ),
    ("eye", "spotter"): (
        "Spotter",
        "Announced when you throw out a village card: search one village's facedown cards for one more like it.",
    ),
    ("eye", "gambler"): (
        "Gambler",
        "In place of drawing: name the deck's top value. Right: throw out a card of yours. Wrong: gain the next one.",
    ),
    ("eye", "tanner"): (
        "Tanner",
        "Joins your village faceup, at the left or the right, and turns up everything facedown beside it.",
    ),
    ("eye", "twister"): (
        "Twister",
        "Flip as many different cards, wherever they lie, as your own village holds right now.",
    ),
    ("eye", "ghost"): (
        "Ghost",
        "Throw one card of any village onto the pile, for all to see.",
    ),
    ("eye", "split_seer"): (
        "Split Seer",
        "Have a secret look at one facedown card in every village that has any.",
    ),
    ("eye", "obsessor"): (
        "Obsessor",
        "While it tops the pile, only cards that meet the demand of this very Obsessor may be put on it.",
    ),
    ("eye", "dracula"): (
        "Dracula",
        "Up to five pile cards beneath this one slide under the deck, just as they lie.",
    ),
    ("eye", "underminer"): (
        "Underminer",
        "Trade two cards of a single village for two others of the pile; the old ones sink to its bottom.",
    ),
    ("eye", "drunk"): (
        "Drunk",
        "The deck's next card lands, unseen, at either end of a village you choose.",
    ),
    ("eye", "mad_bomber"): (
        "Mad Bomber",
        "Faceup at scoring: may blow up itself and one other card, wherever that lies; neither counts.",
    ),
}

TOKENS: Final[dict[str, tuple[str, str]]] = {
    "coin": (
        "Coin",
        "After a call that succeeded, once in the next round: on your turn, flip one card, wherever it lies.",
    ),
    "eye": (
        "Eye",
        "After a call that succeeded, once in the next round: search the deck for your draw, then shuffle it.",
    ),
}
