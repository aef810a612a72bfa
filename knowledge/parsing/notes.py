"""Boxes beside the text, whatever a page or a dialect of Markdown calls them: one label for each kind."""

from __future__ import annotations

import re

_LABELS = {
    "note": ("note", "seealso", "abstract", "summary", "remark", "quote", "cite", "default", "primary", "secondary"),
    "info": ("info", "information", "question", "faq", "help", "example", "todo"),
    "tip": ("tip", "tips", "提示", "hint", "success", "check", "done"),
    "important": ("important", "注意", "attention"),
    "warning": ("warning", "警告", "warn", "caution"),
    "danger": ("danger", "危险", "error", "failure", "fail", "bug", "critical"),
}
_LABEL_OF = {name: label for label, names in _LABELS.items() for name in names}
# What a class calls a box when it says nothing else.
_OWN = ("note", "info", "tip", "hint", "important", "warning", "caution", "danger", "提示", "注意", "警告", "危险")
_BOXES = {"admonition", "alert", "callout", "hint", "notice", "infobox", "macro", "admonitionblock"}
_PAIRS = ({"custom", "block"}, {"custom", "container"}, {"message", "box"}, {"note", "box"}, {"tip", "box"})
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def find_label(name: str) -> str:
    """Returns the label (tip, warning …) for the name of a box; empty if it names none."""
    return _LABEL_OF.get(name.strip().lower(), "")


def find_label_of_classes(classes: str, kind: str = "") -> str | None:
    """Returns the label of an element whose classes mark it as a box, else None. `kind`: its data-type, if any."""
    for name in classes.split():
        if name.lower() in _OWN:
            return find_label(name)
    words = [word.lower() for word in _WORD.findall(classes)]
    if _BOXES.isdisjoint(words) and not any(pair <= set(words) for pair in _PAIRS):
        return None
    named = [label for word in (*words, kind) if word not in _BOXES and (label := find_label(word))]
    return named[-1] if named else "tip" if "hint" in words else "note"
