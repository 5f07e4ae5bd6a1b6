"""All that comes of some random games is pinned: logs, choices, events, stored bytes, views, texts and results.

Whoever makes the engine faster changes none of them. After a change of the rules that is meant, or of what a view or an
event says: python -m tests.engine.test_hashes
"""

from pathlib import Path

import pytest

from tests.same import hash_of

HASHES = Path(__file__).with_name("hashes.txt")
GAMES = 48
SHARDS = 8  # so that the tests' workers share them


@pytest.mark.parametrize("shard", range(SHARDS))
def test_games_are_what_they_ever_were(shard: int) -> None:
    pinned = HASHES.read_text(encoding="utf-8").split()
    assert len(pinned) == GAMES
    changed = [seed for seed in range(shard, GAMES, SHARDS) if hash_of(seed) != pinned[seed]]
    assert changed == []


if __name__ == "__main__":
    HASHES.write_text("".join([f"{hash_of(seed)}\n" for seed in range(GAMES)]), encoding="utf-8")
