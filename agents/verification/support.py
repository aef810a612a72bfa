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
from agents.verification.claims import split_clauses, split_parts
from agents.verification.conditions import ConditionCheck
from agents.verification.evidence import FragmentEvidence, Statement, build_evidence
from agents.verification.head import estimate_claim_chance
from agents.verification.meaning import ClaimMeaning
from agents.verification.names import remove_joints
from agents.verification.polarity import is_contradiction
from agents.verification.quantities import Quantity, is_known, is_same_kind
from agents.verification.wording import compute_parallel_share, has_swapped_words
from knowledge.text import fold
from knowledge.types import Chunk

# Share of a sentence's pairs of characters that a span has to hold. Of 26 natural paraphrases of service texts the
# lowest reaches .50, of 18 inventions about the same topics the highest without a wrong number .25.
MIN_COVERAGE = 0.4
# A claim of so few pairs is a bare answer: 广州恒大 is not held up by 广州.
SHORT_PAIRS, MIN_SHORT_COVERAGE = 3, 0.6
# Coverage from which one sentence is what the claim was made of: what differs there is wrong, not said elsewhere.
CLOSE = 0.75
# Spans with less than this share of the best one's coverage speak of something else; the second once one is close.
NEAREST, NEAREST_CLOSE = 0.7, 0.85
# Share of a claim's characters, in order, from which it repeats a sentence.
ECHO = 0.85
# A claim of fewer is a bare answer to the question, which says the rest: the head says nothing of it.
MIN_PAIRS = 4
# Chance from which a claim stands, with vectors and without: of 200 claims by somebody who had not seen the code, a
# fifth of those that are right fall below either. With vectors it may stand in words that no fragment has.
LEAST, LEAST_BY_WORDS = 0.62, 0.47
_ITEM = re.compile(r"^\s*(?:\d{1,2}(?:[、)）．]|\.(?!\d))|[（(]\d{1,2}[)）]|[-*•·](?!\d))\s*")


Cut = Callable[[str], list[str]]


class Support(Enum):
    """What the fragments say of a sentence."""

    SUPPORTED = "supported"
    # It states nothing: 步骤如下：
    NEUTRAL = "neutral"
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
        """The numbers of the chunks that a reply may cite."""
        return frozenset(self._chunks)

    @cached_property
    def _evidence(self) -> dict[int, FragmentEvidence]:
        """The evidence of each chunk, by its number.

        Built at the first check: by then the first tokens are on their way.
        """
        return {number: build_evidence(chunk) for number, chunk in self._chunks.items()}

    @cached_property
    def _conditions(self) -> ConditionCheck:
        return ConditionCheck(self._chunks.values(), self._question)

    def check_sentence(self, sentence: str, cited: Iterable[int] = (), meaning: ClaimMeaning | None = None) -> Finding:
        """Checks a sentence against the fragments.

        Args:
            sentence: As the model wrote it.
            cited: Fragments that the model names for it; those that were not given are ignored.
            meaning: By the embedder that the head knows; None goes by words alone.

        Returns:
            Whether it is supported, and by which fragments.
        """
        claim = _build_statement(sentence)
        if claim.is_empty:
            return Finding(Support.NEUTRAL)
        given = tuple(dict.fromkeys(number for number in cited if number in self._evidence))
        if self._is_computed(claim):
            return Finding(Support.SUPPORTED, given or tuple(self._evidence)[:1])
        if quoted := self._find_quotes(claim):
            return Finding(
                Support.SUPPORTED, tuple(number for number in given if number in quoted) or quoted[:1], quoted=True
            )
        holders = self._find_support(sentence, claim, given, cited=bool(given)) if given else ()
        holders = holders or self._find_support(sentence, claim, tuple(self._evidence), cited=False)
        stands = self._weigh_claim(claim, holders, meaning)
        if stands:
            return Finding(Support.SUPPORTED, stands)
        return Finding(Support.NEUTRAL if claim.is_announcement else Support.UNSUPPORTED)

    def is_weighed_by_meaning(self, sentence: str) -> bool:
        """Whether the head weighs a sentence, if it knows what it means: not what is quoted, bare or foreign."""
        claim = _build_statement(sentence)
        return len(claim.pairs) >= MIN_PAIRS and not claim.is_foreign and not self._find_quotes(claim)

    def _find_quotes(self, claim: Statement) -> tuple[int, ...]:
        return tuple(number for number, evidence in self._evidence.items() if claim.text in evidence.texts)

    def compute_features(self, sentence: str) -> dict[str, float]:
        """Computes the features of a sentence by its words, by `WORDS`; empty where the fragments assert nothing."""
        claim = _build_statement(sentence)
        return self._compute_word_features(
            claim, self._find_support(sentence, claim, tuple(self._evidence), cited=False)
        )

    def _compute_word_features(self, claim: Statement, holders: Sequence[int]) -> dict[str, float]:
        features = self._conditions.compute_features(claim)
        return {**features, "held": float(bool(holders))} if features else {}

    def _weigh_claim(self, claim: Statement, holders: tuple[int, ...], meaning: ClaimMeaning | None) -> tuple[int, ...]:
        """Returns the fragments that support a claim by all that is known; none where it does not hold."""
        if len(claim.pairs) < MIN_PAIRS or claim.is_foreign or not (holders or meaning):
            return holders
        words = self._compute_word_features(claim, holders)
        if not words:
            return holders
        if meaning is None:
            return holders if estimate_claim_chance(words, None) >= LEAST_BY_WORDS else ()
        if estimate_claim_chance(words, meaning.compute_features()) < LEAST:
            return ()
        if not holders and any(self._has_facts(claim, evidence) for evidence in self._evidence.values()):
            return (meaning.nearest_fragment,)
        return holders

    def _has_facts(self, claim: Statement, evidence: FragmentEvidence) -> bool:
        """Whether a fragment, what it is called and the question have all numbers and names of a claim."""
        texts = (evidence.whole_text, evidence.named)
        return self._has_known_numbers(claim, texts) and self._has_known_names(claim, texts, evidence)

    def _is_computed(self, claim: Statement) -> bool:
        computed = self._computed
        return (
            bool(computed.text)
            and claim.compute_coverage(computed.words) >= CLOSE
            and self._has_known_numbers(claim, ())
        )

    def find_quote(self, sentence: str, fragment: int) -> str:
        """Returns the sentence of a fragment that supports this one most."""
        claim, evidence = Statement(fold(sentence)), self._evidence[fragment]
        scored = [claim.compute_coverage(statement.words) for statement in evidence.sentences]
        return evidence.quotes[scored.index(max(scored))] if scored else ""

    def find_block(self, sentence: str) -> tuple[int, str] | None:
        """Finds the block of a fragment that a sentence is about, to be quoted instead; None where none is near."""
        claim = _build_statement(sentence)
        best = max(
            (
                (claim.compute_coverage(Statement(fold(unit.text)).words), -number, unit.text)
                for number, chunk in self._chunks.items()
                for unit in split_units(build_passage(number, chunk))
            ),
            default=(0.0, 0, ""),
        )
        return (-best[1], best[2]) if best[0] >= MIN_COVERAGE else None

    def _find_support(
        self, sentence: str, claim: Statement, candidates: Sequence[int], *, cited: bool
    ) -> tuple[int, ...]:
        """Finds the fragments that support a sentence, as a whole or part by part; none when a part has no support."""
        if cited and self._is_translation(claim, candidates):
            return tuple(candidates)
        holders = self._find_holders(claim, candidates)
        if holders:
            return tuple(number for number in candidates if number in holders) if cited else holders[:1]
        found = self._find_support_by_parts(sentence, claim, candidates, (split_parts, split_clauses))
        return tuple(number for number in candidates if number in found)

    def _find_support_by_parts(
        self, text: str, claim: Statement, candidates: Sequence[int], cuts: Sequence[Cut]
    ) -> tuple[int, ...]:
        """Finds fragments that each say some part; none when one sentence is near enough to have been contradicted."""
        if not cuts or self._find_best_coverage(claim, candidates) >= CLOSE:
            return ()
        pieces = cuts[0](text)
        if len(pieces) < 2:
            return self._find_support_by_parts(text, claim, candidates, cuts[1:])
        found: dict[int, None] = {}
        for piece in pieces:
            statement = _build_statement(piece)
            holders = self._find_holders(statement, candidates)[:1] or self._find_support_by_parts(
                piece, statement, candidates, cuts[1:]
            )
            if not holders and not statement.is_empty:
                return ()
            found |= dict.fromkeys(holders)
        return tuple(found)

    def _find_holders(self, claim: Statement, candidates: Sequence[int]) -> tuple[int, ...]:
        """Finds fragments with a span that says it, best first."""
        best = self._find_best_coverage(claim, candidates)
        echoes = {span for number in candidates for span in self._find_echoes(claim, self._evidence[number], best)}
        scored = []
        for number in candidates:
            coverage = self._find_coverage(claim, self._evidence[number], best, echoes)
            if coverage is not None:
                scored.append((-coverage, number))
        return tuple(number for _, number in sorted(scored))

    def _find_best_coverage(self, claim: Statement, candidates: Sequence[int]) -> float:
        """Returns the highest coverage that one sentence reaches."""
        evidence = [self._evidence[number] for number in candidates]
        spans = ((span, item) for item in evidence for span in item.sentences)
        return max((self._compute_coverage(claim, span, item) for span, item in spans), default=0.0)

    def _find_echoes(self, claim: Statement, evidence: FragmentEvidence, best: float) -> list[Statement]:
        """Finds sentences that a claim repeats nearly word by word: no other may support it then."""
        if best < CLOSE:
            return []
        echoes = (span for span in evidence.sentences if self._compute_coverage(claim, span, evidence) >= CLOSE)
        return [span for span in echoes if compute_parallel_share(claim.text, span.text) >= ECHO]

    def _find_coverage(
        self, claim: Statement, evidence: FragmentEvidence, best: float, echoes: Collection[Statement]
    ) -> float | None:
        """Returns the coverage of the span of a fragment that says it, None without one. best: that of the nearest
        sentence of all fragments.
        """
        floor = max(
            MIN_COVERAGE if len(claim.pairs) > SHORT_PAIRS else MIN_SHORT_COVERAGE,
            (NEAREST_CLOSE if best >= CLOSE else NEAREST) * best,
        )
        spans = evidence.sentences if best >= CLOSE else (*evidence.sentences, *evidence.windows)
        spans = tuple(span for span in spans if span in echoes) if echoes else spans
        for coverage, span in sorted(
            ((self._compute_coverage(claim, span, evidence), span) for span in spans), key=_rank_coverage
        ):
            if coverage < floor:
                return None
            if self._has_same_facts(claim, span, evidence) and (
                not claim.is_bare or self._is_on_topic(claim, span, evidence)
            ):
                return coverage
        return None

    def _is_on_topic(self, claim: Statement, span: Statement, evidence: FragmentEvidence) -> bool:
        """Whether a span speaks of the question: a date that stands alone may be the date of anything."""
        if not self._asked.pairs:
            return True
        return bool(span.pairs and self._asked.pairs & evidence.whole_text.pairs) and not self._is_outweighed(claim)

    def _is_outweighed(self, claim: Statement) -> bool:
        """Whether a claim is a bare number or date, and the fragments give another one nearer to the question or more
        often.
        """
        if len(claim.numbers.stated) != 1:
            return False
        (answer,) = claim.numbers.stated
        weights: Counter[Quantity] = Counter()
        for evidence in self._evidence.values():
            nearest: dict[Quantity, float] = {}
            for span in evidence.sentences:
                if not all(is_known(number, span.numbers.known) for number in self._asked.numbers.stated):
                    continue  # of another year
                for number in (number for number in span.numbers.stated if is_same_kind(number, answer)):
                    nearest[number] = max(nearest.get(number, 0.0), self._asked.compute_coverage(span.words))
            weights.update(nearest)
        return any(weight > weights[answer] for weight in weights.values())

    def _compute_coverage(self, claim: Statement, span: Statement, evidence: FragmentEvidence) -> float:
        return claim.compute_coverage(span.words | evidence.named.pairs)

    def _has_same_facts(self, claim: Statement, span: Statement, evidence: FragmentEvidence) -> bool:
        """Whether a span that has the words has the facts too."""
        return (
            self._has_known_numbers(claim, (span, evidence.named))
            and self._has_known_names(claim, (span, evidence.named), evidence)
            and not is_contradiction(claim.polarity, span.polarity)
            and not evidence.has_mixed_rows(claim, span)
            and not evidence.has_swapped_condition(claim, span, self._asked)
            and not has_swapped_words(claim.text, span.text, evidence.whole_text.text + self._asked.text)
        )

    def _has_known_numbers(self, claim: Statement, texts: Iterable[Statement]) -> bool:
        allowed = self._asked.numbers.known | self._computed.numbers.known
        known = allowed.union(*(text.numbers.known for text in texts))
        return all(is_known(number, known) for number in claim.numbers.stated)

    def _has_known_names(self, claim: Statement, texts: Iterable[Statement], evidence: FragmentEvidence) -> bool:
        known = frozenset().union(self._asked.latin, *(text.latin for text in texts))
        text = evidence.whole_text.joined_text + self._asked.joined_text
        return claim.latin <= known and all(remove_joints(name) in text for name in claim.names)

    def _is_translation(self, claim: Statement, candidates: Sequence[int]) -> bool:
        """Whether a claim is a translation, which shares no words with its source: facts and citation decide."""
        if not (self._english and claim.is_foreign and any(self._evidence[number].is_chinese for number in candidates)):
            return False
        texts = [self._evidence[number].whole_text for number in candidates]
        codes = frozenset(name for name in claim.latin if any(character.isdigit() for character in name))
        return self._has_known_numbers(claim, texts) and codes <= frozenset().union(*(text.latin for text in texts))


def _build_statement(text: str) -> Statement:
    return Statement(fold(_ITEM.sub("", text)).strip())


def _rank_coverage(pair: tuple[float, Statement]) -> float:
    return -pair[0]
