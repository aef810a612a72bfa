"""Personal data in what customers write, by patterns: what names a person or an order is neither cached nor kept."""

from __future__ import annotations

import re

# Tag -> pattern, the more specific first. What looks like personal data and is none only costs a cache hit. Runs are
# bounded: a pattern that goes to the end of one from each of its characters takes the square of a long message.
_PATTERNS: dict[str, re.Pattern[str]] = {
    "email": re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"),
    "id_card": re.compile(r"(?<![A-Za-z0-9])\d{17}[\dXx](?![A-Za-z0-9])"),
    "bank_card": re.compile(r"(?<![A-Za-z0-9])\d{4}(?:[ -]?\d{4}){3}(?:[ -]?\d{1,3})?(?![A-Za-z0-9])"),
    "phone": re.compile(r"(?<!\d)(?:\+?86[ -]?)?1[3-9]\d(?:[ -]?\d{4}){2}(?!\d)|(?<!\d)0\d{2,3}[ -]?\d{7,8}(?!\d)"),
    # Model names are shorter, or hold fewer digits: YS-V8, YS-R7200.
    "order": re.compile(
        r"(?:订单|运单|快递|物流|单号|编号)[^\n\dA-Za-z]{0,6}[A-Za-z0-9][A-Za-z0-9-]{5,}"
        r"|(?<![A-Za-z0-9])(?:(?<!\d-)|(?=[A-Za-z]))[A-Za-z]{0,6}-?\d(?:-?\d){7,}(?![A-Za-z0-9])"
    ),
    "name": re.compile(r"(?:我叫|我姓|本人|姓名[是为:：]?|名字[叫是])\s*[\u4e00-\u9fffA-Za-z]{1,4}"),
    "address": re.compile(r"[\u4e00-\u9fff]{2,40}(?:路|街|道|巷|弄|村|小区|花园)\s*\d+\s*[号弄栋幢座]"),
}

# What every pattern needs: most questions have none of it.
_HINT = re.compile(r"[\d@]|我叫|我姓|本人|姓名|名字")


def find_personal_data(text: str) -> frozenset[str]:
    """Tags of the personal data in a text; empty for most."""
    if not _HINT.search(text):
        return frozenset()
    return frozenset(tag for tag, pattern in _PATTERNS.items() if pattern.search(text))


def find_tags(text: str) -> frozenset[str]:
    """The tags that `mask_personal_data` left in a text, as they stand there."""
    return frozenset(tag for tag in (f"[{name}]" for name in _PATTERNS) if tag in text)


def mask_personal_data(text: str) -> str:
    """The text with a tag in the place of every piece of personal data."""
    if not _HINT.search(text):
        return text
    for tag, pattern in _PATTERNS.items():
        text = pattern.sub(f"[{tag}]", text)
    return text
