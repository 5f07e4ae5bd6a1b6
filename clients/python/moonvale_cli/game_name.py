"""Games and credentials, as people hand them on."""

from __future__ import annotations

from typing import Final

CREDENTIAL_VARIABLE: Final = "MOONVALE_CREDENTIAL"


def game_name(text: str) -> str:
    """Return the resource name of a game given as such, or as its id alone."""
    return text if "/" in text else f"games/{text}"
