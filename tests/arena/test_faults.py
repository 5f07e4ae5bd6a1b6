"""Bots that hang, cheat, crash or flood lose by rule, the event ends, and the results of the others stand."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from moonvale_arena import Services, standings
from moonvale_engine import RESIGNATION, read_record, replay_record
from tests.arena.playing import BOT, event, marked, play

BAD = {
    "Hangs": ("timeout", "did not answer in time"),
    "Cheats": ("illegal", "chose no legal action: -1"),
    "Raises": ("crash", "ValueError: lost the plot and the thread"),
    "Dies": ("crash", "its process ended"),
    f"bad=cmd:{BOT} hang": ("timeout", "did not answer in time"),
    f"bad=cmd:{BOT} cheat": ("illegal", "answered with no legal action"),
    f"bad=cmd:{BOT} crash": ("crash", "its process ended with 5: goodbye"),
    f"bad=cmd:{BOT} flood": ("flood", "printed more than 1048576 bytes in a game"),
    f"bad=cmd:{BOT} much": ("flood", "answered with more than 4096 bytes"),
}


@pytest.mark.parametrize(("bad", "expected"), BAD.items(), ids=[text.partition(f"{BOT} ")[2] or text for text in BAD])
def test_a_bad_bot_loses_by_rule_and_the_others_results_stand(
    bad: str, expected: tuple[str, str], services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_TEST", str(tmp_path))
    games = play(event(bad, "Steady", "Hasty", seats=3, games=3, decision_seconds=3.0), services, tmp_path)
    assert len(games) == 3
    for game in games.values():
        seat = game.seats.index(0)
        assert game.places[-1] == seat
        assert [fault is None for fault in game.faults] == [i != seat for i in range(3)]
        fault = game.faults[seat]
        assert fault is not None
        assert fault.fault == expected[0]
        assert expected[1] in fault.words
        record = read_record((tmp_path / game.record).read_text(encoding="utf-8"))
        assert [entry.seat for entry in record.entries if entry.action == RESIGNATION] == [seat]
        assert replay_record(record).is_over()
        assert len(game.scores) == 1  # the others played to the end
    found = standings(event(bad, "Steady", "Hasty", seats=3, games=3), list(games.values()))
    assert found.entrants[-1].entrant == 0
    assert found.entrants[-1].lost_by_rule == {expected[0]: 3}
    assert all(each.round_points is None for each in found.entrants)
    assert psutil.wait_procs(marked(str(tmp_path)), timeout=10)[1] == []


def test_time_for_the_game_is_enforced_across_decisions(services: Services, tmp_path: Path) -> None:
    games = play(event(f"slow=cmd:{BOT} first", "Steady", games=2, game_seconds=0.000_001), services, tmp_path)
    for game in games.values():
        assert [fault and fault.fault for fault in game.faults].count("timeout") == 1


def test_no_process_finds_anything_of_another_game_or_of_the_arena(services: Services, tmp_path: Path) -> None:
    games = play(event("Remembers", "Steady", games=6), services, tmp_path, at_once=2)
    assert len(games) == 6
    assert not any(game.by_rule for game in games.values())
