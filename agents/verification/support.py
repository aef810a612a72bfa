"""Whether a sentence that a model wrote is held up by the fragments it was given.

No model judges a model here. A sentence is held up by a span of one fragment that has enough of its words, all of its
numbers and names, and says the same and not the opposite. Fragments are looked at without the sentences that address
a model, so an order that was obeyed has nothing to stand on.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from agents.passages.units import build_passage, split_units
from agents.verification.claims import clauses, parts
from agents.verification.conditions import ConditionCheck
from agents.verification.evidence import FragmentEvidence, Statement, evidence_of
from agents.verification.head import claim_chance
from agents.verification.meaning import ClaimMeaning
from agents.verification.names import joined
from agents.verification.polarity import contradicts
from agents.verification.quantities import Quantity, is_known, same_kind
from agents.verification.wording import parallel, swapped
from knowledge.text import fold
from knowledge.types import Chunk

MIN_COVERAGE = 0.4
"""Share of a sentence's pairs of characters that a span has to hold. Of 26 natural paraphrases of service texts the
lowest reaches .50, of 18 inventions about the same topics the highest without a wrong number .25."""
SHORT_PAIRS, MIN_SHORT_COVERAGE = 3, 0.6
"""A claim of so few pairs is a bare answer: 广州恒大 is not held up by 广州."""
CLOSE = 0.75
"""Coverage from which one sentence is what the claim was made of: what differs there is wrong, not said elsewhere."""
NEAREST, NEAREST_CLOSE = 0.7, 0.85
"""Spans with less than this share of the best one's coverage speak of something else; the second once one is close."""
ECHO = 0.85
"""Share of a claim's characters, in order, from which it repeats a sentence."""
MIN_PAIRS = 4
"""A claim of fewer is a bare answer to the question, which says the rest: the head says nothing of it."""
LEAST, LEAST_BY_WORDS = 0.62, 0.47
"""Chance from which a claim stands, with vectors and without: of 200 claims by somebody who had not seen the code, a
fifth of those that are right fall below either. With vectors it may stand in words that no fragment has.
"""
_ITEM = re.compile(r"^\s*(?:\d{1,2}(?:[、)）．]|\.(?!\d))|[（(]\d{1,2}[)）]|[-*•·](?!\d))\s*")


Cut = Callable[[str], list[str]]


class Support(Enum):
    """What the fragments say of a sentence."""

    SUPPORTED = "supported"
    NEUTRAL = "neutral"
    """It states nothing: 步骤如下："""
    UNSUPPORTED = "unsupported"


@dataclass(frozen=True, slots=True)
class Finding:
    """`fragments` hold the sentence up: those it cites, where they do; none unless supported. quoted: word for word."""

    support: Support
    fragments: tuple[int, ...] = ()
    quoted: bool = False


class SupportChecker:
    """chunks: what the model was given, by fragment number; question: numbers and names in it may be repeated;
    english: the reply may be a translation; computed: a sentence that follows from the chunks and may be said, too.
    """

    def __init__(
        self, chunks: Mapping[int, Chunk], question: str, *, english: bool = False, computed: str = ""
    ) -> None:
        self._chunks = chunks
        self._english = english
        self._question = question
        self._asked = Statement(fold(question))
        self._computed = Statement(fold(computed))

    @property
    def fragments(self) -> frozenset[int]:
        """The numbers of the chunks."""
        return frozenset(self._chunks)

    @cached_property
    def _evidence(self) -> dict[int, FragmentEvidence]:
        """Made at the first check: by then the first tokens are on their way."""
        return {number: evidence_of(chunk) for number, chunk in self._chunks.items()}

    @cached_property
    def _conditions(self) -> ConditionCheck:
        return ConditionCheck(self._chunks.values(), self._question)

    def check(self, sentence: str, cited: Iterable[int] = (), meaning: ClaimMeaning | None = None) -> Finding:
        """cited: fragments that the model names for the sentence; any that were not given are ignored. meaning: by the
        embedder that the head knows; None goes by words alone.
        """
        claim = _statement(sentence)
        if claim.empty:
            return Finding(Support.NEUTRAL)
        given = tuple(dict.fromkeys(number for number in cited if number in self._evidence))
        if self._repeats_computed(claim):
            return Finding(Support.SUPPORTED, given or tuple(self._evidence)[:1])
        if quoted := self._quoted(claim):
            return Finding(
                Support.SUPPORTED, tuple(number for number in given if number in quoted) or quoted[:1], quoted=True
            )
        holders = self._held_up(sentence, claim, given, cited=bool(given)) if given else ()
        holders = holders or self._held_up(sentence, claim, tuple(self._evidence), cited=False)
        stands = self._weigh(claim, holders, meaning)
        if stands:
            return Finding(Support.SUPPORTED, stands)
        return Finding(Support.NEUTRAL if claim.announces else Support.UNSUPPORTED)

    def goes_by_meaning(self, sentence: str) -> bool:
        """Whether the head weighs a sentence, if it knows what it means: not what is quoted, bare or foreign."""
        claim = _statement(sentence)
        return len(claim.pairs) >= MIN_PAIRS and not claim.foreign and not self._quoted(claim)

    def _quoted(self, claim: Statement) -> tuple[int, ...]:
        return tuple(number for number, evidence in self._evidence.items() if claim.text in evidence.texts)

    def features(self, sentence: str) -> dict[str, float]:
        """Of a sentence by its words, `WORDS` by name; empty where the fragments assert nothing."""
        claim = _statement(sentence)
        return self._words(claim, self._held_up(sentence, claim, tuple(self._evidence), cited=False))

    def _words(self, claim: Statement, holders: Sequence[int]) -> dict[str, float]:
        features = self._conditions.features(claim)
        return {**features, "held": float(bool(holders))} if features else {}

    def _weigh(self, claim: Statement, holders: tuple[int, ...], meaning: ClaimMeaning | None) -> tuple[int, ...]:
        """The fragments that a claim stands on by all that is known; none where it does not stand."""
        if len(claim.pairs) < MIN_PAIRS or claim.foreign or not (holders or meaning):
            return holders
        words = self._words(claim, holders)
        if not words:
            return holders
        if meaning is None:
            return holders if claim_chance(words, None) >= LEAST_BY_WORDS else ()
        if claim_chance(words, meaning.features()) < LEAST:
            return ()
        if not holders and any(self._knows_facts(claim, evidence) for evidence in self._evidence.values()):
            return (meaning.nearest_fragment,)
        return holders

    def _knows_facts(self, claim: Statement, evidence: FragmentEvidence) -> bool:
        """Whether a fragment, what it is called and the question have all numbers and names of a claim."""
        texts = (evidence.whole, evidence.named)
        return self._numbers_known(claim, texts) and self._names_known(claim, texts, evidence)

    def _repeats_computed(self, claim: Statement) -> bool:
        computed = self._computed
        return bool(computed.text) and claim.coverage(computed.words) >= CLOSE and self._numbers_known(claim, ())

    def quote(self, sentence: str, fragment: int) -> str:
        """The sentence of a fragment that holds this one up most."""
        claim, evidence = Statement(fold(sentence)), self._evidence[fragment]
        scored = [claim.coverage(said.words) for said in evidence.sentences]
        return evidence.quotes[scored.index(max(scored))] if scored else ""

    def find_block(self, sentence: str) -> tuple[int, str] | None:
        """The block of a fragment that a sentence is about, to be quoted in its place; None where none is near."""
        claim = _statement(sentence)
        best = max(
            (
                (claim.coverage(Statement(fold(unit.text)).words), -number, unit.text)
                for number, chunk in self._chunks.items()
                for unit in split_units(build_passage(number, chunk))
            ),
            default=(0.0, 0, ""),
        )
        return (-best[1], best[2]) if best[0] >= MIN_COVERAGE else None

    def _held_up(self, sentence: str, claim: Statement, candidates: Sequence[int], *, cited: bool) -> tuple[int, ...]:
        """The fragments that hold a sentence up, as a whole or part by part; none when a part stands alone."""
        if cited and self._translated(claim, candidates):
            return tuple(candidates)
        holders = self._holders(claim, candidates)
        if holders:
            return tuple(number for number in candidates if number in holders) if cited else holders[:1]
        found = self._by_parts(sentence, claim, candidates, (parts, clauses))
        return tuple(number for number in candidates if number in found)

    def _by_parts(self, text: str, claim: Statement, candidates: Sequence[int], cuts: Sequence[Cut]) -> tuple[int, ...]:
        """Fragments that each say some part; none when one sentence is near enough to have been contradicted."""
        if not cuts or self._best(claim, candidates) >= CLOSE:
            return ()
        pieces = cuts[0](text)
        if len(pieces) < 2:
            return self._by_parts(text, claim, candidates, cuts[1:])
        found: dict[int, None] = {}
        for piece in pieces:
            statement = _statement(piece)
            holders = self._holders(statement, candidates)[:1] or self._by_parts(piece, statement, candidates, cuts[1:])
            if not holders and not statement.empty:
                return ()
            found |= dict.fromkeys(holders)
        return tuple(found)

    def _holders(self, claim: Statement, candidates: Sequence[int]) -> tuple[int, ...]:
        """Fragments with a span that says it, best first."""
        best = self._best(claim, candidates)
        echoes = {span for number in candidates for span in self._echoes(claim, self._evidence[number], best)}
        scored = []
        for number in candidates:
            coverage = self._said_by(claim, self._evidence[number], best, echoes)
            if coverage is not None:
                scored.append((-coverage, number))
        return tuple(number for _, number in sorted(scored))

    def _best(self, claim: Statement, candidates: Sequence[int]) -> float:
        """Highest coverage that one sentence reaches."""
        evidence = [self._evidence[number] for number in candidates]
        spans = ((span, item) for item in evidence for span in item.sentences)
        return max((self._covered(claim, span, item) for span, item in spans), default=0.0)

    def _echoes(self, claim: Statement, evidence: FragmentEvidence, best: float) -> list[Statement]:
        """Sentences that a claim repeats all but word by word: no other may speak for it then."""
        if best < CLOSE:
            return []
        near = (span for span in evidence.sentences if self._covered(claim, span, evidence) >= CLOSE)
        return [span for span in near if parallel(claim.text, span.text) >= ECHO]

    def _said_by(
        self, claim: Statement, evidence: FragmentEvidence, best: float, echoes: Collection[Statement]
    ) -> float | None:
        """Coverage of the span of a fragment that says it. best: that of the nearest sentence of all fragments."""
        floor = max(
            MIN_COVERAGE if len(claim.pairs) > SHORT_PAIRS else MIN_SHORT_COVERAGE,
            (NEAREST_CLOSE if best >= CLOSE else NEAREST) * best,
        )
        spans = evidence.sentences if best >= CLOSE else (*evidence.sentences, *evidence.windows)
        spans = tuple(span for span in spans if span in echoes) if echoes else spans
        for coverage, span in sorted(((self._covered(claim, span, evidence), span) for span in spans), key=_first):
            if coverage < floor:
                return None
            if self._agrees(claim, span, evidence) and (not claim.bare or self._on_topic(claim, span, evidence)):
                return coverage
        return None

    def _on_topic(self, claim: Statement, span: Statement, evidence: FragmentEvidence) -> bool:
        """Whether a span speaks of the question: a date that stands alone may be the date of anything."""
        if not self._asked.pairs:
            return True
        return bool(span.pairs and self._asked.pairs & evidence.whole.pairs) and not self._outweighed(claim)

    def _outweighed(self, claim: Statement) -> bool:
        """A bare number or date, where the fragments give another one of its kind nearer to the question or oftener."""
        if len(claim.numbers.said) != 1:
            return False
        (answer,) = claim.numbers.said
        weights: Counter[Quantity] = Counter()
        for evidence in self._evidence.values():
            nearest: dict[Quantity, float] = {}
            for span in evidence.sentences:
                if not all(is_known(number, span.numbers.known) for number in self._asked.numbers.said):
                    continue  # of another year
                for number in (number for number in span.numbers.said if same_kind(number, answer)):
                    nearest[number] = max(nearest.get(number, 0.0), self._asked.coverage(span.words))
            weights.update(nearest)
        return any(weight > weights[answer] for weight in weights.values())

    def _covered(self, claim: Statement, span: Statement, evidence: FragmentEvidence) -> float:
        return claim.coverage(span.words | evidence.named.pairs)

    def _agrees(self, claim: Statement, span: Statement, evidence: FragmentEvidence) -> bool:
        """Whether a span that has the words has the facts too."""
        return (
            self._numbers_known(claim, (span, evidence.named))
            and self._names_known(claim, (span, evidence.named), evidence)
            and not contradicts(claim.polarised, span.polarised)
            and not evidence.mixes_rows(claim, span)
            and not evidence.swaps_condition(claim, span, self._asked)
            and not swapped(claim.text, span.text, evidence.whole.text + self._asked.text)
        )

    def _numbers_known(self, claim: Statement, texts: Iterable[Statement]) -> bool:
        allowed = self._asked.numbers.known | self._computed.numbers.known
        known = allowed.union(*(text.numbers.known for text in texts))
        return all(is_known(number, known) for number in claim.numbers.said)

    def _names_known(self, claim: Statement, texts: Iterable[Statement], evidence: FragmentEvidence) -> bool:
        known = frozenset().union(self._asked.latin, *(text.latin for text in texts))
        text = evidence.whole.joined + self._asked.joined
        return claim.latin <= known and all(joined(name) in text for name in claim.names)

    def _translated(self, claim: Statement, candidates: Sequence[int]) -> bool:
        """A translation shares no words with what it translates: its facts and its own citation have to do."""
        if not (self._english and claim.foreign and any(self._evidence[number].chinese for number in candidates)):
            return False
        texts = [self._evidence[number].whole for number in candidates]
        codes = frozenset(name for name in claim.latin if any(character.isdigit() for character in name))
        return self._numbers_known(claim, texts) and codes <= frozenset().union(*(text.latin for text in texts))


def _statement(text: str) -> Statement:
    return Statement(fold(_ITEM.sub("", text)).strip())


def _first(pair: tuple[float, Statement]) -> float:
    return -pair[0]
