"""One document says the same in every format, but for what a format cannot say, which stands here."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import closing

import pytest

from agents.knowledge import KnowledgeAgent, KnowledgePolicy
from agents.llm.extractive import ExtractiveGenerator
from agents.profile import TenantProfile
from agents.types import NOTHING_FOUND
from app.embeddings.repository_local import SqliteEmbeddingCache
from knowledge.blocks import Block, BlockKind
from knowledge.chunking import ChunkOptions, split_document
from knowledge.embeddings.base import Embedder
from knowledge.embeddings.registry import EmbedderOptions, get_embedder
from knowledge.evaluation.runner import build_retriever
from knowledge.parsing.registry import parse
from knowledge.types import DocumentMeta, ParsedDocument
from tests.acceptance import some
from tests.agents.support import ask, collect_events, finish
from tests.knowledge.builders import ANALYZER
from tests.knowledge.parsing.one_document import (
    FORMATS,
    MANUAL,
    QUESTIONS,
    Document,
    Said,
    commas,
    said,
    sheets,
    tables,
)

_FENCE = re.compile(r"```\w*")
# By format: what becomes of a block there.
CANNOT_SAY: dict[str, Sequence[Callable[[Said], Said]]] = {}


# Of the 30 answers; the others hang on what these formats cannot say: that code is code, that an item is below one.
SAME = {"pdf": 25, "pptx": 22}


def _plain(*kinds: BlockKind) -> Callable[[Said], Said]:
    """These are paragraphs like any other."""

    def change(block: Said) -> Said:
        return (block[0], BlockKind.PARAGRAPH, *block[2:]) if block[1] in kinds else block

    return change


def _flat(block: Said) -> Said:
    """A list has no levels."""
    return (*block[:4], 0, *block[5:])


def _bulleted(block: Said) -> Said:
    """A bullet is the character that is printed."""
    if block[3] != "-":
        return block
    return (*block[:2], block[2].replace("-", "•", 1), "•", *block[4:])


CANNOT_SAY |= {
    "pdf": [_plain(BlockKind.NOTE, BlockKind.QUOTE, BlockKind.CODE), _flat, _bulleted],
    "pptx": [_plain(BlockKind.NOTE, BlockKind.QUOTE, BlockKind.CODE)],
}


def _read(parsed: ParsedDocument) -> list[Said]:
    return [
        (
            block.heading_path[-1] if block.heading_path else "",
            block.kind,
            block.text.lstrip(),
            block.marker,
            block.level,
            block.lead,
            block.cells,
        )
        for block in parsed.blocks
    ]


def _expected(form: str) -> list[Said]:
    blocks = said(MANUAL)
    for change in CANNOT_SAY.get(form, ()):
        blocks = [change(block) for block in blocks]
    if form == "pdf":  # nothing tells a line of code from a paragraph
        blocks = [
            (*block[:2], line, *block[3:])
            for block in blocks
            for line in (block[2].split("\n") if "\n" in block[2] else [block[2]])
        ]
    return blocks


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_gives_the_same_blocks(form: str) -> None:
    parsed = parse(f"手册.{form}", FORMATS[form](MANUAL))
    assert parsed.title == MANUAL.title
    assert _read(parsed) == _expected(form)


@pytest.mark.parametrize(("name", "make"), [("手册.xlsx", sheets), ("手册.csv", commas)])
def test_its_tables_are_the_same_in_sheets(name: str, make: Callable[[Document], bytes]) -> None:
    rows = [block[2:] for block in said(MANUAL) if block[1] is BlockKind.ROW]
    found = [block[2:] for block in _read(parse(name, make(MANUAL)))]
    assert [(row[0], row[-1]) for row in found] == [(row[0], row[-1]) for row in rows]
    assert len(tables(MANUAL)) == 1


async def _answers(blocks: Sequence[Block], embedder: Embedder) -> list[str]:
    """What a base that holds nothing but them replies."""
    document = DocumentMeta("d", "手册", MANUAL.title)
    chunks = split_document(ParsedDocument(MANUAL.title, tuple(blocks)), document, "v", ChunkOptions())
    async with build_retriever(chunks, embedder, ANALYZER) as retriever:
        agent = KnowledgeAgent(retriever, ExtractiveGenerator(ANALYZER, 3), KnowledgePolicy(0.75, TenantProfile()))
        replies = []
        for question in QUESTIONS:
            answer = await finish(await collect_events(agent, ask(question), NOTHING_FOUND))
            replies.append(_spoken(answer.reply))
        return replies


@pytest.mark.acceptance
@pytest.mark.parametrize("form", some([form for form in FORMATS if form != "md"], 1))
async def test_every_format_gives_the_same_answers(form: str, embedding_cache: SqliteEmbeddingCache) -> None:
    with closing(get_embedder("e5", embedding_cache, EmbedderOptions())) as embedder:
        wanted, found = [
            await _answers(parse(f"手册.{name}", FORMATS[name](MANUAL)).blocks, embedder) for name in ("md", form)
        ]
    same = sum(one == other for one, other in zip(found, wanted, strict=True))
    assert same >= SAME.get(form, len(QUESTIONS)), [
        pair for pair in zip(found, wanted, strict=True) if pair[0] != pair[1]
    ]


def _spoken(reply: str) -> str:
    """A reply without its layout: marks of lists and how lines break are a format's own."""
    return "".join(_FENCE.sub("", reply.replace("•", "-")).split())
