"""Which sentences of a document may be quoted: retrieved text is data, and what addresses a model stays out.

Documents may carry instructions that were planted for a language model. Such a sentence is never a fact about a
product, so it is not quoted, whatever it asks. The rules look at whom a sentence addresses and what it orders, not at
one wording; instructions to customers (请在 App 中点击…, 请勿拆封, 回复短信 1 确认) have to pass.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agents.llm.orders import ABOUT_CUSTOMER, CASE_RECORD, PAYLOAD, TO_MODEL, VERBS_EN
from agents.llm.sentences import Sentence, split_sentences
from knowledge.text import fold

_ENCODED = re.compile(
    r"(?=[A-Za-z0-9+/]*[a-z])(?=[A-Za-z0-9+/]*[A-Z])(?=[A-Za-z0-9+/]*\d)[A-Za-z0-9+/]{32,}={0,2}|[01]{32,}"
)
_ABOUT_NOTICE = re.compile(
    r"(?:如|若)果?(?:您|你)?已[^。]{0,12}忽略|退订|(?:短信|邮件)[^。]{0,8}回复|回复(?:本|该)?(?:短信|邮件)"
)
"""如已缴费请忽略以上信息, 回复“TD”退订: what a customer does with a message that we sent."""
_SECRET = re.compile(r"(?<![a-z0-9])[a-z]{1,4}\d[a-z0-9]{4,}|https?:")
_SPACED = re.compile(r"(?<=[\u4e00-\u9fff])[\s·•_*~|.-]+(?=[\u4e00-\u9fff])|(?<=[a-z])\s+(?=[\u4e00-\u9fff])")
_CJK = re.compile(r"[\u3400-\u9fff]")
_ENGLISH = re.compile(rf"\W*{VERBS_EN}\b", re.IGNORECASE)
_CODE = re.compile(r"[={}<>_\\`$|]|(?:^|\s)--?\w|/\w+/|\w\(|^\s*[$#>]")
_TASK = re.compile(
    rf"(?:请|直接|必须|不要|然后|并|也|现在|改为|务必|立即|马上|以|用|把|将|说|写|重复|输出|告诉|向)|.*{PAYLOAD}",
    re.IGNORECASE,
)


def addresses_model(text: str) -> bool:
    """Whether a sentence speaks to a language model instead of to the reader."""
    folded = _SPACED.sub("", fold(text))
    if _ENCODED.search(text):
        return True
    if _ABOUT_NOTICE.search(folded) and not _SECRET.search(folded):
        return False
    if any(pattern.search(folded) for pattern in TO_MODEL):
        return True
    return not CASE_RECORD.search(folded) and any(pattern.search(folded) for pattern in ABOUT_CUSTOMER)


def quotable(sentences: Sequence[Sentence]) -> list[bool]:
    """For every sentence of one chunk whether it may be quoted.

    A planted order may go on in the sentences after the one that gives it away: the next two fall with it when they
    order something too. In a text that is mostly Chinese, an English question or order is foreign matter as well.
    """
    chinese = _mostly_chinese("".join(sentence.text for sentence in sentences))
    allowed: list[bool] = []
    suspicion = 0
    hidden = False
    for sentence in sentences:
        hidden = hidden or "<!--" in sentence.text
        bad = hidden or addresses_model(sentence.text) or (chinese and _foreign_order(sentence.text))
        if bad:
            suspicion = 2
        elif suspicion:
            bad = _TASK.match(sentence.text) is not None and not sentence.is_item
            suspicion -= 1
        if "-->" in sentence.text:
            hidden = False
        allowed.append(not bad)
    return allowed


def without_orders(text: str) -> str:
    """A curated answer as it stands, or, when something was planted in it, only its sentences that may be quoted."""
    sentences = split_sentences(text)
    allowed = quotable(sentences)
    if all(allowed):
        return text
    lines: dict[int, str] = {}
    for sentence, ok in zip(sentences, allowed, strict=True):
        if ok:
            lines[sentence.line] = lines.get(sentence.line, "") + sentence.text
    return "\n".join(lines.values())


def safe_text(text: str) -> bool:
    """Whether a title, heading or question may be shown."""
    return not addresses_model(text)


def _mostly_chinese(text: str) -> bool:
    return len(_CJK.findall(text)) >= max(8, len(text) * 0.08)


def _foreign_order(text: str) -> bool:
    words = re.findall(r"[A-Za-z']+", text)
    return (
        len(words) >= 3
        and not words[0].isupper()
        and not _CJK.search(text)
        and not _CODE.search(text)
        and _ENGLISH.match(text) is not None
    )
