"""Rows of tables: question/answer rows become FAQ pairs, all others one readable line each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from knowledge.parsing.characters import shown
from knowledge.types import FaqPair

_COLUMNS = {
    "question": {"问题", "question", "q", "标准问", "标准问题", "提问", "问"},
    "answer": {"答案", "answer", "a", "回答", "回复", "标准答案", "答"},
    "variants": {"相似问法", "相似问", "相似问题", "variants"},
    "category": {"分类", "category", "类别"},
}
_MAX_QUESTION = 500
"""Characters of a way to ask, and of a category; what is longer makes the row a plain one, which is cut into chunks."""
_NUMBER = re.compile(r"[-+¥￥$€]?\d[\d,.]*%?")
_VARIANT_SEPARATOR = re.compile(r"[|｜\n;；]+")
_DECORATION = re.compile(r"[\s*：:]+|[(（].*[)）]")


@dataclass(frozen=True, slots=True)
class _FaqColumns:
    question: int
    answer: int
    variants: int | None
    category: int | None

    def pair(self, cells: Sequence[str]) -> FaqPair | None:
        """None when the row has no question or no answer, or one that is too long to be asked."""
        question, answer = " ".join(_cell(cells, self.question).split()), _cell(cells, self.answer)
        if not question or not answer:
            return None
        category = " ".join(_cell(cells, self.category).split())
        variants = [" ".join(part.split()) for part in _VARIANT_SEPARATOR.split(_cell(cells, self.variants))]
        if max(map(len, (question, category, *variants))) > _MAX_QUESTION:
            return None
        return FaqPair(
            question=question,
            answer=answer,
            variants=tuple(dict.fromkeys(part for part in variants if part and part != question)),
            category=category,
        )


def read_rows(rows: Iterable[Sequence[str]], headed: bool) -> Iterator[str | FaqPair]:
    """FAQ pairs, or lines "列名：值；列名：值", in order; empty cells and rows are left out.

    The header is the first row with two filled cells (rows before it are captions), unless a cell of it is a number
    and `headed` is false. Columns of a FAQ table beyond question, answer, variants and category are not taken over.
    """
    names: list[str] | None = None
    faq: _FaqColumns | None = None
    body = False
    for row in rows:
        cells = [shown(cell).strip() for cell in row]
        filled = [cell for cell in cells if cell]
        if not filled:
            continue
        if names is None:
            if len(filled) == 1 and not headed:
                yield filled[0]
                continue
            header = headed or names_columns(filled)
            names = [" ".join(cell.split()) for cell in cells] if header else []
            faq = _faq_columns(names)
            if header:
                continue
        body = True
        yield (faq and faq.pair(cells)) or _line(names, cells)
    if names and not body:
        yield "；".join(filter(None, names))


def names_columns(cells: Sequence[str]) -> bool:
    """Whether a row can be a header: no cell of it is a number."""
    return not any(_NUMBER.fullmatch(cell) for cell in cells)


def _line(names: Sequence[str], cells: Sequence[str]) -> str:
    fields = []
    for index, cell in enumerate(cells):
        if cell:
            name = names[index] if index < len(names) else ""
            value = " ".join(cell.split())
            fields.append(f"{name}：{value}" if name else value)
    return "；".join(fields)


def _faq_columns(names: Sequence[str]) -> _FaqColumns | None:
    found: dict[str, int] = {}
    for index, name in enumerate(names):
        plain = _DECORATION.sub("", name).lower()
        for role, aliases in _COLUMNS.items():
            if plain in aliases:
                found.setdefault(role, index)
    if "question" not in found or "answer" not in found:
        return None
    return _FaqColumns(found["question"], found["answer"], found.get("variants"), found.get("category"))


def _cell(cells: Sequence[str], index: int | None) -> str:
    return cells[index] if index is not None and index < len(cells) else ""
