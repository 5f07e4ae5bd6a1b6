"""Limits of what a request may hold, as GetServerInfo tells them."""

from __future__ import annotations

from typing import Final

MAX_PAGE_SIZE: Final = 200  # entries of ListEvents
MAX_ACTIONS: Final = 8  # of one SubmitAction; a set has at most four cards and one action after it
MAX_WATCHED_SEATS: Final = 500  # of one WatchTurns; so many fit a request of the default size, even as JSON
MAX_LABELS: Final = 16  # of a game or of a seat
MAX_TEXT_BYTES: Final = 256  # of a name, label, label's value, external id or request id, in UTF-8
MIN_SECRET_REQUEST_ID: Final = 16  # characters of one that leads to credentials
