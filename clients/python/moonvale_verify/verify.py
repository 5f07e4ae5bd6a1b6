"""Says whether the cards of a Moonvale game were shuffled as promised before the deal.

    python verify.py GAME.moonvale
    python verify.py GAME.moonvale --seen SEEN.ndjson

GAME.moonvale is the record of a finished game, as GetReplay hands it out. SEEN.ndjson is what one player or onlooker
was told while it was played: the lines of a watch, as `moonvale watch --save SEEN.ndjson` or the REST stream of
`:watch` (application/x-ndjson) writes them, or the entries of ListEvents, one JSON object a line.

The record alone proves that its secret opens its commitment, and says how every round was dealt. What was seen proves
that this was the commitment shown before the deal, that the seats' entropy is what they had committed to, that every
card lay where the shuffles put it, and that the record's actions are those that were told. The rules of the game are
not checked here: `moonvale record` replays a game by them.

This file stands alone: it needs Python 3.10 or newer and its standard library, and is written from docs/shuffle.md,
docs/record.md and docs/notation.md, not from the engine. Exit code: 0 yes, 1 no, 2 it can't be read.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import hmac
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

DOMAIN = b"moonvale/1/"
SEATS = "abcd"
NUMBERS = range(14)
FIRST_OF_PILE = 20
CARDS = 52
DEMANDS = ["even", "odd", "at-most-6", "at-least-7"]
OBSESSOR = 9  # in the Eye deck: the one number whose cards differ from each other


class Refused(Exception):  # noqa: N818  # it is the verdict, not a fault
    """The verdict is no; the message says why."""


class Unreadable(Exception):  # noqa: N818
    """A file is none of those that this program reads; the message says why."""


# Shuffles, by docs/shuffle.md.


def commitment_of(secret: bytes) -> bytes:
    """Return what was published before the deal."""
    return hashlib.sha256(DOMAIN + b"commitment" + secret).digest()


def entropy_commitment_of(entropy: bytes) -> bytes:
    """Return what a seat published before anybody revealed entropy."""
    return hashlib.sha256(DOMAIN + b"entropy" + entropy).digest()


def key_of(secret: bytes, entropy: Sequence[bytes]) -> bytes:
    """Return what all shuffles of a game are keyed by."""
    message = DOMAIN + b"key" + bytes([len(entropy)])
    for part in entropy:
        message += len(part).to_bytes(2, "big") + part
    return hmac.new(secret, message, hashlib.sha256).digest()


def stream_of(key: bytes, purpose: bytes, round_number: int, n: int) -> Iterator[int]:
    """Yield the bytes that a purpose is given."""
    block = 0
    while True:
        head = DOMAIN + purpose + bytes([round_number, n]) + block.to_bytes(4, "big")
        yield from hmac.new(key, head, hashlib.sha256).digest()
        block += 1


def below(stream: Iterator[int], bound: int) -> int:
    """Return a number below a bound, each as likely as the others."""
    while True:
        byte = next(stream)
        if byte < 256 - 256 % bound:
            return byte % bound


def shuffled(key: bytes, round_number: int, n: int, items: Sequence[Any]) -> list[Any]:
    """Return a shuffled list; n is 0 for the deal of a round."""
    stream = stream_of(key, b"shuffle", round_number, n)
    result = list(items)
    for i in range(len(result) - 1, 0, -1):
        j = below(stream, i + 1)
        result[i], result[j] = result[j], result[i]
    return result


# Records, by docs/record.md.


class Record:
    """A record: its head as texts, its options, and its entries as (seat, action, why it was made)."""

    def __init__(self, text: str) -> None:
        """Raises Unreadable."""
        lines = text.replace("\r\n", "\n").split("\n")
        if not lines[0].startswith("moonvale record 1"):
            raise Unreadable("is no Moonvale record: it doesn't begin with 'moonvale record 1'")
        end = lines.index("") if "" in lines else len(lines)
        self.head = dict(line.split(": ", 1) for line in lines[1:end] if ": " in line)
        for name in ("options", "commitment"):
            if name not in self.head:
                raise Unreadable(f"lacks the line '{name}'")
        words = self.head["options"].split()
        self.deck = {number: words[0].split(",")[0] for number in NUMBERS}
        self.deck.update({int(part.split("=")[0]): part.split("=")[1] for part in words[0].split(",")[1:]})
        self.players = int(words[1].rstrip("p"))
        more = dict(word.split("=", 1) for word in words[2:] if "=" in word)
        self.demands = more["demands"].split(",") if "demands" in more else DEMANDS
        self.villages = [int(one) for one in more["villages"].split(",")] if "villages" in more else None
        parts = self.head.get("entropy", "").split()
        self.entropy = [b"" if part == "-" else bytes.fromhex(part) for part in parts]
        self.entries = [_entry(line) for line in lines[end + 1 :] if line]

    @property
    def variants(self) -> int:
        """How many different cards the number of the Obsessors has."""
        return 4 if self.deck[OBSESSOR] == "eye" else 1

    def cards(self) -> list[tuple[int, int]]:
        """Return the 52 cards, number and variant, in the order that each deal begins with."""
        return [
            (number, copy % self.variants if number == OBSESSOR else 0)
            for number in NUMBERS
            for copy in range(2 if number in (0, 13) else 4)
        ]

    def kind(self, card: tuple[int, int]) -> tuple[int, int]:
        """Return a card, or of several with the same demand the first, as an Eye token's choice names it."""
        number, variant = card
        if number != OBSESSOR or self.variants == 1:
            return number, 0
        return number, self.demands.index(self.demands[variant])


def _entry(line: str) -> tuple[int, str, str]:
    body, _, cause = line.partition(" [")
    _, seat, action = body.split(" ", 2)
    return SEATS.index(seat), action, cause.rstrip("]")


# Actions, from JSON to the notation of docs/notation.md.


def _spot(card: dict[str, Any]) -> str:
    return f"{SEATS[card['seat']]}{card['spot']}"


def _spotters(action: dict[str, Any]) -> str:
    return f" spotters {action['spotters']}" if action.get("spotters") else ""


def _chosen(action: dict[str, Any]) -> str:
    variant = action.get("variant", 0)
    number = f"{action['number']}.{variant}" if variant > 1 else f"{action['number']}"
    return f"choose {number} {'faceup' if action.get('faceup') else 'facedown'}"


TEXTS: dict[str, Callable[[dict[str, Any]], str]] = {
    "peek": lambda a: f"peek {a['spots'][0]} {a['spots'][1]}",
    "draw": lambda a: "draw",
    "take": lambda a: f"take p{a['depth']}",
    "call": lambda a: "call",
    "activate": lambda a: f"activate p{a['depth']}",
    "useResident": lambda a: f"use {a['spot']}",
    "turnCard": lambda a: f"turn {a['spot']} by {a['residentSpot']}",
    "discardResident": lambda a: f"discard {a['spot']} by {a['residentSpot']}{_spotters(a)}",
    "useToken": lambda a: "token",
    "discard": lambda a: "discard",
    "use": lambda a: "use",
    "name": lambda a: f"name {a['spot']}",
    "close": lambda a: "close",
    "place": lambda a: f"place {a['spot']}",
    "placeEnd": lambda a: f"end {SEATS[a['seat']]} {a['end'][len('END_') :].lower()}",
    "pick": lambda a: f"pick {_spot(a['card'])}{_spotters(a)}",
    "village": lambda a: f"village {SEATS[a['seat']]}",
    "turnDirection": lambda a: a["direction"][len("DIRECTION_") :].lower(),
    "stop": lambda a: "stop",
    "endTurn": lambda a: "end",
    "done": lambda a: "done",
    "give": lambda a: f"give {a['spot']} by {a['residentSpot']} to {SEATS[a['seat']]}",
    "drawWithToken": lambda a: "draw with token",
    "choose": _chosen,
    "gamble": lambda a: "gamble",
    "predict": lambda a: f"predict {a['value']}",
    "decline": lambda a: "decline",
    "keep": lambda a: "keep",
    "declare": lambda a: f"declare{_spotters(a)}",
    "undermine": lambda a: f"undermine p{a['depth']}",
    "passReaction": lambda a: "pass",
    "tuck": lambda a: f"tuck {a['residentSpot']} under {_spot(a['card'])}",
    "bomb": lambda a: f"bomb {_spot(a['card'])} by {a['residentSpot']}",
}


def action_text(action: dict[str, Any]) -> str:
    """Return the notation of an action in JSON. Raises Unreadable."""
    ((verb, arguments),) = action.items()
    if verb not in TEXTS:
        raise Unreadable(f"has an action that this program doesn't know: {verb}")
    return TEXTS[verb](arguments)


# What was seen.


class Deck:
    """A round's cards as the shuffles dealt them, followed through what was told.

    Of the card that an Eye token took out, only the kind is known, not which of its like it was. So there may be
    several possible ``deals`` (what each handle is) from then on; those that don't fit what is seen are struck out.
    """

    def __init__(self, record: Record, key: bytes, round_number: int) -> None:
        self._record = record
        self._key = key
        self._round = round_number
        self._shuffles = 1
        self._order = list(range(FIRST_OF_PILE + 1, CARDS))  # handles, the top first
        self._deals = [dict(enumerate(shuffled(key, round_number, 0, record.cards())))]

    def see(self, handle: int, face: tuple[int, int]) -> None:
        """Check a card that was seen. Raises Refused."""
        deals = [deal for deal in self._deals if deal[handle] == face]
        if not deals:
            is_there = card_text(self._record, self._deals[0][handle])
            was = card_text(self._record, face)
            raise Refused(f"round {self._round}: card {handle} was seen as {was}, but the shuffles make it {is_there}")
        self._deals = deals

    def search(self, faces: list[tuple[int, int]]) -> None:
        """Check what somebody saw in the deck. Raises Refused."""
        if not any(Counter(faces) == Counter(deal[handle] for handle in self._order) for deal in self._deals):
            raise Refused(f"round {self._round}: the deck that was searched held other cards than it should")

    def move(self, handle: int, origin: str, destination: str) -> None:
        """Follow a card out of the deck or into it. Raises Refused."""
        if origin == "ZONE_DECK_TOP":
            if not self._order or self._order[0] != handle:
                raise Refused(f"round {self._round}: card {handle} was drawn, but another one lay on top of the deck")
            del self._order[0]
        if destination == "ZONE_DECK_TOP":
            self._order.insert(0, handle)
        elif destination == "ZONE_DECK_BOTTOM":
            self._order.append(handle)

    def shuffle(self, chosen: tuple[int, int] | None) -> None:
        """Shuffle what is left, but for one card of the kind chosen, which lies on top. None: it isn't known which."""
        order = shuffled(self._key, self._round, self._shuffles, range(len(self._order)))
        handles = sorted(self._order)
        deals = []
        for deal in self._deals:
            old = [deal[handle] for handle in self._order]
            for drawn in order:
                if chosen is None or self._record.kind(old[drawn]) == chosen:
                    rest = [old[i] for i in order if i != drawn]
                    deals.append({**deal, **dict(zip(handles, [old[drawn], *rest], strict=True))})
        if not deals:
            raise Refused(f"round {self._round}: the deck held no card of the kind that the Eye token took out of it")
        self._shuffles += 1
        self._order = handles
        self._deals = deals


#: Phases of a game in which all seats are taken, so that what they have committed to stays.
SETTLED = ("PHASE_REVEALING", "PHASE_PLAYING", "PHASE_OVER")

#: Entries of a record that are no actions, and the event that tells each.
NO_ACTIONS = {"resign": "resigned", "away": "away", "back": "returned"}


class Seen:
    """What one viewer was told, checked against a record line by line."""

    def __init__(self, record: Record, key: bytes) -> None:
        self._record = record
        self._key = key
        self._deck: Deck | None = None
        self._version: int | None = None
        self._chosen = ""
        self._promised: list[bytes] | None = None
        self.cards = self.actions = self.shuffles = 0
        self.rounds: set[int] = set()
        self.opened: list[int] = []  # seats whose entropy opens what they had committed to
        self.withheld: list[int] = []  # those that had committed to some and added none

    def view(self, view: dict[str, Any]) -> None:
        """Check the commitments that a view shows: the service's, and those of the seats. Raises Refused."""
        shown = base64.b64decode(view["commitment"]).hex()
        if shown != self._record.head["commitment"]:
            raise Refused(f"the commitment shown while the game was played is {shown}, not the record's")
        if view.get("phase") in SETTLED:
            self._seats(view["seats"])

    def _seats(self, seats: list[dict[str, Any]]) -> None:
        """Check what the seats have committed to, and what they have revealed, if that is shown already."""
        promised = [base64.b64decode(seat.get("entropyCommitment", "")) for seat in seats]
        if self._promised is not None and promised != self._promised:
            changed = next(seat for seat, each in enumerate(promised) if each != self._promised[seat])
            raise Refused(f"what seat {SEATS[changed]} had committed to was changed when all seats were taken")
        for seat, shown in enumerate(seats):
            added = self._record.entropy[seat] if self._record.entropy else b""
            revealed = base64.b64decode(shown.get("entropy", ""))
            if revealed and revealed != added:
                raise Refused(f"seat {SEATS[seat]} was shown to have added other entropy than the record has")
            if added and entropy_commitment_of(added) != promised[seat]:
                raise Refused(f"the entropy of seat {SEATS[seat]} in the record is not what it had committed to")
            if self._promised is None and promised[seat]:
                (self.opened if added else self.withheld).append(seat)
        self._promised = promised

    def entry(self, entry: dict[str, Any]) -> None:
        """Check an entry of the log with its events. Raises Refused."""
        version = int(entry.get("version", 0))
        if self._version is None:
            if version <= 1:
                self._begin(1)
        elif version <= self._version:
            return  # told twice, as by a stream that was resumed
        elif version != self._version + 1:
            raise Unreadable(f"lacks what was told between versions {self._version} and {version}")
        self._version = version
        ours = self._of_record(version, entry)
        for event in entry.get("events", []):
            ours = self._event(event, ours)

    def _of_record(self, version: int, entry: dict[str, Any]) -> str | None:
        """Return the action that the record has for a version. Raises Refused."""
        if version == 0:
            return None
        if version > len(self._record.entries):
            raise Refused(f"version {version} was told, but the record ends with version {len(self._record.entries)}")
        seat, action, _ = self._record.entries[version - 1]
        if entry.get("seat") != seat:
            raise Refused(f"version {version} was made by seat {entry.get('seat')}, in the record by seat {seat}")
        told = [name for name, event in NO_ACTIONS.items() if any(event in each for each in entry.get("events", []))]
        if told != [action] * (action in NO_ACTIONS):
            raise Refused(f"version {version} is '{action}' in the record, which is not what was told")
        return None if action in NO_ACTIONS else action

    def _event(self, event: dict[str, Any], ours: str | None) -> str | None:
        """Check an event; ``ours`` is the record's action for its entry until that was told. Return it, or None."""
        if "roundBegan" in event:
            self._begin(event["roundBegan"]["round"])
        acted = event.get("acted")
        told: str | None = None
        if acted is not None:
            told = action_text(acted["action"]) if "action" in acted else None
            if acted.get("cause") == "CAUSE_PLAYER" and ours is not None:
                if told is not None and told != ours:
                    raise Refused(f"version {self._version} is '{ours}' in the record, but '{told}' was told")
                self.actions += told is not None
                self._chosen = ours
                ours = None
            else:
                self._chosen = told or ""
        for card in _cards(event):
            if self._deck is not None and "face" in card and "handle" in card:
                self._deck.see(card["handle"], _face(card["face"]))
                self.cards += 1
        if self._deck is not None:
            self._follow(self._deck, event)
        return ours

    def _follow(self, deck: Deck, event: dict[str, Any]) -> None:
        if "moved" in event:
            moved = event["moved"]
            deck.move(moved["card"]["handle"], moved["origin"]["zone"], moved["destination"]["zone"])
        elif "searched" in event and "faces" in event["searched"]:
            deck.search([_face(face) for face in event["searched"]["faces"]])
        elif "shuffled" in event:
            words = self._chosen.split()
            chosen = None
            if words[:1] == ["choose"]:
                number, _, variant = words[1].partition(".")
                chosen = int(number), int(variant or 1) - 1
            deck.shuffle(chosen)
            self.shuffles += 1

    def _begin(self, round_number: int) -> None:
        if round_number not in self.rounds:
            self._deck = Deck(self._record, self._key, round_number)
            self.rounds.add(round_number)


def _cards(part: object) -> Iterator[dict[str, Any]]:
    """Yield all cards in an event, wherever they stand."""
    if isinstance(part, dict):
        if "handle" in part:
            yield part
        for value in part.values():
            yield from _cards(value)
    elif isinstance(part, list):
        for value in part:
            yield from _cards(value)


def _face(face: dict[str, Any]) -> tuple[int, int]:
    return face["number"], max(face.get("variant", 0) - 1, 0)


def card_text(record: Record, card: tuple[int, int]) -> str:
    """Return how a card is written."""
    number, variant = card
    return f"{number}.{variant + 1}" if number == OBSESSOR and record.variants > 1 else str(number)


# The verdict.


def check_record(record: Record, noted: str | None = None) -> bytes:
    """Check that the secret opens the commitment, which is to be the one that was noted, if any was.

    Return the key of the shuffles. Raises Refused or Unreadable.
    """
    if noted is not None and noted.lower() != record.head["commitment"]:
        raise Refused("the commitment that you noted is not the record's")
    if "secret" not in record.head:
        raise Unreadable("has no secret: it is sealed, or the game goes on")
    secret = bytes.fromhex(record.head["secret"])
    if commitment_of(secret).hex() != record.head["commitment"]:
        raise Refused("the secret does not open the commitment")
    return key_of(secret, record.entropy)


def check_seen(record: Record, key: bytes, lines: Iterable[str]) -> Seen:
    """Check what somebody was told. Raises Refused or Unreadable."""
    seen = Seen(record, key)
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            told = json.loads(line)
            told = told.get("result", told)  # as some gateways wrap the messages of a stream
            if "view" in told:
                seen.view(told["view"])
            elif "entry" in told:
                seen.entry(told["entry"])
            elif "events" in told or "version" in told:
                seen.entry(told)
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            raise Unreadable(f"line {number} is not what a watch writes ({type(error).__name__})") from error
    return seen


def entropy_lines(seen: Seen) -> Iterator[str]:
    """Yield what the seats have added to the shuffles, for people."""
    if seen.opened:
        yield f"{_seats_text(seen.opened)} added entropy, which opens what had been committed to before."
    if seen.withheld:
        yield (
            f"{_seats_text(seen.withheld)} had committed to entropy that was not revealed in time, and so not added:"
            " whoever decides that, knowing the others' entropy, chooses between two shuffles."
        )


def _seats_text(seats: list[int]) -> str:
    return f"Seat{'s' if len(seats) > 1 else ''} {', '.join(SEATS[seat] for seat in seats)}"


def deal_lines(record: Record, key: bytes, rounds: int) -> Iterator[str]:
    """Yield how the rounds were dealt, for people."""
    villages = record.villages or list(range(record.players))
    in_play = sorted(villages)
    first = villages.index(in_play[below(stream_of(key, b"start", 0, 0), record.players)])
    yield f"Seat {SEATS[first]} starts the first round."
    for number in range(1, rounds + 1):
        cards = [card_text(record, card) for card in shuffled(key, number, 0, record.cards())]
        dealt = [f"{SEATS[seat]}: {' '.join(cards[5 * at : 5 * at + 5])}" for seat, at in enumerate(villages)]
        deck = " ".join(cards[FIRST_OF_PILE + 1 :])
        yield f"Round {number}. {'; '.join(dealt)}; pile {cards[FIRST_OF_PILE]}; deck from its top {deck}"


def rounds_of(record: Record) -> int:
    """Return how many rounds were dealt, as far as the record says it."""
    result = record.head.get("result", "")
    scored = result.partition("scores ")[2].count("/") + 1 if "scores " in result else 0
    return max(1, scored + (not result.startswith("rounds")))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command is called with."""
    parser.add_argument("record", metavar="RECORD", help="the record of a finished game, or - for the standard input")
    parser.add_argument(
        "--seen", metavar="FILE", action="append", default=[], help="what somebody was told; may be given several times"
    )
    parser.add_argument("--commitment", metavar="HEX", help="the commitment that you noted before the deal")
    parser.add_argument("--deals", action="store_true", help="print how every round was dealt")


def run(options: argparse.Namespace) -> int:
    """Print the verdict, and return the exit code."""
    path = options.record
    try:
        record = Record(_read(path))
        key = check_record(record, options.commitment)
        print(f"The secret opens the commitment {record.head['commitment']}.")
        for path in options.seen:
            seen = check_seen(record, key, _read(path).splitlines())
            print(
                f"{path}: {seen.cards} times a card was seen, where the shuffles had put it; rounds {len(seen.rounds)},"
                f" shuffles within them {seen.shuffles}. {seen.actions} actions are the record's."
            )
            print(*entropy_lines(seen), sep="\n", end="\n" * bool(seen.opened or seen.withheld))
    except Refused as refusal:
        print(f"NO: {refusal}.")
        return 1
    except (Unreadable, OSError, ValueError, KeyError, IndexError) as error:
        print(f"{path}: {error}", file=sys.stderr)
        return 2
    if options.deals:
        print(*deal_lines(record, key, rounds_of(record)), sep="\n")
    if not options.seen and options.commitment is None:
        print("Is that the commitment you were shown before the deal? Compare it, or give --seen or --commitment.")
    print("YES: the cards were shuffled as promised.")
    return 0


def _read(path: str) -> str:
    return sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    return run(parser.parse_args(arguments))


if __name__ == "__main__":
    sys.exit(main())
