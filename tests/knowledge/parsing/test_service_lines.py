"""Lines of customer-service texts go through upload as they are: what looks like a mark is a character."""

from __future__ import annotations

import html
from pathlib import Path

import pytest

from knowledge.chunking import ChunkOptions, split_document
from knowledge.parsing.registry import parse
from knowledge.types import DocumentMeta

LINES = tuple((Path(__file__).parents[2] / "service_lines.txt").read_text("utf-8").splitlines())
_BEFORE, _AFTER = "请先阅读下面这一句。", "以上内容如有变动，以页面为准。"


def chunked(name: str, content: str) -> str:
    """The texts of all chunks that a file becomes."""
    parsed = parse(name, content.encode())
    chunks = split_document(parsed, DocumentMeta("d", name, parsed.title), "v", ChunkOptions(overlap_tokens=0))
    return "\n".join(chunk.text for chunk in chunks)


def test_there_are_enough_of_them() -> None:
    assert len(set(LINES)) == len(LINES) >= 60


@pytest.mark.parametrize("line", LINES)
def test_a_line_of_markdown_is_kept(line: str) -> None:
    alone = chunked("说明.md", f"{line}\n")
    among = chunked("说明.md", f"# 说明\n\n{_BEFORE}\n\n{line}\n\n{_AFTER}\n")
    below = chunked("说明.md", f"{_BEFORE}\n{line}\n{_AFTER}\n")
    assert line in alone.splitlines()
    assert among.splitlines() == [_BEFORE, line, _AFTER]
    assert line in below


@pytest.mark.parametrize("line", LINES)
def test_a_line_of_an_item_is_kept(line: str) -> None:
    assert f"1. 说明：{line}" in chunked("说明.md", f"1. 说明：{line}\n2. 其他\n").splitlines()


@pytest.mark.parametrize("line", LINES)
def test_a_line_of_a_page_is_kept(line: str) -> None:
    page = f"<body><p>{html.escape(_BEFORE)}</p><p>{html.escape(line)}</p></body>"
    assert chunked("说明.html", page).splitlines() == [_BEFORE, line]


def test_all_lines_together_are_kept_in_order() -> None:
    whole = chunked("说明.md", "\n\n".join(LINES))
    assert [line for line in LINES if line not in whole.splitlines()] == []


def test_what_is_meant_as_emphasis_is_none_of_the_text() -> None:
    text = "**注意：**请勿*自行*拆机，**“保修贴”**撕毁即失效，~~旧版~~已停用，请**务必**留底，*仅限新品*。\n"
    assert chunked("说明.md", text) == "注意：请勿*自行*拆机，“保修贴”撕毁即失效，旧版已停用，请务必留底，仅限新品。"
