"""What GetServerInfo tells: versions, limits and bots of this server, as its settings have them."""

from __future__ import annotations

from importlib import metadata

from google.protobuf.duration_pb2 import Duration

from moonvale.v1 import game_service_pb2 as pb
from moonvale_engine.catalog import known_versions
from moonvale_service import limits
from moonvale_service.bots import bot_names
from moonvale_service.settings import Settings


def server_info(settings: Settings) -> pb.GetServerInfoResponse:
    """Return the answer to every GetServerInfo."""
    return pb.GetServerInfoResponse(
        version=metadata.version("moonvale"),
        rules_version=settings.rules,
        known_rules_versions=known_versions(),
        bots=bot_names(settings),
        creator_key_required=settings.create_needs_key,
        limits=pb.Limits(
            max_request_bytes=settings.message_limit,
            max_page_size=limits.MAX_PAGE_SIZE,
            max_actions=limits.MAX_ACTIONS,
            max_labels=limits.MAX_LABELS,
            max_text_bytes=limits.MAX_TEXT_BYTES,
            finished_game_ttl=_duration(settings.finished_expiry),
            idle_game_ttl=_duration(settings.idle_expiry),
            heartbeat_interval=_duration(settings.heartbeat),
            max_calls_per_second=settings.call_rate or None,
            max_spectator_calls_per_second=settings.spectator_call_rate or None,
            max_games_per_second=settings.create_rate or None,
            max_watches=settings.watches or None,
            max_spectator_watches=settings.spectator_watches or None,
            max_watched_seats=limits.MAX_WATCHED_SEATS,
            max_watch_age=_duration(settings.watch_age),
            clock_grace=_duration(settings.clock_grace),
            reveal_time=_duration(settings.reveal_time),
        ),
    )


def _duration(seconds: float | None) -> Duration | None:
    return None if seconds is None else Duration(seconds=int(seconds), nanos=round(seconds % 1 * 1e9))
