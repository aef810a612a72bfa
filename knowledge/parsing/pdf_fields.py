"""Filled fields of PDF forms with their labels, and text written over pages, as lines in their places."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pypdfium2 import raw

from knowledge.blocks import BlockKind
from knowledge.parsing.colours import WHITE, is_indistinct
from knowledge.parsing.omissions import Omissions, OmittedPart
from knowledge.parsing.pdf_labels import Label, LabelPlace, Widget, find_labels
from knowledge.parsing.pdf_layout import LineCell, PageLine

_TEXTS = (raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX)
_BOXES = (raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON)
_UNSEEN = raw.FPDF_ANNOT_FLAG_INVISIBLE | raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW
# Flag of a text field whose value is shown as asterisks.
_PASSWORD = 1 << 13
# Points; 0 stands for a size that fits.
_READABLE = 1.5
_REMARKS = (
    raw.FPDF_ANNOT_TEXT,
    raw.FPDF_ANNOT_HIGHLIGHT,
    raw.FPDF_ANNOT_UNDERLINE,
    raw.FPDF_ANNOT_SQUIGGLY,
    raw.FPDF_ANNOT_STRIKEOUT,
    raw.FPDF_ANNOT_CARET,
)
_TICKED, _OPEN = "已勾选", "未勾选"


@dataclass(frozen=True, slots=True)
class FilledField:
    """A value of a form."""

    # Its field, which may be shown in several places.
    name: str
    text: str
    place: LabelPlace
    page: int
    kind: BlockKind = BlockKind.FIELD
    # A box without a tick.
    open: bool = False

    def build_line(self, size: float) -> PageLine:
        """Returns the field as a line. `size`: that of the text around it."""
        cell = LineCell(self.text, self.place.left, self.place.right)
        return PageLine(self.text, self.page, size, (cell,), self.place.bottom, kind=self.kind)


def read_fields(
    document: Any, page: Any, lines: Sequence[PageLine], number: int, left_out: Omissions
) -> list[FilledField]:
    """Reads the filled fields of one page, from the top. Hidden, empty and password fields are skipped.

    Args:
        document: The document, with its forms initialised.
        page: The page.
        lines: The text of the page.
        number: Number of the page, from 1.
        left_out: Where notes and highlights are counted as omitted.
    """
    widgets: list[Widget] = []
    found: list[FilledField] = []
    with _open_annotations(page) as annotations:
        for annotation in annotations:
            if raw.FPDFAnnot_GetFlags(annotation) & _UNSEEN:
                continue
            kind = raw.FPDFAnnot_GetSubtype(annotation)
            if kind == raw.FPDF_ANNOT_WIDGET and document.formenv is not None:
                if (widget := _read_widget(document.formenv, annotation)) is not None:
                    widgets.append(widget)
            elif kind == raw.FPDF_ANNOT_FREETEXT:
                text = _read_string(raw.FPDFAnnot_GetStringValue, annotation, b"Contents").strip()
                found.append(FilledField("", text, _read_place(annotation), number, BlockKind.PARAGRAPH))
            elif kind in _REMARKS:
                remark = _read_string(raw.FPDFAnnot_GetStringValue, annotation, b"Contents").strip()
                if remark:
                    left_out.add(OmittedPart.COMMENT, remark, number)
    for widget, label in zip(widgets, find_labels(widgets, lines), strict=True):
        if text := _format_field(widget, label):
            found.append(FilledField(widget.name, text, widget.place, number, open=widget.is_box and not widget.ticked))
    return sorted((each for each in found if each.text), key=lambda each: (-each.place.top, each.place.left))


def _format_field(widget: Widget, label: Label) -> str:
    """Formats a field as a line: its label and its value."""
    if widget.is_choice:
        return f"{label.name}：{label.option or widget.value}" if widget.ticked else ""
    if widget.is_box:
        return f"{label.name}：{_TICKED if widget.ticked else _OPEN}"
    return f"{label.name}：{widget.value}" if widget.value else ""


def choose_shown(pages: Sequence[Sequence[FilledField]]) -> list[list[FilledField]]:
    """Returns each field once, where it is shown first; boxes without a tick only if anything is filled in."""
    begun = any(not each.open and each.kind is BlockKind.FIELD for page in pages for each in page)
    seen: set[tuple[str, str]] = set()
    kept: list[list[FilledField]] = []
    for page in pages:
        kept.append([])
        for each in page:
            if (each.open and not begun) or (each.name and (each.name, each.text) in seen):
                continue
            seen.add((each.name, each.text))
            kept[-1].append(each)
    return kept


def insert_fields(lines: Sequence[PageLine], filled: Sequence[FilledField]) -> list[PageLine]:
    """Inserts each field after the line beside or above it, within its column."""
    following: dict[int, list[PageLine]] = {}
    for each in filled:
        before = [number for number, line in enumerate(lines) if line.base + line.size >= each.place.middle]
        under = [number for number in before if not lines[number].column or _is_in_column(lines[number], each.place)]
        nearest = max(under or before, key=lambda number: (-lines[number].base, number), default=-1)
        size = lines[nearest].size if nearest >= 0 else each.place.top - each.place.bottom
        following.setdefault(nearest, []).append(each.build_line(size))
    ordered = list(following.get(-1, ()))
    for number, line in enumerate(lines):
        ordered += [line, *following.get(number, ())]
    return ordered


def _is_in_column(line: PageLine, place: LabelPlace) -> bool:
    return line.left <= place.right and place.left <= line.right


def _read_widget(form: Any, annotation: Any) -> Widget | None:
    """Returns the widget; None for buttons, signatures, passwords, and what is too faint or too small to read."""
    kind = raw.FPDFAnnot_GetFormFieldType(form, annotation)
    if kind not in (*_TEXTS, *_BOXES):
        return None
    place = _read_place(annotation)
    flags = raw.FPDFAnnot_GetFormFieldFlags(form, annotation)
    secret = kind == raw.FPDF_FORMFIELD_TEXTFIELD and flags & _PASSWORD
    if secret or place.right <= place.left or place.top <= place.bottom or not _is_readable(form, annotation):
        return None
    return Widget(
        name=_read_string(raw.FPDFAnnot_GetFormFieldName, form, annotation),
        title=_read_string(raw.FPDFAnnot_GetFormFieldAlternateName, form, annotation).strip(),
        value=_read_string(raw.FPDFAnnot_GetFormFieldExportValue, form, annotation)
        if kind in _BOXES
        else _read_value(form, annotation),
        place=place,
        is_box=kind == raw.FPDF_FORMFIELD_CHECKBOX,
        is_choice=kind == raw.FPDF_FORMFIELD_RADIOBUTTON,
        ticked=kind in _BOXES and bool(raw.FPDFAnnot_IsChecked(form, annotation)),
    )


def _read_value(form: Any, annotation: Any) -> str:
    """Returns what is typed or chosen, as it is shown: the label of a choice, not its code."""
    options = range(max(0, raw.FPDFAnnot_GetOptionCount(form, annotation)))
    chosen = [option for option in options if raw.FPDFAnnot_IsOptionSelected(form, annotation, option)]
    labels = [_read_string(raw.FPDFAnnot_GetOptionLabel, form, annotation, option) for option in chosen]
    value = "、".join(labels) or _read_string(raw.FPDFAnnot_GetFormFieldValue, form, annotation)
    return value.replace("\r\n", "\n").replace("\r", "\n").strip()


def _is_readable(form: Any, annotation: Any) -> bool:
    size = ctypes.c_float()
    if raw.FPDFAnnot_GetFontSize(form, annotation, size) and 0 < size.value < _READABLE:
        return False
    red, green, blue = (ctypes.c_uint() for _ in range(3))
    if not raw.FPDFAnnot_GetFontColor(form, annotation, red, green, blue):
        return True
    on_paper = not raw.FPDFAnnot_HasKey(annotation, b"MK")  # else it may have a background
    return not (on_paper and is_indistinct((red.value, green.value, blue.value), WHITE))


def _read_place(annotation: Any) -> LabelPlace:
    box = raw.FS_RECTF()
    raw.FPDFAnnot_GetRect(annotation, box)
    return LabelPlace(
        min(box.left, box.right), min(box.bottom, box.top), max(box.left, box.right), max(box.bottom, box.top)
    )


@contextmanager
def _open_annotations(page: Any) -> Iterator[list[Any]]:
    count = max(0, raw.FPDFPage_GetAnnotCount(page))
    handles = [handle for index in range(count) if (handle := raw.FPDFPage_GetAnnot(page, index))]
    try:
        yield handles
    finally:
        for handle in handles:
            raw.FPDFPage_CloseAnnot(handle)


def _read_string(get: Callable[..., int], *arguments: Any) -> str:
    """Returns the UTF-16 text that a function of PDFium writes into a buffer."""
    size = get(*arguments, None, 0)
    if size <= 2:
        return ""
    buffer = ctypes.create_string_buffer(size)
    get(*arguments, ctypes.cast(buffer, ctypes.POINTER(raw.FPDF_WCHAR)), size)
    return buffer.raw.decode("utf-16-le", "replace").partition("\0")[0]
