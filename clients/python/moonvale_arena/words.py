"""What the standings say, in words: who is better than whom, and how sure that is; and words for their numbers."""

from __future__ import annotations

from moonvale_arena.intervals import Estimate
from moonvale_arena.schedule import pairs as pairs_of
from moonvale_arena.standings import ALPHA, Pair, Standing, Standings


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
    pair = leader_first(pair)
    first, second = _names(standings, pair)
    share = pair.ahead
    seen = (
        f"ahead in {share.mean:.1%} of their meetings (95 % interval {share.low:.1%} to {share.high:.1%},"
        f" {pair.blocks} blocks)"
    )
    if pair.p <= (standings.event.alpha or ALPHA):
        return f"{first} is better than {second}: {seen}; p {p_words(pair.p)}."
    if share.mean == 0.5:
        return f"{first} and {second} are level after {pair.blocks} blocks: no difference is established."
    return f"{first} leads {second}, but no difference is established: {seen}; p {p_words(pair.p)}."


def pair_cells(standings: Standings, pair: Pair) -> tuple[str, ...]:
    """Return the row of a pair: its names, whoever leads first, blocks, share, interval, fewer points a round, p."""
    pair = leader_first(pair)
    first, second = _names(standings, pair)
    return (
        f"{first} : {second}",
        str(pair.blocks),
        f"{pair.ahead.mean:.1%}",
        f"{pair.ahead.low:.1%} to {pair.ahead.high:.1%}",
        points_words(pair.fewer),
        p_words(pair.p).removeprefix("= "),
    )


def leader_first(pair: Pair) -> Pair:
    """Return the same pair, seen from whoever was ahead more often."""
    ahead, fewer = pair.ahead, pair.fewer
    if ahead.mean >= 0.5:
        return pair
    return Pair(
        pair.second,
        pair.first,
        pair.blocks,
        Estimate(1 - ahead.mean, 1 - ahead.high, 1 - ahead.low, ahead.blocks),
        None if fewer is None else Estimate(-fewer.mean, -fewer.high, -fewer.low, fewer.blocks),
        pair.p,
    )


def _names(standings: Standings, pair: Pair) -> tuple[str, str]:
    entrants = standings.event.entrants
    return entrants[pair.first].name, entrants[pair.second].name


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


def share_words(share: Estimate) -> str:
    """Return a share with its interval."""
    return f"{share.mean:.1%} ({100 * share.low:.0f}–{100 * share.high:.0f})"


def points_words(points: Estimate | None) -> str:
    """Return points with their interval."""
    if points is None:
        return "-"
    half = (points.high - points.low) / 2
    return f"{points.mean:.1f}" if half == float("inf") else f"{points.mean:.1f} ± {half:.1f}"


def faults_words(each: Standing) -> str:
    """Return how often an entrant has lost by rule, and how."""
    return ", ".join([f"{count} {fault}" for fault, count in sorted(each.lost_by_rule.items())]) or "0"


def seconds_words(seconds: float) -> str:
    """Return a short time as people say it."""
    for size, unit in ((1, "s"), (1e-3, "ms")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.0f} µs"
