"""Decides which sentences of a document may be quoted: retrieved text is data, and sentences that address a model stay
out.

Documents may carry instructions that were planted for a language model. Such a sentence is never a fact about a
product, so it is not quoted. The rules look at whom a sentence addresses and what it orders, not at one wording;
instructions to customers (请在 App 中点击…, 请勿拆封, 回复短信 1 确认) have to pass.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from agents.passages.sentences import Sentence, split_sentences
from agents.screening.patterns import ABOUT_CUSTOMER, CASE_RECORD, PARTS, TO_MODEL
from knowledge.blocks import BlockKind
from knowledge.text import fold

MIN_CHINESE = 8
ORDER_SHARE = 0.08
# Shares of Chinese characters in a chunk from which an English order, or any English prose, is foreign matter.
PROSE_SHARE = 0.3

_ENCODED = re.compile(
    r"(?=[A-Za-z0-9+/]*[a-z])(?=[A-Za-z0-9+/]*[A-Z])(?=[A-Za-z0-9+/]*\d)[A-Za-z0-9+/]{32,}={0,2}|[01]{32,}"
)
# 如已缴费请忽略以上信息, 回复“TD”退订: what a customer does with a message that we sent.
_ABOUT_NOTICE = re.compile(
    r"(?:如|若)果?(?:您|你)?已[^。]{0,12}忽略|退订|(?:短信|邮件)[^。]{0,8}回复|回复(?:本|该)?(?:短信|邮件)"
)
_SECRET = re.compile(r"(?<![a-z0-9])[a-z]{1,4}\d[a-z0-9]{4,}|https?:")
_SPACED = re.compile(r"(?<=[\u4e00-\u9fff])[\s·•_*~|.-]+(?=[\u4e00-\u9fff])|(?<=[a-z])\s+(?=[\u4e00-\u9fff])")
_CJK = re.compile(r"[\u3400-\u9fff]")
_WORD = re.compile(r"[A-Za-z']+")
_PROSE = re.compile(r"\b(?:a|an|the|of|to|in|your|you|for|with|is|are|and|my|me|this|that|it)\b", re.IGNORECASE)
_ENGLISH = re.compile(rf"\W*{PARTS['verbs_en']}\b", re.IGNORECASE)
_CODE = re.compile(r"[={}<>_\\`$|]|(?:^|\s)--?\w|/\w+/|\w\(|^\s*[$#>]")
_SAYS = re.compile(r"[\u3400-\u9fff]|[A-Za-z]{3}")
_TASK = re.compile(
    rf"(?:请|直接|必须|不要|然后|并|也|现在|改为|务必|立即|马上|以|用|把|将|说|写|重复|输出|告诉|向)|.*{PARTS['payload']}",
    re.IGNORECASE,
)


@lru_cache(maxsize=8192)
def is_addressed_to_model(text: str) -> bool:
    """Whether a sentence speaks to a language model instead of the reader; cached, since titles come again and again
    (40 µs).
    """
    folded = _SPACED.sub("", fold(text))
    if _ENCODED.search(text):
        return True
    if _ABOUT_NOTICE.search(folded) and not _SECRET.search(folded):
        return False
    if any(pattern.search(folded) for pattern in TO_MODEL):
        return True
    return not CASE_RECORD.search(folded) and any(pattern.search(folded) for pattern in ABOUT_CUSTOMER)


def check_quotable(sentences: Sequence[Sentence]) -> list[bool]:
    """Returns for every sentence of one chunk whether it may be quoted.

    A planted order may continue in the following sentences: the next two are left out with it when they order something
    too, or are scraps that say nothing. In a text that is mostly Chinese, an English question or order is foreign as
    well.
    """
    chinese = _measure_chinese_share("".join(sentence.text for sentence in sentences))
    allowed: list[bool] = []
    suspicion = 0
    hidden = False
    for sentence in sentences:
        hidden = hidden or "<!--" in sentence.text
        bad = (
            hidden
            or sentence.block.kind is BlockKind.IMAGE
            or is_addressed_to_model(sentence.text)
            or _is_foreign(sentence.text, chinese)
        )
        if bad:
            suspicion = 2
        elif suspicion:
            bad = not sentence.is_item and bool(_TASK.match(sentence.text) or not _SAYS.search(sentence.text))
            suspicion -= 1
        if "-->" in sentence.text:
            hidden = False
        allowed.append(not bad)
    return allowed


def remove_orders(text: str) -> str:
    """Returns a curated answer as it stands, or, where something was planted in it, only its sentences that
    may be quoted.
    """
    sentences = split_sentences(text)
    allowed = check_quotable(sentences)
    if all(allowed):
        return text
    lines: dict[int, str] = {}
    for sentence, ok in zip(sentences, allowed, strict=True):
        if ok:
            lines[sentence.line] = lines.get(sentence.line, "") + sentence.text
    return "\n".join(lines.values())


def is_safe_text(text: str) -> bool:
    """Whether a title, heading or question may be shown."""
    return not is_addressed_to_model(text)


def _measure_chinese_share(text: str) -> float:
    """Returns the share of Chinese characters; 0.0 in a text with next to none."""
    count = len(_CJK.findall(text))
    return count / len(text) if count >= MIN_CHINESE else 0.0


def _is_foreign(text: str, chinese: float) -> bool:
    """Whether a text is English prose in a Chinese one: orders and questions at once, any prose where the text is all
    Chinese.

    Commands, settings and messages in English stay: they have the marks of code, or no articles and pronouns.
    """
    words = _WORD.findall(text)
    if not chinese or len(words) < 3 or words[0].isupper() or _CJK.search(text) or _CODE.search(text):
        return False
    if chinese >= ORDER_SHARE and _ENGLISH.match(text):
        return True
    return chinese >= PROSE_SHARE and len(words) >= 4 and _PROSE.search(text) is not None
