"""The arena: plays events between bots over the service, and says which is better and how sure that is."""

from moonvale_arena.entrants import Entrant, parse_entrant, parse_entrants
from moonvale_arena.errors import ArenaError
from moonvale_arena.event import Event
from moonvale_arena.journal import Journal, Kept, read
from moonvale_arena.results import GameResult
from moonvale_arena.run import Services, play_event
from moonvale_arena.standings import Standings, standings

__all__ = [
    "ArenaError",
    "Entrant",
    "Event",
    "GameResult",
    "Journal",
    "Kept",
    "Services",
    "Standings",
    "parse_entrant",
    "parse_entrants",
    "play_event",
    "read",
    "standings",
]
