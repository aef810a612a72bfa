"""The states of a session, from the table of the human desk: a column for every state, a row for every event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.desk.states import RULES, TransitionRule, is_silent
from app.desk.types import Actor, Event, State
from scripts.diagrams.svg import DrawnBox, DrawnSpan, Sheet, measure_width
from scripts.diagrams.words import DeskWords

WIDTH = 760
_MARGIN, _TOP = 16, 44
_BOX = 46
_ROW = 50
_FRESH = " ↺"


def draw_states(words: DeskWords, rules: Mapping[Event, TransitionRule] = RULES) -> str:
    """An SVG: dots where an event may happen, the head of the arrow where it leads."""
    sheet = Sheet(WIDTH, words.title, words.language)
    boxes = _build_columns()
    columns = {state: box.middle[0] for state, box in boxes.items()}
    end = _TOP + _BOX + 8 + _ROW * len(rules)
    for x in columns.values():
        sheet.add_line([(x, _TOP + _BOX), (x, end)], "life")
    start = columns[State.BOT]
    sheet.add_dot(start, 20, 6)
    sheet.add_arrow([(start, 26), (start, _TOP)])
    for state, box in boxes.items():
        sheet.add_box(box, "person" if is_silent(state) else "step", name=state.value)
        sheet.add_centred(box, box.y + 19, [DrawnSpan(state.value, "mono bold")])
        sheet.add_centred(box, box.y + 37, [DrawnSpan(words.states.get(state, ""), "small quiet")])
    for number, (event, rule) in enumerate(rules.items()):
        y = _TOP + _BOX + 30 + number * _ROW
        reached = _draw_arrows(sheet, columns, rule, y + 14)
        _draw_label(sheet, _build_label(words, event, rule), reached, y)
    _draw_legend(sheet, words, end + 12)
    return sheet.render(end + 48)


def build_states_table(words: DeskWords, rules: Mapping[Event, TransitionRule] = RULES) -> str:
    """Returns the same rules as a Markdown table."""
    lines = [f"| {' | '.join(words.table)} |", "| --- | --- | --- | --- |"]
    for event, rule in rules.items():
        label = words.events.get(event, event.value)
        named = f"`{event}`" if label == event.value else f"{label} `{event}`"
        sources = " ".join(f"`{state}`" for state in State if state in rule.sources)
        actors = words.brackets[1].join(_list_actors(words, rule))
        lines.append(f"| {named} | {sources} | `{rule.target}` | {actors} |")
    return "\n".join(lines) + "\n"


def _build_columns() -> dict[State, DrawnBox]:
    pitch = (WIDTH - 2 * _MARGIN) // len(State)
    return {state: DrawnBox(_MARGIN + 5 + number * pitch, _TOP, pitch - 10, _BOX) for number, state in enumerate(State)}


def _draw_arrows(sheet: Sheet, columns: Mapping[State, int], rule: TransitionRule, y: int) -> Sequence[int]:
    """From the sources on either side into the target, or around; gives the columns that are reached."""
    target = columns[rule.target]
    sources = [columns[state] for state in State if state in rule.sources]
    for x in sources:
        sheet.add_dot(x, y)
    if target in sources:
        sheet.add_arrow([(target, y), (target + 34, y), (target + 34, y + 16), (target, y + 16)])
    for side in ([x for x in sources if x < target], [x for x in reversed(sources) if x > target]):
        if side:
            sheet.add_arrow([(side[0], y), (target, y)])
    return [target, *sources]


def _build_label(words: DeskWords, event: Event, rule: TransitionRule) -> list[DrawnSpan]:
    before, between, after = words.brackets
    actors = before + between.join(_list_actors(words, rule)) + after
    label = DrawnSpan(words.events.get(event, event.value), "bold")
    return [label, DrawnSpan(actors + (_FRESH if rule.fresh else ""), "small quiet")]


def _list_actors(words: DeskWords, rule: TransitionRule) -> list[str]:
    return [words.actors.get(actor, actor.value) for actor in Actor if actor in rule.actors]


def _draw_label(sheet: Sheet, spans: Sequence[DrawnSpan], reached: Sequence[int], y: int) -> None:
    """Draws the label over the middle of the arrow, as far as the sheet is wide."""
    half = measure_width(spans) / 2 + 6
    middle = min(max((min(reached) + max(reached)) / 2, half), WIDTH - half)
    sheet.add_text(middle, y, spans, "middle", over=True)


def _draw_legend(sheet: Sheet, words: DeskWords, y: int) -> None:
    box = DrawnBox(_MARGIN + 5, y, 22, 16)
    sheet.add_box(box, "person")
    sheet.add_text(box.right + 8, y + 13, [DrawnSpan(words.silent, "small quiet")])
    sheet.add_text(
        box.right + 190, y + 13, [DrawnSpan(_FRESH.strip(), "bold"), DrawnSpan(f" {words.fresh}", "small quiet")]
    )
