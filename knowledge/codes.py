"""Codes in a text: models, part numbers, order ids and versions, and when two spellings are one code. Pure.

`YS-1001`, `ys_1001`, `YS 1001`, `ys1001` and all that in full width are one code, YS-100 another one. The one form of
a code are its letters and digits; only a point between digits stays, for V2.1.3 is neither V21.3 nor V2.13. A measure
(10kg, 2.4G, 100-240V), a date or a phone number is no code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

# What is longer is a key or an address.
MAX_CHARS = 48
_SIGNS = dict.fromkeys(range(0x2010, 0x2016), "-") | {0x2212: "-", 0xA0: " ", 0x3000: " "}
# Character by character, so that places stay: full width to half width, every dash a hyphen.
_PLAIN = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)} | _SIGNS
_RUN = re.compile(r"[A-Za-z0-9]+(?:[-_./][A-Za-z0-9]+)*")
_ADDRESS = re.compile(r"(?<![!-~])(?:[!-~]+@|[A-Za-z]{2,8}://)[!-~]+")
_MEASURE = re.compile(r"\d+(?:\.\d+)*(?P<unit>[a-z]{1,4})?(?:[-/]\d+(?:\.\d+)*(?P<last>[a-z]{1,4})?)*")
_TIME = re.compile(r"(?:19|20)\d\d(?P<sign>[-/.])(?:1[0-2]|0?[1-9])(?P=sign)(?:3[01]|[12]\d|0?[1-9])(?!\d).*")
_VERSION = re.compile(r"(?:v|ver|version)?(\d+(?:\.\d+)+)")
_BARE_VERSION = re.compile(r"\d+(?:\.\d+){2,}")
_NAME = re.compile(r"[a-z]{2,}(?:-[a-z0-9]+)+")
_VARIANTS = re.compile(r"(?:[-_ ]?(?:pro|max|plus|lite|mini|ultra|lte|se|air)(?![A-Za-z0-9]))+", re.IGNORECASE)
_HAN = re.compile(r"[\u3400-\u9fff]")
_NUMBERS = re.compile(r"(?<![A-Za-z0-9.])(?:\d{5,14}|\d+(?:(?P<sign>[-_/ ])\d+)(?:(?P=sign)\d+)+)(?![A-Za-z0-9])")
_SEPARATOR = re.compile(r"(?<!\d)\.|\.(?!\d)|[-_/ ]")
_PARTS = re.compile(r"[A-Za-z]+|\d+(?:\.\d+)*")
_SERIES = re.compile(r"([a-z]+)\d+")
_PAIRS = re.compile(r"(?<![A-Za-z0-9])(?P<short>[A-Za-z0-9]{2,4}) [A-Za-z0-9]*\d[A-Za-z0-9]*(?![A-Za-z0-9])")
_SERIES_NUMBER = re.compile(r"\d{2,}[A-Za-z]")
_DIGITS = re.compile(r"\d+")
_MAKER_CHARS = 4
_ALIKE_DIGITS = 2
# Shorter codes that differ in one letter are of different things: E03 and W03.
_NEAR_CHARS = 4


@dataclass(frozen=True, slots=True)
class Code:
    """`text[start:end]` of a text, and its one form. breaks: how many letters and digits of the form stand before each
    separator between two digits; prefix: of those at its beginning, a name of a maker or of a series, what the
    form goes on without: ys of YS-W5; empty for none. base: the form without Pro, Max and the like; spaced: whether a
    blank stands between its letters and its number, as in the names of systems: Android 8.0.
    """

    text: str
    start: int
    end: int
    form: str
    breaks: tuple[int, ...] = ()
    prefix: str = ""
    base: str = ""
    spaced: bool = False

    @property
    def bare(self) -> str:
        """The form without the name of a maker, which a customer leaves out: w5 of YS-W5; all of YS-100."""
        rest = self.form.removeprefix(self.prefix)
        return self.form if rest[0].isdigit() else rest

    @property
    def has_digit(self) -> bool:
        """Whether it contains a digit: Wi-Fi and USB-C are names, not numbers of a series."""
        return any(map(str.isdigit, self.form))


def is_same_code(one: Code, other: Code) -> bool:
    """Returns whether both are spellings of one code: YS-10-01 is YS1001, but YS-100-1 is not."""
    return one.form == other.form and (not one.breaks or not other.breaks or one.breaks == other.breaks)


def is_same_thing(one: Code, other: Code) -> bool:
    """Returns whether both name the same thing: the same code, or one of them without the maker's name (W5 for YS-W5).

    A word followed by a blank is not the maker's name if their lengths differ: the APP K3 is the YS-K3, the YD K3 is
    not.
    """
    if is_same_code(one, other):
        return True
    if one.bare != other.bare or not (one.has_digit and one.prefix + other.prefix):
        return False
    loose = one.spaced or other.spaced
    return not (one.prefix and other.prefix) or (loose and len(one.prefix) != len(other.prefix))


def has_one_code(codes: Iterable[Code], others: Sequence[Code]) -> bool:
    """Returns whether at least one of the codes names a thing that one of the others names."""
    return any(is_same_thing(code, other) for code in codes for other in others)


def has_all_codes(codes: Iterable[Code], others: Sequence[Code]) -> bool:
    """Returns whether every one of the codes names a thing that one of the others names."""
    return all(any(is_same_thing(code, other) for other in others) for code in codes)


def are_neighbours(one: Code, other: Code) -> bool:
    """Returns whether two codes of different things are similar enough to be confused: of one series (YS-100 and
    YS-1001, V2.1.3 and V2.10.3), one the beginning of the other, or one letter or digit apart.
    """
    if not (one.has_digit and other.has_digit) or is_same_thing(one, other):
        return False
    first, second = sorted((one.form, other.form), key=len)
    are_similar = len(first) >= _NEAR_CHARS and (second.startswith(first) or _is_one_edit(first, second))
    if first.isdigit() and second.isdigit():
        return _are_part_numbers(one, other)
    return are_similar or _mask_digits(first) == _mask_digits(second) or get_series(one) == get_series(other) != ""


def get_series(code: Code) -> str:
    """Returns the letters before the last number of a code: w of YS-W5, h of H30 Pro; empty for USB-C and plain
    numbers.
    """
    found = _SERIES.findall(code.bare)
    return str(found[-1]) if found else ""


@lru_cache(maxsize=8192)
def find_codes(text: str) -> tuple[Code, ...]:
    """Returns the codes of a text in order, without overlaps. Linear in the length of the text."""
    plain = text.translate(_PLAIN)
    if "@" in plain or "://" in plain:
        plain = _ADDRESS.sub(lambda match: " " * len(match.group()), plain)
    found: list[Code] = []
    end = 0
    for start, stop in _find_candidates(plain):
        if start < end:
            continue
        code = _read_code_at(text, plain, start, stop)
        if code is not None:
            found.append(code)
            end = code.end
    return tuple(found)


def find_question_codes(text: str) -> tuple[Code, ...]:
    """Returns the codes of a question, each once; two separated by a blank (K4Z D60) are also returned as one.

    If there are none it returns numbers of five digits and more, and groups of digits joined by one sign: beside the
    12-3456/7 of a catalogue they are part numbers.
    """
    found = find_codes(text)
    plain = text.translate(_PLAIN)
    runs = [match for match in _PAIRS.finditer(plain) if _has_letters_and_digits(match.group("short"))]
    if not found and not runs:
        runs = [match for match in _NUMBERS.finditer(plain) if not _TIME.fullmatch(match.group())]
    more = [_build_code(text[run.start() : run.end()], run.group().lower(), *run.span()) for run in runs]
    return tuple({code.form: code for code in reversed((*found, *more))}.values())[::-1]


def find_first_code(text: str) -> Code | None:
    """Returns the first code of a text, or None."""
    return next(iter(find_codes(text)), None)


def is_code(text: str) -> bool:
    """Returns whether a text is a code and nothing else."""
    found = find_codes(text)
    return len(found) == 1 and found[0].text == text


def replace_codes(text: str, by: str) -> str:
    """Returns the text with every code replaced by `by`."""
    parts: list[str] = []
    end = 0
    for code in find_codes(text):
        parts += (text[end : code.start], by)
        end = code.end
    return "".join((*parts, text[end:]))


def list_spellings(text: str) -> tuple[str, ...]:
    """Lists how a code may be written elsewhere, for searches of plain text: as it is, without its signs, and with a
    hyphen, a blank or an underscore where letters and digits meet. Its letters keep their case.
    """
    parts = _PARTS.findall(text.translate(_PLAIN))
    first, rest = parts[:1], "".join(parts[1:])
    joined = (sign.join((*first, rest)) for sign in ("-", " ", "_") if rest)
    return tuple(dict.fromkeys((text, "".join(parts), *joined)))


def _find_candidates(plain: str) -> Iterator[tuple[int, int]]:
    """Yields the places where a code may stand: runs of letters, digits and signs; a slash separates two codes."""
    for match in _RUN.finditer(plain):
        start = match.start()
        for slash in re.finditer("/", match.group()):
            if _is_code(plain[start : match.start() + slash.start()].lower(), alone=False):
                yield start, match.start() + slash.start()
                start = match.start() + slash.end()
        yield start, match.end()


def _read_code_at(text: str, plain: str, start: int, stop: int) -> Code | None:
    """Reads the code that begins at a place, with a number behind a blank and with what makes it a variant; None if
    none does.
    """
    number = _match_number_behind(plain, start, stop)
    if number:
        stop = number.end()
    elif not _is_code(plain[start:stop].lower()):
        return None
    base = stop
    if variants := _VARIANTS.match(plain, stop):
        stop = variants.end()
    if stop - start > MAX_CHARS:
        return None
    code = _build_code(text[start:stop], plain[start:stop].lower(), start, stop)
    short = _build_code("", plain[start:base].lower(), 0, 0).form
    return replace(code, base=short, spaced=number is not None)


def _match_number_behind(plain: str, start: int, stop: int) -> re.Match[str] | None:
    """Matches the rest of a code whose letters stand before a blank: a number, or beside Chinese text a whole code."""
    letters = plain[start:stop]
    if not letters.isalpha() or plain[stop : stop + 1] != " ":
        return None
    behind = _RUN.match(plain, stop + 1)
    if behind is None or (_is_measure(behind.group().lower()) and not _is_numbered(letters, behind.group())):
        return None
    if behind.group()[0].isdigit():
        return behind if _can_be_spaced(plain, start, stop) else None
    whole = len(letters) <= _MAKER_CHARS and _has_letters_and_digits(behind.group())
    return behind if whole and _HAN.search(plain) else None  # looked for last, for it reads all of a text


def _is_numbered(letters: str, number: str) -> bool:
    """Returns whether something like a measure is the number of a series: QH 600G, but not VIP 5G or iPhone 128GB."""
    return len(letters) <= _MAKER_CHARS and _SERIES_NUMBER.fullmatch(number) is not None


def _can_be_spaced(plain: str, start: int, stop: int) -> bool:
    """Returns whether a number behind a blank may belong to the word before it: in English prose only if that is in
    capitals.
    """
    within = plain[:start].endswith(" ") and plain[:start].rstrip(" ")[-1:].isascii() and plain[:start].strip() != ""
    return not within or not plain[start:stop].islower()


def _is_code(written: str, *, alone: bool = True) -> bool:
    """Returns whether a run in lower case is a code; unless `alone`, it needs both a letter and a digit."""
    if _TIME.fullmatch(written) or _is_measure(written):
        return False
    if _has_letters_and_digits(written) or not alone:
        return _has_letters_and_digits(written)
    if written[0].isdigit():
        return _BARE_VERSION.fullmatch(written) is not None or len(set(written) & set("-_/")) > 1
    return _NAME.fullmatch(written) is not None


def _has_letters_and_digits(written: str) -> bool:
    return any(map(str.isdigit, written)) and any(map(str.isalpha, written))


def _is_measure(written: str) -> bool:
    """Returns whether it is a number with a unit: 10kg, 5v-20v, 100-240v. 8pk-301 is not: its unit would contain a
    digit.
    """
    found = _MEASURE.fullmatch(written)
    return found is not None and bool(found["unit"] or found["last"]) and written[-1].isalpha()


def _build_code(text: str, written: str, start: int, stop: int) -> Code:
    """Builds the code of a run: its one form, its breaks and its prefix."""
    version = _VERSION.fullmatch(written)
    written = version[1] if version else written
    form, breaks, prefix = "", [], ""
    for index, sign in enumerate(written):
        if not _SEPARATOR.match(written, index):
            form += sign
        elif form.isalpha() and not prefix:
            prefix = form
        elif form[-1:].isdigit() and written[index + 1 : index + 2].isdigit():
            breaks.append(len(form))
    return Code(text, start, stop, form, tuple(breaks), prefix)


def _are_part_numbers(one: Code, other: Code) -> bool:
    """Of digits alone: as many groups of them, or nearly as many digits where one has groups. 10000 and 20000 are
    amounts.
    """
    if one.breaks and other.breaks:
        return len(one.breaks) == len(other.breaks)
    return bool(one.breaks or other.breaks) and abs(len(one.form) - len(other.form)) <= _ALIKE_DIGITS


def _mask_digits(form: str) -> str:
    return _DIGITS.sub("0", form)


def _is_one_edit(short: str, long: str) -> bool:
    """Returns whether the longer text differs by one replaced or one added character."""
    if len(long) - len(short) > 1:
        return False
    index = next((at for at, (own, other) in enumerate(zip(short, long, strict=False)) if own != other), len(short))
    return short[index + (len(short) == len(long)) :] == long[index + 1 :]
