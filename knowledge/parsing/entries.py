"""Finds questions that a document asks and answers; each becomes an entry, searched like a curated one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from knowledge.blocks import Block, BlockKind
from knowledge.parsing.faq_columns import is_question
from knowledge.parsing.questions import (
    MAX_QUESTION,
    QuestionMark,
    QuestionOpening,
    find_opening,
    has_question_mark,
    is_answer,
    strip_answer,
    strip_question,
)
from knowledge.types import FaqPair

# Characters; a longer answer is a section that is read and cut like any other.
_MAX_ANSWER = 1500
# Questions with their answers are a pattern; a single one is rhetoric, unless both are named.
_SEVERAL = 2
_MOSTLY = 0.8
# Headings that ask without a question mark: only where nearly all beside them do.
_SEVERAL_WITHOUT_MARK = 3

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Section:
    """The blocks `start:end`, which stand directly below one heading path."""

    path: Path
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _FoundEntry:
    """An entry that replaces the blocks `start:end`."""

    start: int
    end: int
    pair: FaqPair


def extract_entries(blocks: Sequence[Block], faqs: Sequence[FaqPair]) -> tuple[tuple[Block, ...], tuple[FaqPair, ...]]:
    """Extracts the questions and answers of a document.

    Questions are headings without headings below, 问：… 答：…, bold lines, numbered lines and single questions: several
    in a row, each followed by its answer. Text before the first one stays as it is.

    Args:
        blocks: The blocks of the document.
        faqs: The FAQ pairs that the parser found.

    Returns:
        The remaining blocks, and all entries in the order of the document.
    """
    sections = _list_sections(blocks)
    found = [*_find_heading_entries(blocks, sections)]
    taken = {one.start for one in found}
    for section in sections:
        if section.start not in taken:
            found += _find_section_entries(blocks, section)
    inside = [pair.after for pair in faqs]
    found = sorted(
        (one for one in found if not any(one.start < index < one.end for index in inside)), key=lambda one: one.start
    )
    if not found:
        return tuple(blocks), tuple(faqs)
    gone = {index for one in found for index in range(one.start, one.end)}
    kept_before = [0]
    for index in range(len(blocks)):
        kept_before.append(kept_before[-1] + (index not in gone))
    placed = [(pair.after, pair) for pair in faqs] + [(one.start, one.pair) for one in found]
    placed.sort(key=lambda one: one[0])
    entries = tuple(replace(pair, after=kept_before[index]) for index, pair in placed)
    return tuple(block for index, block in enumerate(blocks) if index not in gone), entries


def _list_sections(blocks: Sequence[Block]) -> list[_Section]:
    found, start = [], 0
    for path, group in groupby(blocks, key=lambda block: block.heading_path):
        end = start + sum(1 for _ in group)
        found.append(_Section(path, start, end))
        start = end
    return found


def _find_heading_entries(blocks: Sequence[Block], sections: Sequence[_Section]) -> Iterator[_FoundEntry]:
    times = Counter(section.path for section in sections)
    parents = {section.path[:depth] for section in sections for depth in range(len(section.path))}
    siblings: dict[Path, dict[Path, None]] = defaultdict(dict)
    asking: dict[Path, list[_Section]] = defaultdict(list)
    for section in sections:
        for depth in range(1, len(section.path) + 1):
            siblings[section.path[: depth - 1]][section.path[:depth]] = None
        path = section.path
        if (
            path
            and times[path] == 1
            and path not in parents
            and len(path[-1]) <= MAX_QUESTION
            and is_question(path[-1])
        ):
            asking[path[:-1]].append(section)
    for parent, those in asking.items():
        marked = [section for section in those if has_question_mark(section.path[-1])]
        mostly = len(those) >= max(_SEVERAL_WITHOUT_MARK, _MOSTLY * len(siblings[parent]))
        chosen = those if mostly else marked if len(marked) >= _SEVERAL else []
        for section in chosen:
            answer = blocks[section.start : section.end]
            if pair := _build_pair((strip_question(section.path[-1]),), answer, parent, answer[0].page):
                yield _FoundEntry(section.start, section.end, pair)


def _find_section_entries(blocks: Sequence[Block], section: _Section) -> list[_FoundEntry]:
    openings = [(index, begun) for index in range(section.start, section.end) if (begun := find_opening(blocks[index]))]
    for mark in QuestionMark:
        places = [(index, begun) for index, begun in openings if begun.mark is mark]
        found, unanswered, named = _find_answers(blocks, places, section)
        several = len(found) >= _SEVERAL or (mark is QuestionMark.NAMED and named)
        if found and several and unanswered <= len(found):
            return found
    return []


def _find_answers(
    blocks: Sequence[Block], places: Sequence[tuple[int, QuestionOpening]], section: _Section
) -> tuple[list[_FoundEntry], int, bool]:
    """Returns the entries, how many questions have no answer, and whether an answer is marked as one."""
    found: list[_FoundEntry] = []
    questions: list[str] = []
    begins = unanswered = most = 0
    named = False
    ends = [index for index, _ in places[1:]] + [section.end]
    for (index, opening), end in zip(places, ends, strict=False):
        begins = begins if questions else index
        questions.append(opening.question)
        body = blocks[index + 1 : end]
        if end == section.end:
            body = _limit_answer(body, max(most, 0 if opening.rest else 1))
        answer = [*([Block(opening.rest, page=blocks[index].page)] if opening.rest else []), *body]
        if not answer or (not opening.rest and _is_next_item(blocks[index], body[0])):
            if opening.mark is not QuestionMark.NAMED or end == section.end:
                unanswered += 1
                questions = []
            continue
        most = max(most, len(list(_group_units(body))))
        named = named or opening.answered or is_answer(answer[0].text)
        pair = _build_pair(tuple(questions), answer, section.path, blocks[begins].page)
        questions = []
        if pair:
            found.append(_FoundEntry(begins, index + 1 + len(body), pair))
    return found, unanswered, named


def _is_next_item(question: Block, following: Block) -> bool:
    """Returns whether both blocks are items of one list: then the second is no answer to the first."""
    items = question.kind is BlockKind.ITEM and following.kind is BlockKind.ITEM
    return items and following.level <= question.level and not is_answer(following.text)


def _group_units(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """Yields groups of blocks: a list, a table or a box as one, together with the sentence that announces it."""
    unit: list[Block] = []
    for block in blocks:
        goes_on = unit and block.group and (block.group == unit[-1].group or block.lead)
        if unit and not goes_on:
            yield unit
            unit = []
        unit.append(block)
    if unit:
        yield unit


def _limit_answer(blocks: Sequence[Block], most: int) -> Sequence[Block]:
    """Returns as many groups as other questions are answered with; what follows the last answer is no part of it."""
    units = list(_group_units(blocks))[:most]
    return blocks[: sum(map(len, units))]


def _build_pair(questions: Path, answer: Sequence[Block], path: Path, page: int | None) -> FaqPair | None:
    """Builds the FAQ pair; None if the answer is too long or has nothing that may be quoted."""
    if not all(questions) or all(block.kind is BlockKind.IMAGE for block in answer):
        return None
    shallow = min((block.level for block in answer), default=0)
    indent = min((len(block.text) - len(block.text.lstrip(" ")) for block in answer), default=0)
    blocks = [_remove_indent(block, indent, shallow) for block in answer]
    first_text = strip_answer(blocks[0].text)
    if not first_text.strip():
        blocks = blocks[1:]
    elif first_text != blocks[0].text:
        blocks[0] = replace(blocks[0], text=first_text, marker="", markdown="")
    text = "\n".join(block.text for block in blocks)
    if not text.strip() or len(text) > _MAX_ANSWER:
        return None
    question, *variants = dict.fromkeys(questions)
    return FaqPair(question, text, tuple(variants), "", path, page, tuple(blocks))


def _remove_indent(block: Block, indent: int, shallow: int) -> Block:
    lines = [line[indent:] if not line[:indent].strip() else line for line in block.text.split("\n")]
    return replace(block, text="\n".join(lines), heading_path=(), level=block.level - shallow)
