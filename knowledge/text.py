"""Chinese text for matching: cleaning, folding and tokens. What customers see is never the folded form."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

VERSION = "2"
"""Part of the identity of stored term ids: raise it when the tokens of some text change."""

_IDENTIFIER = re.compile(r"[a-z0-9]+(?:[-_./+#][a-z0-9]+)+")
"""Model numbers, order ids, versions and file names: kept whole, and their parts beside them."""
_RUN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]+|[a-z0-9]+")
_WORD = re.compile(r"[^\W_]+(?:\+\+|#)?")
_SPLIT_ALNUM = re.compile(r"[a-z]+|[0-9]+")
_INVISIBLE = re.compile(
    "[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\ud800-\udfff]"
)


def clean(text: str) -> str:
    """Text without NUL, control, zero-width and direction characters, and without lone surrogates.

    Embedders silently stop at a NUL and raise on a lone surrogate; SQL refuses both.
    """
    return _INVISIBLE.sub("", text)


@cache
def _simplified() -> dict[int, str]:
    """Traditional to Simplified, character by character, from OpenCC's tables (one pass over the CJK blocks)."""
    from opencc import OpenCC

    characters = [chr(code) for code in (*range(0x3400, 0xA000), *range(0xF900, 0xFB00))]
    convert = OpenCC("t2s").convert
    return {ord(old): new for old in characters if (new := convert(old)) != old and len(new) == 1}


def fold(text: str) -> str:
    """Matching form: full width to half width, Traditional to Simplified, lower case."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", text).translate(_simplified()).lower()


class Analyzer:
    """Tokens of a text, with a dictionary and synonyms of one tenant. Thread-safe after construction.

    words: terms that jieba must not split; synonyms: term -> terms that are added wherever it occurs.
    """

    def __init__(self, words: Iterable[str] = (), synonyms: dict[str, tuple[str, ...]] | None = None) -> None:
        self._tokenizer = _tokenizer(tuple(sorted({fold(word) for word in words})))
        self._synonyms = {
            fold(term): tuple(fold(other) for other in others) for term, others in (synonyms or {}).items()
        }

    def tokens(self, text: str) -> list[str]:
        """Terms of a text, repetitions kept: words and sub-words, model numbers whole and in parts, then characters.

        Character pairs and single characters find what the dictionary splits wrongly (花呗 -> 花, 呗) and typos, and
        weigh a match of a whole word more than one of its parts. Hit@1 of BM25 here with words alone and with all
        three: .686/.705 (faq_tidb), .476/.542 (faq_ant_huabei), .494/.542 (cs_jd_case).
        """
        tokens: list[str] = []
        folded = fold(clean(text))
        position = 0
        for match in _IDENTIFIER.finditer(folded):
            self._words(folded[position : match.start()], tokens)
            tokens.append(match.group())
            tokens.extend(part for part in re.split(r"[-_./+#]", match.group()) if part)
            position = match.end()
        self._words(folded[position:], tokens)
        tokens.extend(_characters(folded))
        if self._synonyms:
            tokens.extend(other for token in tuple(tokens) for other in self._synonyms.get(token, ()))
        return tokens

    def _words(self, text: str, tokens: list[str]) -> None:
        for word in self._tokenizer.lcut_for_search(text):
            if not _WORD.fullmatch(word):
                continue
            tokens.append(word)
            if word.isascii() and len(parts := _SPLIT_ALNUM.findall(word)) > 1:
                tokens.extend(parts)


def _characters(text: str) -> list[str]:
    """Pairs and single characters of Chinese runs; an ASCII run counts as one of each, to keep its share."""
    terms: list[str] = []
    for run in _RUN.findall(text):
        if run.isascii():
            terms += (run, run)
        else:
            terms += [run[start : start + 2] for start in range(len(run) - 1)] or [run]
            terms += run
    return terms


@cache
def _tokenizer(words: tuple[str, ...]):  # type: ignore[no-untyped-def]
    import logging

    import jieba

    jieba.setLogLevel(logging.WARNING)
    tokenizer = jieba.Tokenizer()
    tokenizer.initialize()
    for word in words:
        tokenizer.add_word(word)
    return tokenizer
