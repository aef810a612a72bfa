"""Tables about one thing, with the names of its fields in the first column, or in the first and the third."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from knowledge.blocks import Block, BlockKind
from knowledge.parsing.cells import CellKind, find_kind, get_cell

Row = Sequence[str]
Field = tuple[str, str]

IMPOSSIBLE = -100.0
_COLONS = "：:"
# Characters; nobody names a field by more.
_MAX_NAME = 12
# Share of names that may be odd: with a digit in them, too long, or there twice.
_ODD = 0.25
# For values that are not of one sort, against the votes that a header gets of such a column.
_VARIOUS = 3.0
# Fields are grouped into rows of about this length, so that each is quoted with its name.
_BLOCK_CHARACTERS = 200


def measure_likelihood(rows: Sequence[Row]) -> float:
    """Measures how likely rows are fields, on the scale of `headers.measure_likelihood`; `IMPOSSIBLE` if they cannot
    be.

    The values of fields are of different kinds, those of a column are of one; names are short, differ, and hold no
    digits.

    Args:
        rows: The rows, without empty ones.
    """
    plain = [_remove_repetitions(row) for row in rows]
    width = max(map(len, plain), default=0)
    if len(plain) < 2 or width not in (2, 4) or any(len(row) % 2 and row[-1] for row in plain if len(row) > 1):
        return IMPOSSIBLE
    found = list(chain.from_iterable(map(_list_fields, plain)))
    names, values = [name for name, _ in found], [value for _, value in found if value]
    if not all(names) or len(values) < 2 or not _can_be_names(names):
        return IMPOSSIBLE
    score = 4.0 if sum(name[-1] in _COLONS for name in names) > len(names) / 2 else 0.0
    score += min(_measure_variety(values), _VARIOUS) if len(values) == 2 else _measure_variety(values[1:])
    score += width == 4
    if find_kind(values[0]) is not CellKind.TEXT:
        score += 1  # nobody names a column so
    ends = Counter(name[-1] for name in names if name[-1] not in _COLONS)
    if len(names) > 2 and ends and max(ends.values()) > 0.5 * len(names):
        score -= 2  # things of one sort: 杭州店, 宁波店
    return score


def build_blocks(rows: Iterable[Row]) -> Iterator[Block]:
    """Yields rows "名称：值；名称：值" of several fields each."""
    group: list[Field] = []
    size = 0
    for name, value in chain.from_iterable(_list_fields(_remove_repetitions(row)) for row in rows):
        field = (" ".join(name.split()).rstrip(_COLONS).rstrip(), " ".join(value.split()))
        if not value:
            field = ("", field[0])
        if group and size + len(name) + len(value) > _BLOCK_CHARACTERS:
            yield build_row(group)
            group, size = [], 0
        group.append(field)
        size += len(name) + len(value)
    if group:
        yield build_row(group)


def build_row(fields: Iterable[Field]) -> Block:
    """Builds a block of kind ROW, "名称：值；名称：值"; a value without a name stands alone."""
    cells = tuple(fields)
    text = "；".join(f"{name}：{value}" if name else value for name, value in cells)
    return Block(text, kind=BlockKind.ROW, cells=cells)


def _can_be_names(names: Sequence[str]) -> bool:
    odd = sum(len(name) > _MAX_NAME or find_kind(name) not in (CellKind.TEXT, CellKind.LATIN) for name in names)
    twice = len(names) - len(set(names))
    return odd + twice < _ODD * len(names)


def _measure_variety(values: Sequence[str]) -> float:
    """Measures how different values are; the first row's own value counts only if there is just one other."""
    sorts = [_get_sort(value) for value in values]
    share = max(Counter(sorts).values()) / len(sorts)
    if share == 1:
        return -1.0 if any(find_kind(value) is CellKind.TEXT for value in values) else -3.0
    if share <= 0.5:
        return _VARIOUS + min(len(values), 4) / 2
    return _VARIOUS if share <= 0.67 else 0.0


def _get_sort(value: str) -> str | frozenset[str]:
    """Returns the kind of a value, for figures with the text between the digits: a time and a code differ, 免费 and
    80 元 do not.
    """
    kind = find_kind(value)
    if kind is not CellKind.FIGURE:
        return kind
    signs = {"字" if character.isalpha() and not character.isascii() else character for character in value}
    found = frozenset(sign for sign in signs if sign in "字:：-/@")
    return CellKind.TEXT if found == {"字"} else found


def _remove_repetitions(row: Row) -> list[str]:
    """Removes the repetitions of a cell that is merged across, and empty cells at the end."""
    cells = [cell for column, cell in enumerate(row) if not column or not cell or cell != row[column - 1]]
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _list_fields(row: Row) -> Iterator[Field]:
    for column in range(0, len(row), 2):
        name, value = row[column], get_cell(row, column + 1)
        if name or value:
            yield name, value
