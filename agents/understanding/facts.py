"""Compares a message with its rewrite: numbers, model names, order ids, negations and content words must stay
the same.
"""

from __future__ import annotations

import re
from collections import Counter

from agents.understanding.question_words import strip_question_words
from knowledge.codes import find_codes, has_all_codes
from knowledge.text import Analyzer, fold, is_chinese_word

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_NEGATION = re.compile(r"不(?!好意思)|没|无|未|非|别|勿|否|莫|拒|\b(?:no|not|never|cannot|without)\b|n't\b")
# How often the dictionary has met words that every text has: 进行, 需要.
COMMON = 10_000
# Share of the words of a message that a rewrite has to keep.
MIN_KEPT = 0.5
_DIGITS = re.compile(r"\d+")


def has_all_facts(original: str, rewritten: str) -> bool:
    """Whether the rewrite has every number, code and negation of the original; codes may be spelt differently (h30pro,
    H30 Pro).
    """
    before, after = fold(original), fold(rewritten)
    kept = find_codes(rewritten)
    return (
        Counter(_NUMBER.findall(before)) <= Counter(_NUMBER.findall(after))
        and all(any(code.form in other.form for other in kept) for code in find_codes(original))
        and len(_NEGATION.findall(after)) >= len(_NEGATION.findall(before))
    )


def has_new_facts(known: str, rewritten: str) -> bool:
    """Whether a rewrite has a number or a code that what is known has not."""
    numbers = set(_DIGITS.findall(fold(rewritten))) <= set(_DIGITS.findall(fold(known)))
    return not numbers or not has_all_codes(find_codes(rewritten), find_codes(known))


def has_new_words(known: str, rewritten: str, analyzer: Analyzer) -> bool:
    """Whether a rewrite has a content word that is not in what is known, nor a synonym of it."""
    words, folded = extract_content_words(rewritten, analyzer), fold(known)
    return not all(_is_made_of(word, folded) for word in words - analyzer.find_occurrences(known).find_among(words))


def has_most_words(original: str, rewritten: str, analyzer: Analyzer) -> bool:
    """Whether a rewrite, with synonyms, has most content words of the original."""
    words = extract_content_words(original, analyzer)
    return len(analyzer.find_occurrences(rewritten).find_among(words)) >= MIN_KEPT * len(words)


def has_shared_words(original: str, rewritten: str, analyzer: Analyzer) -> bool:
    """Whether a rewrite, with synonyms, has any content word of the original, where that has some."""
    words = extract_content_words(original, analyzer)
    return not words or bool(analyzer.find_occurrences(rewritten).find_among(words))


def extract_content_words(text: str, analyzer: Analyzer) -> frozenset[str]:
    """Returns the Chinese words of a text that say what it is about."""
    words = analyzer.split_words(strip_question_words(fold(text)))
    return frozenset(
        word for word in words if len(word) > 1 and is_chinese_word(word) and analyzer.get_frequency(word) < COMMON
    )


def _is_made_of(word: str, known: str) -> bool:
    """Whether a word is put together from what is known, as 货运费 is where 退货运费 is cut in the wrong place."""
    if not word or (len(word) == 1 and word in known):
        return True
    return any(word[:end] in known and _is_made_of(word[end:], known) for end in range(len(word), 1, -1)) or (
        word[:1] in known and word[1:] in known and len(word) > 2
    )
