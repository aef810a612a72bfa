"""Whatever reads a message takes time in proportion to its length, whatever the message is made of."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from datetime import date
from functools import cache, cached_property, partial
from importlib.resources import files
from itertools import cycle
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import httpx
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
from scripts.harness.servers import CHAT, Target, run_product
from tests.acceptance import some
from tests.long_messages import FAMILIES

SHORT, LONG = 250, 4000
# Linear is LONG / SHORT = 16 times as long; quadratic is 256.
MAX_GROWTH = 4 * LONG / SHORT
# Below, a reader of a long message is fast whatever its growth, and its time is noise.
MIN_SECONDS = 0.002
MAX_CHARS = 20_000
# Of a message to the product: MAX_MESSAGE_CHARS, unless it is told otherwise.
CHARS = 2000
_AT_THE_DOOR = frozenset({"guard", "privacy"})
# The slowest ones before they were mended.
SLOWEST = (
    *("random_han", "traditional", "digits", "numbers_commas", "hex", "letters", "people", "amounts", "wide_member"),
)
# Ordinary questions that are measured each time.
ROUNDS = 5
# How many times as long as an ordinary question a long message may take, and a neighbour's question beside eight of
# them as long as alone: far more than it is, since the machine has other work, and far less than what is quadratic.
MOST_ITSELF, MOST_BESIDE = 60.0, 300.0

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
@pytest.mark.parametrize("family", sorted({*SLOWEST, *some(sorted(FAMILIES), 8)}))
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
    with run_product(folder / "data", BUSINESS_DATABASE_URL=address) as target:
        yield target


@pytest.mark.acceptance(only=True)
async def test_no_long_message_holds_up_itself_or_others(target: Target) -> None:
    async with target.open_client(target.server) as client, target.open_client(target.other_client) as neighbour:
        for number in range(4):  # what is built at its first use
            await _measure_answers(client, f"订单 2024010100000{number} 到哪了")
            await _measure_answers(neighbour, f"{number}号到吗")
        usual = await _measure_answers(client, *(f"{number}月的订单到哪了？" for number in range(ROUNDS)))
        for family in SLOWEST:
            assert await _measure_answers(client, FAMILIES[family](CHARS)) <= MOST_ITSELF * usual, family
        alone = await _measure_answers(neighbour, *(f"第 {number} 天还能退货吗" for number in range(ROUNDS)))
        flood = [asyncio.create_task(_send_forever(client, family)) for family in SLOWEST[:8]]
        try:
            await asyncio.sleep(0.2)
            beside = await _measure_answers(neighbour, *(f"第 {number} 天还能换货吗" for number in range(ROUNDS)))
        finally:
            for task in flood:
                task.cancel()
            await asyncio.gather(*flood, return_exceptions=True)
        assert beside <= MOST_BESIDE * alone


async def _send_forever(client: httpx.AsyncClient, family: str) -> None:
    for length in cycle(range(CHARS - 50, CHARS)):
        await _measure_answers(client, FAMILIES[family](length))


async def _measure_answers(client: httpx.AsyncClient, *texts: str) -> float:
    """Median of the seconds until a member's messages are answered. Any answer but a server's error is one."""
    taken = []
    for text in texts:
        started = perf_counter()
        response = await client.post(CHAT, json={"message": text, "user_id": "M10001"})
        assert response.status_code < 500 or response.status_code == 503
        taken.append(perf_counter() - started)
    return median(taken)
