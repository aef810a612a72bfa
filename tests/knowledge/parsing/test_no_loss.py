"""Every text of a file is in a block, or the report says that it was left out."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from knowledge.errors import InvalidDocument
from knowledge.parsing.registry import parse
from tests.acceptance import part
from tests.knowledge.parsing.one_document import (
    FORMATS,
    Bullets,
    Code,
    Document,
    Note,
    Numbered,
    Paragraph,
    Quotation,
    Section,
    Table,
)
from tests.knowledge.parsing.seen import SEEN, held, lost, reported

# Folders of real files, which the project does not keep.
REAL = [Path(folder) for folder in os.environ.get("REAL_DOCUMENTS", "").split(os.pathsep) if folder]
WORDS = (
    *("运费", "退款", "滤芯", "门店", "保修", "发票", "会员", "预约", "尺寸", "电压", "说明", "处理", "安装", "回收"),
    *("60*40*30cm", "¥39*2", "3~5 天", "YS-1001", "A2BC3", "400-800-9000", "V2.1.3", "a_b_c.txt", "<-10℃", ">50 件"),
    *("#", "*#06#", "[注]", "（1）", "1.5", "100%", "C:\\文件", "$5", "A&B", "～", "①", "~", "50+"),
)
DRAWN = 17


def document(seed: int) -> Document:
    """Of sections that hold anything, in any order."""
    draw = random.Random(seed)

    def text(most: int = 8) -> str:
        return "".join(draw.choice(WORDS) for _ in range(draw.randint(1, most))) + f"第{draw.randint(100, 999)}项"

    def one() -> Paragraph | Numbered | Bullets | Table | Code | Note | Quotation:
        match draw.randrange(DRAWN):
            case 0 | 1:
                return Numbered(tuple(text() for _ in range(draw.randint(1, 4))), draw.choice([1, 1, 5]))
            case 2 | 3:
                nested = tuple(text() for _ in range(draw.randint(0, 2)))
                return Bullets(tuple((text(), nested if number else ()) for number in range(draw.randint(1, 3))))
            case 4 | 5 | 6:
                width = draw.randint(2, 4)
                header = tuple(f"列{name}" for name in "甲乙丙丁"[:width])
                # What is longer is printed over the next column of a PDF.
                return Table((header, *(tuple(text(1) for _ in header) for _ in range(draw.randint(1, 4)))))
            case 7:
                return Code(f"GET /v1/{draw.randint(1, 99)}")
            case 8:
                return Note(text())
            case 9:
                return Quotation(text())
            case _:
                return Paragraph(text() + "。")

    sections = tuple(
        Section(f"{draw.choice(WORDS[:14])}之{number}", tuple(one() for _ in range(draw.randint(1, 4))))
        for number in range(draw.randint(1, 5))
    )
    return Document(f"{draw.choice(WORDS[:14])}手册{seed}", sections)


def _texts(made: Document) -> Iterator[str]:
    for section in made.sections:
        yield section.title
        for piece in section.parts:
            match piece:
                case Numbered(items):
                    yield from items
                case Bullets(items):
                    for item, nested in items:
                        yield from (item, *nested)
                case Table(rows):
                    yield from (cell for row in rows for cell in row)
                case Paragraph(text) | Note(text) | Quotation(text):
                    yield text
                case Code(text):
                    yield from text.split("\n")


@pytest.mark.acceptance
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("seed", range(part(4, 60)))
def test_every_text_of_a_document_is_held_as_it_stands(form: str, seed: int) -> None:
    made = document(seed)
    content = FORMATS[form](made)
    parsed = parse(f"手册.{form}", content)
    whole = _squeezed(held(parsed))
    missing = [text for text in map(_squeezed, _texts(made)) if text not in whole]
    assert sum(map(len, missing)) <= reported(parsed), missing


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _real_files() -> list[Path]:
    found = [path for folder in REAL for path in sorted(folder.rglob("*")) if path.suffix.lower() in SEEN]
    return [path for path in found if path.stat().st_size]


@pytest.mark.acceptance(only=True)
@pytest.mark.skipif(not REAL, reason="REAL_DOCUMENTS names no folder of real files")
@pytest.mark.parametrize("path", _real_files(), ids=lambda path: path.name)
def test_what_a_real_file_says_is_held_or_reported(path: Path) -> None:
    content = path.read_bytes()
    try:
        parsed = parse(path.name.strip(), content)
    except InvalidDocument as error:
        pytest.skip(str(error))
    missing = lost(path.name, content, parsed)
    assert missing.total() <= reported(parsed), f"{missing.most_common(30)} of {path}"
