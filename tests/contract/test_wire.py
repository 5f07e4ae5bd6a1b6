"""Messages that are put together of encoded ones are what protobuf makes of them."""

from __future__ import annotations

import pytest

from moonvale.v1 import game_service_pb2, view_pb2
from moonvale_service.convert import wire


@pytest.mark.parametrize("length", [0, 1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152])
def test_a_field_is_what_protobuf_writes(length: int) -> None:
    view = view_pb2.View(position="x" * length) if length else view_pb2.View()
    encoded = wire.field(game_service_pb2.GetViewResponse, "view")(view.SerializeToString())
    assert encoded == game_service_pb2.GetViewResponse(view=view).SerializeToString()


def test_encoded_messages_one_after_the_other_are_merged() -> None:
    seat = wire.field(view_pb2.View, "seats")
    seats = [view_pb2.SeatView(seat=number, name=str(number)) for number in range(3)]
    parts = [view_pb2.View(mark="before").SerializeToString(), *[seat(each.SerializeToString()) for each in seats]]
    parts.append(view_pb2.View(round=2).SerializeToString())
    assert view_pb2.View.FromString(b"".join(parts)) == view_pb2.View(mark="before", round=2, seats=seats)


@pytest.mark.parametrize("number", [*range(300), 1 << 14, (1 << 21) - 1, 1 << 28, (1 << 63) - 1])
def test_a_number_is_what_protobuf_writes(number: int) -> None:
    assert view_pb2.View(version=number).SerializeToString()[1:] == wire.varint(number)
