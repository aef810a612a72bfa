"""What makes the assistant one company's own; prompts and scripts are filled in from it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal

from agents.wording.catalogue import say
from knowledge.text import fold

ReplyLanguage = Literal["auto", "zh-Hans", "zh-Hant", "en"]
# Of a tenant that chose no other; these have English twins.
NAME, FALLBACK = say("assistant", False), say("fallback", False)


@dataclass(frozen=True, slots=True)
class TenantProfile:
    """`reply_language` auto is the customer's own. `system_prompt` stands after the rules and never replaces them.

    `intent_examples`: intent -> sentences of the tenant's customers, which the router learns too. `business_hours` of
    the staff, as `1-5 09:00-18:00` in `timezone`, empty for around the clock; they do not change answers. Times are
    told in `timezone`.
    """

    name: str = NAME
    persona: str = ""
    tone: str = "亲切、专业、简洁"
    reply_language: ReplyLanguage = "auto"
    avoid_topics: tuple[str, ...] = ()
    fallback_script: str = FALLBACK
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

    def is_avoided(self, text: str) -> bool:
        """Whether a text names a topic that is not talked about."""
        folded = fold(text)
        return any(fold(topic) in folded for topic in self.avoid_topics if topic.strip())

    def get_name(self, english: bool) -> str:
        """Returns the assistant's name."""
        return say("assistant", english) if self.name == NAME else self.name

    def get_fallback(self, english: bool) -> str:
        """Returns what is said where the knowledge base holds nothing."""
        return say("fallback", english) if self.fallback_script == FALLBACK else self.fallback_script
