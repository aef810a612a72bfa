"""What a curated answer may be; the interface and imports share it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import urlsplit

from agents.curated.normal_form import normalise_wording
from agents.types import Button
from app.errors import InvalidRequest
from app.faqs.types import FaqDraft
from knowledge.chunking import MAX_ANSWER_CHARS
from knowledge.text import clean

MAX_QUESTION_CHARS = 200
MAX_VARIANTS = 50
MAX_BUTTONS = 5
MAX_LABEL_CHARS = 30
MAX_URL_CHARS = 2000
# Of one tenant.
MAX_ENTRIES = 10_000
# Of one tenant: what a message is compared with, at 1.5 KB and a tenth of a microsecond each.
MAX_WORDINGS = 30_000
MAX_AUTHOR_CHARS = 64
# What a button may open: nothing that runs, nothing of the customer's own machine.
SCHEMES = ("http", "https", "mailto", "tel")
_CODE = "invalid_faq"


def check_draft(draft: FaqDraft) -> FaqDraft:
    """The entry without invisible characters, empty variants and wordings that are another one in other spelling.

    Raises InvalidRequest, with the field that is wrong.
    """
    question = _check_text(draft.question, MAX_QUESTION_CHARS, "question", "问题")
    answer = _check_text(draft.answer, MAX_ANSWER_CHARS, "answer", "答案")
    if not normalise_wording(question):
        raise InvalidRequest("问题里要有文字。", code=_CODE, field="question")
    if len(draft.variants) > MAX_VARIANTS:  # before any of them is looked at: a cell may hold thousands
        raise InvalidRequest(f"相似问最多 {MAX_VARIANTS} 条。", code=_CODE, field="variants")
    variants = tuple(_collect_distinct(draft.variants, question))
    if len(draft.buttons) > MAX_BUTTONS:
        raise InvalidRequest(f"按钮最多 {MAX_BUTTONS} 个。", code=_CODE, field="buttons")
    return FaqDraft(question, answer, variants, tuple(map(_check_button, draft.buttons)), draft.draft)


@lru_cache(maxsize=4096)
def hash_wording(text: str) -> str:
    """What a wording is known by in SQL: SHA-256 of its normal form. A third of a millisecond, for which nobody waits
    twice: those of a change are known before its transaction begins.
    """
    return hashlib.sha256(normalise_wording(text).encode()).hexdigest()


def is_safe_address(url: str) -> bool:
    """Whether a browser may be sent there: see `SCHEMES`."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return False
    plain = clean(url) == url and url.isprintable() and not any(map(str.isspace, url)) and "\\" not in url
    return plain and parts.scheme in SCHEMES and bool(host if parts.scheme.startswith("http") else parts.path)


def _collect_distinct(variants: Iterable[str], question: str) -> Iterable[str]:
    seen = {normalise_wording(question)}
    for variant in variants:
        text = clean(variant).strip()
        if len(text) > MAX_QUESTION_CHARS:
            raise InvalidRequest(f"相似问不能超过 {MAX_QUESTION_CHARS} 个字。", code=_CODE, field="variants")
        form = normalise_wording(text)
        if form and form not in seen:
            seen.add(form)
            yield text


def _check_button(button: Button) -> Button:
    label = _check_text(button.label, MAX_LABEL_CHARS, "buttons", "按钮的文字")
    url, message = button.url.strip(), clean(button.message).strip()
    if bool(url) == bool(message):
        raise InvalidRequest(f"按钮“{label}”要有 url 或 message，二者取一。", code=_CODE, field="buttons")
    if len(message) > MAX_QUESTION_CHARS:
        raise InvalidRequest(f"按钮发送的话不能超过 {MAX_QUESTION_CHARS} 个字。", code=_CODE, field="buttons")
    if url and (len(url) > MAX_URL_CHARS or not is_safe_address(url)):
        schemes = "、".join(f"{scheme}:" for scheme in SCHEMES)
        raise InvalidRequest(f"按钮“{label}”的网址须以 {schemes} 之一开头。", code=_CODE, field="buttons")
    return Button(label, url, message)


def _check_text(value: str, most: int, field: str, name: str) -> str:
    text = clean(value).strip()
    if not text or len(text) > most:
        raise InvalidRequest(f"{name}要有 1 到 {most} 个字。", code=_CODE, field=field)
    return text
