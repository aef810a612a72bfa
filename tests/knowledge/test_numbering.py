"""Numbered articles: read apart, kept apart and found by their number."""

from __future__ import annotations

import docx
import pytest

from knowledge.chunking import ChunkOptions
from knowledge.extraction import read_document
from knowledge.numbering import find_article_number, normalize_numbers
from knowledge.parsing.limits import ParsingLimits
from knowledge.text import fold
from knowledge.types import DocumentMeta
from tests.knowledge.builders import Base
from tests.knowledge.parsing.files import page, pdf, word

_DIGITS = "一二三四五六七八九"
_NUMERALS = [*_DIGITS, "十", *(f"十{digit}" for digit in _DIGITS), "二十", "二十一", "二十二"]
_BODIES = (
    "商家应当在承诺的时间内发货",
    "消费者可以在签收后申请退货",
    "平台应当公示收费的标准",
    "会员积分到期以后自动清零",
)
LINES = ["云笙商城服务规则", "第一章 总则"] + [
    f"第{numeral}条 {_BODIES[number % 4]}，具体办法由平台另行公布。" for number, numeral in enumerate(_NUMERALS)
]
LINES[4] += "本条的例外依照第十二条和第二十二条的规定。"
LINES[9] += "\n（一）定制的商品\n（二）违反第十二条的商品"


def _word(lines: list[str]) -> bytes:
    document = docx.Document()
    for line in lines:
        document.add_paragraph(line)
    return word(document)


FILES = {
    "a.txt": "\n".join(LINES).encode(),
    "a.md": "\n\n".join(LINES).encode(),
    "a.html": "".join(f"<p>{line}</p>" for line in LINES).encode(),
    "a.docx": _word(LINES),
    "a.pdf": pdf(page(*LINES)),
    "b.txt": "\n".join(LINES).replace("第十二条 ", "第 12 条 ").encode(),
    "c.txt": "\n".join(LINES).replace("第十二条 ", "Article 12 ").encode(),
}


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("第十二条", "第12条"), ("第 12 条", "第12条"), ("第一百零三条", "第103条"), ("第二〇条", "第20条"),
        ("第二十章", "第20章"), ("see article 12", "see  第12条 "),
        ("一条消息", "一条消息"), ("article 3.5", "article 3.5"),
    ],
)  # fmt: skip
def test_numbers_have_one_form(text: str, form: str) -> None:
    assert normalize_numbers(text) == form


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("第十二条 消费者", "第十二条"), ("第 12 条：退货", "第 12 条"), ("Article 12 Returns", "Article 12"),
        ("第十二条的规定", ""), ("依照第十二条 处理", ""), ("第十二章 总则", ""), ("Article 12.5 x", ""),
    ],
)  # fmt: skip
def test_an_article_is_told_by_its_beginning(text: str, number: str) -> None:
    assert find_article_number(text) == number


@pytest.mark.parametrize("name", FILES)
def test_every_article_is_a_chunk_of_its_own(name: str) -> None:
    chunks = read_document(name, FILES[name], ParsingLimits(), ChunkOptions()).chunks
    articles = [chunk for chunk in chunks if chunk.heading_path and find_article_number(chunk.heading_path[-1])]
    assert len(articles) == len(_NUMERALS)
    assert "（二）违反第十二条的商品" in articles[7].text
    assert articles[11].text.endswith(f"{_BODIES[3]}，具体办法由平台另行公布。")


@pytest.mark.parametrize("name", FILES)
async def test_an_article_is_found_first_by_its_number(name: str) -> None:
    base = Base()
    document = DocumentMeta("d", name, "云笙商城服务规则")
    await base.apply(read_document(name, FILES[name], ParsingLimits(), ChunkOptions()).label_chunks(document, "v"))
    retriever = base.retriever()
    for question in ("第12条怎么规定", "第十二条说了什么", "请问第 12 条是什么", "What does Article 12 say?"):
        first = (await retriever.search(question)).candidates[0].chunk
        assert normalize_numbers(fold(find_article_number(first.heading_path[-1]))).strip() == "第12条", question
    await base.close()
