"""The way of a message through the agents, from the roster and the router's vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import get_type_hints

from agents.base import Agent
from agents.bids import Rank
from agents.business.agent import BusinessAgent
from agents.registry import AGENTS, Build
from agents.routing.types import OFF_TOPIC, PRECEDENCE, Tier
from agents.types import Outcome
from scripts.diagrams.svg import PAD, DrawnBox, DrawnSpan, Sheet, measure_width
from scripts.diagrams.words import AgentWords

WIDTH = 760
_LEFT, _RIGHT = 20, 740
_STEP_WIDTH, _EXIT_WIDTH = 420, 240
_STEP, _GAP = 34, 18
_DETAIL = 112
_ROW = 38
_INTENTS = DrawnBox(36, 0, 292, 30)
_SPINE = _INTENTS.middle[0]
_AGENTS = DrawnBox(424, 0, 276, 30)
_BUS = 720
# Blanks that no renderer drops.
_BETWEEN = "\u00a0\u00a0"
# Steps that may be the last -> their look, and what the response says then.
_EXITS = {
    "guard": ("stop", Outcome.REJECTED.value),
    "desk": ("person", Outcome.HANDOFF.value),
    "cache": ("agent", "cached"),
    "screen": ("stop", Outcome.REJECTED.value),
}


# What the module of the roster knows by its name alone.
IMPORTED_WHEN_BUILT = {BusinessAgent.__name__: BusinessAgent}


def find_agent_class(build: Build) -> type[Agent]:
    """The agent that a builder of the roster says it builds. Raises TypeError when it does not say."""
    function = build.func if isinstance(build, partial) else build
    built: object = get_type_hints(function, localns=IMPORTED_WHEN_BUILT).get("return")
    if not isinstance(built, type) or built is Agent:
        raise TypeError(f"{function} does not say which agent it builds")
    return built


def draw_agents(words: AgentWords, roster: Mapping[str, Build] = AGENTS) -> str:
    """Returns the diagram as an SVG."""
    sheet = Sheet(WIDTH, words.title, words.language)
    y = _draw_steps(sheet, words, 20)
    y = _draw_evidence(sheet, words, y)
    y = _draw_decision(sheet, words, y)
    y = _draw_roster(sheet, words, roster, y)
    return sheet.render(_draw_end(sheet, words, y))


def _draw_steps(sheet: Sheet, words: AgentWords, y: int) -> int:
    """What happens to every message before anybody judges it; gives the height that is reached."""
    box = DrawnBox(_LEFT, y, 2 * (_SPINE - _LEFT), 30)
    sheet.add_box(box, "group", name="start")
    sheet.add_centred(box, y + 20, [DrawnSpan(words.start, "bold")])
    for name, (title, detail) in words.steps.items():
        above, box = box, DrawnBox(_LEFT, box.bottom + _GAP, _STEP_WIDTH, _STEP)
        sheet.add_arrow([(_SPINE, above.bottom), (_SPINE, box.y)])
        sheet.add_box(box, "step", name=name)
        _add_title(sheet, box, title, detail, name)
        if name in _EXITS:
            kind, said = _EXITS[name]
            out = DrawnBox(_RIGHT - _EXIT_WIDTH, box.y, _EXIT_WIDTH, _STEP)
            sheet.add_arrow([(box.right, box.middle[1]), (out.x, out.middle[1])])
            sheet.add_box(out, kind, name=f"{name}: {said}")
            sheet.add_row(
                out, out.y + 22, [(PAD, DrawnSpan(words.exits[name], "small"))], DrawnSpan(said, "mono quiet")
            )
    sheet.add_arrow([(_SPINE, box.bottom), (_SPINE, box.bottom + _GAP)])
    return box.bottom + _GAP


def _add_title(sheet: Sheet, box: DrawnBox, title: str, detail: str, name: str = "") -> None:
    columns = [(PAD, DrawnSpan(title, "bold")), (_DETAIL, DrawnSpan(detail, "small"))]
    sheet.add_row(box, box.y + 22, columns, DrawnSpan(name, "mono quiet"))


def _draw_evidence(sheet: Sheet, words: AgentWords, y: int) -> int:
    """What is found out before anybody acts: the tiers of the router, and what is looked at beside them."""
    frame = DrawnBox(_LEFT, y, _RIGHT - _LEFT, 126)
    sheet.add_box(frame, "group", name="route")
    title, detail = words.evidence
    _add_title(sheet, frame, title, detail)
    _draw_line_of_boxes(
        sheet, frame, y + 34, "model", {tier.value: words.tiers.get(tier, tier.value) for tier in Tier}, arrows=True
    )
    _draw_line_of_boxes(sheet, frame, y + 78, "step", words.beside)
    return frame.bottom


def _draw_decision(sheet: Sheet, words: AgentWords, y: int) -> int:
    """Draws how the agents bid, and the ranks in the order in which they are heard."""
    sheet.add_arrow([(_SPINE, y), (_SPINE, y + _GAP)])
    frame = DrawnBox(_LEFT, y + _GAP, _RIGHT - _LEFT, 82)
    sheet.add_box(frame, "group", name="decision")
    title, detail = words.decision
    _add_title(sheet, frame, title, detail)
    ranks = {(name := rank.name.lower()): words.ranks.get(name, name) for rank in Rank}
    _draw_line_of_boxes(sheet, frame, frame.y + 34, "agent", ranks, arrows=True)
    return frame.bottom


def _draw_line_of_boxes(
    sheet: Sheet, frame: DrawnBox, y: int, kind: str, labels: Mapping[str, str], *, arrows: bool = False
) -> None:
    """Boxes side by side, as wide as the frame allows. labels: name -> what is said of it."""
    gap = 24 if arrows else 12
    size = (frame.width - 24 - gap * (len(labels) - 1)) // len(labels)
    box = None
    for name, label in labels.items():
        x = box.right + gap if box else frame.x + 12
        if box and arrows:
            sheet.add_arrow([(box.right, box.middle[1]), (x, box.middle[1])])
        box = DrawnBox(x, y, size, 36)
        sheet.add_box(box, kind, name=name)
        spans = [DrawnSpan(label, "bold"), DrawnSpan(_BETWEEN), DrawnSpan(name, "mono quiet")]
        fits = label != name and measure_width(spans) + 8 <= box.width
        sheet.add_centred(box, box.y + 23, spans if fits else spans[:1])


def _draw_roster(sheet: Sheet, words: AgentWords, roster: Mapping[str, Build], y: int) -> int:
    """Intents on the left, in the order in which they are heard, and who answers them on the right."""
    sheet.add_arrow([(_SPINE, y), (_SPINE, y + _GAP)])
    intents: dict[str, DrawnBox] = {}
    y += _GAP
    own = [intent for intent in roster if intent not in PRECEDENCE]
    for title, group in (
        (words.on_topic, [*(intent for intent in PRECEDENCE if intent not in OFF_TOPIC), *own]),
        (words.off_topic, list(OFF_TOPIC)),
    ):
        frame = DrawnBox(_LEFT, y, 2 * (_SPINE - _LEFT), 34 + _ROW * len(group))
        sheet.add_box(frame, "group")
        sheet.add_text(_INTENTS.x, y + 21, [DrawnSpan(title, "small quiet")])
        for number, intent in enumerate(group):
            intents[intent] = DrawnBox(_INTENTS.x, y + 30 + number * _ROW, _INTENTS.width, _INTENTS.height)
        y = frame.bottom + 10
    agents = _find_places(intents, roster)
    for intent, box in intents.items():
        sheet.add_box(box, "step", name=str(intent))
        sheet.add_row(
            box, box.y + 20, [(PAD, DrawnSpan(str(intent), "mono"))], DrawnSpan(words.intents.get(intent, ""), "small")
        )
        target = agents[find_agent_class(roster[intent])]
        sheet.add_curve((box.right, box.middle[1]), (target.x - 7, target.middle[1]))
    return _draw_agents(sheet, words, agents, y - 10)


def _draw_agents(sheet: Sheet, words: AgentWords, agents: Mapping[type[Agent], DrawnBox], y: int) -> int:
    """Every agent, and the line on which their answers go on; gives the height that is reached, y or more."""
    for agent, box in agents.items():
        sheet.add_head((box.x, box.middle[1]), (1, 0))
        sheet.add_box(box, "agent", name=agent.__name__)
        label = words.agents.get(agent.name, agent.name)
        sheet.add_row(box, box.y + 20, [(PAD, DrawnSpan(agent.__name__, "mono bold"))], DrawnSpan(label, "small"))
        sheet.add_line([(box.right, box.middle[1]), (_BUS, box.middle[1])])
    end = max(y, *(box.bottom for box in agents.values())) + _GAP
    sheet.add_arrow([(_BUS, min(box.middle[1] for box in agents.values())), (_BUS, end)])
    return end


def _find_places(intents: Mapping[str, DrawnBox], roster: Mapping[str, Build]) -> dict[type[Agent], DrawnBox]:
    """Every agent at the height of what it answers, or as near below as the agent before it leaves room."""
    rows: dict[type[Agent], list[int]] = {}
    for intent, box in intents.items():
        rows.setdefault(find_agent_class(roster[intent]), []).append(box.y)
    placed: dict[type[Agent], DrawnBox] = {}
    lowest = 0
    for agent, heights in sorted(rows.items(), key=lambda item: sum(item[1]) / len(item[1])):
        y = max(lowest, round(sum(heights) / len(heights)))
        placed[agent] = DrawnBox(_AGENTS.x, y, _AGENTS.width, _AGENTS.height)
        lowest = y + _ROW
    return placed


def _draw_end(sheet: Sheet, words: AgentWords, y: int) -> int:
    """Draws the way from the agents' parts to the last event; returns the height of the sheet."""
    merge = DrawnBox(_LEFT, y, _RIGHT - _LEFT, _STEP)
    sheet.add_box(merge, "agent", name="merge")
    title, detail = words.merge
    _add_title(sheet, merge, title, detail)
    gap = 30
    size = (merge.width - gap * (len(words.ends) - 1)) // len(words.ends)
    box = None
    for name, label in words.ends.items():
        x = box.right + gap if box else merge.x
        if box:
            sheet.add_arrow([(box.right, box.middle[1]), (x, box.middle[1])])
        else:
            sheet.add_arrow([(_SPINE, merge.bottom), (_SPINE, merge.bottom + _GAP)])
        box = DrawnBox(x, merge.bottom + _GAP, size, _STEP)
        sheet.add_box(box, "person" if name == "desk" else "step", name=f"{name} at the end")
        spans = [DrawnSpan(label, "bold"), DrawnSpan(_BETWEEN), DrawnSpan(name, "mono quiet")]
        sheet.add_centred(box, box.y + 22, spans if measure_width(spans) + 8 <= box.width else spans[:1])
    return merge.bottom + _GAP + _STEP + 20
