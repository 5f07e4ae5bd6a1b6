"""Drawing: a view as a table of cards for the terminal, readable with and without colours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count, zip_longest
from typing import Final, TypeVar

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table as Grid
from rich.text import Text

from moonvale.v1.card_pb2 import CardView
from moonvale.v1.view_pb2 import SeatView, View
from moonvale_cli.words.clocks import time_words
from moonvale_cli.words.table import Table, face_words, ordinal, points

Item = TypeVar("Item")

FACEUP: Final = "bold bright_yellow"
FACEDOWN: Final = "dim"
FRAME: Final = "dim"
NAME: Final = "bold"
ACTING: Final = "bold bright_green"

LEGEND: Final = "▒▒▒ facedown   ▒ 7 facedown, but known   7 faceup   ~ sideways"

_CELL: Final = 3  # columns of a card, without its frame
_GAP: Final = 4  # columns between villages
_PILE_SHOWN: Final = 8  # cards of the pile below its top one


class TableDrawing:
    """A view, drawn as wide as the terminal allows. ``first_spot``: the number under the leftmost card of a village."""

    def __init__(self, view: View, first_spot: int = 1) -> None:
        self.view = view
        self.table = Table(view)
        self.first_spot = first_spot

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        yield Text(_headline(self.view), style=NAME)
        yield from _middle(self.view, self.table)
        villages = [self._village(seat, width) for seat in self._order()]
        rows = _rows(villages, width)
        widths = [max(map(_width, column)) for column in zip_longest(*rows, fillvalue=[])]
        for row in rows:
            yield Text()
            yield from _beside(row, widths)

    def _order(self) -> list[int]:
        """Return the seats clockwise, the viewer's own last."""
        you = self.table.you
        seats = len(self.view.seats)
        return list(self.table.seats) if you is None else [(you + 1 + i) % seats for i in range(seats)]

    def _village(self, seat: int, width: int) -> list[Text]:
        shown = self.view.seats[seat]
        lines = [_title(self.view, self.table, seat)]
        numbers = count(self.first_spot)
        for cards in _chunks(shown.village, max(1, (width - 1) // (_CELL + 1))):
            lines += _cards(cards, [next(numbers) for _ in cards])
        if not shown.village:
            lines.append(Text("no cards", style=FACEDOWN))
        return lines


def _headline(view: View) -> str:
    turn = f", turn {view.turn}" if view.turn else ""
    return f"Round {view.round} of {view.options.rounds}{turn}"


def _middle(view: View, table: Table) -> Iterator[Text]:
    deck = Text("Deck  ")
    if view.HasField("deck_top"):
        deck.append_text(_cell(view.deck_top))
        deck.append(" lies open on it; ")
    deck.append(f"{view.deck_count} cards" if view.deck_count != 1 else "1 card")
    if view.HasField("token_holder"):
        holder = table.object(view.token_holder)
        able = "can be used" if view.token_active else "can't be used in this round"
        deck.append(f"   {table.token} token  lies with {holder}, {able}")
    yield deck
    pile = Text("Pile  ")
    if view.pile:
        top, *below = view.pile
        pile.append(_name(top), style=FACEUP if top.faceup else FACEDOWN)
        if below:
            pile.append(" on ")
            pile.append(" ".join([_short(card) for card in below[:_PILE_SHOWN]]))
            pile.append(" …" if len(below) > _PILE_SHOWN else "")
    else:
        pile.append("empty", style=FACEDOWN)
    yield pile
    if view.HasField("hand"):
        hand = Text("Hand  ")
        holder = "you hold" if view.active_seat == table.you else f"{table.name(view.active_seat)} holds"
        hand.append(f"{holder} ")
        hand.append(_name(view.hand), style=FACEUP if view.hand.HasField("face") else FACEDOWN)
        yield hand


def _name(card: CardView) -> str:
    return face_words(card.face) if card.HasField("face") else "a facedown card"


def _short(card: CardView) -> str:
    value = str(card.face.value) if card.HasField("face") else "▒"
    return value if card.faceup else f"▒{value.strip('▒')}"


def _title(view: View, table: Table, seat: int) -> Text:
    shown = view.seats[seat]
    to_act = view.HasField("decision") and view.decision.seat == seat
    who = " (you)" if seat == table.you else " (bot)" if shown.bot else ""
    title = Text(f"{'▸ ' if to_act else ''}{table.name(seat)}{who}", style=ACTING if to_act else NAME)
    title.append("".join([f", {mark}" for mark in _marks(view, shown)]), style="not bold default")
    return title


def _marks(view: View, shown: SeatView) -> Iterator[str]:
    yield points(shown.total)
    if shown.HasField("bank") and not shown.bot:
        yield f"{time_words(shown.bank.ToMilliseconds() / 1000)} left"
    if shown.away:
        yield "away"
    if view.HasField("caller") and view.caller == shown.seat:
        yield "has called"
    if shown.resigned:
        yield "has resigned"
    for spot, card in enumerate(shown.village):
        if card.HasField("tucked"):
            yield f"{face_words(card.tucked.face)} under the {ordinal(spot)} card"


def _cards(cards: Sequence[CardView], numbers: Sequence[int]) -> list[Text]:
    edge = "─" * _CELL
    middle = Text("│", style=FRAME)
    below = Text(style=FRAME)
    for card, number in zip(cards, numbers, strict=True):
        middle.append_text(_cell(card))
        middle.append("│")
        below.append(f" {number:>2}{'~' if card.sideways else ' '}")
    return [
        Text(f"┌{'┬'.join([edge] * len(cards))}┐", style=FRAME),
        middle,
        Text(f"└{'┴'.join([edge] * len(cards))}┘", style=FRAME),
        below,
    ]


def _cell(card: CardView) -> Text:
    if not card.HasField("face"):
        return Text("▒" * _CELL, style=FACEDOWN)
    value = f"{card.face.value:>2}"
    return Text(f" {value}", style=f"not dim {FACEUP}") if card.faceup else Text(f"▒{value}", style=FACEDOWN)


def _width(block: Sequence[Text]) -> int:
    return max([line.cell_len for line in block], default=0)


def _rows(blocks: Sequence[list[Text]], width: int) -> list[Sequence[list[Text]]]:
    """Put blocks beside each other as long as they fit, in rows of the same length."""
    for columns in range(len(blocks), 1, -1):
        rows = _chunks(blocks, columns)
        widths = [max(map(_width, column)) for column in zip_longest(*rows, fillvalue=[])]
        if sum(widths) + _GAP * (columns - 1) <= width:
            return _chunks(blocks, -(-len(blocks) // len(rows)))
    return _chunks(blocks, 1)


def _chunks(items: Sequence[Item], size: int) -> list[Sequence[Item]]:
    return [items[i : i + size] for i in range(0, len(items), size)]


def _beside(blocks: Sequence[list[Text]], widths: Sequence[int]) -> Iterator[Text]:
    for i in range(max(map(len, blocks))):
        line = Text()
        for block, width in zip(blocks, widths, strict=False):
            part = block[i] if i < len(block) else Text()
            line.append_text(part)
            line.append(" " * (width + _GAP - part.cell_len))
        line.rstrip()
        yield line


def scores(view: View) -> RenderableType:
    """Return the points by round and in all, by place when the game is over."""
    table = Table(view)
    grid = Grid(title_justify="left", show_edge=False)
    over = view.HasField("result")
    if over:
        grid.add_column("Place", justify="right")
    grid.add_column("Player")
    rounds = len(view.seats[0].scores)
    for number in range(rounds):
        grid.add_column(f"Round {number + 1}", justify="right")
    grid.add_column("Points", justify="right")
    for place, seat in enumerate(view.result.places if over else table.seats, 1):
        shown = view.seats[seat]
        name = Text(
            table.name(seat) + (" (you)" if seat == table.you else "") + (", resigned" if shown.resigned else "")
        )
        first = [str(place)] if over else []
        grid.add_row(*first, name, *map(str, shown.scores), Text(str(shown.total), style=NAME))
    return grid
