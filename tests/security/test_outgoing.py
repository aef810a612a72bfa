"""What documents and models say is shown and never executed, loaded or followed."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest
import yaml
from markdown import markdown

from scripts.harness.servers import CHAT, COMPLETIONS, STREAM, Target, run_product
from scripts.harness.uploads import read_events
from scripts.scripted_llm import Behaviour, Say, ScriptedLLM
from tests.acceptance import some
from tests.uploads import upload_files

pytestmark = pytest.mark.acceptance(only=True)  # a server of its own

_KINDS = yaml.safe_load(Path(__file__).with_name("markup.yaml").read_text("utf-8"))
_LONG_IMAGE = f"![图](https://evil.example/{'长' * 700}.png)"
PAYLOADS = [*(text for kind in ("html", "links", "images") for text in _KINDS[kind]), _LONG_IMAGE]
_LINK = re.compile(r"\]\(\s*<?([^)>\s]*)")
_SAFE = re.compile(r"(?:https?://|mailto:|tel:|[/#?]|[\w.%-]+(?:[/#?]|$))", re.IGNORECASE)
# Of documents; a model says all of them below, which go out by the same way.
SOME = some(PAYLOADS, 25)
_RENDERED = re.compile(r"<(\w+)([^>]*)>")
_PLAIN_TAGS = frozenset(
    ("p", "a", "em", "strong", "code", "pre", "ul", "ol", "li", "h1", "h2", "h3", "blockquote", "hr")
)


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedLLM]:
    """In a thread of its own: the server asks it while a test waits."""
    loop, llm = asyncio.new_event_loop(), ScriptedLLM(Behaviour.BROKEN)
    thread = Thread(target=loop.run_forever)
    thread.start()
    asyncio.run_coroutine_threadsafe(llm.start(), loop).result()
    yield llm
    asyncio.run_coroutine_threadsafe(llm.close(), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory, model: ScriptedLLM) -> Iterator[Target]:
    """Everything is answered, by quotes of documents while the model is out of order."""
    folder = tmp_path_factory.mktemp("outgoing")
    with run_product(
        folder / "data",
        LLM_BASE_URL=model.base_url,
        LLM_API_KEY="key",
        LLM_RETRIES="0",
        VERIFY_ENABLED="false",
        REWRITE_ENABLED="false",
        SIMILARITY_THRESHOLD="0",
        CLARIFY_THRESHOLD="0",
        CONFIDENT_THRESHOLD="0",
    ) as target:
        yield target


async def test_nothing_of_a_document_is_more_than_text(target: Target) -> None:
    """Each payload in a document of its own; the answer in one piece, token by token and in OpenAI's words."""
    await _store_texts(target, *(build_document(number, payload) for number, payload in enumerate(SOME)))
    async with target.open_client(target.client) as customer:
        for number, payload in enumerate(SOME):
            question = build_question(number)
            asked = {"message": question}
            bodies = [(await customer.post(CHAT, json=asked)).json() for _ in range(2)]  # the second by the cache
            completion = {"model": "yingda", "messages": [{"role": "user", "content": question}]}
            openai = (await customer.post(COMPLETIONS, json=completion)).json()
            texts = [text for body in bodies for text in list_shown(body["reply"], body["data"])]
            texts += list_shown(openai["choices"][0]["message"]["content"], openai["yingda"])
            texts += await stream_texts(customer, f"{question}呢")
            assert [piece for text in texts for piece in find_active(text)] == [], payload


async def test_the_words_of_a_payload_stay_readable(target: Target) -> None:
    await _store_texts(
        target,
        "尺寸 CC-10\n\n尺寸 CC-10 的规则：3 < 5，<100 元包邮，第一行<br>第二行，见[帮助](/help/a.html)与"
        "[官网](https://example.com/a_(b))，![外观图](https://e.example/x.png)[点这里](javascript:x)。\n",
    )
    async with target.open_client(target.client) as customer:
        body = (await customer.post("/api/v1/chat", json={"message": "尺寸 CC-10 的规则"})).json()
    for words in (
        "3 < 5",
        "<100 元",
        "第一行＜br>第二行",
        "[帮助](/help/a.html)",
        "(https://example.com/a_(b))",
        "外观图点这里",
    ):
        assert words in body["reply"]


async def test_a_conversation_is_kept_as_it_was_told(target: Target) -> None:
    await _store_texts(target, build_document(901, PAYLOADS[0]))
    async with target.open_client(target.server) as server, target.open_client(target.admin) as admin:
        body = (await server.post("/api/v1/chat", json={"message": build_question(901)})).json()
        kept = (await admin.get(f"/api/v1/conversations/{body['session_id']}")).json()["turns"][0]
    assert kept["reply"] == body["reply"]
    assert "＜script>" in kept["reply"]
    assert not find_active(kept["reply"])


def build_document(number: int, payload: str) -> str:
    """A note with a payload in its title and in a sentence, as plain text, of which no parser takes markup away."""
    return f"KD{number:03d} 安装{payload}\n\nKD{number:03d} 的安装方法：先断电，再装上{payload}，装好后通电。\n"


def build_question(number: int) -> str:
    """A question that the document of this number answers."""
    return f"KD{number:03d} 的安装方法"


async def _store_texts(target: Target, *texts: str) -> None:
    """Uploads plain texts; returns once they can be found."""
    files = [(f"{number}.txt", text.encode()) for number, text in enumerate(texts)]
    async with target.open_client(target.admin) as admin:
        await upload_files(admin, files)


def list_shown(reply: str, data: dict[str, Any]) -> list[str]:
    """All texts of an answer that are shown."""
    sources = [str(source.get(name, "")) for source in data["sources"] for name in ("title", "heading", "snippet")]
    return [reply, *data["suggestions"], *sources]


async def stream_texts(customer: httpx.AsyncClient, text: str) -> list[str]:
    """The tokens joined, which are what the final event says, and all that it shows."""
    tokens, done = "", dict[str, Any]()
    async with customer.stream("POST", STREAM, json={"message": text}) as response:
        async for event in read_events(response):
            if event["type"] == "token":
                tokens += event["text"]
            elif event["type"] == "replace":
                tokens = event["text"]
            done = event
    assert tokens == done["reply"]
    return [tokens, *list_shown(done["reply"], done["data"])]


class _TagReader(HTMLParser):
    """Collects all that a browser would not show as text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(f"<{tag}>")

    def handle_endtag(self, tag: str) -> None:
        self.tags.append(f"</{tag}>")

    def handle_comment(self, data: str) -> None:
        self.tags.append("<!-- -->")

    def handle_decl(self, decl: str) -> None:
        self.tags.append("<!>")

    def unknown_decl(self, data: str) -> None:
        self.tags.append("<![>")

    def handle_pi(self, data: str) -> None:
        self.tags.append("<?>")


def find_active(text: str) -> list[str]:
    """The parts of a text that a browser or a Markdown renderer would act on instead of showing them."""
    reader = _TagReader()
    reader.feed(text)
    reader.close()
    found = reader.tags + re.findall(r"!\[[^\n]{0,40}", text) + re.findall(r"\[[^\]\n]*\]:[^\n]{0,40}", text)
    return found + [link for link in _LINK.findall(text) if not _SAFE.match(unescape(link))]


async def test_nothing_of_a_model_is_more_than_text(target: Target, model: ScriptedLLM) -> None:
    """Each payload comes from the model as it stands, cut into tokens of a character or two."""
    await _store_texts(target, "退货\n\n自签收之日起 7 天内可以退货，点这里看图。\n")
    said_by_model = 0
    async with target.open_client(target.admin) as admin:  # it was out of order before
        reset = await admin.post("/api/v1/observability/circuit-breakers/llm/reset")
        assert reset.is_success, reset.text
    async with target.open_client(target.client) as customer:
        for number, payload in enumerate(PAYLOADS):
            model.script = (Say(f"自签收之日起 7 天内可以退货{payload}，点这里看图。[1]"),)
            before = model.taken["say"]
            assert not await _wrong(customer, f"自签收之日起几天内可以退货{number}"), payload
            said_by_model += model.taken["say"] > before
    assert said_by_model == len(PAYLOADS)


async def _wrong(customer: httpx.AsyncClient, text: str) -> list[str]:
    """What is active of what is shown, by the attack's own reading and by a Markdown renderer."""
    texts = await stream_texts(customer, text)
    wrong = [piece for text in texts for piece in find_active(text)]
    for tag, rest in _RENDERED.findall(markdown(texts[0])):
        if tag not in _PLAIN_TAGS or re.search(r"href=\"(?!https?:|/)|\son\w+=", rest):
            wrong.append(f"<{tag}{rest}>")
    return wrong
