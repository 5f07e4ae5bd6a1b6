"""Rules that there are in tests alone: version 2, in which a failed call costs 25 and an Assassin strikes twice.

``python -m tests.support.second_rules NUMBER ADDRESS`` is a worker of the service that knows them beside version 1: a
server of the next release. Nothing else in the project does.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from moonvale_engine import catalog
from moonvale_engine.cards.card import COIN, DRAWN, Card
from moonvale_engine.cards.coin.assassin import ASSASSIN
from moonvale_engine.rules import Rules
from moonvale_service import server

SECOND: Final = 2

#: Its second step is one that frames of version 1 can't stand at.
TWICE: Final = Card(
    "assassin",
    id=ASSASSIN.id,
    number=ASSASSIN.number,
    deck=COIN,
    ability=DRAWN,
    usable=ASSASSIN.usable,
    program=ASSASSIN.program * 2,
    since=SECOND,
)

_FIRST: Final = catalog.rules_of(1)

RULES: Final = Rules(
    SECOND,
    catalog.CORE,
    _FIRST.tokens,
    tuple([TWICE if card is ASSASSIN else card for card in _FIRST.cards]),
    failed_call=25,
    penalty_from=_FIRST.penalty_from,
    call_limit=_FIRST.call_limit,
)


@contextmanager
def second_known() -> Iterator[None]:
    """The second version is known for a while."""
    catalog.VERSIONS[SECOND] = RULES
    try:
        yield
    finally:
        del catalog.VERSIONS[SECOND]


def main() -> int:
    """Run the worker."""
    with second_known():
        return server.main(os.environ, int(sys.argv[1]), sys.argv[2])


if __name__ == "__main__":
    sys.exit(main())
