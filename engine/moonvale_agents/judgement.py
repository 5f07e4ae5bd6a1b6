"""The numbers that the greedy agent judges by, in points of a round. Each can be set, and so be measured."""

from __future__ import annotations

from typing import Final

#: What a resident that lies faceup saves its owner in each turn to come, by the key of its card type.
RESIDENTS: Final[dict[str, float]] = {
    "con_artist": 0.6,
    "curator": 1.5,
    "pixie": 0.4,
    "blob": 0.3,
    "simon": 0.3,
    "spotter": 0.3,
    "gambler": 0.1,
}


class Judgement:
    """How the greedy agent weighs what it can't know. docs/agents.md says what each number was measured to be worth.

    - leader: how much less another player matters for each point that it has more than the leader.
    - typical: the value that a card gets which is exchanged for a bad one.
    - horizon: own turns that it looks forward to; what the next may bring counts ``soon``, each later one ``fading``
      times the one before.
    - call_option: what each card above four costs, since it stands in the way of a call.
    - residents: how much of ``RESIDENTS`` it believes in.
    - feed: how much of what a low card on top of the pile is worth goes to the next player.
    - kept, drawn: what part of the mean a card counts that another player has seen and left where it was dealt, and
      one that another player drew and kept; settling: how much less with each turn, for a drawn one half as much;
      least: never less than this part.
    - last: what another player saves in a last turn beyond the best exchange; luck: the standard deviation of that.
    - attack: what each other player does to the caller's village in a last turn.
    - rest: what part of a village's sum will be left if nobody calls for many turns.
    - caution: points that a call must promise more than playing on.
    - patience: own turns in a round after which it takes less and less gladly from the pile, which ends no round.
    - look: what it is worth to know a card of another village.
    - turn: what an additional turn is worth. token: what the Coin token is worth while it is saved.
    """

    def __init__(
        self,
        *,
        leader: float = 0.05,
        typical: float = 4.5,
        horizon: int = 4,
        soon: float = 0.75,
        fading: float = 0.8,
        call_option: float = 3.0,
        residents: float = 1.0,
        feed: float = 0.3,
        kept: float = 0.95,
        drawn: float = 0.66,
        settling: float = 0.06,
        least: float = 0.3,
        last: float = 3.0,
        luck: float = 6.0,
        attack: float = 2.0,
        rest: float = 0.35,
        caution: float = 0.0,
        patience: float = 15.0,
        look: float = 0.2,
        turn: float = 4.0,
        token: float = 1.0,
    ) -> None:
        self.leader = leader
        self.typical = typical
        self.horizon = horizon
        self.soon = soon
        self.fading = fading
        self.call_option = call_option
        self.residents = residents
        self.feed = feed
        self.kept = kept
        self.drawn = drawn
        self.settling = settling
        self.least = least
        self.last = last
        self.luck = luck
        self.attack = attack
        self.rest = rest
        self.caution = caution
        self.patience = patience
        self.look = look
        self.turn = turn
        self.token = token
