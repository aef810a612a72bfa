"""Translates English questions into the words of Chinese documents, word by word: embedders separate the languages,
and BM25 finds nothing across them.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from knowledge.text import fold, load_glossary

# With fewer of its words known, what is left of a question may be another one.
KNOWN_SHARE = 2 / 3
# Of English prose; with Chinese characters in it, from so many words on and so many for each of them.
MIN_WORDS, MIXED_WORDS, WORDS_PER_CHARACTER = 2, 5, 2
# Of the characters of a Chinese passage, which may be a table of model numbers.
CHINESE_SHARE = 0.2
# Say how, not about what: they do not count as known words.
_ASKING = frozenset({"怎么", "怎么样", "什么", "哪里", "哪个", "谁", "为什么", "什么时候", "多少", "多久", "多少钱"})
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_TOKEN = re.compile(r"[a-z0-9][a-z0-9'’._/+#-]*[a-z0-9]|[a-z0-9]|[\u3400-\u9fff]+")


def is_english(text: str) -> bool:
    """Returns whether a text is English prose: at least two words, half of which the dictionary knows.

    A few Chinese names among many words (the monthly pass of 云澜苑) leave it English; wifi 怎么 reset is Chinese.
    """
    words = [token for token in _split_words(text) if token.replace("'", "").isalpha()]
    chinese = len(_CHINESE.findall(text))
    if len(words) < (MIXED_WORDS if chinese else MIN_WORDS) or len(words) < WORDS_PER_CHARACTER * chinese:
        return False
    return 2 * sum(word in _load_dictionary() for word in words) >= len(words)


def is_chinese(text: str) -> bool:
    """Returns whether a text of some length is in Chinese, apart from names and signs."""
    return CHINESE_SHARE * len(text) <= len(_CHINESE.findall(text))


def translate_question(question: str) -> str | None:
    """Translates an English question word by word into Chinese; numbers and names stay.

    Returns:
        The translation; None if too few words are known, or if the question is Chinese already.
    """
    if _CHINESE.search(question) and not is_english(question):
        return None
    words, known, unknown = _look_up_words(question)
    return " ".join(words) if known and known >= KNOWN_SHARE * (known + unknown) else None


def list_chinese_words(question: str) -> str:
    """Returns the Chinese of the known words of an English question, with its numbers and names; may be empty."""
    words, _, _ = _look_up_words(question)
    return " ".join(words)


def _look_up_words(question: str) -> tuple[list[str], int, int]:
    """Returns the words in Chinese, and how many content words are known and unknown."""
    tokens, words = _split_words(question), _load_dictionary()
    found: list[str] = []
    known = unknown = 0
    while tokens:
        length = next((n for n in (3, 2, 1) if " ".join(tokens[:n]) in words), 0)
        chinese = words[" ".join(tokens[:length])] if length else tokens[0]
        if chinese:
            found.append(chinese)
        if not length and tokens[0].isascii() and tokens[0].isalpha():
            unknown += 1
        elif length and chinese and chinese not in _ASKING:
            known += 1
        del tokens[: max(length, 1)]
    return found, known, unknown


def _split_words(text: str) -> list[str]:
    return _TOKEN.findall(fold(text).replace("’", "'"))


@cache
def _load_dictionary() -> dict[str, str]:
    lines = (files("knowledge") / "english.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.split("\t") for line in lines if line and not line.startswith("#"))
    return {word: chinese.split()[0] for word, chinese in load_glossary().items()} | dict(pairs)
