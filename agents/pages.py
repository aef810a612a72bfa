"""Reads the page that a customer looks at: its text for the search, and which documents it is about."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote

from agents.passages.quotable import is_safe_text
from agents.passages.sentences import split_sentences
from agents.types import Page, Question
from agents.understanding.followups import fill_subject
from agents.understanding.utterance import RewriteKind
from knowledge.codes import find_codes, find_first_code
from knowledge.text import clean, fold
from knowledge.types import Candidate, Chunk, PageText

# Shorter titles (帮助, FAQ) occur in those of most pages.
MIN_TITLE = 4
# Keys of JSON-LD that hold nothing to read.
_SKIPPED = ("@", "image", "logo", "url", "sameAs")


def extract_page_text(page: Page | None) -> PageText | None:
    """Returns the page as the search reads it; None without any text."""
    if page is None:
        return None
    lines = tuple(line for line in dict.fromkeys(_split_lines(page)) if line)
    return PageText(clean(page.title).strip() or clean(page.url).strip(), lines) if lines else None


def boost_page(candidates: Sequence[Candidate], page: Page | None, boost: float) -> tuple[Candidate, ...]:
    """Moves the customer's page and the documents about the same ahead of others that are up to `boost` more
    probable.
    """
    if page is None or not boost:
        return tuple(candidates)
    hints = _PageHints.from_page(page)
    return tuple(sorted(candidates, key=lambda c: -(c.probability + boost * hints.match(c.chunk))))


def complete_from_page(question: Question) -> Question:
    """Completes a first question about 这个 with the subject of the page; a rewrite from the conversation goes
    first.
    """
    utterance = question.utterance
    if utterance.rewrite or question.history or question.page is None:
        return question
    filled = fill_subject(utterance.original, extract_page_subject(question.page))
    return replace(question, utterance=utterance.add_rewrite(filled, RewriteKind.PAGE))


def extract_page_subject(page: Page | None) -> str:
    """Returns what 这个 may mean on the page: its model name, else its title without the site's name; may be empty."""
    if page is None or not is_safe_text(page.title):
        return ""
    title = clean(page.title).strip()
    named = find_first_code(title)
    return named.text if named else title.split(" - ")[0].split("|")[0].split("_")[0].strip()[:40]


@dataclass(frozen=True, slots=True)
class _PageHints:
    """Names, folded, that a document about the page may have."""

    title: str
    address: str
    names: frozenset[str]

    @classmethod
    def from_page(cls, page: Page) -> _PageHints:
        title = fold(" ".join((page.title, *page.headings[:1])))
        return cls(title, fold(unquote(page.url)), _extract_models(title))

    def match(self, chunk: Chunk) -> bool:
        document = chunk.document
        if chunk.is_in_view:
            return True
        stem = fold(document.name.rsplit("/", 1)[-1].rsplit(".", 1)[0])
        titles = {fold(document.title), stem}
        if self.names & frozenset().union(*map(_extract_models, titles)):
            return True
        return any(len(title) >= MIN_TITLE and (title in self.title or title in self.address) for title in titles)


def _extract_models(text: str) -> frozenset[str]:
    """Returns models without their variants: one manual serves YS-H30 and YS-H30 Pro."""
    return frozenset(code.base for code in find_codes(text))


def _split_lines(page: Page) -> Iterator[str]:
    """Yields everything to read on the page, sentence by sentence."""
    texts = [page.description, *page.headings, *_extract_facts(page.json_ld), page.text]
    for text in texts:
        for sentence in split_sentences(clean(text)):
            yield sentence.text.strip()


def _extract_facts(json_ld: str) -> list[str]:
    """Returns key and value of every leaf of the JSON-LD; empty for what is no JSON or nested too deeply."""
    try:
        return list(_walk_leaves(json.loads(json_ld), "")) if json_ld.strip() else []
    except (ValueError, RecursionError):  # a site's script block may be broken; the page is still there to read
        return []


def _walk_leaves(data: Any, key: str) -> Iterator[str]:
    if isinstance(data, dict):
        for name, value in data.items():
            if not str(name).startswith(_SKIPPED):
                yield from _walk_leaves(value, str(name))
    elif isinstance(data, list):
        for value in data:
            yield from _walk_leaves(value, key)
    elif data is not None and not isinstance(data, bool):
        yield f"{key}：{data}" if key else str(data)
