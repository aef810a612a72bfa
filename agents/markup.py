"""Removes what a browser could execute, load or follow: what documents and models write is only ever read.

Frontends show replies as plain text, as Markdown or as HTML, and the result is safe and readable in each: `<` stays
before a blank, a digit, `-`, `=` and Chinese (3 < 5, <-10℃) and becomes ＜ before all else, so that there are no tags;
an image becomes its description, for its address alone can carry data out; a link stays where its address is relative
or of http, https, mailto or tel, else it becomes its text; references are not defined, so that none can be followed.
"""

from __future__ import annotations

import re
from dataclasses import replace

from agents.places import RelatedPlace
from agents.types import Answer, AnswerEvent, Replace, RowSource, Source, Token

# Characters of an unfinished link or image that a stream keeps back; a longer one is taken apart instead.
MAX_HELD = 600

_MARK = re.compile(r"[<!\[\]]")
# Could stand within a tag or an address unseen.
_INVISIBLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b\u2060\ufeff]")
_NO_TAG = re.compile(r"[\s\d=\u3400-\u9fff-]")
_TEXT = r"(?:[^\[\]\n]|\[[^\[\]\n]*\])*+"
_ADDRESS = r"(?:[^()\n]|\([^()\n]*\))*+"
_LINK = re.compile(rf"\[(?P<text>{_TEXT})\]\((?P<address>{_ADDRESS})\)")
_IMAGE = re.compile(rf"!\[(?P<text>{_TEXT})\](?:\({_ADDRESS}\)|\[[^\[\]\n]*\])?")
# What may yet become a link or an image.
_OPEN = re.compile(rf"!?\[{_TEXT}(?:\[[^\[\]\n]*)?(?:\](?:\({_ADDRESS}(?:\([^()\n]*)?|\[[^\[\]\n]*)?)?")
_PART = r"(?:[^\s<>()\[\]\"'`\\]|\([^\s<>()\[\]\"'`\\]*\))*"
# Only what is known to be safe: entities, escapes and control characters in a scheme do not match.
_SAFE = re.compile(
    rf"\s*<?(?P<address>(?:https?://|mailto:|tel:|[/#?]){_PART}|[\w.%-]+(?:[/#?]{_PART})?)>?"
    r"(?:\s+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?\s*",
    re.IGNORECASE,
)
# Pairs that would be an image, a link or a definition -> what stands for the second character.
_BESIDE = {"![": "［", "](": "（", "]:": "："}


class MarkupFilter:
    """Takes a text in pieces of any size; the result does not depend on how the text was cut."""

    def __init__(self) -> None:
        self._held = self._last = ""

    def feed(self, text: str, *, final: bool = False) -> str:
        """Takes a piece and returns what can be shown by now; with the `final` piece all of it."""
        text = self._held + _INVISIBLE.sub("", text)
        shown: list[str] = []
        position = 0
        while mark := _MARK.search(text, position):
            shown.append(self._join_piece(text[position : mark.start()]))
            position = mark.start()
            found = _replace_mark(text, position, final)
            if found is None:
                break
            shown.append(self._join_piece(found[0]))
            position = found[1]
        else:
            shown.append(self._join_piece(text[position:]))
            position = len(text)
        self._held = text[position:]
        return "".join(shown)

    def _join_piece(self, piece: str) -> str:
        """Changes the first character of a piece where it would form a link or an image with what was shown last."""
        if not piece:
            return ""
        if other := _BESIDE.get(self._last + piece[0]):
            piece = other + piece[1:]
        self._last = piece[-1]
        return piece


def clean_markup(text: str) -> str:
    """Returns a whole text as it may be shown."""
    return MarkupFilter().feed(text, final=True) if _MARK.search(text) or _INVISIBLE.search(text) else text


def clean_answer(answer: Answer) -> Answer:
    """Returns the answer with all its texts cleaned."""
    return replace(
        answer,
        reply=clean_markup(answer.reply),
        sources=tuple(map(_clean_source, answer.sources)),
        suggestions=tuple(map(clean_markup, answer.suggestions)),
        related=tuple(map(_clean_place, answer.related)),
        buttons=tuple(
            replace(one, label=clean_markup(one.label), message=clean_markup(one.message)) for one in answer.buttons
        ),
    )


def _clean_place(related: RelatedPlace) -> RelatedPlace:
    return replace(
        related,
        title=clean_markup(related.title),
        heading=clean_markup(related.heading),
        question=clean_markup(related.question),
    )


class EventCleaner:
    """Cleans the texts in the events of one answer; the tokens joined are still the reply."""

    def __init__(self) -> None:
        self._written = MarkupFilter()

    def clean_event(self, event: AnswerEvent) -> AnswerEvent | None:
        """Returns the event with its text cleaned; None for a token of which nothing can be shown yet."""
        match event:
            case Token(text):
                shown = self._written.feed(text)
                return Token(shown) if shown else None
            case Replace(text):
                self._written = MarkupFilter()
                return Replace(self._written.feed(text))
        return event

    def finish(self) -> Token | None:
        """Returns what was held back."""
        shown = self._written.feed("", final=True)
        return Token(shown) if shown else None


def _clean_source(source: Source | RowSource) -> Source | RowSource:
    if isinstance(source, RowSource):
        return replace(source, fields={name: clean_markup(value) for name, value in source.fields.items()})
    shown = (source.title, source.heading, source.line, source.snippet)
    title, heading, line, snippet = map(clean_markup, shown)
    return replace(source, title=title, heading=heading, line=line, snippet=snippet)


def _replace_mark(text: str, position: int, final: bool) -> tuple[str, int] | None:
    """Returns the replacement of the mark at a position, and where the text continues behind it; None where that
    depends on text still to come.
    """
    mark, after = text[position], text[position + 1 : position + 2]
    if not after and not final:
        return None
    if mark == "<":
        return "<" if _NO_TAG.match(after) else "＜", position + 1
    if mark == "]":
        other = _BESIDE.get(mark + after)
        return (mark + other, position + 2) if other else (mark, position + 1)
    if mark == "!" and after != "[":
        return mark, position + 1
    end = position + MAX_HELD
    if not final and len(text) < end and _OPEN.fullmatch(text, position):
        return None
    return _replace_image(text, position, end) if mark == "!" else _replace_link(text, position, end)


def _replace_image(text: str, position: int, end: int) -> tuple[str, int]:
    found = _IMAGE.match(text, position, end)
    return (clean_markup(found["text"]), found.end()) if found else ("！", position + 1)


def _replace_link(text: str, position: int, end: int) -> tuple[str, int]:
    found = _LINK.match(text, position, end)
    if found is None:
        return "[", position + 1
    shown, safe = clean_markup(found["text"]), _SAFE.fullmatch(found["address"])
    return (f"[{shown}]({safe['address']})" if safe else shown), found.end()
