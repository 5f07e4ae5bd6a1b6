"""Channels: how a client connects. Addresses are gRPC targets: ``HOST:PORT``, ``dns:///HOST:PORT``, ``unix:PATH``."""

from __future__ import annotations

import json
from typing import Final

import grpc

#: Where `moonvale serve` listens unless told otherwise.
DEFAULT_ADDRESS: Final = "127.0.0.1:7350"

#: A name with several addresses is one service on several servers: calls go around them.
_SERVICE_CONFIG = json.dumps({"loadBalancingConfig": [{"round_robin": {}}]})

OPTIONS: Final[tuple[tuple[str, str | int], ...]] = (
    ("grpc.service_config", _SERVICE_CONFIG),
    # A dead peer is noticed within 40 s. The service's heartbeats come more often, so no server takes this for abuse.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    # A server that restarts is found again quickly: the pauses of `RetryPolicy` are what paces the calls.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 3_000),
    # Servers that have taken the place of others are found within the time that a call is tried, not after 30 s.
    ("grpc.dns_min_time_between_resolutions_ms", 3_000),
    # Replays of long games are larger than gRPC's default of 4 MB allows.
    ("grpc.max_receive_message_length", 64 * 1024 * 1024),
)


def open_channel(address: str, tls: grpc.ChannelCredentials | None) -> grpc.Channel:
    """Return a channel of the synchronous API; without TLS if there are no credentials for it."""
    if tls is None:
        return grpc.insecure_channel(address, OPTIONS)
    return grpc.secure_channel(address, tls, OPTIONS)


def open_aio_channel(
    address: str, tls: grpc.ChannelCredentials | None, more: tuple[tuple[str, str | int], ...] = ()
) -> grpc.aio.Channel:
    """Return a channel of the asyncio API; without TLS if there are no credentials for it. more: options of its own."""
    options = tuple({**dict(OPTIONS), **dict(more)}.items())
    if tls is None:
        return grpc.aio.insecure_channel(address, options)
    return grpc.aio.secure_channel(address, tls, options)
