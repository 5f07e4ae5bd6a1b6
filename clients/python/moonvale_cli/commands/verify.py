"""`moonvale verify`: says whether the cards of a finished game were shuffled as promised before the deal."""

from __future__ import annotations

from typing import Final

from moonvale_verify import verify

DESCRIPTION: Final = """\
Say whether the cards of a finished game were shuffled as promised before the deal: YES or NO.

The record alone proves that its secret opens its commitment. What you saw while the game was
played (--seen) proves that this was the commitment shown before the deal, that the entropy of the
seats is what they had committed to, that every card lay where the shuffles put it, and that the
record's actions are those that you were told. Seats that committed to entropy and did not reveal it
are named.

The verifier is one file, moonvale_verify/verify.py, which runs anywhere with Python alone and
shares no code with the service or the engine. `moonvale record` replays a game by the rules.
"""
EXAMPLES: Final = """\
  moonvale play --save game    (writes game.moonvale and game.ndjson)
  moonvale verify game.moonvale --seen game.ndjson
  moonvale watch GAME --credential mv1.Aw... --save seen.ndjson
  moonvale verify game.moonvale --seen seen.ndjson
  moonvale verify game.moonvale --commitment 48cccd07...b62ac213 --deals
"""

add_arguments = verify.add_arguments
run = verify.run
