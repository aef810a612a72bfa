"""Markup that documents bring along: nothing of it may be a tag, an image or an unsafe link on the way out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape
from html.parser import HTMLParser
from typing import Any

from httpx import AsyncClient

from scripts.harness.checks import Report
from scripts.harness.servers import CHAT, COMPLETIONS, STREAM, Target
from scripts.harness.uploads import read_events, upload_files

_HTML = (
    "<script>alert(1)</script>",
    "<SCRIPT SRC=//evil.example/x.js></SCRIPT>",
    "<scr<script>ipt>alert(1)</script>",
    "<script\n>alert(1)</script\n>",
    "<img src=x onerror=alert(1)>",
    "<img/src=x/onerror=alert(1)>",
    "<IMG SRC=`javascript:alert(1)`>",
    "<svg onload=alert(1)>",
    "<svg><a xlink:href=javascript:alert(1)>x</a></svg>",
    "<iframe src=javascript:alert(1)></iframe>",
    "<object data=data:text/html,x></object>",
    "<embed src=//evil.example/x.swf>",
    "<form action=//evil.example><input name=p></form>",
    "<button formaction=javascript:alert(1)>x</button>",
    "<a href=javascript:alert(1)>点这里</a>",
    "<a href='&#106;avascript:alert(1)'>点这里</a>",
    "<base href=//evil.example/>",
    "<meta http-equiv=refresh content='0;url=//evil.example'>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<style>@import '//evil.example/x.css';</style>",
    "<body onload=alert(1)>",
    "<details open ontoggle=alert(1)>x</details>",
    "<video><source onerror=alert(1)></video>",
    "<math><mi xlink:href=javascript:alert(1)>x</mi></math>",
    "<table background=//evil.example/x.png>",
    "<div style=background:url(//evil.example/x.png)>x</div>",
    "<!-- <img src=x onerror=alert(1)> -->x",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<?xml version='1.0'?><x/>",
    "</p><script>alert(1)</script>",
    "<<script>alert(1);//<</script>",
    "<x\u200b><scr\u200bipt>alert(1)</scr\u200bipt>",
    "<br><b>粗体</b>",
)
_LINKS = (
    "[点这里](javascript:alert(1))",
    "[点这里](JaVaScRiPt:alert(1))",
    "[点这里](java\tscript:alert(1))",
    "[点这里]( javascript:alert(1))",
    "[点这里](\u0001javascript:alert(1))",
    "[点这里](<javascript:alert(1)>)",
    "[点这里](&#106;avascript:alert(1))",
    "[点这里](&#x6A;avascript&colon;alert(1))",
    "[点这里](javascript&#58;alert(1))",
    "[点这里](java\\script:alert(1))",
    "[点这里](javascript:alert(1) '说明')",
    "[点这里](javascript://example.com/%0aalert(1))",
    "[点这里](vbscript:msgbox(1))",
    "[点这里](data:text/html;base64,PHNjcmlwdD4=)",
    "[点这里](DATA:text/html,x)",
    "[点这里](file:///etc/passwd)",
    "[点这里](blob:https://x/1)",
    "[点这里](intent://x#Intent;end)",
    "[点这里](weixin://dl/x)",
    "[a\\]点这里](javascript:alert(1))",
    "[a `x](javascript:alert(1)) y`",
    "[外 [内](javascript:alert(1)) 外](https://example.com)",
    "[[[[点这里](javascript:alert(1))",
    "[x]![](u)(javascript:alert(1))",
    "[点这里][r] [r]: javascript:alert(1)",
    "[r]: javascript:alert(1)",
    "[r]:\tdata:text/html,x",
    "<javascript:alert(1)>",
    "<data:text/html,x>",
    "[好](https://example.com/a_(b)) [帮助](/help/a.html)",
)
_IMAGES = (
    "![图](https://evil.example/x.png?d=1)",
    "![](https://evil.example/x.png)",
    "![图](//evil.example/x.png)",
    "![图](data:image/svg+xml;base64,PHN2Zz4=)",
    "![图][r]",
    "![图](<https://evil.example/x y.png>)",
    "![图](https://evil.example/x.png '题')",
    "[![图](https://evil.example/x.png)](javascript:alert(1))",
    "[![图](https://evil.example/x.png)](https://example.com)",
    "!![](x)[图](https://evil.example/x.png)",
    "![外 ![内](https://evil.example/1.png)](https://evil.example/2.png)",
    "![图](https://evil.example/" + "长" * 700 + ".png)",
)
PAYLOADS = (*_HTML, *_LINKS, *_IMAGES)
_LINK = re.compile(r"\]\(\s*<?([^)>\s]*)")
_SAFE = re.compile(r"(?:https?://|mailto:|tel:|[/#?]|[\w.%-]+(?:[/#?]|$))", re.IGNORECASE)


def active(text: str) -> list[str]:
    """What of a text a browser or a Markdown renderer would not just show."""
    found = [f"<{tag}>" for tag in _tags(text)]
    found += re.findall(r"!\[[^\n]{0,40}", text) + re.findall(r"\[[^\]\n]*\]:[^\n]{0,40}", text)
    found += [link for link in _LINK.findall(text) if not _SAFE.match(unescape(link))]
    return found


def _tags(text: str) -> list[str]:
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


def document(number: int, payload: str) -> str:
    """A note with a payload in its title and in a sentence, as plain text, of which no parser takes markup away."""
    return f"KD{number:03d} 安装{payload}\n\nKD{number:03d} 的安装方法：先断电，再装上{payload}，装好后通电。\n"


def question(number: int) -> str:
    """What the document of this number answers."""
    return f"KD{number:03d} 的安装方法"


async def attack(target: Target, payloads: Sequence[str] = PAYLOADS) -> Report:
    """Every payload in a document of its own; the answer in one piece, token by token and in OpenAI's words."""
    report = Report()
    async with target.open_client(target.admin) as admin, target.open_client(target.client) as customer:
        await stored(admin, [document(number, payload) for number, payload in enumerate(payloads, start=1)])
        for number, payload in enumerate(payloads, start=1):
            for way, texts in (await said(customer, question(number))).items():
                found = [piece for text in texts for piece in active(text)]
                report.check(not found, f"{way} {payload[:50]!r}：{found}")
    return report


async def stored(admin: AsyncClient, documents: list[str]) -> None:
    """Takes plain text in; it answers once this returns."""
    files = [(f"{number}.txt", text.encode()) for number, text in enumerate(documents)]
    for start in range(0, len(files), 20):
        await upload_files(admin, files[start : start + 20])


async def said(customer: AsyncClient, text: str) -> dict[str, list[str]]:
    """The ways in which a question is answered -> all texts that are shown. See `streamed`."""
    one = (await customer.post(CHAT, json={"message": text})).json()
    again = (await customer.post(CHAT, json={"message": text})).json()
    body = {"model": "yingda", "messages": [{"role": "user", "content": text}]}
    openai = (await customer.post(COMPLETIONS, json=body)).json()
    return {
        "json": list(_shown(one)),
        "cached": list(_shown(again)),
        "stream": await streamed(customer, text + "呢"),
        "openai": [openai["choices"][0]["message"]["content"], *_sources(openai["yingda"])],
    }


async def streamed(customer: AsyncClient, text: str) -> list[str]:
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
    return [tokens, *_shown(done)]


def _shown(body: dict[str, Any]) -> Iterator[str]:
    yield body["reply"]
    yield from _sources(body["data"])


def _sources(data: dict[str, Any]) -> Iterator[str]:
    yield from data["suggestions"]
    for source in data["sources"]:
        yield from (str(source.get(name, "")) for name in ("title", "heading", "snippet"))
