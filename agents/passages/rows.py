"""Rows of tables, which the chunks hold as 列名：值；列名：值, and how a reader sees them."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cell:
    """A value and the head of its column, both verbatim."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class TableRow:
    """At least two cells; the first says what the row is about."""

    cells: tuple[Cell, ...]

    @classmethod
    def of(cls, cells: Iterable[tuple[str, str]]) -> TableRow:
        """Of names and values."""
        return cls(tuple(Cell(name, value) for name, value in cells))

    @property
    def text(self) -> str:
        """All of it."""
        return "；".join(f"{cell.name}：{cell.value}" if cell.name else cell.value for cell in self.cells)

    @property
    def names(self) -> tuple[str, ...]:
        """The heads of the columns, in order."""
        return tuple(cell.name for cell in self.cells)

    def shown(self, columns: Container[str]) -> str:
        """The row as a sentence, of those columns: E05，含义：主刷缠绕；处理：取出滚刷。

        The subject needs no head, and of a pair neither does the value: 吸力：5000 Pa。
        """
        subject, *others = self.cells
        rest = [cell for cell in others if cell.name in columns]
        if len(others) == 1 or not rest:
            return _ended("：".join([subject.value, *(cell.value for cell in others)]))
        return _ended(f"{subject.value}，" + "；".join(f"{cell.name}：{cell.value}" for cell in rest))


def parallel(name: str, other: str) -> bool:
    """Whether two columns hold the same of different things: 金笙 and 银笙, 月付 and 年付, YS-P10 and YS-P20."""
    return name != other and bool(name and other) and (name[-1] == other[-1] or name[:2] == other[:2])


def _ended(text: str) -> str:
    return text if text.endswith(("。", "！", "？", "；", ".")) else f"{text}。"
