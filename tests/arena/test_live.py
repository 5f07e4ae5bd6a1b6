"""What one sees while an event is played: a bar with standings on a terminal, how to go on after Ctrl-C."""

from __future__ import annotations

from pathlib import Path

from moonvale_arena import read
from tests.cli.terminal import Terminal
from tests.service.servers import Service


def test_a_bar_with_standings_grows_and_an_event_that_is_interrupted_says_how_to_go_on(
    service: Service, tmp_path: Path
) -> None:
    folder = tmp_path / "event"
    where = ["--address", service.address, "--creator-key", str(service.folder / "data" / "creator_key")]
    order = ["arena", "run", "greedy", "python:tests.arena.bots:Raises", "--all", "--games", "4000", "--rounds", "1"]
    with Terminal(*order, *where, "--into", str(folder), columns=110) as terminal:
        assert "loses by rule (crash): ValueError: lost the plot" in terminal.until(r"Game \d+: Raises loses .*\n")
        terminal.until(r"Games .* \d+/4000 .* a second")
        terminal.until(r"1 +greedy +\d+ ")
        terminal.until(r"1 of 1 pairs told apart, after \d+ whole blocks")
        terminal.interrupt(r"Interrupted\. Go on with: \S+ arena resume ")
        assert terminal.end() == 130
    assert 2 < len(read(folder).games) < 4000
