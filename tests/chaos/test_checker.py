"""The checker has nothing to say of a game that went well, and says in a line what is wrong with any other."""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from moonvale.v1 import event_pb2
from moonvale.v1.action_pb2 import Action, CallAction
from moonvale.v1.clock_pb2 import TIME_OUT_AGENT_DECIDES, TIME_OUT_AGENT_TAKES_OVER, TIME_OUT_FORFEIT
from moonvale.v1.event_pb2 import LogEntry
from moonvale.v1.replay_pb2 import Replay
from moonvale_engine.actions import CALL, DRAW_WITH_TOKEN
from moonvale_engine.events import SPECTATOR, Event, seen_by
from moonvale_engine.log import (
    BY_AGENT,
    BY_BOT,
    BY_TIME_OUT,
    FOR_FAILED_BOT,
    RESIGNATION,
    RETURN,
    TAKEOVER,
    Entry,
    enter,
)
from moonvale_engine.options import Options, parse_deck
from moonvale_engine.outcome import result
from moonvale_engine.play import new_game, seat_to_act
from moonvale_engine.position import observe
from moonvale_engine.position_text import position_text
from moonvale_engine.record import Record
from moonvale_engine.shuffle import commitment
from moonvale_service.convert import actions, events, replays
from moonvale_service.convert.options import to_proto as options_to_proto
from tests.chaos import checker
from tests.chaos.checker import REMEMBERED, check
from tests.chaos.record import Agreement, Answer, Change, Game, Refusal, Sight, Watch, digest

NAME = "games/q7xw3m6d4c2h5r2tk5w2"
SECRET = bytes(range(32))
CALLED = Action(call=CallAction())


def mark(version: int) -> str:
    return f"{version:016x}"


def played(seed: int = 1, resignation: int | None = None, deck: str = "coin", rounds: int = 1) -> Game:
    """A game of two that went well, with one watch of each kind; a version at which seat 1 resigned, if one did."""
    rng = Random(seed)
    token = "eye" if deck == "eye" else "coin"
    options = Options(players=2, rounds=rounds, turn_limit=12, deck=parse_deck(deck), token=token)
    happened: list[Event] = []
    state = new_game(options, SECRET, (), happened)
    game = Game(NAME, options_to_proto(options), commitment(SECRET), mark(0), None)
    game.watches = [Watch(viewer, after) for viewer, after in ((None, 0), (0, 0), (1, 0), (0, -1))]
    entries: list[Entry] = []

    def tell(version: int, entry: Entry | None) -> None:
        for watch in game.watches:
            if version > watch.after:
                watch.entries.append(told(watch.viewer, version, entry))
        for viewer in (0, 1, SPECTATOR):
            seat = None if viewer == SPECTATOR else viewer
            position = digest(position_text(observe(state, viewer)))
            game.sights.append(Sight(seat, version, NAME, version, mark(version), position, None))

    def told(viewer: int | None, version: int, entry: Entry | None) -> LogEntry:
        seen = [seen_by(event, SPECTATOR if viewer is None else viewer) for event in happened]
        return events.log_entry(options, version, mark(version), entry, 1000 * version, seat_to_act(state), seen)

    tell(0, None)
    while state.choices:
        version = len(entries) + 1
        seat = seat_to_act(state)
        action = rng.choice(state.choices)
        if rounds > 1:  # who calls at once may get the token, and then uses it
            action = next((preferred for preferred in (DRAW_WITH_TOKEN, CALL) if preferred in state.choices), action)
        change = Change(seat, f"request {version}", version - 1, (actions.to_proto(action),))
        if version == resignation:
            seat, action = 1, RESIGNATION
            change = Change(1, "", 0, ())
        entries.append(Entry(seat, action, time=1000 * version))
        happened = state.events = []
        enter(state, entries[-1])
        change.answers.append(Answer(version, mark(version), (told(seat, version, entries[-1]),)))
        game.changes.append(change)
        tell(version, entries[-1])
    game.replay = replays.to_proto(
        Record(
            options,
            commitment(SECRET),
            SECRET,
            game=NAME.removeprefix("games/"),
            entries=tuple(entries),
            result=result(state),
        )
    )
    game.newest = len(entries)
    return game


def replay_of(game: Game) -> Replay:
    assert game.replay is not None
    return game.replay


def lines(game: Game) -> list[str]:
    return [str(violation) for violation in check(game)]


@pytest.mark.parametrize("resignation", [None, 9])
def test_a_game_that_went_well(resignation: int | None) -> None:
    game = played(resignation=resignation)
    assert game.newest > 8
    assert lines(game) == []


@pytest.mark.parametrize("deck", ["eye", "coin,3=eye,9=eye"])
def test_games_of_every_deck_can_be_read_back(deck: str) -> None:
    kinds: set[str | None] = set()
    for seed in (2, 7):
        game = played(seed, deck=deck, rounds=8)
        assert lines(game) == []
        kinds |= {event.WhichOneof("kind") for entry in game.watches[3].entries for event in entry.events}
    if deck == "eye":
        assert {"predicted", "searched", "shuffled", "tucked"} <= kinds


def test_the_checker_imports_neither_service_nor_store() -> None:
    folder = Path(checker.__file__).parent
    for name in ("checker", "reading", "record"):
        for node in ast.walk(ast.parse((folder / f"{name}.py").read_text(encoding="utf-8"))):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for module in modules:
                assert not module.startswith(("moonvale_service", "redis", "tests.support", "tests.service")), module


def lose_the_last_change(game: Game) -> None:
    del replay_of(game).entries[-1]


def put_another_action_in_the_log(game: Game) -> None:
    replay_of(game).entries[2].action.CopyFrom(CALLED)


def carry_a_change_out_twice(game: Game) -> None:
    entries = list(replay_of(game).entries)
    entries.insert(4, copy.deepcopy(entries[3]))
    for version, entry in enumerate(entries, 1):
        entry.version = version
    replay_of(game).ClearField("entries")
    replay_of(game).entries.extend(entries)


def number_the_replay_with_a_gap(game: Game) -> None:
    replay_of(game).entries[3].version = 5


def acknowledge_two_requests_for_one_version(game: Game) -> None:
    change = game.changes[3]
    game.changes.append(Change(change.seat, "rival", 3, change.actions, list(change.answers)))


def acknowledge_what_is_not_in_the_log(game: Game) -> None:
    game.changes[3] = Change(0, "rival", 3, (CALLED,), [Answer(4, mark(4), ())])


def carry_a_change_out_on_another_version(game: Game) -> None:
    game.changes[3].version = 2


def answer_repeats_differently(game: Game) -> None:
    game.changes[3].answers.append(Answer(4, mark(9), ()))


def carry_out_what_was_never_sent(game: Game) -> None:
    del game.changes[3]


def refuse_what_was_carried_out(game: Game) -> None:
    game.changes[3].answers.clear()
    game.changes[3].refusals.append(Refusal("STALE_VERSION", 6))


def leave_an_entry_out_of_a_watch(game: Game) -> None:
    del game.watches[0].entries[4]


def repeat_an_entry_of_a_watch(game: Game) -> None:
    game.watches[0].entries.insert(5, game.watches[0].entries[4])


def end_a_watch_early(game: Game) -> None:
    del game.watches[1].entries[-1]


def show_a_watcher_what_another_seat_sees(game: Game) -> None:
    spectator, seat = game.watches[0].entries, game.watches[1].entries
    different = next(i for i, entry in enumerate(spectator) if entry != seat[i])
    spectator[different] = seat[different]


def tell_an_event_of_another_seat(game: Game) -> None:
    game.watches[3].entries[0].events[0].seat = 3


def tell_an_event_that_is_none(game: Game) -> None:
    game.watches[3].entries[0].events.add()


def tell_another_cause(game: Game) -> None:
    game.watches[0].entries[4].cause = event_pb2.CAUSE_RESIGNATION


def tell_another_seat_to_act(game: Game) -> None:
    game.watches[0].entries[4].seat_to_act = 3


def tell_another_time(game: Game) -> None:
    game.watches[0].entries[4].create_time.CopyFrom(Timestamp(seconds=1))


def give_a_version_two_marks(game: Game) -> None:
    game.watches[2].entries[4].mark = "0" * 15 + "f"


def give_two_versions_one_mark(game: Game) -> None:
    game.mark = mark(4)
    for version, sight in enumerate(game.sights[:3]):
        game.sights[version] = Sight(sight.viewer, 0, NAME, 0, mark(4), sight.position, None)


def show_an_older_view(game: Game) -> None:
    sight = game.sights[3]
    game.sights.append(Sight(sight.viewer, 4, NAME, sight.version, sight.mark, sight.position, None))


def show_another_game(game: Game) -> None:
    sight = game.sights[3]
    game.sights.append(Sight(sight.viewer, 0, "games/another", sight.version, sight.mark, sight.position, None))


def show_another_position(game: Game) -> None:
    sight = game.sights[3]
    game.sights.append(Sight(sight.viewer, 0, NAME, sight.version, sight.mark, game.sights[6].position, None))


def show_a_version_that_never_was(game: Game) -> None:
    sight = game.sights[3]
    game.sights.append(Sight(sight.viewer, 0, NAME, game.newest + 1, "f", sight.position, None))


def tell_another_result(game: Game) -> None:
    replay_of(game).result.totals[0] += 1


def keep_another_record(game: Game) -> None:
    replay_of(game).record = replay_of(played(seed=2)).record


def deal_from_another_secret(game: Game) -> None:
    game.secret = bytes(32)


def open_another_commitment(game: Game) -> None:
    game.commitment = bytes(32)


def play_by_other_options(game: Game) -> None:
    game.options.rounds = 2


@pytest.mark.parametrize(
    ("tamper", "version", "said"),
    [
        (lose_the_last_change, None, "acknowledged, but lost"),
        (put_another_action_in_the_log, 3, "but the log has seat"),
        (carry_a_change_out_twice, 5, "but the log has seat"),
        (number_the_replay_with_a_gap, 4, "says that it made version 5"),
        (acknowledge_two_requests_for_one_version, 4, "were both acknowledged"),
        (acknowledge_what_is_not_in_the_log, 4, "acknowledged was seat 0 call"),
        (carry_a_change_out_on_another_version, 4, "was carried out on another"),
        (answer_repeats_differently, 3, "got other answers"),
        (carry_out_what_was_never_sent, 4, "nobody has sent this for that version"),
        (refuse_what_was_carried_out, 4, "nobody has sent this for that version"),
        (leave_an_entry_out_of_a_watch, 6, "the watch of a spectator has this entry after a gap"),
        (repeat_an_entry_of_a_watch, 5, "the watch of a spectator has this entry twice"),
        (end_a_watch_early, None, "the watch of seat 0 ended here"),
        (show_a_watcher_what_another_seat_sees, None, "the watch of a spectator was told events"),
        (tell_an_event_of_another_seat, 0, "the watch of seat 0 was told events"),
        (tell_an_event_that_is_none, 0, "the watch of seat 0 was told an event"),
        (tell_another_cause, 5, "was told a seat or cause"),
        (tell_another_seat_to_act, 5, "was told a seat to act"),
        (tell_another_time, 5, "was told a time"),
        (give_a_version_two_marks, 5, "has two marks"),
        (give_two_versions_one_mark, 0, "two versions have the same mark"),
        (show_an_older_view, 1, "got a view older than version 4"),
        (show_another_game, 1, "got a view of games/another"),
        (show_another_position, 1, "not the position that the log leads to"),
        (show_a_version_that_never_was, None, "a version that is not in the replay"),
        (tell_another_result, None, "the result in the replay is not the one"),
        (keep_another_record, None, "the record file is another game"),
        (deal_from_another_secret, 0, "not dealt from the secret that was supplied"),
        (open_another_commitment, 0, "does not open the commitment"),
        (play_by_other_options, 0, "the options in the replay are not those of the game"),
    ],
)
def test_a_game_in_which_something_went_wrong(tamper: Callable[[Game], None], version: int | None, said: str) -> None:
    game = played()
    tamper(game)
    found = [violation for violation in check(game) if said in violation.what]
    assert found, lines(game)
    assert version in (None, found[0].version)
    assert str(found[0]) == f"{NAME} version {found[0].version}: {found[0].what}"


def test_a_game_without_a_replay_is_checked_as_far_as_it_was_acknowledged() -> None:
    game = played()
    game.replay = None
    missing = f"{NAME} version {game.newest}: there is no replay"
    assert lines(game) == [missing]
    game.secret = SECRET
    assert lines(game) == [missing]
    del game.changes[-1]
    assert lines(game) == [missing]
    acknowledge_two_requests_for_one_version(game)
    repeat_an_entry_of_a_watch(game)
    said = [line.partition(": ")[2] for line in lines(game)[1:]]
    assert len(said) == 2
    assert "were both acknowledged" in said[0]
    assert "has this entry twice" in said[1]


def test_a_request_whose_client_died_may_have_been_carried_out_or_not() -> None:
    game = played()
    game.changes[3].answers.clear()
    game.changes[3].given_up = True
    game.changes.append(Change(0, "never carried out", 4, (CALLED,), given_up=True))
    assert lines(game) == []


def test_a_request_that_its_seat_has_outrun_may_be_refused_though_it_was_carried_out() -> None:
    game = played(seed=3)
    change = game.changes[0]
    change.answers.clear()
    later = [version for version, other in enumerate(game.changes, 1) if other.seat == change.seat][1:]
    change.refusals.append(Refusal("STALE_VERSION", later[REMEMBERED - 1]))
    assert lines(game) == []
    change.refusals[0] = Refusal("STALE_VERSION", later[REMEMBERED - 2])
    (line,) = lines(game)
    assert line.startswith(f"{NAME} version 1: nobody has sent this for that version: seat {change.seat} peek")


def test_a_request_that_its_seat_has_outrun_may_be_refused_as_the_game_is_over() -> None:
    game = played(seed=3)
    change = game.changes[0]
    change.answers.clear()
    change.refusals.append(Refusal("GAME_OVER"))
    assert lines(game) == []
    last = next(other for other in reversed(game.changes) if other.seat == change.seat)
    last.answers.clear()  # nothing of its seat came after this one
    last.refusals.append(Refusal("GAME_OVER"))
    (line,) = lines(game)
    assert "nobody has sent this for that version" in line


def test_several_actions_of_one_request() -> None:
    game = played(seed=4)
    first, second = next(
        (first, second)
        for first, second in zip(game.changes, game.changes[1:], strict=False)
        if first.seat == second.seat and first.actions[0].HasField("name")
    )
    both = Change(first.seat, "both", first.version, first.actions + second.actions)
    entries = first.answers[0].entries + second.answers[0].entries
    both.answers.append(Answer(second.answers[0].version, second.answers[0].mark, entries))
    game.changes = [change for change in game.changes if change not in (first, second)] + [both]
    assert lines(game) == []


AGREED = Agreement(frozenset({1}), 3, 1000, 250, TIME_OUT_AGENT_TAKES_OVER)
DECIDES = replace(AGREED, on_time_out=TIME_OUT_AGENT_DECIDES)
FORFEITS = replace(AGREED, on_time_out=TIME_OUT_FORFEIT)


@pytest.mark.parametrize(
    ("agreed", "entry", "late", "away", "wrong"),
    [
        (AGREED, Entry(0, 5), False, (), ""),
        (AGREED, Entry(0, 5), True, (), "its time was out"),
        (AGREED, Entry(0, RESIGNATION), True, (), ""),
        (AGREED, Entry(1, 5), False, (), "a bot plays that seat"),
        (AGREED, Entry(3, 5), False, (), "its player never answers"),
        (AGREED, Entry(1, 5, BY_BOT), False, (), ""),
        (AGREED, Entry(0, 5, BY_BOT), False, (), "no bot plays that seat, or none fails"),
        (AGREED, Entry(1, 5, FOR_FAILED_BOT), False, (), "no bot plays that seat, or none fails"),
        (AGREED, Entry(0, 5, BY_AGENT), False, (0,), ""),
        (AGREED, Entry(0, 5, BY_AGENT), False, (), "that seat is not away"),
        (AGREED, Entry(0, TAKEOVER, BY_TIME_OUT), True, (), ""),
        (AGREED, Entry(0, TAKEOVER, BY_TIME_OUT), False, (), "there was time left"),
        (AGREED, Entry(0, 5, BY_TIME_OUT), True, (0,), ""),  # which follows the takeover
        (AGREED, Entry(0, 5, BY_TIME_OUT), True, (), "that is not what the clock says"),
        (AGREED, Entry(0, RESIGNATION, BY_TIME_OUT), True, (), "that is not what the clock says"),
        (DECIDES, Entry(0, 5, BY_TIME_OUT), True, (), ""),
        (DECIDES, Entry(0, 5, BY_TIME_OUT), False, (), "there was time left"),
        (DECIDES, Entry(1, 5, BY_TIME_OUT), True, (), "that seat has no clock"),
        (DECIDES, Entry(0, TAKEOVER, BY_TIME_OUT), True, (), "that is not what the clock says"),
        (FORFEITS, Entry(0, RESIGNATION, BY_TIME_OUT), True, (), ""),
        (FORFEITS, Entry(0, 5, BY_TIME_OUT), True, (), "that is not what the clock says"),
    ],
)
def test_what_a_table_has_agreed_on(
    agreed: Agreement, entry: Entry, late: bool, away: tuple[int, ...], wrong: str
) -> None:
    clocked = entry.seat not in agreed.bots and entry.seat not in away
    assert checker._cause_is_wrong(agreed, entry, clocked=clocked, late=late, known=True, away=set(away)) == wrong


def test_a_table_of_persons_alone_moves_by_persons_alone() -> None:
    game = played()
    replay_of(game).entries[2].cause = event_pb2.CAUSE_BOT
    assert any("the service did this by itself" in line for line in lines(game))


def test_a_seat_comes_back_when_it_has_asked_for_that_alone() -> None:
    game = played()
    game.agreement = AGREED
    told = checker._Check(game, None)
    returns = [checker._Step(Entry(0, RETURN, time=1), [], 0, {}) for _ in range(2)]
    game.reclaims[0] = 2
    told._check_causes([returns[0], *returns])
    assert told.violations == []
    game.reclaims[0] = 1
    told._check_causes([returns[0], *returns])
    assert [violation.what.split(" Counter")[0] for violation in told.violations] == ["seats came back"]


def test_of_two_requests_that_nobody_answered_the_longer_one_may_have_been_carried_out() -> None:
    """One names a card, another names the same one and closes the set; both clients have died amid their calls."""
    game = played()
    first, second = next(
        (one, two)
        for one, two in itertools.pairwise(game.changes)
        if one.seat == two.seat and one.actions and two.actions
    )
    short = Change(first.seat, "the shorter one", first.version, first.actions, given_up=True)
    both = Change(first.seat, "the longer one", first.version, (*first.actions, *second.actions), given_up=True)
    game.changes = [short, both, *[change for change in game.changes if change not in (first, second)]]
    assert lines(game) == []
    game.changes.remove(both)
    assert any("nobody has sent this" in line for line in lines(game))
