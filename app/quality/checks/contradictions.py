"""The same said of the same with another number, in two documents.

Two statements are of the same when each one's subject is named by the other or its headings, their models are the same,
and what either says beyond the other is no condition: no word that stands in the place of another one in sentences
that are otherwise the same (平日 and 周末, 整机 and 电池), which the base itself tells.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from math import log

from agents.verification.quantities import Quantity
from app.quality.checks.statements import NumberStatement, extract_statements, find_subject, strip_signs
from app.quality.checks.types import IssueKind, QualityCorpus, QualityIssue, Severity, Steps

# Of the weight of what either statement says, so much has to be said by the other one.
SAME_WORDS = 0.17
# The same of what the whole base deals with: there the words alone have to tell that it is the same thing.
SAME_SENTENCE = 0.8
FEW_DOCUMENTS = 4
# Times, from which two durations are of different things.
WIDEST = 24
_DURATIONS = frozenset({"second", "months", "workday"})
# Counts as much as that.
SAME_HEADING = 0.25
CLEARLY_BEST = 0.02
_UNITS = {"second": "秒", "months": "个月", "workday": "个工作日", "count": "", "time": ""}
Slots = Mapping[str, frozenset[str]]


def find_contradictions(corpus: QualityCorpus) -> Steps:
    """Finds the contradictions described above."""
    statements: list[NumberStatement] = []
    for step in _read_documents(corpus):
        statements += step
        yield None
    comparison = _Comparison(statements)
    naming = _SubjectIndex(statements)
    seen: set[frozenset[str]] = set()
    for one in statements:
        yield None
        for other in naming.find_statements(one):
            yield None
            issue = comparison.find_contradiction(one, other)
            if issue is not None and (pair := frozenset((one.chunk.id, other.chunk.id))) not in seen:
                seen.add(pair)
                yield issue


def _read_documents(corpus: QualityCorpus) -> Iterator[list[NumberStatement]]:
    for document in corpus.group_by_document().values():
        subject = find_subject(document[0].document.title, [chunk.text for chunk in document])
        entries: set[str] = set()
        for chunk in document:
            if (chunk.entry or chunk.id) not in entries:
                entries.add(chunk.entry or chunk.id)
                yield list(extract_statements(chunk, subject))


class _SubjectIndex:
    """Finds statements that name a subject."""

    def __init__(self, statements: Sequence[NumberStatement]) -> None:
        self._by_unit: dict[str, list[NumberStatement]] = defaultdict(list)
        for statement in statements:
            for unit in _list_units(statement):
                self._by_unit[unit].append(statement)
        self._found: dict[tuple[str, str], list[NumberStatement]] = {}

    def find_statements(self, one: NumberStatement) -> Iterable[NumberStatement]:
        """Finds statements of other documents that name the subject, with a number of the same kind."""
        found: dict[int, NumberStatement] = {}
        for unit in _list_units(one):
            key = one.subject, unit
            if key not in self._found:
                self._found[key] = [
                    other
                    for other in self._by_unit[unit]
                    if one.subject in other.sentence or one.subject in other.context
                ]
            found |= {id(other): other for other in self._found[key]}
        return (other for other in found.values() if other.chunk.document.id != one.chunk.document.id)


class _Comparison:
    """statements: all of the base, which tell how much a word weighs and which words stand for each other."""

    def __init__(self, statements: Sequence[NumberStatement]) -> None:
        self._statements: dict[str, list[NumberStatement]] = defaultdict(list)
        for statement in statements:
            self._statements[statement.chunk.document.id].append(statement)
        held = Counter(word for one in statements for word in set(one.words))
        self._weights = {word: log(1 + len(statements) / count) for word, count in held.items()}
        self._slots = _find_slots(statements)
        self._spread = _count_documents(statements)
        self._nearest: dict[tuple[int, str], tuple[float, float]] = {}

    def find_contradiction(self, one: NumberStatement, other: NumberStatement) -> QualityIssue | None:
        """Returns the finding on two statements of the same thing that nothing else in either document fits better;
        else None.
        """
        values = _find_difference(one.quantities, other.quantities)
        if values is None or not _has_same_subject(one, other):
            return None
        likeness = self._compute_likeness(one, other)
        if likeness is None or likeness < (SAME_WORDS if self._is_specific(one, other) else SAME_SENTENCE):
            return None
        if self._has_better_match(one, other, likeness) or self._has_better_match(other, one, likeness):
            return None
        shown = tuple(_format_quantity(value) for value in values)
        detail = f"同一件事两种说法：“{one.text[:60]}”，而《{other.chunk.document.title}》说“{other.text[:60]}”"
        first = one.chunk
        return QualityIssue(
            IssueKind.CONTRADICTION, Severity.HIGH, first.document.id, first, other.chunk, detail, shown
        )

    def _is_specific(self, one: NumberStatement, other: NumberStatement) -> bool:
        """Whether both are about something that has few documents, a product or a branch, rather than about a matter
        that the whole base deals with.
        """
        shared = (
            subject
            for subject in (one.subject, other.subject)
            if _has_subject(one, subject) and _has_subject(other, subject)
        )
        return any(self._spread[subject] <= FEW_DOCUMENTS for subject in shared)

    def _has_better_match(self, one: NumberStatement, other: NumberStatement, likeness: float) -> bool:
        """Whether something else of the other's document says more of what this one says."""
        nearest, agreeing = self._find_nearest(one, other.chunk.document.id)
        return nearest > likeness + CLEARLY_BEST or agreeing >= likeness

    def _find_nearest(self, one: NumberStatement, document: str) -> tuple[float, float]:
        """Returns the likeness of the most similar statement of a document, and of the most similar one with the same
        numbers; -1 for none. Cached: of two price lists each row of one is compared with each row of the other.
        """
        key = id(one), document
        if key not in self._nearest:
            found = [
                (likeness, rival.quantities == one.quantities)
                for rival in self._statements[document]
                if _list_units(rival) & _list_units(one) and _has_same_subject(one, rival)
                if (likeness := self._compute_likeness(one, rival)) is not None
            ]
            agreeing = max((likeness for likeness, same in found if same), default=-1.0)
            self._nearest[key] = max((likeness for likeness, _ in found), default=-1.0), agreeing
        return self._nearest[key]

    def _compute_likeness(self, one: NumberStatement, other: NumberStatement) -> float | None:
        """Returns the mean share of the words of either that the other one says; None where they are two things."""
        left, right = self._list_unshared_words(one, other), self._list_unshared_words(other, one)
        if (
            self._has_condition(left, right)
            or _is_one_slot(one, other, left, right)
            or _has_parallel_heading(one, other)
        ):
            return None
        shares = self._compute_share(one, left, right, other), self._compute_share(other, right, left, one)
        return sum(shares) / 2 + (
            SAME_HEADING if _find_heading(one) and _find_heading(one) == _find_heading(other) else 0
        )

    def _list_unshared_words(self, one: NumberStatement, other: NumberStatement) -> list[str]:
        """Returns the words that neither the other one nor its headings say."""
        known = one.subject + other.subject
        return [
            word for word in one.words if word not in other.sentence and word not in other.context and word not in known
        ]

    def _has_condition(self, left: Sequence[str], right: Sequence[str]) -> bool:
        """Whether there is a condition that only one of them has, or each its own."""
        return any(self._slots.get(word) for word in (*left, *right))

    def _compute_share(
        self, one: NumberStatement, left: Sequence[str], right: Sequence[str], other: NumberStatement
    ) -> float:
        known = one.subject + other.subject
        own = [word for word in dict.fromkeys(one.words) if len(word) == 1 or word not in known]
        total = sum(map(self._weigh_word, own))
        unshared = "".join(right)
        lost = sum(self._weigh_word(word) * (0.5 if set(word) & set(unshared) else 1) for word in dict.fromkeys(left))
        return 1 - lost / total if total else 0.0

    def _weigh_word(self, word: str) -> float:
        return self._weights.get(word, 1.0) * min(len(word), 2)


def _is_one_slot(one: NumberStatement, other: NumberStatement, left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether they are the same sentence but for one word."""
    if len(left) != 1 or len(right) != 1 or not _can_oppose(left[0], right[0]):
        return False
    return [word for word in one.words if word != left[0]] == [word for word in other.words if word != right[0]]


def _find_heading(statement: NumberStatement) -> str:
    path = statement.chunk.heading_path
    return strip_signs(path[-1]) if path and path[-1] != statement.chunk.document.title else ""


def _find_slots(statements: Sequence[NumberStatement]) -> Slots:
    """Finds words that stand in each other's place in statements that are otherwise the same, about the same or not,
    and both of which a document uses: who says both means two things.
    """
    places: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for one in statements:
        words = tuple(word for word in one.words if word not in one.subject)
        for at in range(len(words)):
            if len(words) > 1:
                places[(*words[:at], "", *words[at + 1 :])].add(words[at])
    found: dict[str, set[str]] = defaultdict(set)
    for words_there in places.values():
        if len(words_there) > 1:
            for word in words_there:
                found[word] |= {other for other in words_there - {word} if _can_oppose(word, other)}
    together: dict[str, set[str]] = defaultdict(set)
    words_of: dict[tuple[str, str], set[str]] = defaultdict(set)
    for one in statements:
        for unit in _list_units(one):
            words_of[one.chunk.document.id, unit] |= set(one.words)
    for words_said in words_of.values():
        for word in words_said & found.keys():
            together[word] |= found[word] & words_said
    return {word: frozenset(others) for word, others in together.items() if others}


def _can_oppose(word: str, other: str) -> bool:
    """Whether two words may be opposites, which have the same form: 设 and 一共 only happen to be in one place,
    费用 and 收费 are of one root.
    """
    if any(word.find(character) not in (-1, at) for at, character in enumerate(other)):
        return False
    return len(word) == len(other) or min(len(word), len(other)) > 1


def _list_units(statement: NumberStatement) -> frozenset[str]:
    return frozenset(unit for _, unit in statement.quantities)


def _find_difference(one: frozenset[Quantity], other: frozenset[Quantity]) -> tuple[Quantity, Quantity] | None:
    """Returns the numbers that contradict each other: one of a kind, or the ends of a span; None where other things
    differ too, a threshold for example.
    """
    left, right = sorted(one - other), sorted(other - one)
    if not left or len(left) != len(right) or len(one) != len(other):
        return None
    units = {unit for _, unit in (*left, *right)}
    if len(units) != 1 or (len(left) > 1 and units != {"time"}):
        return None
    if units <= _DURATIONS and not _is_comparable(left[0][0], right[0][0]):
        return None
    return left[0], right[0]


def _is_comparable(one: str, other: str) -> bool:
    """Whether one thing may measure either: a stay of 20 minutes is not one of 60 days."""
    small, large = sorted(abs(Decimal(value)) for value in (one, other))
    return large <= small * WIDEST


def _has_same_subject(one: NumberStatement, other: NumberStatement) -> bool:
    if one.names != other.names and not (one.names | other.names) <= _find_shared_names(one, other):
        return False
    here = one.subject in other.sentence or one.subject in other.context
    there = other.subject in one.sentence or other.subject in one.context
    return (here and (there or one.subject in other.sentence)) or (there and other.subject in one.sentence)


def _find_shared_names(one: NumberStatement, other: NumberStatement) -> frozenset[str]:
    """Returns the names that both have in the sentence or above it."""
    return frozenset(
        name
        for name in one.names | other.names
        if all(strip_signs(name) in side.sentence or strip_signs(name) in side.context for side in (one, other))
    )


def _has_subject(statement: NumberStatement, subject: str) -> bool:
    return subject in statement.sentence or subject in statement.context


def _count_documents(statements: Sequence[NumberStatement]) -> Mapping[str, int]:
    """Counts by subject the documents that mention it."""
    texts_of: dict[str, set[str]] = defaultdict(set)
    for one in statements:
        texts_of[one.chunk.document.id] |= {one.sentence, one.context}
    texts = ["\n".join(of_document) for of_document in texts_of.values()]
    return {subject: sum(subject in text for text in texts) for subject in {one.subject for one in statements}}


def _has_parallel_heading(one: NumberStatement, other: NumberStatement) -> bool:
    """Whether the headings have one pattern and name two things: 成人票 and 儿童票."""
    left, right = _find_heading(one), _find_heading(other)
    if left == right or not left or not right or left in right or right in left:
        return False
    return left[-1] == right[-1] and left not in other.sentence and right not in one.sentence


def _format_quantity(value: Quantity) -> str:
    """Returns an amount with its unit as staff read it."""
    return f"{value[0]}{_UNITS.get(value[1], value[1])}"
