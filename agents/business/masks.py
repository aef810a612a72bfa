"""How a masked column is shown: 138****8888, 张*, a***@x.com.

The mask is part of the SQL in which a statement finds the caller's rows: values as they are never leave the database.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from agents.business.schema import Mask

HIDDEN = "****"


def masked(value: exp.Expression, mask: Mask) -> exp.Expression:
    """The SQL expression that shows a column's value under its mask; NULL stays NULL."""
    return _MASKS[mask](exp.cast(value, "text"))


def _ends(head: int, tail: int) -> Callable[[exp.Expression], exp.Expression]:
    """`head` characters, the mask, then `tail` characters; nothing is shown of a value of which the mask would hide
    less than its own length: 12345678 is no 123****5678.
    """

    def ends(value: exp.Expression) -> exp.Expression:
        parts = [_part(value, _number(1), _number(head))] if head else []
        parts.append(_text(HIDDEN))
        if tail:
            start = exp.Sub(this=exp.Length(this=value.copy()), expression=_number(tail - 1))
            parts.append(_part(value, start, _number(tail)))
        long = exp.GT(this=exp.Length(this=value.copy()), expression=_number(head + len(HIDDEN) + tail - 1))
        return exp.Case(ifs=[exp.If(this=long, true=_joined(*parts))], default=_or_null(value))

    return ends


def _name(value: exp.Expression) -> exp.Expression:
    return _joined(_part(value, _number(1), _number(1)), _text("*"))


def _email(value: exp.Expression) -> exp.Expression:
    at = exp.StrPosition(this=value.copy(), substr=_text("@"))
    rest = _part(value, at.copy(), exp.Length(this=value.copy()))
    shown = _joined(_part(value, _number(1), _number(1)), _text("***"), rest)
    return exp.Case(ifs=[exp.If(this=exp.GT(this=at, expression=_number(1)), true=shown)], default=_or_null(value))


_MASKS: Mapping[Mask, Callable[[exp.Expression], exp.Expression]] = {
    "phone": _ends(3, 4),
    "name": _name,
    "email": _email,
    "address": _ends(6, 0),
    "id_card": _ends(3, 4),
    "bank_card": _ends(0, 4),
}


def _part(value: exp.Expression, start: exp.Expression, length: exp.Expression) -> exp.Expression:
    return exp.Substring(this=value.copy(), start=start, length=length)


def _or_null(value: exp.Expression) -> exp.Expression:
    """The mask alone, NULL for NULL."""
    empty = exp.Is(this=value.copy(), expression=exp.Null())
    return exp.Case(ifs=[exp.If(this=empty, true=exp.Null())], default=_text(HIDDEN))


def _joined(first: exp.Expression, *others: exp.Expression) -> exp.Expression:
    for other in others:
        first = exp.DPipe(this=first, expression=other, safe=True)
    return first


def _number(value: int) -> exp.Expression:
    return exp.Literal.number(value)


def _text(value: str) -> exp.Expression:
    return exp.Literal.string(value)


def mask_text(text: str, mask: Mask) -> str:
    """The same of a value that no database masked."""
    return _TEXT_MASKS[mask](text)


def _text_ends(head: int, tail: int) -> Callable[[str], str]:
    def ends(text: str) -> str:
        if len(text) <= head + len(HIDDEN) + tail - 1:
            return HIDDEN
        return text[:head] + HIDDEN + (text[-tail:] if tail else "")

    return ends


def _text_email(text: str) -> str:
    at = text.find("@")
    return f"{text[:1]}***{text[at:]}" if at > 0 else HIDDEN


_TEXT_MASKS: Mapping[Mask, Callable[[str], str]] = {
    "phone": _text_ends(3, 4),
    "name": lambda text: f"{text[:1]}*",
    "email": _text_email,
    "address": _text_ends(6, 0),
    "id_card": _text_ends(3, 4),
    "bank_card": _text_ends(0, 4),
}
