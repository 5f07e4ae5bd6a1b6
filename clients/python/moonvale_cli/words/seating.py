"""Seating: who sits at a table that waits for its players, and who comes and goes."""

from __future__ import annotations

from moonvale.v1 import view_pb2
from moonvale.v1.view_pb2 import SeatView, View
from moonvale_cli.words.table import Table, listed


class Seating:
    """A table that waits, as one viewer has seen it last."""

    def __init__(self) -> None:
        self._before: View | None = None

    def news(self, view: View) -> list[str]:
        """Return what has changed since the last view, in sentences; at first who sits there."""
        before, self._before = self._before, view
        table = Table(view)
        if before is None:
            return [f"At the table: {listed([_sitter(seat, table) for seat in view.seats])}.", *_awaited(view, table)]
        told = Table(before)
        changes = [
            change
            for was, seat in zip(before.seats, view.seats, strict=True)
            if (change := _change(was, seat, told, table))
        ]
        if view.phase != before.phase or changes:
            changes += _awaited(view, table)
        return changes


def _sitter(seat: SeatView, table: Table) -> str:
    if seat.status == view_pb2.SEAT_STATUS_OPEN:
        return "an open seat"
    if seat.status == view_pb2.SEAT_STATUS_KEPT:
        return f"a seat kept for {table.object(seat.seat)}"
    return f"{table.name(seat.seat)}{' (you)' if seat.seat == table.you else ' (a bot)' if seat.bot else ''}"


def _change(was: SeatView, seat: SeatView, told: Table, table: Table) -> str:
    if seat.status == was.status and seat.name == was.name:
        return ""
    if seat.status == view_pb2.SEAT_STATUS_TAKEN:
        return f"{table.subject(seat.seat)} sat down."
    if seat.status == view_pb2.SEAT_STATUS_OPEN:
        return f"{told.subject(seat.seat)} left. The seat is open."
    return ""


def _awaited(view: View, table: Table) -> list[str]:
    """Return whom the table waits for."""
    if view.phase == view_pb2.PHASE_REVEALING:
        return ["All are here. Everybody now reveals what they add to the shuffles."]
    free = sum(seat.status == view_pb2.SEAT_STATUS_OPEN for seat in view.seats)
    kept = [table.name(seat.seat) for seat in view.seats if seat.status == view_pb2.SEAT_STATUS_KEPT]
    if free:
        kept.append("one more player" if free == 1 else f"{free} more players")
    return [f"Waiting for {listed(kept)}."] if kept else []
