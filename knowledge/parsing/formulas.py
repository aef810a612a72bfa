"""Writes formulas of Word and PowerPoint (OMML) as one readable line: a/b, x^2, √(x), ∑_(i=1)^n x_i."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any

MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
FORMULA = f"{MATH}oMath"
PARAGRAPH = f"{MATH}oMathPara"
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_UNREAD = {f"{_WORD}{name}" for name in ("del", "moveFrom", "rPr")}
_PAIRS = {"(": ")", "[": "]", "{": "}", "（": "）", "⟨": "⟩", "‖": "‖"}
# Letters and digits that differ from the usual ones by their slant or weight alone.
_LETTERS = (0x1D400, 0x1D7FF)
_ROOTS = {"": "√", "2": "√", "3": "∛", "4": "∜"}
_DEFAULT_SUM = "∫"
_DEFAULT_ACCENT = "\u0302"
_OVERLINE, _UNDERLINE = "\u0305", "\u0332"
_OFF = ("0", "false", "off")
# fmt: off
# Elements that have a shape of their own; the others are what stands in them.
_STRUCTURES = frozenset((
    "acc", "bar", "d", "eqArr", "f", "func", "limLow", "limUpp", "m", "nary", "phant", "rad", "sPre", "sSub", "sSubSup",
    "sSup",
))
# fmt: on
# What follows them at once would belong to what they end with: 1/2 x.
_TAILED = {MATH + name for name in ("f", "sSub", "sSubSup", "sSup")}

# Whether a reader sees the text of an m:t.
Shown = Callable[[Any], bool]


def write_formula(formula: Any, shown: Shown = lambda _: True) -> str:
    """Writes an m:oMath or m:oMathPara as text; several formulas of a paragraph, and stacked rows, become lines."""
    if formula.tag == PARAGRAPH:
        return "\n".join(filter(None, (write_formula(child, shown) for child in formula if child.tag == FORMULA)))
    return _FormulaWriter(shown).write_row(formula).strip()


class _FormulaWriter:
    """Writes OMML elements; `_write_NAME` writes the structure that the standard calls NAME."""

    def __init__(self, shown: Shown) -> None:
        self._shown = shown

    def write_row(self, parent: Any) -> str:
        """Writes the children of an element one after another."""
        text, tailed = "", False
        for child in parent if parent is not None else ():
            if not (part := self._write_node(child)):
                continue
            apart = tailed or (child.tag == f"{MATH}f" and text[-1:].isdigit())
            text += (" " if apart and part[0].isalnum() else "") + part
            tailed = child.tag in _TAILED
        return text

    def _write_node(self, node: Any) -> str:
        """Writes one element."""
        if not isinstance(node.tag, str) or node.tag in _UNREAD:
            return ""
        if node.tag in (f"{MATH}t", f"{_WORD}t"):
            return _convert_to_upright(node.text or "") if self._shown(node) else ""
        if node.tag in (f"{_WORD}br", f"{_WORD}cr"):
            return "\n"
        name = node.tag.removeprefix(MATH)
        if name.endswith("Pr"):
            return ""
        write = getattr(self, f"_write_{name}", None) if node.tag.startswith(MATH) and name in _STRUCTURES else None
        return write(node) if write else self.write_row(node)

    def _write_part(self, node: Any, name: str) -> str:
        """Writes the part of a structure with this name."""
        return self.write_row(node.find(MATH + name)).strip()

    def _write_f(self, node: Any) -> str:
        above, below = self._write_part(node, "num"), self._write_part(node, "den")
        sign = "¦" if _read_property(node, "type", "bar") == "noBar" else "/"
        return f"{_add_brackets(above)}{sign}{_add_brackets(below)}"

    def _write_sSup(self, node: Any) -> str:  # noqa: N802 - named as in the standard, as are those below
        return _add_brackets(self._write_part(node, "e")) + _write_script("^", self._write_part(node, "sup"))

    def _write_sSub(self, node: Any) -> str:  # noqa: N802
        return _add_brackets(self._write_part(node, "e")) + _write_script("_", self._write_part(node, "sub"))

    def _write_sSubSup(self, node: Any) -> str:  # noqa: N802
        return _add_brackets(self._write_part(node, "e")) + self._write_scripts(node)

    def _write_sPre(self, node: Any) -> str:  # noqa: N802
        return self._write_scripts(node) + _add_brackets(self._write_part(node, "e"))

    def _write_scripts(self, node: Any) -> str:
        return _write_script("_", self._write_part(node, "sub")) + _write_script("^", self._write_part(node, "sup"))

    def _write_rad(self, node: Any) -> str:
        degree = "" if _is_on(node, "degHide") else self._write_part(node, "deg")
        sign = _ROOTS.get(degree) or f"√[{degree}]"
        return f"{sign}({self._write_part(node, 'e')})"

    def _write_nary(self, node: Any) -> str:
        limits = self._write_scripts(node)
        return (
            f"{_read_property(node, 'chr', _DEFAULT_SUM)}{limits}{' ' if limits else ''}{self._write_part(node, 'e')}"
        )

    def _write_d(self, node: Any) -> str:
        left, right = _read_property(node, "begChr", "("), _read_property(node, "endChr", ")")
        inner = _read_property(node, "sepChr", "|").join(
            self.write_row(part).strip() for part in node.iterfind(f"{MATH}e")
        )
        space = " " if left and not right else ""  # cases behind one brace
        return left + space + inner.replace("\n", "; ") + right

    def _write_m(self, node: Any) -> str:
        rows = ("\t".join(self.write_row(cell).strip() for cell in row) for row in node.iterfind(f"{MATH}mr"))
        text = "; ".join(row.replace("\t", ", ") for row in rows)
        grandparent = node.getparent().getparent() if node.getparent() is not None else None
        return text if grandparent is not None and grandparent.tag == f"{MATH}d" else f"[{text}]"

    def _write_eqArr(self, node: Any) -> str:  # noqa: N802
        rows = (self.write_row(row).strip() for row in node.iterfind(f"{MATH}e"))
        return "\n".join(row.replace("&", "").replace("#", " ") for row in rows)

    def _write_func(self, node: Any) -> str:
        argument = self._write_part(node, "e")
        return f"{self._write_part(node, 'fName')}{'' if argument.startswith('(') else ' '}{argument}"

    def _write_limLow(self, node: Any) -> str:  # noqa: N802
        return self._write_part(node, "e") + _write_script("_", self._write_part(node, "lim"))

    def _write_limUpp(self, node: Any) -> str:  # noqa: N802
        return self._write_part(node, "e") + _write_script("^", self._write_part(node, "lim"))

    def _write_acc(self, node: Any) -> str:
        return self._write_part(node, "e") + _read_property(node, "chr", _DEFAULT_ACCENT)

    def _write_bar(self, node: Any) -> str:
        line = _OVERLINE if _read_property(node, "pos", "bot") == "top" else _UNDERLINE
        return "".join(letter + line for letter in self._write_part(node, "e"))

    def _write_phant(self, node: Any) -> str:
        return "" if _read_property(node, "show", "1").lower() in _OFF else self.write_row(node)


def _write_script(sign: str, text: str) -> str:
    return sign + _add_brackets(text) if text else ""


def _add_brackets(text: str) -> str:
    """Adds brackets where a term would fall apart beside another sign; a number, a name or a bracket does not."""
    if not text or all(letter.isalnum() or letter in ".,%'′∞" or unicodedata.combining(letter) for letter in text):
        return text
    return text if _is_bracketed(text) else f"({text})"


def _is_bracketed(text: str) -> bool:
    """Returns whether the bracket at the beginning is closed at the end."""
    closing = _PAIRS.get(text[0], "")
    if not closing or not text.endswith(closing):
        return False
    depth = 0
    for index, letter in enumerate(text):
        depth += (letter == text[0]) - (letter == closing)
        if depth == 0:
            return index == len(text) - 1
    return False


def _convert_to_upright(text: str) -> str:
    first, last = _LETTERS
    if text.isascii() or not any(first <= ord(letter) <= last for letter in text):
        return text
    return "".join(unicodedata.normalize("NFKC", letter) if first <= ord(letter) <= last else letter for letter in text)


def _read_property(node: Any, name: str, default: str) -> str:
    """Reads a property of a structure; an empty value counts as set."""
    properties = node.find(f"{node.tag}Pr")
    found = properties.find(MATH + name) if properties is not None else None
    return default if found is None else found.get(f"{MATH}val", "")


def _is_on(node: Any, name: str) -> bool:
    return _read_property(node, name, "0").lower() not in _OFF
