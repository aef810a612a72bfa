"""Answers that say otherwise than a document: 支持货到付款, where a passage says 不支持.

Each clause of an answer is compared with the clauses nearest to it in the passages nearest to its question: these say
the same of the same with another number, or a yes and a no. What one of the passages holds up is right, whatever
another one says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.answering.conflicts import split_clauses
from agents.passages.sentences import split_sentences
from agents.verification.conditions import extract_assertions
from agents.verification.evidence import Statement
from agents.verification.polarity import is_contradiction
from agents.verification.quantities import is_known
from agents.verification.support import Support, SupportChecker
from app.quality.checks.statements import find_measure
from app.quality.checks.types import IssueKind, QualityCorpus, QualityIssue, Severity, Steps
from knowledge.text import fold
from knowledge.types import Chunk

# Characters of either side in what people read.
SHOWN = 60
# Of an answer's clause so much has to be said by the passage's sentence and headings, or by the question; and of the
# question itself by these, before a no stands against a yes.
KNOWN = 0.5
# Of two clauses with numbers neither may say more than that of its own.
NEW = 0.34
# Words that two clauses of which one has a number have to share.
SHARED = 2
# Clauses that share this part of what the nearest one shares may speak for the passage, too.
NEAREST = 0.75
# Characters behind a negation, among which there have to be two neighbours that the other side says.
REACH = 3


@dataclass(frozen=True, slots=True)
class _PassageClause:
    """A clause of a passage, or a heading that stands over an item. about: words of which the answer has to say one: of
    the clause, or of the item; sentence: all that it is a part of, with what stands above; key: what it holds for.
    """

    chunk: Chunk
    clause: Statement
    about: frozenset[str]
    sentence: Statement
    key: Statement


def find_answer_conflicts(corpus: QualityCorpus) -> Steps:
    """Finds the conflicts described above. An answer is checked once, however many wordings its question has."""
    for entry in corpus.list_answers():
        yield from _find_conflict(entry, corpus.nearest.get(entry.entry or entry.id, ()))


def _find_conflict(entry: Chunk, nearest: Sequence[Chunk]) -> Steps:
    """Finds the first conflict of one answer."""
    question, clauses = Statement(fold(entry.question or "")), list[_PassageClause]()
    for chunk in nearest:
        clauses += _read_passage(chunk)
        yield None
    titles = frozenset(pair for chunk in nearest for pair in Statement(fold(chunk.document.title)).pairs)
    for sentence in split_sentences(entry.text) if nearest else ():
        for assertion in extract_assertions(Chunk(entry.id, entry.document, 0, sentence.text)):
            for own in split_clauses(assertion):
                other = _find_opposed(own.statement, clauses, question, titles)
                yield None
                if other is not None and not _is_held_up(sentence.text, entry, nearest):
                    yield _build_issue(entry, other.chunk, own.statement.text, other.clause.text)
                    return


def _is_held_up(sentence: str, entry: Chunk, nearest: Sequence[Chunk]) -> bool:
    checker = SupportChecker(dict(enumerate(nearest, 1)), entry.question or "")
    return checker.check_sentence(sentence).support is not Support.UNSUPPORTED


def _read_passage(chunk: Chunk) -> Iterator[_PassageClause]:
    heading = Statement(fold((chunk.heading_path or ("",))[-1]))
    for assertion in extract_assertions(chunk):
        sentence = Statement(f"{assertion.outer.text} {assertion.statement.text}")
        for clause in split_clauses(assertion):
            yield _PassageClause(chunk, clause.statement, clause.statement.pairs, sentence, clause.key)
        yield _PassageClause(chunk, heading, assertion.statement.pairs - heading.pairs, sentence, Statement(""))


def _find_opposed(
    own: Statement, clauses: Sequence[_PassageClause], question: Statement, titles: frozenset[str]
) -> _PassageClause | None:
    """Finds the clause that says otherwise, where none of those nearest to it says the same; None without one."""
    related = [passage for passage in clauses if _is_of_the_same(own, passage, question)]
    denied = [passage for passage in related if _is_denied(own, passage, question, titles)]
    if denied:
        return min(denied, key=lambda passage: len(passage.clause.text))
    if not own.numbers.stated:
        return None
    shared = [len(own.pairs & passage.clause.pairs) for passage in related]
    least = max(SHARED, NEAREST * max(shared, default=0))
    closest = [passage for passage, count in zip(related, shared, strict=True) if count >= least]
    if any(all(is_known(one, passage.sentence.numbers.known) for one in own.numbers.stated) for passage in closest):
        return None
    return next((passage for passage in closest if _has_other_number(own, passage, question)), None)


def _is_of_the_same(own: Statement, passage: _PassageClause, question: Statement) -> bool:
    if not own.pairs & passage.clause.pairs or not own.pairs & passage.about:
        return False
    return (
        own.latin | question.latin <= passage.sentence.latin
        and _compute_share(own, passage.sentence.pairs | question.pairs) >= KNOWN
    )


def _is_denied(own: Statement, passage: _PassageClause, question: Statement, titles: frozenset[str]) -> bool:
    """Whether a clause says no of what the answer says yes of, or the other way round. What titles say already is
    denied by nothing below them.
    """
    clause = passage.clause
    if clause.numbers.stated or not is_contradiction(own.polarity, clause.polarity):
        return False
    shared = own.pairs & clause.pairs
    if not clause.pairs & question.pairs or not shared - titles or (own.numbers.stated and len(shared) < SHARED):
        return False
    if _compute_share(question, passage.sentence.pairs) < KNOWN:
        return False
    if _compute_likeness(own, passage, question) >= 1 - NEW and (own.polarity.negations or clause.polarity.negations):
        return True
    return (_is_denied_in(own, clause) or _is_denied_in(clause, own)) and _is_lead_known(own, clause, question)


def _is_denied_in(one: Statement, other: Statement) -> bool:
    """Whether what one clause denies is said by the other one: 不能与教育优惠同享 says nothing of 有教育优惠."""
    text = one.polarity.text
    spans = [text[at : at + REACH] for at in one.polarity.negations]
    return any(span[at : at + 2] in other.pairs for span in spans for at in range(len(span) - 1))


def _is_lead_known(own: Statement, clause: Statement, question: Statement) -> bool:
    """Whether what a clause says before the last that both say is mostly known: conditions stand in front."""
    ordered = Statement(clause.polarity.text).ordered_pairs
    last = max((place for place, pair in enumerate(ordered) if pair in own.pairs), default=None)
    return last is not None and 2 * sum(pair not in own.pairs | question.pairs for pair in ordered[:last]) <= last


def _has_other_number(own: Statement, passage: _PassageClause, question: Statement) -> bool:
    """Whether the two say the same but for one number of a unit."""
    left = [find_measure(each, own.text) for each in own.numbers.stated - passage.clause.numbers.stated]
    right = [find_measure(each, passage.clause.text) for each in passage.clause.numbers.stated - own.numbers.stated]
    if len(left) != 1 or len(right) != 1 or left[0] is None or right[0] is None:
        return False
    return left[0][1] == right[0][1] and _compute_likeness(own, passage, question) >= 1 - NEW


def _compute_likeness(own: Statement, passage: _PassageClause, question: Statement) -> float:
    """Returns the share of either clause that the other one, its surroundings and the question say."""
    known = own.pairs | question.pairs | passage.key.pairs
    return min(_compute_share(own, passage.sentence.pairs | question.pairs), _compute_share(passage.clause, known))


def _compute_share(one: Statement, known: frozenset[str]) -> float:
    """Returns the share of the characters of a clause that belong to a known word."""
    text, words, found = one.numbers.rest, set[int](), set[int]()
    for at in range(len(text) - 1):
        pair = text[at : at + 2]
        if pair in one.pairs:
            words |= {at, at + 1}
            found |= {at, at + 1} if pair in known else set()
    return len(found) / len(words) if words else 0.0


def _build_issue(entry: Chunk, passage: Chunk, own: str, other: str) -> QualityIssue:
    detail = f"“{entry.question}”答“{own[:SHOWN]}”，而《{passage.document.title}》说“{other[:SHOWN]}”"
    return QualityIssue(
        IssueKind.ANSWER_CONFLICT, Severity.HIGH, entry.document.id, entry, passage, detail, (own, other)
    )
