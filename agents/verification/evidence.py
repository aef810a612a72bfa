"""What a claim says and what a fragment says, in one form: words, numbers, names, negations."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

from agents.passages.units import split_quotable_sentences
from agents.verification.claims import split_clauses, split_parts
from agents.verification.names import (
    find_chinese_names,
    find_latin_names,
    find_latin_words,
    remove_codes,
    remove_joints,
)
from agents.verification.polarity import Polarity
from agents.verification.quantities import Quantities, find_quantities
from agents.verification.wording import extract_pairs
from knowledge.blocks import Layout
from knowledge.text import fold
from knowledge.types import Chunk

# Neighbouring sentences that a claim may sum up.
MAX_WINDOW = 3
# Share of the first clause of a side of a semicolon that a claim about it has to say.
MIN_CONDITION = 0.5
MIN_FOREIGN = 0.5
# Share of Latin letters, and different words, from which a sentence is in another language than a Chinese fragment.
MIN_FOREIGN_WORDS = 4

_HAN = re.compile(r"[\u3400-\u9fff]+")


@dataclass(frozen=True)
class Statement:
    """What a text says: of a claim what has to be found, of a span what is there."""

    # Folded.
    text: str

    @cached_property
    def pairs(self) -> frozenset[str]:
        return extract_pairs(self.numbers.rest)

    @cached_property
    def ordered_pairs(self) -> tuple[str, ...]:
        """The pairs in the order of the text."""
        text = self.numbers.rest
        return tuple(pair for at in range(len(text) - 1) if (pair := text[at : at + 2]) in self.pairs)

    @cached_property
    def words(self) -> frozenset[str]:
        """Pairs, and all characters for a claim of one."""
        return self.pairs | frozenset(self.text)

    @cached_property
    def numbers(self) -> Quantities:
        return find_quantities(remove_codes(self.text))

    @cached_property
    def latin(self) -> frozenset[str]:
        return find_latin_names(self.text)

    @cached_property
    def names(self) -> frozenset[str]:
        return find_chinese_names(self.numbers.rest)

    @cached_property
    def polarity(self) -> Polarity:
        return Polarity.from_text(self.text)

    @cached_property
    def joined_text(self) -> str:
        return remove_joints(self.text)

    @property
    def is_empty(self) -> bool:
        return not (self.pairs or self.latin or self.numbers.stated)

    @property
    def is_announcement(self) -> bool:
        """Whether it is a lead-in or question without numbers and codes, whose content follows."""
        has_facts = self.numbers.stated or any(character.isdigit() for name in self.latin for character in name)
        return self.text.endswith((":", "?")) and not has_facts

    @property
    def is_bare(self) -> bool:
        """Whether it is a number or date and nothing else."""
        return not (self.pairs or self.latin)

    @cached_property
    def is_foreign(self) -> bool:
        found = find_latin_words(self.text)
        letters = sum(map(len, found))
        share = letters > MIN_FOREIGN * (letters + sum(map(len, _HAN.findall(self.text))))
        return share and len(set(found)) >= MIN_FOREIGN_WORDS

    def compute_coverage(self, words: frozenset[str]) -> float:
        """Returns the share of this text's pairs among `words`; 1.0 when it consists of facts only."""
        return len(self.pairs & words) / len(self.pairs) if self.pairs else 1.0


@dataclass(frozen=True)
class FragmentEvidence:
    """One fragment: its sentences, and what it is called, which counts as said in each of them."""

    named: Statement
    quotes: tuple[str, ...]
    sentences: tuple[Statement, ...]
    # Which sentences are rows of a table: they speak of different things, so no claim sums them up.
    rows: tuple[bool, ...]

    @cached_property
    def whole_text(self) -> Statement:
        return Statement("\n".join([self.named.text, *(sentence.text for sentence in self.sentences)]))

    @cached_property
    def texts(self) -> frozenset[str]:
        return frozenset(sentence.text for sentence in self.sentences)

    def has_mixed_rows(self, claim: Statement, span: Statement) -> bool:
        """Whether a claim about one row of a table has words of another row only: 信用卡 with the 即时 of 余额."""
        rows = [sentence for sentence, row in zip(self.sentences, self.rows, strict=True) if row]
        if span not in rows:
            return False
        strange = claim.pairs - span.words - self.named.pairs
        return any(strange & row.pairs for row in rows)

    def has_swapped_condition(self, claim: Statement, span: Statement, question: Statement) -> bool:
        """Whether a clause of a claim has the condition of another side of a semicolon in the place of that of its own:
        the 无理由 of one with the 云笙承担 of the other.
        """
        sides = [(Statement(part), Statement(split_clauses(part)[0])) for part in split_parts(span.text)]
        if len(sides) < 2:
            return False
        for clause in map(Statement, split_clauses(claim.text)):
            own, condition = max(sides, key=lambda side: clause.compute_coverage(side[0].words))
            if condition.compute_coverage(clause.pairs | self.named.pairs | question.pairs) >= MIN_CONDITION:
                continue
            strange = clause.pairs - own.pairs - self.named.pairs - question.pairs
            if any(strange & lead.pairs for side, lead in sides if side is not own):
                return True
        return False

    @cached_property
    def windows(self) -> tuple[Statement, ...]:
        """Neighbouring sentences, two and three at a time."""
        return tuple(
            Statement("\n".join(sentence.text for sentence in self.sentences[at : at + size]))
            for size in range(2, MAX_WINDOW + 1)
            for at in range(len(self.sentences) - size + 1)
            if not any(self.rows[at : at + size])
        )

    @cached_property
    def is_chinese(self) -> bool:
        return sum(map(len, _HAN.findall(self.whole_text.text))) > len(self.whole_text.text) / 4


@lru_cache(maxsize=1024)
def _build_evidence(text: str, layout: Layout | None, named: str) -> FragmentEvidence:
    sentences = split_quotable_sentences(text, layout)[0]
    quotes = tuple(sentence.text.strip() for sentence in sentences)
    statements = tuple(Statement(fold(quote)) for quote in quotes)
    return FragmentEvidence(
        Statement(fold(named)), quotes, statements, tuple(sentence.is_row for sentence in sentences)
    )


def build_evidence(chunk: Chunk) -> FragmentEvidence:
    """Builds the evidence of a fragment; its heading and the question of a curated answer count as its name."""
    named = chunk.context if chunk.question is None else f"{chunk.context}\n{chunk.question}"
    return _build_evidence(chunk.text, chunk.layout, named)
