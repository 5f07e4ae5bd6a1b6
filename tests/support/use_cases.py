"""The use cases of a service upon a store, without its edge."""

from __future__ import annotations

from typing import NamedTuple

from moonvale_service.commits import Commits
from moonvale_service.credentials import Keys
from moonvale_service.games import Games
from moonvale_service.recent import Recent
from moonvale_service.seats import Seats
from moonvale_service.settings import Settings
from moonvale_service.store import Store


class UseCases(NamedTuple):
    """What a process of the service does with games."""

    games: Games
    seats: Seats
    commits: Commits
    recent: Recent


def use_cases(store: Store, **settings: str) -> UseCases:
    """Return the use cases of one process; settings by their field's name."""
    chosen = Settings.from_environment({f"MOONVALE_{name.upper()}": value for name, value in settings.items()})
    recent = Recent()
    commits = Commits(store, recent, chosen)
    seats = Seats(store, recent, Keys((bytes(32),), None), chosen)
    return UseCases(Games(store, recent, commits), seats, commits, recent)
