"""Finds the columns of questions and answers in a table: by their names, by their contents, or as requested."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from knowledge.parsing.cells import get_cell
from knowledge.types import FaqColumns, FaqPair

Row = Sequence[str]

_EXACT = {
    "question": {"问题", "question", "q", "标准问", "标准问题", "提问", "问"},
    "answer": {"答案", "answer", "a", "回答", "回复", "标准答案", "答"},
    "variants": {"相似问法", "相似问", "相似问题", "variants"},
    "category": {"分类", "category", "类别"},
}
# A Chinese name ends with what the column is: 客户问题 are questions, 问题编号 are numbers, 回复人 are people.
_ENDING = {
    "variants": re.compile(r"(?:相似|扩展|同义|其[他它]|similar).*(?:问|说法|question)"),
    "category": re.compile(r"(?:分类|类别|类目|类型|category)$"),
    "question": re.compile(r"(?:问题?|提问|问[句法]|疑问|咨询内容|questions?|query)$"),
    "answer": re.compile(r"(?:[回解作]?答(?:案|复|语|内容)?|回复(?:内容)?|话术|answers?|reply|response)$"),
}
_DECORATION = re.compile(r"[\s*：:]+|[(（].*[)）]")
# What only a question holds; the words of asking are a closed class.
_ASKS = re.compile(
    r"[?？]\s*$|[吗呢么嘛]$|怎么|怎样|如何|什么|为何|哪|多久|多少|多长|几[天个次时点号]|是否|能否|可否|谁"
)
_MOSTLY = 0.6
_SPARSE = 0.3
# Characters: a column with more than these says something, one with fewer labels a row (a number, a date, a name).
_SUBSTANCE = 8
# Characters of a way to ask, and of a category; what is longer makes the row a plain one, which is cut into chunks.
_MAX_QUESTION = 500
# A bar, and the backslashes before it: an odd one makes it a part of the text, two stand for one.
_ESCAPED = re.compile(r"(\\*)\|")
_SEPARATOR = "\0"
# Characters; what is longer names no column, and patterns take the square of its length.
_MAX_NAME = 100
_LETTERS = re.compile(r"[A-Za-z]{1,3}")


@dataclass(frozen=True, slots=True)
class ColumnPlaces:
    """The numbers of the columns, from 0."""

    question: int
    answer: int
    variants: int | None = None
    category: int | None = None

    def read_pair(self, cells: Row) -> FaqPair | None:
        """Reads the FAQ pair of a row; None if question or answer is missing, or too long for a question."""
        question, answer = " ".join(get_cell(cells, self.question).split()), get_cell(cells, self.answer)
        if not question or not answer:
            return None
        category = " ".join(get_cell(cells, self.category).split())
        variants = [" ".join(part.split()) for part in split_parts(get_cell(cells, self.variants), "｜\n;；")]
        if max(map(len, (question, category, *variants))) > _MAX_QUESTION:
            return None
        return FaqPair(
            question=question,
            answer=answer,
            variants=tuple(dict.fromkeys(part for part in variants if part and part != question)),
            category=category,
        )


def split_parts(cell: str, separators: str = "\n") -> list[str]:
    r"""Splits a cell at bars and at the `separators`; `\|` is a bar that belongs to its part."""
    divided = _ESCAPED.sub(_unescape_match, cell.replace(_SEPARATOR, ""))
    for separator in separators:
        divided = divided.replace(separator, _SEPARATOR)
    return divided.split(_SEPARATOR)


def split_first_part(cell: str) -> tuple[str, str]:
    """Returns the first part of a cell, and the text behind its bar, or "" without one."""
    bar = next((found for found in _ESCAPED.finditer(cell) if len(found[1]) % 2 == 0), None)
    first, rest = (cell[: bar.end()], cell[bar.end() :]) if bar else (cell, "")
    return split_parts(first, "")[0], rest


def escape_part(part: str) -> str:
    """Escapes a part so that `split_parts` returns it unchanged."""
    return _ESCAPED.sub(lambda found: 2 * found[1] + "\\|", part)


def _unescape_match(found: re.Match[str]) -> str:
    half, odd = divmod(len(found[1]), 2)
    return "\\" * half + ("|" if odd else _SEPARATOR)


def find_requested(wanted: FaqColumns, names: Row, width: int) -> ColumnPlaces | None:
    """Finds the requested columns, by name or by letter (B is the second); None if the table lacks one of them."""
    question, answer = (_find_column(name, names, width) for name in (wanted.question, wanted.answer))
    if question is None or answer is None or question == answer:
        return None
    named = _match_names(names)
    return _build_places({**named, "question": question, "answer": answer})


def find_by_name(names: Row) -> ColumnPlaces | None:
    """Finds the columns by their names alone; None if these do not tell."""
    return _build_places(_match_names(names))


def find_by_content(names: Row, body: Sequence[Row]) -> ColumnPlaces | None:
    """Finds questions in one column and answers in another, if no third column has anything that would be lost.

    Args:
        names: Names of the columns, one of which may tell; empty without a header.
        body: The rows below.
    """
    width = max(map(len, body), default=0)
    columns = [[row[column] for row in body if column < len(row) and row[column]] for column in range(width)]
    named = _match_names(names)
    question = named.get("question", _find_question_column(columns, named))
    if question is None or question >= width:
        return None
    answers = [
        column
        for column, cells in enumerate(columns)
        if column not in (question, named.get("variants"), named.get("category"))
        and len(cells) >= _MOSTLY * len(body)
        and median(map(len, cells)) >= _SUBSTANCE
    ]
    answer = named.get("answer", answers[0] if len(answers) == 1 else None)
    if (
        answer is None
        or answer >= width
        or set(answers) - {answer}
        or _measure_question_share(columns[answer]) > _SPARSE
    ):
        return None
    if "question" in named and "answer" not in named and _measure_question_share(columns[question]) < _SPARSE:
        return None  # 问题 may be a fault or a topic
    return _build_places({**named, "question": question, "answer": answer})


def _find_question_column(columns: Sequence[Sequence[str]], named: dict[str, int]) -> int | None:
    taken = set(named.values())
    asking = [
        column
        for column, cells in enumerate(columns)
        if column not in taken and cells and _measure_question_share(cells) >= _MOSTLY
    ]
    return asking[0] if len(asking) == 1 else None


def is_question(text: str) -> bool:
    """Returns whether a short text is a question."""
    return len(text) <= _MAX_QUESTION and bool(_ASKS.search(text))


def _measure_question_share(cells: Sequence[str]) -> float:
    """Returns the share of cells that are questions."""
    return sum(map(is_question, cells)) / (len(cells) or 1)


def _match_names(names: Row) -> dict[str, int]:
    plain = list(map(_normalize_name, names))
    found: dict[str, int] = {}
    for role, exact in _EXACT.items():
        _set_first(found, role, (column for column, name in enumerate(plain) if name in exact))
    for role, ending in _ENDING.items():
        free = ((column, name) for column, name in enumerate(plain) if column not in found.values())
        _set_first(found, role, [column for column, name in free if ending.search(name)])
    return found


def _set_first(found: dict[str, int], role: str, columns: Iterable[int]) -> None:
    if role not in found and (column := next(iter(columns), None)) is not None:
        found[role] = column


def _build_places(found: dict[str, int]) -> ColumnPlaces | None:
    if "question" not in found or "answer" not in found:
        return None
    others = {found["question"], found["answer"]}
    variants, category = (
        column if (column := found.get(role)) not in others else None for role in ("variants", "category")
    )
    return ColumnPlaces(found["question"], found["answer"], variants, category)


def _find_column(wanted: str, names: Row, width: int) -> int | None:
    plain = _normalize_name(wanted)
    for column, name in enumerate(names):
        if name and _normalize_name(name) == plain:
            return column
    if not _LETTERS.fullmatch(wanted):
        return None
    column = 0
    for letter in wanted.upper():
        column = 26 * column + ord(letter) - ord("A") + 1
    return column - 1 if column <= width else None


def _normalize_name(name: str) -> str:
    return _DECORATION.sub("", name).lower() if len(name) <= _MAX_NAME else ""
