"""What pages draw of a text: the lines of customer service that parsers keep, and marks that are meant."""

from __future__ import annotations

import mimetypes
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, Route

from app.web import files as web_files
from tests.knowledge.parsing.test_service_lines import LINES

WEB = Path(web_files.__file__).parent
_PAGE = """<!doctype html><body><script type="module">
import { Prose } from "/web/shared/markdown.js";
import { h, render } from "/web/vendor/preact-htm.js";
window.draw = async (text) => {
  const place = document.createElement("div");
  document.body.replaceChildren(place);
  render(h(Prose, { text }), place);
  await new Promise((done) => setTimeout(done));
  return { text: place.textContent, html: place.innerHTML };
};
window.redraw = async (texts) => {
  const place = document.createElement("div");
  document.body.replaceChildren(place);
  for (const text of texts) { render(h(Prose, { text }), place); await new Promise((done) => setTimeout(done)); }
  return { text: place.textContent, html: place.innerHTML };
};
</script>"""
Draw = Callable[..., dict[str, Any]]


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page of the product's own modules, without a server."""

    def answer(route: Route) -> None:
        path = route.request.url.split("//", 1)[1].partition("/")[2]
        if not path:
            route.fulfill(body=_PAGE, content_type="text/html; charset=utf-8")
            return
        file = WEB / path.removeprefix("web/")
        route.fulfill(body=file.read_bytes(), content_type=mimetypes.guess_type(file.name)[0] or "text/plain")

    page = context.new_page()
    page.route("http://pages.test/**", answer)
    page.goto("http://pages.test/")
    page.wait_for_function("() => window.redraw")
    yield page


@pytest.fixture
def draw(page: Page) -> Draw:
    """Draws a text; `text` and `html` of what the page shows then."""
    return lambda text, how="draw": page.evaluate(f"(text) => window.{how}(text)", text)


def test_lines_are_drawn_as_they_are(draw: Draw) -> None:
    assert [(line, shown) for line in LINES if (shown := draw(line)["text"].strip()) != line] == []


def test_lines_among_others_are_drawn_as_they_are(draw: Draw) -> None:
    lost = []
    for line in LINES:
        shown = draw(f"请看下面。\n\n{line}\n\n以页面为准。")["text"]
        lost += [] if shown == f"请看下面。{line}以页面为准。" else [(line, shown)]
    assert lost == []


def test_lines_that_arrive_letter_by_letter_end_as_they_are(draw: Draw) -> None:
    lines = [line for line in LINES if set(line) & set("*_~#>`[|\\")][::3]
    ends = {line: draw([line[:length] for length in range(1, len(line) + 1)], "redraw")["text"].strip() for line in lines}
    assert {line: end for line, end in ends.items() if end != line} == {}


def test_a_sentence_below_a_list_is_no_part_of_its_last_item(draw: Draw) -> None:
    shown = draw("1. 打开 App\n2. 点击退款\n退款 3 天内到账。\n# 号键返回")["html"]
    assert "<li>点击退款</li></ol><p>退款 3 天内到账。" in shown
    assert "<h" not in shown


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("**注意：**请勿拆机", "<p><strong>注意：</strong>请勿拆机</p>"),
        ("请**务必**留底", "<p>请<strong>务必</strong>留底</p>"),
        ("**“保修贴”**撕毁即失效", "<p><strong>“保修贴”</strong>撕毁即失效</p>"),
        ("~~停售~~", "<p><del>停售</del></p>"),
        ("*仅限新品*。", "<p><em>仅限新品</em>。</p>"),
        ("***重要***", "<p><em><strong>重要</strong></em></p>"),
        ("**外 *内* 外**", "<p><strong>外 <em>内</em> 外</strong></p>"),
        ("## 步骤", "<h4>步骤</h4>"),
        ("- 甲\n- 乙", "<ul><li>甲</li><li>乙</li></ul>"),
        ("3. 甲\n5. 乙", '<ol start="3"><li>甲</li><li value="5">乙</li></ol>'),
        ("> 引用一句", "<blockquote><p>引用一句</p></blockquote>"),
        ("用 `a*b` 表示", "<p>用 <code>a*b</code> 表示</p>"),
    ],
)
def test_marks_that_are_meant_are_drawn(draw: Draw, text: str, html: str) -> None:
    assert draw(text)["html"] == html


def test_an_address_ends_where_the_sentence_goes_on(draw: Draw) -> None:
    shown = draw("请访问https://a.example/x_y，再看[说明](https://b.example/)。")["html"]
    assert 'href="https://a.example/x_y"' in shown
    assert 'href="https://b.example/"' in shown


def test_a_table_as_people_type_it_is_drawn(draw: Draw) -> None:
    shown = draw("型号｜价格\n：-｜—\nA｜1*2\n以上含税。")["html"]
    assert "<th>型号</th><th>价格</th>" in shown
    assert "<td>A</td><td>1*2</td>" in shown


@pytest.mark.parametrize("text", [">" * 20_000 + "内容", "- " * 5_000 + "内容", "[" * 5_000 + "内容", "**" * 3_000 + "内容"])
def test_nothing_that_cannot_be_drawn_is_lost_or_breaks_the_page(draw: Draw, text: str) -> None:
    assert "内容" in draw(text)["text"]
    assert draw([text, "下一条消息"], "redraw")["text"] == "下一条消息"
