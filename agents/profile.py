"""What makes the assistant one company's own: every prompt and every script is put together from it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal

_HAN = re.compile(r"[\u3400-\u9fff]")
ReplyLanguage = Literal["auto", "zh-Hans", "zh-Hant", "en"]


@dataclass(frozen=True, slots=True)
class TenantProfile:
    """`reply_language` auto is the customer's own; `system_prompt` stands after the rules and never replaces them.

    `intent_examples`: intent -> sentences of the tenant's own customers, which the router learns too. `business_hours`
    of the staff, as `1-5 09:00-18:00` in `timezone`, none being around the clock: they do not change answers.
    """

    name: str = "智能客服"
    persona: str = ""
    tone: str = "亲切、专业、简洁"
    reply_language: ReplyLanguage = "auto"
    avoid_topics: tuple[str, ...] = ()
    fallback_script: str = "抱歉，知识库中未找到相关内容。"
    welcome_message: str = ""
    suggested_questions: tuple[str, ...] = ()
    system_prompt: str = ""
    business_hours: tuple[str, ...] = ()
    timezone: str = "Asia/Shanghai"
    intent_examples: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def version(self) -> str:
        """Changes with any field; part of every cache key."""
        text = json.dumps(asdict(self), ensure_ascii=False, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def replies_in_english(self, question: str) -> bool:
        """Whether a question is answered in English, so that Chinese fragments are translated."""
        return self.reply_language == "en" or (self.reply_language == "auto" and not _HAN.search(question))
