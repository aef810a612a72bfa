"""Masks columns: 138****8888, 张*, a***@x.com.

The mask is part of the SQL in which a statement finds the caller's rows: unmasked values never leave the database.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from agents.business.schema import Mask

HIDDEN = "****"
# Of the masks that show the ends of a value, how many characters they show at its beginning and at its end.
_SHOWN_ENDS: Mapping[Mask, tuple[int, int]] = {
    "phone": (3, 4),
    "address": (6, 0),
    "id_card": (3, 4),
    "bank_card": (0, 4),
}


def mask_expression(value: exp.Expression, mask: Mask) -> exp.Expression:
    """Returns the SQL expression of a masked column; NULL stays NULL."""
    text = exp.cast(value, "text")
    match mask:
        case "name":
            return _join_parts(_cut_part(text, _build_number(1), _build_number(1)), _build_text("*"))
        case "email":
            return _mask_email(text)
    return _mask_ends(text, *_SHOWN_ENDS[mask])


def mask_text(text: str, mask: Mask) -> str:
    """Masks a value that no database masked, as `mask_expression` does."""
    match mask:
        case "name":
            return f"{text[:1]}*"
        case "email":
            at = text.find("@")
            return f"{text[:1]}***{text[at:]}" if at > 0 else HIDDEN
    head, tail = _SHOWN_ENDS[mask]
    if len(text) < head + len(HIDDEN) + tail:
        return HIDDEN
    return text[:head] + HIDDEN + (text[-tail:] if tail else "")


def _mask_ends(value: exp.Expression, head: int, tail: int) -> exp.Expression:
    """Shows `head` characters, the mask, then `tail` characters.

    Nothing is shown of a value of which the mask would hide less than its own length: 12345678 is no 123****5678.
    """
    parts = [_cut_part(value, _build_number(1), _build_number(head))] if head else []
    parts.append(_build_text(HIDDEN))
    if tail:
        start = exp.Sub(this=exp.Length(this=value.copy()), expression=_build_number(tail - 1))
        parts.append(_cut_part(value, start, _build_number(tail)))
    long = exp.GT(this=exp.Length(this=value.copy()), expression=_build_number(head + len(HIDDEN) + tail - 1))
    return exp.Case(ifs=[exp.If(this=long, true=_join_parts(*parts))], default=_build_hidden(value))


def _mask_email(value: exp.Expression) -> exp.Expression:
    at = exp.StrPosition(this=value.copy(), substr=_build_text("@"))
    rest = _cut_part(value, at.copy(), exp.Length(this=value.copy()))
    shown = _join_parts(_cut_part(value, _build_number(1), _build_number(1)), _build_text("***"), rest)
    return exp.Case(
        ifs=[exp.If(this=exp.GT(this=at, expression=_build_number(1)), true=shown)], default=_build_hidden(value)
    )


def _cut_part(value: exp.Expression, start: exp.Expression, length: exp.Expression) -> exp.Expression:
    return exp.Substring(this=value.copy(), start=start, length=length)


def _build_hidden(value: exp.Expression) -> exp.Expression:
    """Returns the mask alone, NULL for NULL."""
    empty = exp.Is(this=value.copy(), expression=exp.Null())
    return exp.Case(ifs=[exp.If(this=empty, true=exp.Null())], default=_build_text(HIDDEN))


def _join_parts(first: exp.Expression, *others: exp.Expression) -> exp.Expression:
    for other in others:
        first = exp.DPipe(this=first, expression=other, safe=True)
    return first


def _build_number(value: int) -> exp.Expression:
    return exp.Literal.number(value)


def _build_text(value: str) -> exp.Expression:
    return exp.Literal.string(value)
