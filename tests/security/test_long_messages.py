"""Whatever reads a message takes time in proportion to its length, whatever the message is made of."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from datetime import date
from functools import cache, cached_property, partial
from importlib.resources import files
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from agents.business.identity_mentions import find_mentions, is_about_others
from agents.business.offline.queries import load_queries
from agents.business.sample.database import seed_database
from agents.business.schema import load_schema
from agents.excerpt import cut_excerpt
from agents.heads.safety import read_safety
from agents.language import is_reply_english
from agents.pages import complete_from_page, extract_page_text
from agents.profile import TenantProfile
from agents.screening.features import extract_features
from agents.screening.views import list_views
from agents.ticketing.draft import describe_ticket
from agents.types import Page, Question
from agents.understanding.facts import has_all_facts
from agents.understanding.followups import fill_subject, rewrite_by_rules
from agents.understanding.reading import Reading, read
from agents.understanding.state import Turn
from agents.understanding.utterance import Utterance
from app.chat.guard import Guard, Rejected
from app.conversations.questions import normalize_question
from app.privacy import find_personal_data, mask_personal_data
from knowledge.overlay import build_passage
from knowledge.spelling import Speller
from knowledge.text import Analyzer
from scripts.attacks.base import Target
from scripts.attacks.lengthy import FAMILIES, Bounds, attack
from scripts.attacks.process import process
from tests.acceptance import some

SHORT, LONG = 250, 4000
# Linear is LONG / SHORT = 16 times as long; quadratic is 256.
MAX_GROWTH = 4 * LONG / SHORT
# Below, a reader of a long message is fast whatever its growth, and its time is noise.
MIN_SECONDS = 0.002
MAX_CHARS = 20_000
_AT_THE_DOOR = frozenset({"guard", "privacy"})
# The slowest ones before they were mended.
BOUNDS = Bounds(
    rounds=5,
    families=(
        "random_han",
        "traditional",
        "digits",
        "numbers_commas",
        "hex",
        "letters",
        "people",
        "amounts",
        "wide_member",
    ),
)

Reader = Callable[[str], Any]


@pytest.fixture(scope="module")
def readers() -> dict[str, Reader]:
    analyzer = Analyzer()
    speller = Speller(
        analyzer, dict.fromkeys(("订单", "退款", "发票", "运费", "保修", "物流", "会员", "积分", "客服", "地址"), 5)
    )
    schema = Path(str(files("agents") / "business" / "shop.yaml"))
    queries = load_queries(schema, load_schema(schema))
    earlier = Turn(Utterance("YS-V8 的保修期是多久"), "保修两年。")
    page = Page(url="https://shop.example/v8", title="YS-V8 扫地机", text="这款产品保修两年，电池半年。" * 30)
    in_view = extract_page_text(page)
    assert in_view is not None
    return {
        "privacy": lambda text: (find_personal_data(text), mask_personal_data(text)),
        "screening": lambda text: extract_features(list_views(text)),
        "questions": normalize_question,
        "tickets": describe_ticket,
        **{name: partial(_read, name) for name, value in vars(Reading).items() if isinstance(value, cached_property)},
        "safety": lambda text: read_safety(read(text), None, None),
        "language": lambda text: is_reply_english(Question(Utterance(text)), TenantProfile()),
        "rewriter": lambda text: (rewrite_by_rules(text, [earlier]), fill_subject(text, "YS-V8")),
        "facts": lambda text: has_all_facts(text, text + "？"),
        "business": lambda text: queries.find_sure_intents(text, member=True),
        "strangers": lambda text: (is_about_others(text), find_mentions(cut_excerpt(text), "M10001")),
        "tokens": analyzer.tokenize,
        "occurring": analyzer.find_occurrences,
        "spelling": lambda text: speller.correct(text),
        "page": lambda text: (complete_from_page(Question(Utterance(text), page=page)), build_passage(in_view, [text])),
        "guard": Guard(MAX_CHARS).check,
    }


def _read(name: str, text: str) -> object:
    """One thing that a Reading tells."""
    return getattr(read(text), name)


@cache
def _message(family: str, length: int, at_the_door: bool) -> str | None:
    """As the guard and what it asks get it, or those behind it: None where it turns the message away."""
    text = FAMILIES[family](length)
    message = Guard(MAX_CHARS).check(text)
    return text if at_the_door else None if isinstance(message, Rejected) else message


def _seconds(reader: Reader, texts: list[str]) -> float:
    """The least time that one of the texts took."""
    taken = []
    for text in texts:
        started = process_time()
        reader(text)
        taken.append(process_time() - started)
    return min(taken)


@pytest.mark.acceptance
@pytest.mark.parametrize("family", sorted({*BOUNDS.families, *some(sorted(FAMILIES), 8)}))
def test_reading_grows_with_the_length_at_most(family: str, readers: dict[str, Reader]) -> None:
    for name, reader in readers.items():
        message = partial(_message, family, at_the_door=name in _AT_THE_DOOR)
        first = message(LONG)
        if first is None or (seconds := _seconds(reader, [first])) <= MIN_SECONDS:
            continue
        short = [text for more in range(3) if (text := message(SHORT + more))]
        least = max(_seconds(reader, short) if short else 0.0, MIN_SECONDS / MAX_GROWTH)
        if seconds > MAX_GROWTH * least:  # other load, or it does grow
            again = [text for more in range(1, 5) if (text := message(LONG + more))]
            seconds = min(seconds, _seconds(reader, again))
            least = max(least, _seconds(reader, short)) if short else least
        assert seconds <= MAX_GROWTH * least, (name, least, seconds)


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    folder = tmp_path_factory.mktemp("long")
    address = f"sqlite:///{folder / 'shop.sqlite3'}"
    asyncio.run(seed_database(address, date.today()))
    with process(folder / "data", BUSINESS_DATABASE_URL=address) as target:
        yield target


@pytest.mark.acceptance(only=True)
async def test_no_long_message_holds_up_itself_or_others(target: Target) -> None:
    report = await attack(target, BOUNDS)
    assert not report.broken
    assert report.cases == len(BOUNDS.families) + 1
