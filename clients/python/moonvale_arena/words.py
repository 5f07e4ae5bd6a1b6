"""What the standings say, in words: who is better than whom, and how sure that is."""

from __future__ import annotations

from moonvale_arena.schedule import pairs as pairs_of
from moonvale_arena.standings import ALPHA, Pair, Standings


def summary(standings: Standings) -> list[str]:
    """Return the standings in sentences: the event, then each pair."""
    event = standings.event
    alpha = event.alpha or ALPHA
    deals = "each with a deal of its own" if event.independent else "each deal in all seatings"
    lines = [_games_words(standings, deals)]
    lines += [pair_words(standings, pair) for pair in standings.pairs]
    if standings.pairs:
        lines.append(
            f"Were all entrants equal, an event like this would call any of them better in fewer than {alpha:.0%} of"
            " events, whenever it is stopped."
        )
    return lines


def _games_words(standings: Standings, deals: str) -> str:
    event = standings.event
    return (
        f"{standings.games} games in {standings.blocks} blocks at {event.seats} seats, {event.rounds} rounds of"
        f" {event.deck}, {deals}."
    )


def pair_words(standings: Standings, pair: Pair) -> str:
    """Return what is known of a pair in a sentence."""
    names = [entrant.name for entrant in standings.event.entrants]
    alpha = standings.event.alpha or ALPHA
    first, second = names[pair.first], names[pair.second]
    if pair.ahead.mean < 0.5:
        first, second = second, first
    share, low, high = in_favour(pair)
    seen = f"ahead in {share:.1%} of their meetings (95 % interval {low:.1%} to {high:.1%}, {pair.blocks} blocks)"
    if pair.p <= alpha:
        return f"{first} is better than {second}: {seen}; p {p_words(pair.p)}."
    if share == 0.5:
        return f"{first} and {second} are level after {pair.blocks} blocks: no difference is established."
    return f"{first} leads {second}, but no difference is established: {seen}; p {p_words(pair.p)}."


def in_favour(pair: Pair) -> tuple[float, float, float]:
    """Return how often whoever leads was ahead, and between what that lies."""
    share = pair.ahead
    if share.mean < 0.5:
        return 1 - share.mean, 1 - share.high, 1 - share.low
    return share.mean, share.low, share.high


def p_words(p: float) -> str:
    """Return a p-value as people write it."""
    if p < 0.0001:
        return "< 0.0001"
    return f"= {p:.4f}" if p < 0.01 else f"= {p:.2f}"


def settled(standings: Standings) -> int:
    """Return of how many pairs it is known who is better."""
    return len([pair for pair in standings.pairs if pair.p <= (standings.event.alpha or ALPHA)])


def pairs_in_all(standings: Standings) -> int:
    """Return how many pairs meet in the event."""
    return len(pairs_of(standings.event))
