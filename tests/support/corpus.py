"""The corpus: stored games that every later version must read, or refuse as of rules that it does not know.

A line holds the name of a golden game, how many of its actions were made, and the bytes as the store holds them. Lines
are never changed; ``python -m tests.support.corpus`` appends those of the present codec and rules if they are new.
"""

from moonvale_engine import RULES_VERSION, Record, encode, read_record, replay
from moonvale_engine.codec import CODEC_VERSION
from tests.support.golden import GAMES, GOLDEN

CORPUS = GOLDEN.parent / "corpus.txt"
EVERY = 97  # actions between two stored games


def golden_record(name: str) -> Record:
    """Return a golden record as it was written down."""
    return read_record((GOLDEN / f"{name}.txt").read_text(encoding="utf-8"))


def stored_after(record: Record, actions: int) -> bytes:
    """Return the bytes of the game after so many actions."""
    assert record.secret is not None
    return encode(replay(record.options, record.secret, record.entropy, record.entries[:actions]))


def lines() -> list[str]:
    """Return the corpus' lines of the present codec and rules."""
    return [
        f"{name} {actions} {stored_after(record, actions).hex()}"
        for name in GAMES
        for record in [golden_record(name)]
        for actions in [*range(0, len(record.entries), EVERY), len(record.entries)]
    ]


def main() -> None:
    """Append what is new."""
    kept = CORPUS.read_text().splitlines() if CORPUS.exists() else []
    new = [line for line in lines() if line not in kept]
    CORPUS.write_text("\n".join([*kept, *new]) + "\n")
    print(f"codec {CODEC_VERSION}, rules {RULES_VERSION}: {len(new)} of {len(kept) + len(new)} lines are new")


if __name__ == "__main__":
    main()
