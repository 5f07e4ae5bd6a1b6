"""The report of an event: one HTML file that needs no other."""

from __future__ import annotations

from html import escape

from moonvale_arena import plots
from moonvale_arena.standings import Standings
from moonvale_arena.words import faults_words, pair_cells, points_words, seconds_words, share_words, summary

_CAPTIONS = {
    "ratings": (
        "Ratings",
        "Plackett-Luce ratings of openskill, one match for each block; bars of two standard deviations.",
    ),
    "heat": ("Head to head", "How often the entrant of the row was placed before that of the column."),
    "scores": ("Points", "Points of single rounds, the fewer the better. Bar: the middle half; ring: the median."),
    "times": (
        "Decision times",
        "The part of an entrant's decisions that took longer than a time, measured by the arena.",
    ),
}

_CSS = """
:root { color-scheme: light; --ink: #22303c; --faint: #66727d; --line: #dfe5ea; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 74rem; padding: 2rem 1.5rem 4rem; background: #fff; color: var(--ink);
  font: 16px/1.5 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
h1 { font-size: 1.7rem; margin: 0 0 .3rem; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; }
p { margin: .4rem 0; }
.faint { color: var(--faint); font-size: .9rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .45rem .55rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { color: var(--faint); font-weight: 600; font-size: .85rem; }
td small { color: var(--faint); }
.name { text-align: left; font-weight: 600; }
.text { text-align: left; white-space: normal; width: 100%; }
.best tbody tr:first-child td { background: #fffbea; }
.dot { display: inline-block; width: .7em; height: .7em; border-radius: 50%; margin-right: .5em; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(26rem, 1fr)); gap: 1.2rem 2rem; }
figure { margin: 0; }
figure svg { width: 100%; height: auto; }
figure h2 { margin: 1.2rem 0 .3rem; }
figcaption { color: var(--faint); font-size: .85rem; }
ul { padding-left: 1.2rem; margin: .3rem 0; }
code { background: #f3f6f8; padding: .1em .3em; border-radius: 3px; overflow-wrap: anywhere; }
@media (max-width: 32rem) { .plots { grid-template-columns: 1fr; } body { padding: 1rem .8rem 3rem; } }
"""


def html(standings: Standings) -> str:
    """Return the report. Raises ArenaError where the library that draws is missing."""
    event = standings.event
    sentences = summary(standings)
    title = f"{len(event.entrants)} entrants, {standings.games} games at {event.seats} seats"
    figures = "".join([_figure(standings, name) for name in _CAPTIONS])
    left_over = ""
    if standings.left_over:
        left_over = f" {standings.left_over} more games belong to blocks that are not over, and don't count."
    deal = "" if event.independent else " on one deal"
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Moonvale arena: {escape(title)}</title>
<style>{_CSS}</style>
<h1>Moonvale arena: {escape(title)}</h1>
<p class="faint">{escape(sentences[0])}{escape(left_over)} The fewest points win.</p>
<h2>Standings</h2>
<div class="scroll"><table class="best">
<thead><tr><th></th><th class="name">Entrant</th><th>Games</th><th>Rating</th><th>Ahead of others</th><th>Wins</th>
<th>Points a round</th><th>Places</th><th>Lost by rule</th><th>Decision, median</th></tr></thead>
<tbody>{_entrants(standings)}</tbody></table></div>
<p class="faint">Intervals are of 95 %, over blocks: a block is all seatings of one lineup{deal}.</p>
<div class="plots">{figures}</div>
<h2>Pairs</h2>
<div class="scroll"><table>
<thead><tr><th class="name">Pair</th><th>Blocks</th><th>Ahead</th><th>95 % interval, at any time</th>
<th>Fewer points a round</th><th>p</th></tr></thead>
<tbody>{_pairs(standings)}</tbody></table></div>
<h2>In words</h2>
<ul>{"".join([f"<li>{escape(sentence)}</li>" for sentence in sentences[1:-1]])}</ul>
<p class="faint">{escape(sentences[-1])}</p>
<h2>The event</h2>
<div class="scroll"><table><tbody>{_event(standings)}</tbody></table></div>
</html>
"""


def _figure(standings: Standings, name: str) -> str:
    heading, caption = _CAPTIONS[name]
    drawn = plots.svg(name, standings)
    return f"<figure><h2>{escape(heading)}</h2>{drawn}<figcaption>{escape(caption)}</figcaption></figure>"


def _entrants(standings: Standings) -> str:
    rows = []
    for place, each in enumerate(standings.entrants, 1):
        dot = f'<span class="dot" style="background:{plots.colour_of(standings, each)}"></span>'
        cells = (
            str(each.games),
            f"{each.rating.mean:.1f} <small>± {2 * each.rating.deviation:.1f}</small>",
            _small(share_words(each.beaten)),
            _small(share_words(each.wins)),
            points_words(each.round_points),
            " · ".join(map(str, each.places)),
            escape(faults_words(each)),
            seconds_words(each.median),
        )
        rows.append(
            f'<tr><td>{place}</td><td class="name">{dot}{escape(each.name)}</td>'
            f"{''.join([f'<td>{cell}</td>' for cell in cells])}</tr>"
        )
    return "".join(rows)


def _pairs(standings: Standings) -> str:
    rows = []
    for pair in standings.pairs:
        names, *cells = map(escape, pair_cells(standings, pair))
        rows.append(f'<tr><td class="name">{names}</td>{"".join([f"<td>{cell}</td>" for cell in cells])}</tr>')
    return "".join(rows)


def _event(standings: Standings) -> str:
    event = standings.event
    stop = "all games are played"
    if event.alpha is not None:
        stop = f"a lineup plays no more when its pairs are told apart, alpha {event.alpha}"
    facts = [
        ("format", event.format),
        ("deck, token", f"{event.deck}, {event.token or 'of most cards'}"),
        ("rounds", str(event.rounds)),
        ("deals", "one for each game" if event.independent else "one for all seatings of a block"),
        ("stopping", f"{stop}; at most {event.games} games"),
        ("time", f"{event.decision_seconds:g} s for a decision, {event.game_seconds:g} s for all of a game"),
        ("seed", event.seed),
        *[(entrant.name, entrant.text) for entrant in event.entrants],
    ]
    rows = [(escape(name), escape(text)) for name, text in facts]
    return "".join(
        [f'<tr><td class="name">{name}</td><td class="text"><code>{text}</code></td></tr>' for name, text in rows]
    )


def _small(words: str) -> str:
    share, _, rest = words.partition(" ")
    return f"{share} <small>{escape(rest)}</small>"
