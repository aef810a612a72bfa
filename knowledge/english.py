"""English questions in the words of Chinese documents: embedders put the two languages apart, BM25 finds nothing."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from knowledge.text import fold, glossary

KNOWN_SHARE = 2 / 3
"""With fewer of its words known, what is left of a question may be another one."""
_ASKING = frozenset({"怎么", "怎么样", "什么", "哪里", "哪个", "谁", "为什么", "什么时候", "多少", "多久", "多少钱"})
"""Say how, not about what: they do not count as known words."""
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_TOKEN = re.compile(r"[a-z0-9][a-z0-9'’._/+#-]*[a-z0-9]|[a-z0-9]")


def in_chinese(question: str) -> str | None:
    """The question word by word in Chinese, its numbers and model names unchanged; None where too little is known.

    A question with a Chinese character is left alone: its own words say enough.
    """
    if _CHINESE.search(question) or not (tokens := _TOKEN.findall(fold(question).replace("’", "'"))):
        return None
    words = _dictionary()
    found: list[str] = []
    known = unknown = 0
    while tokens:
        length = next((n for n in (3, 2, 1) if " ".join(tokens[:n]) in words), 0)
        chinese = words[" ".join(tokens[:length])] if length else tokens[0]
        if chinese:
            found.append(chinese)
        if not length and tokens[0].isalpha():
            unknown += 1
        elif length and chinese and chinese not in _ASKING:
            known += 1
        del tokens[: max(length, 1)]
    return " ".join(found) if known and known >= KNOWN_SHARE * (known + unknown) else None


@cache
def _dictionary() -> dict[str, str]:
    lines = (files("knowledge") / "english.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.split("\t") for line in lines if line and not line.startswith("#"))
    return {word: chinese.split()[0] for word, chinese in glossary().items()} | dict(pairs)
