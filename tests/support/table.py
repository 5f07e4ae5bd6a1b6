"""A table for tests of the rules: set in one line in the middle of a round, played with words of the game.

    t = table("coin", ann="?7 ?7 ?3 ?1 ?2", deck="?9 ?5", pile="4")
    t.ann.draws().exchanges(0, 1, 2, keep_at="right")
    assert t.ann.village == "?7 ?7 ?3 ?1 ?2 ?9 ?5"

A card is written by its value: `7` lies faceup, `?7` facedown, `7~` sideways; Nelly is `-1`, the Obsessors are `9.1` to
`9.4`, and `7/-1` is a 7 with a Nelly tucked under it. Villages are written from the owner's left, deck and pile from
the top. The players are ann, bob, cat and dan, clockwise. Every move goes through the legal actions of the open
decision and must be the mover's to make, so a step that the rules don't allow fails the test.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from moonvale_engine import actions, decisions, play
from moonvale_engine.cards.card import Card
from moonvale_engine.deck import face_text, faces_in_play
from moonvale_engine.events import EVERYBODY, KINDS, NOBODY, SPECTATOR, UNKNOWN, Event, seen_by
from moonvale_engine.moves import tucked_under
from moonvale_engine.notation import action_text, parse_action
from moonvale_engine.options import DEMANDS, Options, parse_deck
from moonvale_engine.rules import RULES_VERSION
from moonvale_engine.state import FACEUP, SIDEWAYS, VILLAGE_SIZE, State, set_face
from moonvale_engine.views import CardView, DecisionView, View, view

NAMES: Final = ("ann", "bob", "cat", "dan")
ENDS: Final = {"left": actions.LEFT, "right": actions.RIGHT}
DIRECTIONS: Final = {"clockwise": actions.CLOCKWISE, "counterclockwise": actions.COUNTERCLOCKWISE}
SECRET: Final = bytes(range(32))
_VERBS_WITH_FIELDS: Final = {name.lower(): verb for verb, (name, fields) in enumerate(actions.FIELDS) if fields}


def table(
    cards: str = "coin",
    /,
    *,
    ann: str | None = None,
    bob: str | None = None,
    cat: str | None = None,
    dan: str | None = None,
    deck: str = "",
    deck_count: int | None = None,
    pile: str | None = None,
    active: str = "ann",
    start: str = "ann",
    token_active: bool = False,
    caller: str | None = None,
    extra_turns: int = 0,
    turn: int = 1,
    round: int = 1,
    totals: tuple[int, ...] | None = None,
    rounds: int = 4,
    turn_limit: int = 200,
    memory: str = "assisted",
    successful_call: str = "zero",
    token: str = "coin",
    demands: tuple[str, ...] = DEMANDS,
    rules: int = RULES_VERSION,
) -> Table:
    """Set a table at the beginning of the active player's turn.

    There are as many players as the last one named, at least two. Whatever isn't said is filled with cards that are
    left: a village with five facedown ones, the pile with one faceup, the deck below what is named with all the rest.
    With ``deck_count`` the deck has so many cards, and the rest is out of the round.
    """
    villages = (ann, bob, cat, dan)
    players = max([2, *(seat + 1 for seat, village in enumerate(villages) if village is not None)])
    s = play.new_game(
        Options(
            players=players,
            deck=parse_deck(cards),
            rounds=rounds,
            turn_limit=turn_limit,
            memory=memory,
            successful_call=successful_call,
            token=token,
            demands=demands,
            rules=rules,
        ),
        SECRET,
    )
    while play.decision_kind(s) == decisions.PEEK:
        play.apply(s, play.legal_actions(s)[0])
    dealer = _Dealer(s)
    for seat, village in enumerate(villages[:players]):
        if village is not None:
            s.villages[seat] = bytes(dealer.lay(village))
    s.pile = bytes(dealer.lay(pile or "")[::-1])
    named = dealer.lay(deck)
    for seat, village in enumerate(villages[:players]):
        if village is None:
            s.villages[seat] = bytes([dealer.lay_any() for _ in range(VILLAGE_SIZE)])
    if pile is None:
        s.pile = bytes((dealer.lay_any(FACEUP),))
    rest = [dealer.lay_any() for _ in range(dealer.left())]
    below = len(rest) if deck_count is None else deck_count - len(named)
    if not 0 <= below <= len(rest):
        raise ValueError(f"a deck of {deck_count} cards can't have {len(named)} named and {len(rest)} others")
    s.deck = bytes([*named, *rest[:below]][::-1])
    s.aside = bytes(rest[below:])
    s.active = s.seat = NAMES.index(active)
    s.holder = NAMES.index(start)
    s.token_active = token_active
    s.caller = NOBODY if caller is None else NAMES.index(caller)
    s.extra_turns = extra_turns
    s.turn = turn
    s.round = round
    s.totals = (0,) * players if totals is None else totals
    s.scores = (0,) * (players * (round - 2)) + s.totals if round > 1 else ()
    if round == 1 and any(s.totals):
        raise ValueError("in the first round nobody has points yet")
    play.settle(s)
    return Table(s)


class _Dealer:
    """Lays the 52 cards out, so that each handle is laid once and no card more often than the deck has it."""

    def __init__(self, s: State) -> None:
        self._s = s
        faces = faces_in_play(s.cards)
        copy = Counter[int]()
        order: list[tuple[int, int]] = []
        for face in faces:
            order.append((copy[face & 15], face))
            copy[face & 15] += 1
        self._faces = [face for _, face in sorted(order)]  # mixed, so that cards left to chance differ in value
        self._by_text = {face_text(s.cards, face): face for face in faces}
        self._next = 0
        s.flags[:] = bytes(len(s.flags))
        s.known[:] = bytes(len(s.known))

    def left(self) -> int:
        return len(self._faces)

    def lay(self, text: str) -> list[int]:
        """Lay the cards of a text, in its order."""
        return [self._lay_card(card) for card in text.split()]

    def lay_any(self, flags: int = 0) -> int:
        """Lay a card that is left."""
        return self._lay(self._faces[0], flags)

    def _lay_card(self, card: str) -> int:
        text = card.removeprefix("?").removesuffix("~")
        if text not in self._by_text:
            raise ValueError(f"'{card}' is no card of this deck: write 7, ?7, 7~ or ?7~, Obsessors 9.1, Nelly -1")
        flags = (0 if card.startswith("?") else FACEUP) | (SIDEWAYS if card.endswith("~") else 0)
        return self._lay(self._by_text[text], flags)

    def _lay(self, face: int, flags: int) -> int:
        if face not in self._faces:
            raise ValueError(f"the deck has no more cards of number {face_text(self._s.cards, face)}")
        self._faces.remove(face)
        h = self._next
        self._next += 1
        set_face(self._s, h, face)
        self._s.flags[h] = flags
        self._s.known[h] = EVERYBODY if flags & FACEUP else 0
        return h


class Table:
    """A game that is played by its players' names; its properties say what lies where, as texts."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.events: list[Event] = []  # since the table was set, with nothing hidden
        state.events = self.events
        self._players = [Player(self, seat) for seat in range(state.options.players)]
        self.spectator = Viewer(self, SPECTATOR)

    @property
    def ann(self) -> Player:
        return self._players[0]

    @property
    def bob(self) -> Player:
        return self._players[1]

    @property
    def cat(self) -> Player:
        return self._players[2]

    @property
    def dan(self) -> Player:
        return self._players[3]

    @property
    def players(self) -> list[Player]:
        return self._players

    @property
    def pile(self) -> str:
        """The pile, from the top."""
        return self._cards(self.state.pile[::-1])

    @property
    def deck(self) -> str:
        """The deck, from the top."""
        return self._cards(self.state.deck[::-1])

    @property
    def deck_count(self) -> int:
        return len(self.state.deck)

    @property
    def hand(self) -> str:
        """The card in the active player's hand, or nothing."""
        return "" if self.state.hand == NOBODY else self._cards([self.state.hand])

    @property
    def to_act(self) -> str:
        """Who is to act, or nobody."""
        seat = play.seat_to_act(self.state)
        return "nobody" if seat == NOBODY else NAMES[seat]

    @property
    def decision(self) -> str:
        """The kind of the open decision, or over."""
        kind = play.decision_kind(self.state)
        return "over" if kind < 0 else decisions.KINDS[kind].lower()

    @property
    def choices(self) -> list[str]:
        """The legal actions in their order, in the notation of actions: `take p0`, `pick b2`, `end a left`."""
        return [action_text(action) for action in play.legal_actions(self.state)]

    def offers(self, text: str) -> bool:
        """Whether an action is legal: a whole one (`take p0`), or any of a verb (`take`, `use_resident`)."""
        choices = play.legal_actions(self.state)
        if text in _VERBS_WITH_FIELDS:
            return any(actions.verb_of(action) == _VERBS_WITH_FIELDS[text] for action in choices)
        return parse_action(text) in choices

    @property
    def scores(self) -> tuple[int, ...]:
        """What each player scored in the last finished round."""
        return tuple(self.state.scores[-self.state.options.players :])

    @property
    def round(self) -> int:
        return self.state.round

    @property
    def totals(self) -> tuple[int, ...]:
        return tuple(self.state.totals)

    @property
    def holder(self) -> str:
        """Whom the token lies nearest to."""
        return NAMES[self.state.holder]

    @property
    def round_ended(self) -> bool:
        """Whether the round in which the table was set has ended."""
        return bool(self.happened("ROUND_ENDED"))

    def happened(self, kind: str) -> list[Event]:
        """Return the events of a kind since the table was set."""
        return [event for event in self.events if event[0] == KINDS.index(kind)]

    def forget_events(self) -> None:
        """Keep only the events of what comes now."""
        self.events.clear()

    def _cards(self, handles: bytes | bytearray | list[int]) -> str:
        return " ".join([self._card(h) for h in handles])

    def _card(self, h: int) -> str:
        s = self.state
        text = _text(s.cards, s.flags[h] & FACEUP != 0, s.identity[h], s.flags[h] & SIDEWAYS != 0)
        under = tucked_under(s, h)
        return text if under == NOBODY else f"{text}/{self._card(under)}"


class Viewer:
    """A seat, or the spectators. What it sees comes from its view; a face that it may not know isn't written: `?`."""

    def __init__(self, table: Table, seat: int) -> None:
        self.table = table
        self.seat = seat

    @property
    def view(self) -> View:
        return view(self.table.state, self.seat)

    def sees(self, owner: Player) -> str:
        """A village as the viewer sees it."""
        return " ".join([self._seen(card) for card in self.view.seats[owner.seat].village])

    @property
    def sees_pile(self) -> str:
        return " ".join([self._seen(card) for card in self.view.pile])

    @property
    def sees_hand(self) -> str:
        return self._seen(self.view.hand)

    @property
    def sees_deck_top(self) -> str:
        """The top card of the deck if it lies faceup, or nothing."""
        return self._seen(self.view.deck_top)

    @property
    def sees_pool(self) -> str:
        """What the viewer knows to be among the cards that the Eye token's shuffle mixed up."""
        return " ".join([_text(self.table.state.cards, faceup, face, False) for face, faceup in self.view.pool])

    @property
    def sees_decision(self) -> DecisionView:
        decision = self.view.decision
        assert decision is not None
        return decision

    def _seen(self, card: CardView | None) -> str:
        if card is None:
            return ""
        text = _text(self.table.state.cards, card.faceup, card.face, card.sideways)
        return text if card.tucked is None else f"{text}/{self._seen(card.tucked)}"

    def reads(self, kind: str) -> list[Event]:
        """Return the events of a kind since the table was set as the viewer gets them."""
        return [seen_by(event, self.seat) for event in self.table.happened(kind)]


class Player(Viewer):
    """A player at a table. Each move returns the player, so that moves of one turn follow one another in a line."""

    @property
    def name(self) -> str:
        return NAMES[self.seat]

    @property
    def village(self) -> str:
        """The own cards, from the left."""
        return self.table._cards(self.table.state.villages[self.seat])

    def handle(self, spot: int) -> int:
        """Return the handle of the card at an own spot."""
        return self.table.state.villages[self.seat][spot]

    def peeks(self, first: int, second: int) -> Player:
        """Look at two own cards before the first turn."""
        return self._act(actions.PEEK, first << 3 | second)

    def draws(self) -> Player:
        return self._act(actions.DRAW)

    def takes(self, depth: int = 0) -> Player:
        """Take a pile card to hand: the top one, or by an ability a deeper one."""
        return self._act(actions.TAKE, depth)

    def calls(self) -> Player:
        return self._act(actions.CALL)

    def activates(self, depth: int) -> Player:
        """Use the draw ability of a pile card."""
        return self._act(actions.ACTIVATE, depth)

    def discards(self, spot: int | None = None, *, by: int | None = None, spotters: int = 0) -> Player:
        """Discard the card in hand; or the own card at a spot, by the Curator or Simon at another; declare Spotters."""
        if spot is None:
            return self._act(actions.DISCARD)
        assert by is not None, "say by which Curator or Simon"
        return self._act(actions.DISCARD_RESIDENT, by, spot, spotters)

    def turns(self, spot: int, *, by: int) -> Player:
        """Turn an own card by 90 degrees, by the Curator at a spot."""
        return self._act(actions.TURN_CARD, by, spot)

    def uses(self, spot: int | None = None) -> Player:
        """Use the ability of the card in hand; or of the resident at an own spot."""
        if spot is None:
            return self._act(actions.USE)
        return self._act(actions.USE_RESIDENT, spot)

    def uses_token(self) -> Player:
        return self._act(actions.USE_TOKEN)

    def draws_with_token(self, card: str | None = None) -> Player:
        """Look through the deck; and draw such a card: `7`, `?9.1`."""
        self._act(actions.DRAW_WITH_TOKEN)
        return self if card is None else self.chooses(card)

    def chooses(self, card: str) -> Player:
        """Choose such a card of the deck: `7` a faceup one, `?9.1` a facedown one."""
        faces = {face_text(self.table.state.cards, face): face for face in faces_in_play(self.table.state.cards)}
        return self._act(actions.CHOOSE, faces[card.removeprefix("?")], 0 if card.startswith("?") else 1)

    def gambles(self, value: int | None = None) -> Player:
        """Begin to gamble; and predict a value."""
        self._act(actions.GAMBLE)
        return self if value is None else self.predicts(value)

    def predicts(self, value: int) -> Player:
        return self._act(actions.PREDICT, value + 1)

    def wins(self, spot: int, *, spotters: int = 0) -> Player:
        """Discard an own card as the reward of a right prediction."""
        assert self.table.decision == "reward", self.table.decision
        return self._act(actions.PICK, actions.square(self.seat, spot), spotters)

    def declines(self) -> Player:
        """Take no reward."""
        return self._act(actions.DECLINE)

    def declares(self, spotters: int) -> Player:
        """Declare Spotters for the set."""
        return self._act(actions.DECLARE, spotters)

    def passes(self) -> Player:
        """Leave the top card of the pile unanswered."""
        return self._act(actions.PASS)

    def keeps(self, end: str) -> Player:
        """Keep the card in hand, which fits nowhere, at an end of the own village."""
        return self._act(actions.KEEP).places_at(end)

    def puts_on_top(self, spot: int) -> Player:
        """Choose which of the discarded Obsessors lies on top."""
        assert self.table.decision == "obsessor", self.table.decision
        return self._act(actions.PICK, actions.square(self.seat, spot))

    def undermines(self, depth: int) -> Player:
        """Choose a pile card for an exchange with a village card."""
        return self._act(actions.UNDERMINE, depth)

    def names(self, *spots: int) -> Player:
        """Name own cards for an exchange, one after the other."""
        for spot in spots:
            self._act(actions.NAME, spot)
        return self

    def closes(self) -> Player:
        """Close the set of cards named."""
        return self._act(actions.CLOSE)

    def exchanges(
        self,
        *spots: int,
        into: int | None = None,
        keep_at: str | None = None,
        penalty_at: str | None = None,
        spotters: int = 0,
    ) -> Player:
        """Exchange own cards for the card in hand, declaring Spotters.

        into: the spot for the new card, of a set that matches. keep_at: the end for the new card, of a set that fails;
        penalty_at: the end for the card from the deck, if not the same.
        """
        self.names(*spots)
        if spotters:
            self.declares(spotters)
        self.closes()
        if into is not None:
            self.places(into)
        if keep_at is not None:
            self.places_at(keep_at)
            if self.table.decision == "place":
                self.places_at(penalty_at or keep_at)
        return self

    def places(self, spot: int) -> Player:
        """Put the new card into a spot."""
        return self._act(actions.PLACE, spot)

    def places_at(self, end: str, owner: Player | None = None) -> Player:
        """Put a card at an end, left or right, of the own village; or of another."""
        return self._act(actions.PLACE_END, (owner or self).seat << 1 | ENDS[end])

    def picks(self, owner: Player, spot: int, *, spotters: int = 0) -> Player:
        """Choose a village card as the target of an ability; declare Spotters if it will be an own discard."""
        assert self.table.decision == "target", self.table.decision
        return self._act(actions.PICK, actions.square(owner.seat, spot), spotters)

    def flips(self, owner: Player, spot: int) -> Player:
        """Choose a village card as the target of an ability, and see it turned over."""
        s = self.table.state
        h = owner.handle(spot)
        faceup = s.flags[h] & FACEUP
        self.picks(owner, spot)
        assert s.flags[h] & FACEUP != faceup, "the card was not flipped"
        return self

    def looks(self, owner: Player, spot: int | None = None) -> Player:
        """Look at a facedown card; or at all facedown cards of a village."""
        if spot is None:
            return self._act(actions.VILLAGE, owner.seat)
        assert self.table.decision == "look", self.table.decision
        return self._act(actions.PICK, actions.square(owner.seat, spot))

    def searches(self, owner: Player) -> Player:
        """Choose the village that a Spotter looks into."""
        assert self.table.decision == "target", self.table.decision
        return self._act(actions.VILLAGE, owner.seat)

    def stops(self) -> Player:
        """Look at no more cards."""
        return self._act(actions.STOP)

    def rotates(self, direction: str) -> Player:
        """Choose the direction, clockwise or counterclockwise, in which cards move on."""
        return self._act(actions.TURN_DIRECTION, DIRECTIONS[direction])

    def gives(self, spot: int, *, by: int, to: Player) -> Player:
        """Give an own card to another player, by the scoring ability of the card at a spot."""
        return self._act(actions.GIVE, by, spot, to.seat)

    def tucks(self, spot: int, owner: Player, under: int) -> Player:
        """Tuck the own Nelly at a spot under a card of a village."""
        return self._act(actions.TUCK, spot, actions.square(owner.seat, under))

    def bombs(self, owner: Player, spot: int, *, by: int) -> Player:
        """Take a card out of the round, by the own Mad Bomber at a spot."""
        return self._act(actions.BOMB, by, actions.square(owner.seat, spot))

    def done(self) -> Player:
        """Use no more scoring abilities."""
        return self._act(actions.DONE)

    def ends(self) -> Player:
        """End the turn."""
        return self._act(actions.END_TURN)

    def resigns(self) -> Player:
        play.resign(self.table.state, self.seat)
        return self

    def knows(self, owner: Player, spot: int) -> bool:
        """Whether this player has legally seen the card that lies there."""
        return self.table.state.known[owner.handle(spot)] >> self.seat & 1 == 1

    def _act(self, verb: int, x: int = 0, y: int = 0, z: int = 0) -> Player:
        action = actions.pack(verb, x, y, z)
        assert self.table.to_act == self.name, f"{self.name} can't {action_text(action)}: {self.table.to_act} is to act"
        play.apply(self.table.state, action)
        return self


def _text(cards: tuple[Card, ...], faceup: bool, face: int, sideways: bool) -> str:
    return ("" if faceup else "?") + ("" if face == UNKNOWN else face_text(cards, face)) + ("~" if sideways else "")
