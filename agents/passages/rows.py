"""Rows of tables, which chunks hold as 列名：值；列名：值 and readers see in Markdown."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
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
    def from_pairs(cls, cells: Iterable[tuple[str, str]]) -> TableRow:
        """Builds a row of names and values."""
        return cls(tuple(Cell(name, value) for name, value in cells))

    @property
    def text(self) -> str:
        """The whole row."""
        return "；".join(f"{cell.name}：{cell.value}" if cell.name else cell.value for cell in self.cells)

    @property
    def names(self) -> tuple[str, ...]:
        """The heads of the columns, in order."""
        return tuple(cell.name for cell in self.cells)


def draw_rows(rows: Sequence[TableRow], columns: Container[str]) -> list[str]:
    """Draws each row as a Markdown table that holds it alone; all have the same header, of the given columns that the
    rows have.
    """
    names = list(dict.fromkeys(name for row in rows for name in row.names if name in columns))
    cells = [{cell.name: cell.value for cell in row.cells} for row in rows]
    return [draw_table(names, [[values.get(name, "") for name in names]]) for values in cells]


def draw_table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Draws rows below the names of their columns as a Markdown table."""
    lines = (names, ("---",) * len(names), *rows)
    return "\n".join(f"| {' | '.join(map(_join_lines, line))} |" for line in lines)


def _join_lines(value: str) -> str:
    return " ".join(value.replace("|", "\\|").split())


def is_parallel(name: str, other: str) -> bool:
    """Whether two columns hold the same of different things: 金笙 and 银笙, 月付 and 年付, YS-P10 and YS-P20."""
    return name != other and bool(name and other) and (name[-1] == other[-1] or name[:2] == other[:2])
