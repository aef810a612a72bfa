"""Markup that documents bring along: nothing of it may be a tag, an image or an unsafe link on the way out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape
from html.parser import HTMLParser
from typing import Any

from httpx import AsyncClient

from scripts.attacks.payloads import load_payloads
from scripts.harness.checks import Report
from scripts.harness.servers import CHAT, COMPLETIONS, STREAM, Target
from scripts.harness.uploads import read_events, upload_files

_LONG_IMAGE = f"![图](https://evil.example/{'长' * 700}.png)"
PAYLOADS = [*(text for kind in ("html", "links", "images") for text in load_payloads("markup")[kind]), _LONG_IMAGE]
_LINK = re.compile(r"\]\(\s*<?([^)>\s]*)")
_SAFE = re.compile(r"(?:https?://|mailto:|tel:|[/#?]|[\w.%-]+(?:[/#?]|$))", re.IGNORECASE)


def find_active(text: str) -> list[str]:
    """The parts of a text that a browser or a Markdown renderer would act on instead of showing them."""
    found = [f"<{tag}>" for tag in _list_tags(text)]
    found += re.findall(r"!\[[^\n]{0,40}", text) + re.findall(r"\[[^\]\n]*\]:[^\n]{0,40}", text)
    found += [link for link in _LINK.findall(text) if not _SAFE.match(unescape(link))]
    return found


def _list_tags(text: str) -> list[str]:
    tags: list[str] = []

    class TagReader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: Any) -> None:
            tags.append(tag)

        def handle_endtag(self, tag: str) -> None:
            tags.append(f"/{tag}")

        def handle_comment(self, data: str) -> None:
            tags.append("!--")

        def handle_decl(self, decl: str) -> None:
            tags.append("!")

        def unknown_decl(self, data: str) -> None:
            tags.append("![")

        def handle_pi(self, data: str) -> None:
            tags.append("?")

    reader = TagReader(convert_charrefs=False)
    reader.feed(text)
    reader.close()
    return tags


def build_document(number: int, payload: str) -> str:
    """A note with a payload in its title and in a sentence, as plain text, of which no parser takes markup away."""
    return f"KD{number:03d} 安装{payload}\n\nKD{number:03d} 的安装方法：先断电，再装上{payload}，装好后通电。\n"


def build_question(number: int) -> str:
    """A question that the document of this number answers."""
    return f"KD{number:03d} 的安装方法"


async def run_attack(target: Target, payloads: Sequence[str] = PAYLOADS) -> Report:
    """Every payload in a document of its own; the answer in one piece, token by token and in OpenAI's words."""
    report = Report()
    async with target.open_client(target.admin) as admin, target.open_client(target.client) as customer:
        await store_documents(
            admin, [build_document(number, payload) for number, payload in enumerate(payloads, start=1)]
        )
        for number, payload in enumerate(payloads, start=1):
            for way, texts in (await collect_texts(customer, build_question(number))).items():
                found = [piece for text in texts for piece in find_active(text)]
                report.check(not found, f"{way} {payload[:50]!r}：{found}")
    return report


async def store_documents(admin: AsyncClient, documents: list[str]) -> None:
    """Uploads plain texts; returns once they can be found."""
    files = [(f"{number}.txt", text.encode()) for number, text in enumerate(documents)]
    for start in range(0, len(files), 20):
        await upload_files(admin, files[start : start + 20])


async def collect_texts(customer: AsyncClient, text: str) -> dict[str, list[str]]:
    """The ways in which a question is answered -> all texts that are shown. See `streamed`."""
    one = (await customer.post(CHAT, json={"message": text})).json()
    again = (await customer.post(CHAT, json={"message": text})).json()
    body = {"model": "yingda", "messages": [{"role": "user", "content": text}]}
    openai = (await customer.post(COMPLETIONS, json=body)).json()
    return {
        "json": list(_list_shown(one)),
        "cached": list(_list_shown(again)),
        "stream": await stream_texts(customer, text + "呢"),
        "openai": [openai["choices"][0]["message"]["content"], *_list_source_texts(openai["yingda"])],
    }


async def stream_texts(customer: AsyncClient, text: str) -> list[str]:
    """The tokens joined, and all that the final event shows. Raises ValueError where these do not agree."""
    tokens, done = "", dict[str, Any]()
    async with customer.stream("POST", STREAM, json={"message": text}) as response:
        async for event in read_events(response):
            if event["type"] == "token":
                tokens += event["text"]
            elif event["type"] == "replace":
                tokens = event["text"]
            done = event
    if tokens != done["reply"]:
        raise ValueError(f"流与最终回复不同：{tokens!r} {done['reply']!r}")
    return [tokens, *_list_shown(done)]


def _list_shown(body: dict[str, Any]) -> Iterator[str]:
    yield body["reply"]
    yield from _list_source_texts(body["data"])


def _list_source_texts(data: dict[str, Any]) -> Iterator[str]:
    yield from data["suggestions"]
    for source in data["sources"]:
        yield from (str(source.get(name, "")) for name in ("title", "heading", "snippet"))
