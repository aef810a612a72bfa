from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import httpx
import pytest

from agents.base import Agent, Emit
from agents.bids import Bid, Rank
from agents.registry import AGENTS, AgentParts
from agents.routing.types import Intent, Tier
from agents.turn_evidence import TurnEvidence
from agents.types import Answer, Findings, Question
from app.desk.states import RULES, TransitionRule
from app.desk.types import Actor, Event, State
from knowledge.continuity import FEATURES, WEIGHTS
from scripts.diagram_docs import ASSETS, draw_diagrams, render_files
from scripts.diagrams.agents import draw_agents, find_agent_class
from scripts.diagrams.handoff import build_states_table, draw_states
from scripts.diagrams.svg import DrawnBox, DrawnSpan, Sheet, measure_width
from scripts.diagrams.words import CHINESE, ENGLISH, AgentWords, DeskWords, load_agent_words, load_desk_words
from scripts.marked_pages import ROOT
from tests.app.serving import served
from tests.contracts.test_agents import agent_name

SVG = "{http://www.w3.org/2000/svg}"
ENCLOSING = {"sheet", "group"}
AGENTS_CHINESE, AGENTS_ENGLISH = map(load_agent_words, (CHINESE, ENGLISH))
DESK_CHINESE, DESK_ENGLISH = map(load_desk_words, (CHINESE, ENGLISH))
AGENT_WORDS = pytest.mark.parametrize("words", [AGENTS_CHINESE, AGENTS_ENGLISH], ids=lambda words: words.language)
DESK_WORDS = pytest.mark.parametrize("words", [DESK_CHINESE, DESK_ENGLISH], ids=lambda words: words.language)
DRAWINGS = pytest.mark.parametrize("svg", draw_diagrams().values(), ids=[path.name for path in draw_diagrams()])


class Ninth:
    """An agent that the roster does not have yet."""

    name = "ninth"

    def bid(self, turn: TurnEvidence) -> Bid | None:
        raise NotImplementedError

    async def run(self, question: Question, findings: Findings, emit: Emit) -> Answer:
        raise NotImplementedError


def build_ninth(parts: AgentParts) -> Ninth:
    return Ninth()


def build_something(parts: AgentParts) -> Agent:
    return Ninth()


def boxes(svg: str) -> dict[str, DrawnBox]:
    """What stands for something of the code, by its name."""
    return {element.get("data-name", ""): box(element) for element in rectangles(svg)}


def rectangles(svg: str) -> Iterator[ElementTree.Element]:
    return ElementTree.fromstring(svg).iter(f"{SVG}rect")


def box(element: ElementTree.Element) -> DrawnBox:
    return DrawnBox(*(int(float(element.get(side, ""))) for side in ("x", "y", "width", "height")))


def texts(svg: str) -> list[str]:
    return ["".join(element.itertext()) for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def arrows(svg: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(svg).iter(f"{SVG}polygon"))


def apart(one: DrawnBox, other: DrawnBox) -> bool:
    return one.right <= other.x or other.right <= one.x or one.bottom <= other.y or other.bottom <= one.y


def within(inner: DrawnBox, outer: DrawnBox) -> bool:
    return outer.x <= inner.x and inner.right <= outer.right and outer.y <= inner.y and inner.bottom <= outer.bottom


@pytest.mark.parametrize("path", list(render_files()), ids=str)
def test_the_documents_show_what_the_code_says(path: Path) -> None:
    assert ROOT.joinpath(path).read_text("utf-8") == render_files()[path], "run: make diagram-docs"


@pytest.mark.parametrize("path", list(draw_diagrams()), ids=str)
def test_every_diagram_is_on_the_page_of_its_language(path: Path) -> None:
    page = ROOT / "docs" / path.with_suffix(".md").name
    assert f"]({ASSETS.name}/{path.name})" in page.read_text("utf-8")


def test_every_page_with_a_table_of_states_gets_it() -> None:
    for path in (Path("docs/handoff.md"), Path("docs/handoff.en.md")):
        assert f"| `{State.OUT_OF_HOURS}` | `{State.QUEUED}` |" in render_files()[path]


def test_every_page_with_weights_gets_them() -> None:
    for path in (Path("docs/dialogue.md"), Path("docs/dialogue.en.md")):
        for name, weight in zip(FEATURES, WEIGHTS, strict=True):
            assert re.search(rf"^\| `{name}` \| .+ \| {weight:.2f} \|$", render_files()[path], re.MULTILINE)


@DRAWINGS
def test_nothing_is_fetched_and_nothing_runs(svg: str) -> None:
    assert re.findall(r"https?://[^\"]+", svg) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"<(?:script|image|foreignObject|use|a)\b|@import|url\(|href", svg)


@DRAWINGS
def test_boxes_do_not_overlap_and_stay_on_the_sheet(svg: str) -> None:
    kinds = [(element.get("class"), box(element)) for element in rectangles(svg)]
    [sheet] = [found for kind, found in kinds if kind == "sheet"]
    inner = [found for kind, found in kinds if kind not in ENCLOSING]
    groups = [found for kind, found in kinds if kind == "group"]
    assert len(inner) >= len(State)
    assert [found for found in inner + groups if not within(found, sheet)] == []
    assert [pair for pair in combinations(inner, 2) if not apart(*pair)] == []
    assert [pair for pair in combinations(groups, 2) if not apart(*pair)] == []
    assert [(one, group) for one in inner for group in groups if not (apart(one, group) or within(one, group))] == []


@DRAWINGS
def test_text_stays_on_the_sheet_and_what_is_dark_in_the_light_is_light_in_the_dark(svg: str) -> None:
    root = ElementTree.fromstring(svg)
    right = int(root.get("width", ""))
    for element in root.iter(f"{SVG}text"):
        spans = [DrawnSpan(part.text or "", part.get("class", "")) for part in element]
        share = {"start": 0.0, "middle": 0.5, "end": 1.0}[element.get("text-anchor", "")]
        left = float(element.get("x", "")) - share * measure_width(spans)
        assert left >= 0 and left + measure_width(spans) <= right
    colours = re.findall(r"^text \{ fill: #(\w\w)", svg, re.MULTILINE)
    sheets = re.findall(r"^\.sheet \{ fill: #(\w\w)", svg, re.MULTILINE)
    light, dark = (int(text, 16) - int(sheet, 16) for text, sheet in zip(colours, sheets, strict=True))
    assert light < -150 and dark > 150


@AGENT_WORDS
def test_every_intent_agent_tier_and_rank_appears(words: AgentWords) -> None:
    svg = draw_agents(words)
    ranks = {rank.name.lower() for rank in Rank}
    assert boxes(svg).keys() >= {intent.value for intent in Intent} | {tier.value for tier in Tier} | ranks
    names = {find_agent_class(build).__name__ for build in AGENTS.values()}
    assert names <= boxes(svg).keys()
    assert names | set(Intent) <= set(" ".join(texts(svg)).split())


TOLD = "say it in both languages in scripts/diagrams/words.yaml"


@AGENT_WORDS
def test_every_name_of_the_agents_code_is_said_in_words(words: AgentWords) -> None:
    assert set(words.intents) == set(AGENTS), TOLD
    assert set(words.tiers) == set(Tier)
    assert set(words.ranks) == {rank.name.lower() for rank in Rank}
    assert set(words.agents) == {find_agent_class(build).name for build in AGENTS.values()}, TOLD


@pytest.mark.parametrize("intent", AGENTS)
def test_a_builder_says_which_agent_it_builds(intent: Intent) -> None:
    assert find_agent_class(AGENTS[intent]).name == agent_name(intent)


def test_a_builder_that_does_not_say_is_refused() -> None:
    with pytest.raises(TypeError, match=r"build_something.* does not say"):
        find_agent_class(build_something)


def test_a_new_agent_appears_by_itself_beside_its_intent() -> None:
    found = boxes(draw_agents(AGENTS_CHINESE, {**AGENTS, Intent.IRRELEVANT: build_ninth}))
    assert found["Ninth"].y == found[Intent.IRRELEVANT].y
    assert apart(found["Ninth"], found["DeflectionAgent"])


def test_an_intent_of_ones_own_appears_with_its_agent() -> None:
    found = boxes(draw_agents(AGENTS_CHINESE, {**AGENTS, "ninth": build_ninth}))
    assert found["Ninth"].y == found["ninth"].y


def test_agents_of_scattered_intents_find_room() -> None:
    roster = {**AGENTS, Intent.HUMAN_REQUEST: build_ninth, Intent.NONSENSE: build_ninth}
    found = boxes(draw_agents(AGENTS_CHINESE, roster))
    placed = [found[name] for name in {find_agent_class(build).__name__ for build in roster.values()}]
    assert len(placed) == len({find_agent_class(build) for build in roster.values()}) > 3
    assert all(apart(*pair) for pair in combinations(placed, 2))


async def test_the_steps_are_those_that_a_turn_goes_through(tmp_path: Path) -> None:
    async with served(tmp_path) as server, httpx.AsyncClient(base_url=server.address, timeout=60) as client:
        for message in ("退款多久到账？", "那运费呢？"):
            answer = await client.post("/api/v1/chat", json={"message": message, "session_id": "s"})
            assert answer.status_code == 200, answer.text
        [(_, timed)] = server.container.metrics
    for words in (AGENTS_CHINESE, AGENTS_ENGLISH):
        assert {*words.steps, "route", *words.ends} - {"desk", "done"} <= timed.stages.keys()


@DESK_WORDS
def test_every_state_event_and_actor_appears(words: DeskWords) -> None:
    svg = draw_states(words)
    assert boxes(svg).keys() >= {state.value for state in State}
    for event, rule in RULES.items():
        [label] = [text for text in texts(svg) if text.startswith(words.events[event] + words.brackets[0])]
        actors = label.removesuffix(" ↺").removesuffix(words.brackets[2]).split(words.brackets[0])[1]
        assert set(actors.split(words.brackets[1])) == {words.actors[actor] for actor in rule.actors}
        assert ("↺" in label) == rule.fresh


@DESK_WORDS
def test_every_name_of_the_desk_is_said_in_words(words: DeskWords) -> None:
    assert (set(words.states), set(words.events), set(words.actors)) == (set(State), set(Event), set(Actor))
    assert len(set(words.events.values())) == len(Event)


@pytest.mark.parametrize("event", Event)
def test_arrows_lead_from_the_sources_into_the_target(event: Event) -> None:
    rule = RULES[event]
    svg = draw_states(DESK_CHINESE, {event: rule})
    columns = {found.middle[0]: name for name, found in boxes(svg).items() if name in set(State)}
    dots = [circle for circle in ElementTree.fromstring(svg).iter(f"{SVG}circle") if circle.get("r") == "4"]
    assert sorted(columns[int(dot.get("cx", ""))] for dot in dots) == sorted(rule.sources)
    tips = [head.get("points", "").split(",")[0] for head in arrows(svg)[1:]]  # the first one leads to the start
    assert {columns[int(tip)] for tip in tips} == {rule.target}


def test_a_changed_table_changes_diagram_and_table() -> None:
    rules = {**RULES, Event.OPEN: TransitionRule(frozenset({State.CLOSED}), State.ASSIGNED, frozenset({Actor.BOT}))}
    assert draw_states(DESK_ENGLISH, rules) != draw_states(DESK_ENGLISH)
    assert "| `open` | `closed` | `assigned` | bot |" in build_states_table(DESK_ENGLISH, rules)


def test_a_line_that_does_not_fit_is_refused_and_markup_is_text() -> None:
    sheet = Sheet(100, "a < b", "en")
    with pytest.raises(ValueError, match="px of room: 一二三四五六七八"):
        sheet.add_centred(DrawnBox(0, 0, 80, 20), 15, [DrawnSpan("一二三四五六七八")])
    sheet.add_box(DrawnBox(0, 0, 20, 20), "step", name='"&')
    sheet.add_text(0, 10, [DrawnSpan("<b> & 'c'")])
    svg = sheet.render(40)
    assert texts(svg) == ["<b> & 'c'"]
    assert '"&' in boxes(svg)
    assert ElementTree.fromstring(svg).findtext(f"{SVG}title") == "a < b"
