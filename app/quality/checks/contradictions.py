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
from app.quality.checks.base import Steps
from app.quality.checks.statements import NumberStatement, statements_of, subject_of, tight
from app.quality.checks.types import IssueKind, QualityCorpus, QualityIssue, Severity
from knowledge.types import Chunk

SAME_WORDS = 0.17
"""Of the weight of what either statement says, so much has to be said by the other one."""
SAME_SENTENCE = 0.8
"""The same of what the whole base deals with: there the words alone have to tell that it is the same thing."""
FEW_DOCUMENTS = 4
WIDEST = 24
"""Times, from which two durations are of different things."""
_DURATIONS = frozenset({"second", "months", "workday"})
SAME_HEADING = 0.25
"""Counts as much as that."""
CLEARLY_BEST = 0.02
_UNITS = {"second": "秒", "months": "个月", "workday": "个工作日", "count": "", "time": ""}
Slots = Mapping[str, frozenset[str]]


def contradictions(corpus: QualityCorpus) -> Steps:
    """See above."""
    statements: list[NumberStatement] = []
    for step in _read(corpus.chunks):
        statements += step
        yield None
    comparison = _Comparison(statements)
    naming = _Naming(statements)
    seen: set[frozenset[str]] = set()
    for one in statements:
        yield None
        for other in naming.about(one):
            yield None
            issue = comparison.contradiction(one, other)
            if issue is not None and (pair := frozenset((one.chunk.id, other.chunk.id))) not in seen:
                seen.add(pair)
                yield issue


def _read(chunks: Sequence[Chunk]) -> Iterator[list[NumberStatement]]:
    of_document: dict[str, list[Chunk]] = defaultdict(list)
    for chunk in chunks:
        of_document[chunk.document.id].append(chunk)
    for document in of_document.values():
        subject = subject_of(document[0].document.title, [chunk.text for chunk in document])
        entries: set[str] = set()
        for chunk in document:
            if (chunk.entry or chunk.id) not in entries:
                entries.add(chunk.entry or chunk.id)
                yield list(statements_of(chunk, subject))


class _Naming:
    """Finds statements that name a subject."""

    def __init__(self, statements: Sequence[NumberStatement]) -> None:
        self._by_unit: dict[str, list[NumberStatement]] = defaultdict(list)
        for statement in statements:
            for unit in _units(statement):
                self._by_unit[unit].append(statement)
        self._found: dict[tuple[str, str], list[NumberStatement]] = {}

    def about(self, one: NumberStatement) -> Iterable[NumberStatement]:
        """Of other documents, with a number of the same kind."""
        found: dict[int, NumberStatement] = {}
        for unit in _units(one):
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
        self._slots = _slots(statements)
        self._spread = _spread(statements)
        self._nearest: dict[tuple[int, str], tuple[float, float]] = {}

    def contradiction(self, one: NumberStatement, other: NumberStatement) -> QualityIssue | None:
        """What is wrong with the two, if they are of the same and nothing else of either document fits better."""
        values = _differing(one.said, other.said)
        if values is None or not _same_subject(one, other):
            return None
        likeness = self._likeness(one, other)
        if likeness is None or likeness < (SAME_WORDS if self._named(one, other) else SAME_SENTENCE):
            return None
        if self._fits_better(one, other, likeness) or self._fits_better(other, one, likeness):
            return None
        told = tuple(_told(value) for value in values)
        detail = f"同一件事两种说法：“{one.text[:60]}”，而《{other.chunk.document.title}》说“{other.text[:60]}”"
        first = one.chunk
        return QualityIssue(IssueKind.CONTRADICTION, Severity.HIGH, first.document.id, first, other.chunk, detail, told)

    def _named(self, one: NumberStatement, other: NumberStatement) -> bool:
        """Whether both are about something that has few documents, a product or a branch, rather than about a matter
        that the whole base deals with.
        """
        shared = (subject for subject in (one.subject, other.subject) if _says(one, subject) and _says(other, subject))
        return any(self._spread[subject] <= FEW_DOCUMENTS for subject in shared)

    def _fits_better(self, one: NumberStatement, other: NumberStatement, likeness: float) -> bool:
        """Whether something else of the other's document says more of what this one says."""
        nearest, agreeing = self._nearest_in(one, other.chunk.document.id)
        return nearest > likeness + CLEARLY_BEST or agreeing >= likeness

    def _nearest_in(self, one: NumberStatement, document: str) -> tuple[float, float]:
        """How like this one the likest statement of a document is, and the likest with the same numbers; -1 of none.
        Looked for once: of two price lists each row of one is beside each row of the other.
        """
        key = id(one), document
        if key not in self._nearest:
            found = [
                (said, rival.said == one.said)
                for rival in self._statements[document]
                if _units(rival) & _units(one) and _same_subject(one, rival)
                if (said := self._likeness(one, rival)) is not None
            ]
            agreeing = max((said for said, same in found if same), default=-1.0)
            self._nearest[key] = max((said for said, _ in found), default=-1.0), agreeing
        return self._nearest[key]

    def _likeness(self, one: NumberStatement, other: NumberStatement) -> float | None:
        """The share of either's words that the other one says, the smaller; None where they are told apart."""
        left, right = self._beyond(one, other), self._beyond(other, one)
        if self._apart(left, right) or _one_slot(one, other, left, right) or _parallel(one, other):
            return None
        shares = self._share(one, left, right, other), self._share(other, right, left, one)
        return sum(shares) / 2 + (SAME_HEADING if _heading(one) and _heading(one) == _heading(other) else 0)

    def _beyond(self, one: NumberStatement, other: NumberStatement) -> list[str]:
        """Words that the other one does not say, nor its headings."""
        known = one.subject + other.subject
        return [
            word for word in one.words if word not in other.sentence and word not in other.context and word not in known
        ]

    def _apart(self, left: Sequence[str], right: Sequence[str]) -> bool:
        """A condition that only one of them has, or each its own."""
        return any(self._slots.get(word) for word in (*left, *right))

    def _share(self, one: NumberStatement, left: Sequence[str], right: Sequence[str], other: NumberStatement) -> float:
        known = one.subject + other.subject
        own = [word for word in dict.fromkeys(one.words) if len(word) == 1 or word not in known]
        total = sum(map(self._weight, own))
        near = "".join(right)
        lost = sum(self._weight(word) * (0.5 if set(word) & set(near) else 1) for word in dict.fromkeys(left))
        return 1 - lost / total if total else 0.0

    def _weight(self, word: str) -> float:
        return self._weights.get(word, 1.0) * min(len(word), 2)


def _one_slot(one: NumberStatement, other: NumberStatement, left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether they are the same sentence but for one word."""
    if len(left) != 1 or len(right) != 1 or not _may_oppose(left[0], right[0]):
        return False
    return [word for word in one.words if word != left[0]] == [word for word in other.words if word != right[0]]


def _heading(statement: NumberStatement) -> str:
    path = statement.chunk.heading_path
    return tight(path[-1]) if path and path[-1] != statement.chunk.document.title else ""


def _slots(statements: Sequence[NumberStatement]) -> Slots:
    """Words that stand in each other's place in statements that are otherwise the same, about the same or not, and both
    of which a document uses: who says both means two things.
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
                found[word] |= {other for other in words_there - {word} if _may_oppose(word, other)}
    together: dict[str, set[str]] = defaultdict(set)
    said: dict[tuple[str, str], set[str]] = defaultdict(set)
    for one in statements:
        for unit in _units(one):
            said[one.chunk.document.id, unit] |= set(one.words)
    for words_said in said.values():
        for word in words_said & found.keys():
            together[word] |= found[word] & words_said
    return {word: frozenset(others) for word, others in together.items() if others}


def _may_oppose(word: str, other: str) -> bool:
    """Opposites are of one build: 设 and 一共 only happen to be in one place, 费用 and 收费 are of one root."""
    if any(word.find(character) not in (-1, at) for at, character in enumerate(other)):
        return False
    return len(word) == len(other) or min(len(word), len(other)) > 1


def _units(statement: NumberStatement) -> frozenset[str]:
    return frozenset(unit for _, unit in statement.said)


def _differing(one: frozenset[Quantity], other: frozenset[Quantity]) -> tuple[Quantity, Quantity] | None:
    """The numbers that stand against each other: one of a kind, or the ends of a span; None where other things differ
    too, a threshold for example.
    """
    left, right = sorted(one - other), sorted(other - one)
    if not left or len(left) != len(right) or len(one) != len(other):
        return None
    units = {unit for _, unit in (*left, *right)}
    if len(units) != 1 or (len(left) > 1 and units != {"time"}):
        return None
    if units <= _DURATIONS and not _comparable(left[0][0], right[0][0]):
        return None
    return left[0], right[0]


def _comparable(one: str, other: str) -> bool:
    """Whether one thing may measure either: a stay of 20 minutes is not one of 60 days."""
    small, large = sorted(abs(Decimal(value)) for value in (one, other))
    return large <= small * WIDEST


def _same_subject(one: NumberStatement, other: NumberStatement) -> bool:
    if one.names != other.names and not (one.names | other.names) <= _named_above(one, other):
        return False
    here = one.subject in other.sentence or one.subject in other.context
    there = other.subject in one.sentence or other.subject in one.context
    return (here and (there or one.subject in other.sentence)) or (there and other.subject in one.sentence)


def _named_above(one: NumberStatement, other: NumberStatement) -> frozenset[str]:
    """Names that both have in the sentence or above it."""
    return frozenset(
        name
        for name in one.names | other.names
        if all(tight(name) in side.sentence or tight(name) in side.context for side in (one, other))
    )


def _says(statement: NumberStatement, subject: str) -> bool:
    return subject in statement.sentence or subject in statement.context


def _spread(statements: Sequence[NumberStatement]) -> Mapping[str, int]:
    """In how many documents each subject is spoken of."""
    told: dict[str, set[str]] = defaultdict(set)
    for one in statements:
        told[one.chunk.document.id] |= {one.sentence, one.context}
    texts = ["\n".join(of_document) for of_document in told.values()]
    return {subject: sum(subject in text for text in texts) for subject in {one.subject for one in statements}}


def _parallel(one: NumberStatement, other: NumberStatement) -> bool:
    """Headings of one pattern that name two things: 成人票 and 儿童票."""
    left, right = _heading(one), _heading(other)
    if left == right or not left or not right or left in right or right in left:
        return False
    return left[-1] == right[-1] and left not in other.sentence and right not in one.sentence


def _told(value: Quantity) -> str:
    return f"{value[0]}{_UNITS.get(value[1], value[1])}"
