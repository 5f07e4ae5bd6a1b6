"""Descriptors, with the types that all implementations of protobuf share."""

from __future__ import annotations

from typing import cast

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message


def descriptor_of(message: Message | type[Message]) -> Descriptor:
    """Return the descriptor of a message or of its class."""
    return cast("Descriptor", message.DESCRIPTOR)


def map_entry(field: FieldDescriptor) -> Descriptor | None:
    """Return the type of the entries of a field that is a map."""
    kind = field.message_type
    return kind if kind is not None and kind.GetOptions().map_entry else None


def is_well_known(descriptor: Descriptor) -> bool:
    """Say whether a type is one of protobuf's own, whose JSON is no object."""
    return descriptor.full_name.startswith("google.protobuf.")
