"""Reads a question for the choice of sentences."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from agents.generator import Request
from agents.understanding.answer_type import MEASURES, AnswerType, detect_answer_types
from agents.understanding.question_words import strip_question_words
from knowledge.codes import Code, find_codes, find_question_codes
from knowledge.english import is_chinese, is_english, list_chinese_words
from knowledge.text import Analyzer, fold

# Of a term that only the questions before hold: they say what it is about, the question what is asked.
EARLIER_WEIGHT = 0.3
ASKED_WEIGHT = 0.4
_EXACT = MEASURES | {AnswerType.CONTACT}


@dataclass(frozen=True, slots=True)
class AskedTerms:
    """A folded question: shares of its terms, which add up to 1, types of answer it asks for, and models it names.
    Terms that no fragment holds weigh nothing; `own` are those of the message, not of earlier questions; `before`
    are these, folded, the last one first.
    """

    question: str
    before: tuple[str, ...]
    weights: dict[str, float]
    own: frozenset[str]
    kinds: tuple[AnswerType, ...]
    models: tuple[Code, ...]
    # Cached terms of texts.
    terms_by_text: dict[str, frozenset[str]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def is_way_asked(self) -> bool:
        """Whether it asks for a way or an enumeration, which is quoted as a whole."""
        return AnswerType.STEPS in self.kinds or AnswerType.LIST in self.kinds

    @property
    def exact_types(self) -> frozenset[AnswerType]:
        """The types that a text surely has or has not; none where a way is asked for too."""
        return frozenset() if self.is_way_asked else _EXACT & frozenset(self.kinds)

    @property
    def measured_types(self) -> tuple[AnswerType, ...]:
        """The amounts and times among what it asks for."""
        return tuple(kind for kind in self.kinds if kind in MEASURES)

    def compute_share(self, terms: frozenset[str]) -> float:
        """Returns the share of the question that the terms make up."""
        return sum([self.weights[term] for term in terms])

    def compute_own_share(self, terms: frozenset[str]) -> float:
        """Returns the same share of the message alone."""
        return self.compute_share(terms & self.own) / (self.compute_share(self.own) or 1.0)


class QuestionReader:
    """Reads questions, and tells which of their terms a text holds."""

    def __init__(self, analyzer: Analyzer) -> None:
        """analyzer: the one that made the questions' terms."""
        self._tokens = analyzer.tokenize
        self._occurring = lru_cache(maxsize=8192)(analyzer.find_occurrences)  # the same passages answer most questions

    def read_terms(self, request: Request) -> AskedTerms:
        """Returns the terms of a request's question. Words that only ask weigh nothing; unknown terms weigh
        the mean.
        """
        question, context = (_translate_question(text, request) for text in (request.question, request.context))
        content = dict.fromkeys(self._tokens(strip_question_words(question)))
        kinds = detect_answer_types(request.question)
        earlier = dict.fromkeys(self._tokens(strip_question_words(context)), EARLIER_WEIGHT)
        if not kinds:  # what only adds or corrects something is asked by the question before it
            earlier |= dict.fromkeys(self._tokens(strip_question_words(context.rpartition("\n")[2])), ASKED_WEIGHT)
        idf = dict(zip(request.terms, request.idf, strict=True))
        usual = sum(idf.values()) / len(idf) if idf else 1.0
        weights = {term: weight * idf.get(term, usual) for term, weight in earlier.items()}
        weights |= {term: idf.get(term, usual) for term in content or ({} if earlier else request.terms)}
        if not weights:
            weights = dict.fromkeys(self._tokens(request.question), 1.0)
        texts = (f"{chunk.above}\n{chunk.text}" for chunk in request.chunks.values())
        found = frozenset[str]().union(*(self._occurring(text).find_among(weights) for text in texts))
        weights = {term: weight * (term in found) for term, weight in weights.items()}
        total = sum(weights.values()) or 1.0
        shares = {term: weight / total for term, weight in weights.items()}
        kinds = kinds or detect_answer_types(request.context.rpartition("\n")[2])
        named = find_question_codes(request.question) or find_codes(request.context)
        before = tuple(map(fold, reversed(context.splitlines())))
        return AskedTerms(fold(question), before, shares, frozenset(content) & shares.keys(), kinds, named)

    def find_held_terms(self, text: str, wanted: AskedTerms) -> frozenset[str]:
        """Returns the question's terms that a text holds."""
        if (terms := wanted.terms_by_text.get(text)) is None:
            terms = wanted.terms_by_text[text] = self._occurring(text).find_among(wanted.weights)
        return terms


def _translate_question(text: str, request: Request) -> str:
    """Returns an English question in Chinese words, as far as known, where it is answered from Chinese text.

    Where none is known, the type of answer and the order of the passages choose the sentences.
    """
    foreign = is_english(text) and bool(request.fragments) and is_chinese(request.fragments[0].chunk.text)
    return list_chinese_words(text) if foreign else text
