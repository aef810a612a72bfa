"""Numbers as office programs write them before list items: 3, iii, c, 三, ③, 叁 …"""

from __future__ import annotations

from collections.abc import Callable

_DIGITS = "零一二三四五六七八九"
_POSITIONAL = "〇一二三四五六七八九"
_FORMAL = "零壹贰叁肆伍陆柒捌玖"
_TRADITIONAL_FORMAL = "零壹貳參肆伍陸柒捌玖"
_UNITS = ("", "十", "百", "千")
_FORMAL_UNITS = ("", "拾", "佰", "仟")
_STEMS = "甲乙丙丁戊己庚辛壬癸"
_BRANCHES = "子丑寅卯辰巳午未申酉戌亥"
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_ALPHABET = 26
# Nobody counts items further; Word itself goes back to digits beyond it.
_MOST = 9999
# Word writes 27 as aa, 53 as aaa …
_LONGEST_LETTERS = 30


def format_numeral(number: int, form: str) -> str:
    """Formats a number.

    Unknown forms, and numbers that a form has no sign for, are written in digits; the forms none and bullet give "".

    Args:
        number: The number.
        form: A value of ECMA-376's ST_NumberFormat, such as chineseCounting, or decimal3 for at least three digits.
    """
    if form in ("none", "bullet"):
        return ""
    write = _FORMS.get(form)
    return (write(number) if write and 0 <= number <= _MOST else "") or str(number)


def _format_letters(number: int) -> str:
    repeated, letter = divmod(number - 1, _ALPHABET)
    return chr(ord("a") + letter) * (repeated + 1) if 0 <= repeated < _LONGEST_LETTERS else ""


def _format_roman(number: int) -> str:
    written = ""
    for value, sign in _ROMAN:
        count, number = divmod(number, value)
        written += sign * count
    return written


def _make_enclosed(*starts: tuple[int, int, int]) -> Callable[[int], str]:
    """Makes a format of single Unicode signs. starts: first number, last number, and code point of the first."""

    def write_enclosed(number: int) -> str:
        return next((chr(sign + number - first) for first, last, sign in starts if first <= number <= last), "")

    return write_enclosed


def _make_grouped(
    digits: str, units: tuple[str, ...], *, bare_ten: bool = False, bare: bool = False
) -> Callable[[int], str]:
    """Makes a format such as 二百零五.

    Args:
        digits: Signs of the digits.
        units: Signs of the units.
        bare_ten: Write 10 to 19 without a leading one.
        bare: Write all units without a one, and no zeros (百五).
    """

    def write_grouped(number: int) -> str:
        if not number:
            return digits[0]
        written, gap = "", False
        for power in range(3, -1, -1):
            digit = number // 10**power % 10
            if not digit:
                gap = bool(written)
                continue
            ten = bare_ten and not written and power == 1
            one = "" if digit == 1 and (ten or (bare and power)) else digits[digit]
            written += (digits[0] if gap and not bare else "") + one + units[power]
            gap = False
        return written

    return write_grouped


def _format_by_digits(number: int) -> str:
    """Formats a number digit by digit: 一〇五 for 105."""
    return "".join(_POSITIONAL[int(digit)] for digit in str(number))


def _format_by_digits_from_hundred(number: int) -> str:
    """Formats 九十九, then 一〇〇: Word's format "counting in Chinese" does so, and writes 一百 in "counting by
    thousands".
    """
    return _COUNTING(number) if 0 < number < 100 else _format_by_digits(number)


def _make_cyclic(signs: str) -> Callable[[int], str]:
    return lambda number: signs[number - 1] if 0 < number <= len(signs) else ""


def _format_cycle_of_sixty(number: int) -> str:
    number -= 1
    return _STEMS[number % len(_STEMS)] + _BRANCHES[number % len(_BRANCHES)] if number >= 0 else ""


def _make_padded(width: int) -> Callable[[int], str]:
    return lambda number: f"{number:0{width}d}"


def _format_ordinal(number: int) -> str:
    teen = number % 100 in (11, 12, 13)
    return f"{number}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def _format_full_width(number: int) -> str:
    return str(number).translate({ord("0") + digit: ord("０") + digit for digit in range(10)})


_COUNTING = _make_grouped(_DIGITS, _UNITS, bare_ten=True)
_CIRCLED = _make_enclosed((0, 0, 0x24EA), (1, 20, 0x2460), (21, 35, 0x3251), (36, 50, 0x32B1))
_FORMS: dict[str, Callable[[int], str]] = {
    "decimal": str,
    "decimalZero": _make_padded(2),
    **{f"decimal{width}": _make_padded(width) for width in range(1, 10)},
    "decimalHalfWidth": str,
    "decimalFullWidth": _format_full_width,
    "decimalFullWidth2": _format_full_width,
    "decimalEnclosedCircle": _CIRCLED,
    "decimalEnclosedCircleChinese": _CIRCLED,
    "decimalEnclosedFullstop": _make_enclosed((1, 20, 0x2488)),
    "decimalEnclosedParen": _make_enclosed((1, 20, 0x2474)),
    "ideographEnclosedCircle": _make_enclosed((1, 10, 0x3280)),
    "numberInDash": lambda number: f"- {number} -",
    "ordinal": _format_ordinal,
    "lowerLetter": _format_letters,
    "upperLetter": lambda number: _format_letters(number).upper(),
    "lowerRoman": _format_roman,
    "upperRoman": lambda number: _format_roman(number).upper(),
    "chineseCounting": _format_by_digits_from_hundred,
    "chineseCountingThousand": _COUNTING,
    "taiwaneseCounting": _format_by_digits_from_hundred,
    "taiwaneseCountingThousand": _COUNTING,
    "japaneseCounting": _make_grouped(_POSITIONAL, _UNITS, bare=True),
    "ideographDigital": _format_by_digits,
    "japaneseDigitalTenThousand": _format_by_digits,
    "taiwaneseDigital": _format_by_digits,
    "chineseLegalSimplified": _make_grouped(_FORMAL, _FORMAL_UNITS),
    "ideographLegalTraditional": _make_grouped(_TRADITIONAL_FORMAL, _FORMAL_UNITS),
    "japaneseLegal": _make_grouped("〇壱弐参四伍六七八九", ("", "拾", "百", "阡")),
    "ideographTraditional": _make_cyclic(_STEMS),
    "ideographZodiac": _make_cyclic(_BRANCHES),
    "ideographZodiacTraditional": _format_cycle_of_sixty,
}
