"""Free abilities of the active player: faceup residents, and the token (TURN-2)."""

from __future__ import annotations

from moonvale_engine import programs
from moonvale_engine.actions import USE_TOKEN
from moonvale_engine.events import ABILITY_BEGAN, EVERYBODY, TOKEN_USED
from moonvale_engine.reactions import begin_action
from moonvale_engine.state import FACEUP, USED, State, push, type_of
from moonvale_engine.steps import NO_CHOICES


def anytime_actions(s: State) -> list[int]:
    """Free abilities that may be used at nearly every own decision. Not to be changed."""
    return _residents(s, True)


def free_actions(s: State) -> list[int]:
    """All free abilities, by the spot of their resident; the token last. Not to be changed."""
    actions = _residents(s, False)
    if can_use_token(s):
        token = s.rules.tokens[s.options.token]
        if not token.draws and token.usable(s):
            actions = [*actions, USE_TOKEN]
    return actions


def can_use_token(s: State) -> bool:
    """Whether the active player holds the token on its active side."""
    return s.token_active and s.holder == s.active


def _residents(s: State, anytime: bool) -> list[int]:
    actions = NO_CHOICES
    offering = s.types.anytime if anytime else s.types.free
    if offering:
        identity, flags = s.identity, s.flags
        for spot, h in enumerate(s.villages[s.active]):
            if offering[identity[h]] and flags[h] & (FACEUP | USED) == FACEUP:
                free = type_of(s, h).free
                assert free is not None
                actions = actions + free(s, spot, h)
    return actions


def use_resident(s: State, action: int, opens: bool) -> None:
    """Use the free ability of the resident at the action's first spot; each card once per turn (ABL-5).

    ``opens``: whether it is an action of its own, after which players may react (E02-2).
    """
    seat = s.active
    spot = action >> 6 & 255
    h = s.villages[seat][spot]
    card = type_of(s, h)
    if opens and not card.reacts:
        begin_action(s)
    s.flags[h] |= USED
    s.ability_used = True
    if s.events is not None:
        s.events.append((ABILITY_BEGAN, seat, spot << 2 | seat, 0, EVERYBODY, (h, s.identity[h])))
    assert card.use is not None
    card.use(s, h, action)


def use_token(s: State) -> None:
    """Turn the token to its inactive side and use its ability."""
    s.token_active = False
    s.ability_used = True
    if s.events is not None:
        s.events.append((TOKEN_USED, s.active, 0, 0, EVERYBODY, ()))
    push(s, programs.TOKENS + s.rules.tokens[s.options.token].id, s.active)
