"""The verifier says yes to what was played, by anybody's eyes, and no to whatever was tampered with."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict

from moonvale.v1.event_pb2 import LogEntry
from moonvale_cli.main import main as moonvale
from moonvale_client import AsyncClient, entropy_commitment, play_seat
from moonvale_client import Options as GameOptions
from moonvale_engine import (
    SPECTATOR,
    Entry,
    Record,
    action_text,
    commitment,
    new_game,
    seat_to_act,
    write_record,
)
from moonvale_engine.actions import CHOOSE, verb_of
from moonvale_engine.log import RESIGNATION, enter, history
from moonvale_engine.outcome import result
from moonvale_engine.shuffle import first_start, game_key, shuffled
from moonvale_service import render
from moonvale_service.convert import actions
from moonvale_service.history import Happened
from moonvale_verify import verify
from tests.service.servers import running_service
from tests.support.playing import choose, random_setup

PROGRAM = Path(verify.__file__)
SEEDS = range(20)


@dataclass
class Played:
    """A finished game: its record, and what each viewer was told of it, line by line."""

    record: Record
    seen: dict[int, list[dict[str, Any]]]


def play(seed: int) -> Played:
    """Play a random game of any deck, with entropy of the seats, searches of the deck and resignations now and then."""
    setup = random_setup(seed, token="eye") if seed % 2 else random_setup(seed)
    style = "restless" if seed % 2 else setup.style
    rng = Random(seed)
    entropy = tuple(rng.randbytes(rng.randrange(40)) for _ in range(setup.options.players)) if seed % 3 == 0 else ()
    s = new_game(setup.options, setup.secret, entropy)
    log: list[Entry] = []
    while not s.is_over():
        seat = seat_to_act(s)
        if rng.random() < 0.0005 and setup.options.players > 2:
            log.append(
                Entry(
                    rng.choice([each for each in range(setup.options.players) if each not in s.resigned]), RESIGNATION
                )
            )
        else:
            log.append(Entry(seat, choose(rng, style, s.choices)))
        enter(s, log[-1])
    record = Record(
        setup.options, commitment(setup.secret), setup.secret, entropy, entries=tuple(log), result=result(s)
    )
    told = list(history(setup.options, setup.secret, entropy, log))
    seen: dict[int, list[dict[str, Any]]] = {}
    for viewer in (*range(setup.options.players), SPECTATOR):
        entries = [
            Happened(version, "", None if version == 0 else log[version - 1], 0, 0, events, setup.options)
            for version, events in enumerate(told)
        ]
        messages = [LogEntry.FromString(render.encoded_entry(each, viewer)) for each in entries]
        seen[viewer] = [{"entry": MessageToDict(message)} for message in messages]
    return Played(record, seen)


def verdict(played: Played, lines: list[dict[str, Any]] | None = None) -> verify.Seen | None:
    """Read what was played as the program does. Raises Refused or Unreadable."""
    record = verify.Record(write_record(played.record))
    key = verify.check_record(record)
    return None if lines is None else verify.check_seen(record, key, [json.dumps(line) for line in lines])


@pytest.fixture(scope="module")
def games() -> list[Played]:
    return [play(seed) for seed in SEEDS]


def test_it_says_yes_to_what_everybody_was_told(games: list[Played]) -> None:
    shuffles = 0
    for played in games:
        for lines in played.seen.values():
            seen = verdict(played, lines)
            assert seen is not None
            assert seen.cards > 10
            assert seen.rounds == set(range(1, max(seen.rounds) + 1))
            shuffles += seen.shuffles
        whole = verdict(played, played.seen[0])
        assert whole is not None
        private = sum(verb_of(entry.action) == CHOOSE for entry in played.record.entries if entry.action != RESIGNATION)
        acted = sum(entry.action != RESIGNATION for entry in played.record.entries)
        assert acted - private <= whole.actions <= acted
    assert shuffles > 10


def with_promises(played: Played) -> tuple[Played, list[dict[str, Any]]]:
    """The same with entropy of every seat, and two views: in which it was committed to, and in which it is revealed."""
    entropy = tuple([bytes([seat]) * 16 for seat in range(played.record.options.players)])
    with_entropy = Played(replace(played.record, entropy=entropy), {})
    promised = [{"entropyCommitment": text64(entropy_commitment(part))} for part in entropy]
    revealed = [{**seat, "entropy": text64(part)} for seat, part in zip(promised, entropy, strict=True)]
    head = {"commitment": text64(played.record.commitment)}
    views = [
        {**head, "phase": "PHASE_REVEALING", "seats": promised},
        {**head, "phase": "PHASE_PLAYING", "seats": revealed},
    ]
    return with_entropy, [{"view": view} for view in views]


def text64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def test_what_the_seats_had_committed_to_is_checked(games: list[Played]) -> None:
    played, views = with_promises(games[0])
    seen = verdict(played, views)
    assert seen is not None
    assert (seen.opened, seen.withheld) == ([*range(played.record.options.players)], [])
    assert next(verify.entropy_lines(seen)).endswith("added entropy, which opens what had been committed to before.")


def test_a_seat_that_withheld_its_entropy_is_named(games: list[Played]) -> None:
    played, views = with_promises(games[0])
    entropy = (b"", *played.record.entropy[1:])
    del views[1]["view"]["seats"][0]["entropy"]
    seen = verdict(Played(replace(played.record, entropy=entropy), {}), views)
    assert seen is not None
    assert seen.withheld == [0]
    assert any(line.startswith("Seat a had committed to entropy") for line in verify.entropy_lines(seen))


def test_seats_that_have_added_nothing_are_not_spoken_of(games: list[Played]) -> None:
    played, views = with_promises(games[0])
    for view in views:
        for seat in view["view"]["seats"]:
            del seat["entropyCommitment"]
            seat.pop("entropy", None)
    seen = verdict(Played(replace(played.record, entropy=()), {}), views)
    assert seen is not None
    assert list(verify.entropy_lines(seen)) == []


def test_other_entropy_than_was_committed_to_is_found(games: list[Played]) -> None:
    played, views = with_promises(games[0])
    other = Played(replace(played.record, entropy=(bytes(16), bytes(16), *played.record.entropy[2:])), {})
    with pytest.raises(verify.Refused, match="seat b in the record is not what it had committed to"):
        verdict(other, views[:1])
    with pytest.raises(verify.Refused, match="seat b was shown to have added other entropy"):
        verdict(other, views[1:])


def test_entropy_that_nobody_had_committed_to_is_found(games: list[Played]) -> None:
    played, views = with_promises(games[0])
    del views[0]["view"]["seats"][0]["entropyCommitment"]
    with pytest.raises(verify.Refused, match="seat a in the record is not what it had committed to"):
        verdict(played, views[:1])


def test_a_commitment_that_changed_when_all_were_there_is_found(games: list[Played]) -> None:
    played, views = with_promises(games[0])
    views[1]["view"]["seats"][1]["entropyCommitment"] = text64(bytes(32))
    with pytest.raises(verify.Refused, match="what seat b had committed to was changed"):
        verdict(played, views)
    views[0]["view"]["phase"] = "PHASE_WAITING"  # whoever sat there then has left
    views[1:] = with_promises(games[0])[1][1:]
    views[0]["view"]["seats"][1]["entropyCommitment"] = text64(bytes(32))
    assert verdict(played, views) is not None


def test_a_watch_that_began_later_is_checked_from_the_next_round_on(games: list[Played]) -> None:
    for played in games:
        lines = played.seen[SPECTATOR]
        seen = verdict(played, lines[5:])
        assert seen is not None
        assert 1 not in seen.rounds


def test_one_card_that_was_swapped_is_found(games: list[Played]) -> None:
    rng = Random(1)
    found = 0
    for played in games:
        for lines in played.seen.values():
            changed = json.loads(json.dumps(lines))
            cards = [card for card in verify._cards(changed) if "face" in card]
            card = rng.choice(cards)
            card["face"]["number"] = (card["face"]["number"] + 1) % 14
            with pytest.raises(verify.Refused, match="round"):
                verdict(played, changed)
            found += 1
    assert found > 60


def test_two_cards_that_changed_places_are_found(games: list[Played]) -> None:
    for played in games:
        changed = json.loads(json.dumps(played.seen[SPECTATOR]))
        cards = [card for card in verify._cards(changed) if "face" in card]
        first = cards[0]
        other = next(card for card in cards if card["face"]["number"] != first["face"]["number"])
        first["face"], other["face"] = other["face"], first["face"]
        with pytest.raises(verify.Refused):
            verdict(played, changed)


def test_another_secret_is_found(games: list[Played]) -> None:
    for played in games[:6]:
        secret = bytes(32)
        with pytest.raises(verify.Refused, match="does not open the commitment"):
            verdict(replace(played, record=replace(played.record, secret=secret)))
        forged = replace(played.record, secret=secret, commitment=commitment(secret))
        with pytest.raises(verify.Refused, match="round 1"):
            verdict(replace(played, record=forged), played.seen[SPECTATOR])
        with pytest.raises(verify.Refused, match="that you noted"):
            verify.check_record(verify.Record(write_record(forged)), played.record.commitment.hex())


def test_other_entropy_is_found(games: list[Played]) -> None:
    for played in games[:6]:
        forged = replace(played.record, entropy=(b"forged",))
        with pytest.raises(verify.Refused):
            verdict(replace(played, record=forged), played.seen[0])


def test_one_changed_action_is_found(games: list[Played]) -> None:
    rng = Random(2)
    for played in games:
        entries = played.record.entries
        public = [entry for entry in entries if entry.action != RESIGNATION and verb_of(entry.action) != CHOOSE]
        entry = rng.choice(public)
        at = entries.index(entry)
        another = rng.choice([each.action for each in public if each.action != entry.action])
        for other in (
            entry._replace(seat=(entry.seat + 1) % played.record.options.players),
            entry._replace(action=another),
            entry._replace(action=RESIGNATION),
        ):
            forged = replace(played.record, entries=(*entries[:at], other, *entries[at + 1 :]))
            with pytest.raises(verify.Refused, match="version"):
                verdict(replace(played, record=forged), played.seen[SPECTATOR])
        shorter = replace(played.record, entries=entries[:-1])
        with pytest.raises(verify.Refused, match="ends with version"):
            verdict(replace(played, record=shorter), played.seen[0])


def test_another_commitment_shown_before_is_found(games: list[Played]) -> None:
    view = {"view": {"commitment": "AAAA"}}
    with pytest.raises(verify.Refused, match="shown while the game was played"):
        verdict(games[0], [view])


def test_a_gap_in_what_was_seen_is_said(games: list[Played]) -> None:
    lines = games[0].seen[0]
    with pytest.raises(verify.Unreadable, match="between versions 3 and 5"):
        verdict(games[0], [*lines[:4], *lines[5:]])


def test_its_actions_are_written_as_ours(games: list[Played]) -> None:
    """All actions of all games, and those that were not chosen."""
    verbs = set()
    for played in games:
        s = new_game(played.record.options, played.record.secret or b"", played.record.entropy)
        for entry in played.record.entries:
            for action in s.choices:
                verbs.add(verb_of(action))
                assert verify.action_text(MessageToDict(actions.to_proto(action))) == action_text(action)
            enter(s, entry)
    assert len(verbs) >= 31
    assert len(verify.TEXTS) == 33


def test_its_shuffles_are_ours() -> None:
    rng = Random(3)
    for _ in range(200):
        secret, entropy = rng.randbytes(32), tuple(rng.randbytes(rng.randrange(5)) for _ in range(rng.randrange(4)))
        key = game_key(secret, entropy)
        assert verify.key_of(secret, entropy) == key
        size, round_number, n = rng.randrange(1, 53), rng.randrange(1, 9), rng.randrange(3)
        assert bytes(verify.shuffled(key, round_number, n, range(size))) == shuffled(
            key, round_number, n, bytes(range(size))
        )
        assert verify.below(verify.stream_of(key, b"start", 0, 0), 3) == first_start(key, 3)


def test_it_stands_alone(tmp_path: Path, games: list[Played]) -> None:
    program = tmp_path / "verify.py"
    program.write_text(PROGRAM.read_text(encoding="utf-8"), encoding="utf-8")
    record, seen = tmp_path / "game.moonvale", tmp_path / "seen.ndjson"
    record.write_text(write_record(games[1].record), encoding="utf-8")
    seen.write_text("".join(json.dumps(line) + "\n" for line in games[1].seen[0]), encoding="utf-8")

    def run(*arguments: object) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-W", "error", program, *map(str, arguments)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    code, printed = run(record, "--seen", seen, "--deals")
    assert (code, printed.splitlines()[-1]) == (0, "YES: the cards were shuffled as promised.")
    dealt = [line for line in printed.splitlines() if line.startswith("Round ")]
    assert len(dealt) == len(games[1].record.result.scores if games[1].record.result else ())
    assert all(len(re.findall(r"(?<![\w.])-?\d+(?:\.\d)?(?![\w.:])", line)) >= 41 for line in dealt)
    code, printed = run(record)
    assert code == 0
    assert "Compare it" in printed
    record.write_text(record.read_text().replace("secret: ", "secret: 00")[:-2], encoding="utf-8")
    assert run(record)[0] == 1
    record.write_text("something else", encoding="utf-8")
    assert run(record) == (2, f"{record}: is no Moonvale record: it doesn't begin with 'moonvale record 1'\n")
    assert run(tmp_path / "missing")[0] == 2


async def test_what_watch_has_saved_is_verified(tmp_path: Path) -> None:
    record, seen = tmp_path / "game.moonvale", tmp_path / "seen.ndjson"
    with running_service() as service:
        async with AsyncClient(service.address) as client:
            game = await client.create_game(GameOptions(players=2, rounds=1, token="eye"))
            watch = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "moonvale_cli", "watch", game.name, "--credential", game.seat_credentials[0]),
                *("--save", seen, "--address", service.address),
                stdout=asyncio.subprocess.DEVNULL,
            )
            rng = Random(1)
            seats = [
                play_seat(client, game.name, credential, lambda view: rng.choice(view.decision.legal_actions))
                for credential in game.seat_credentials
            ]
            await asyncio.gather(*seats)
            assert await watch.wait() == 0
            record.write_text((await client.get_replay(game.name, game.creator_credential)).record, encoding="utf-8")
    assert moonvale(["verify", str(record), "--seen", str(seen)]) == 0
    lines = seen.read_text(encoding="utf-8").splitlines()
    assert any("view" in json.loads(line) for line in lines)
    assert any(json.loads(line).get("entry", {}).get("version") == "0" for line in lines)
    told = [json.loads(line) for line in lines]
    card = next(card for each in told if "entry" in each for card in verify._cards(each["entry"]) if "face" in card)
    card["face"]["number"] = 13 - card["face"]["number"]
    seen.write_text("\n".join(map(json.dumps, told)), encoding="utf-8")
    assert moonvale(["verify", str(record), "--seen", str(seen)]) == 1
