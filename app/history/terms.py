"""Texts of conversations as full-text indexes keep them, and what they are asked for.

A Chinese character is a term of its own and a run of other letters and digits another, both folded as for retrieval, so
that SQLite and PostgreSQL, neither of which knows Chinese words, cut the same text alike. What staff look for is cut
into words of the dictionary of retrieval; each of them has to stand somewhere in the text, as one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from knowledge.text import Analyzer, clean, fold, is_chinese_word

_HAN = "\u3400-\u9fff\uf900-\ufaff"
_TERM = re.compile(rf"[{_HAN}]|(?:(?![{_HAN}])[^\W_])+")
# Of one text.
MAX_TERMS = 5000
# Of one search.
MAX_WORDS = 12
# Of the longest Chinese word.
WORD_CHARS = 4
# From so many letters on a word is found by its beginning.
PREFIX_CHARS = 3


def build_terms(*texts: str) -> str:
    """Returns the terms of texts, separated by spaces."""
    return " ".join([term for text in texts for term in _find_terms(fold(clean(text)))][:MAX_TERMS])


def build_phrases(query: str) -> list[str]:
    """Returns what must stand in a text that is searched for: one entry for each word, as its terms; empty without a
    word.

    Chinese words of one character are left out beside longer ones: most of them are 的, 了 and 怎.
    """
    words = list(_split_words(query))
    longer = [word for word in words if len(word) > 1 or not is_chinese_word(word)]
    return list(dict.fromkeys(" ".join(_find_terms(word)) for word in longer or words))[:MAX_WORDS]


def is_prefix(phrase: str) -> bool:
    """Whether what only begins with the phrase is found as well: refund in refunds."""
    return " " not in phrase and len(phrase) >= PREFIX_CHARS and phrase.isascii() and not phrase.isdigit()


def _split_words(query: str) -> Iterator[str]:
    """Yields the words of a query; of Chinese, the longest word of the dictionary that begins at each position.

    A text that contains the query as it is written has these words as well. The likeliest reading, 退 and 货运费 in
    退货运费, would ask for more.
    """
    run = ""
    for term in _find_terms(fold(clean(query))):
        if is_chinese_word(term):
            run += term
            continue
        yield from _split_chinese(run)
        yield term
        run = ""
    yield from _split_chinese(run)


def _split_chinese(run: str) -> Iterator[str]:
    place = 0
    while place < len(run):
        ends = range(min(place + WORD_CHARS, len(run)), place + 1, -1)
        end = next((end for end in ends if _get_analyzer().get_frequency(run[place:end])), place + 1)
        yield run[place:end]
        place = end


def _find_terms(folded: str) -> list[str]:
    found: list[str] = _TERM.findall(folded)
    return found


@cache
def _get_analyzer() -> Analyzer:
    return Analyzer()
