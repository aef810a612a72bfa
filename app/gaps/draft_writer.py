"""Writes the draft of an answer from what staff said, by a model where there is one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from loguru import logger

from agents.errors import BudgetExhausted, GenerationError
from agents.llm.faq_drafter import DraftText, FaqDrafter
from agents.llm.replies import UnreadableReply
from app.conversations.questions import hash_question
from app.faqs.rules import MAX_QUESTION_CHARS
from app.gaps.repository_drafts import DraftRepository
from app.gaps.types import DraftOrigin, Gap, GapDraft, Miss
from app.gaps.workbench import GapWorkbench
from app.privacy import mask_personal_data
from knowledge.chunking import MAX_ANSWER_CHARS

MOST_VARIANTS = 20
MODEL_QUESTIONS = 8
_TAG = re.compile(r"\[[a-z_]+\]")


class DraftWriter:
    """Writes drafts. drafter: by tenant, on its account; None where no model is configured."""

    def __init__(
        self, workbench: GapWorkbench, stored: DraftRepository, drafter: Callable[[str], FaqDrafter | None]
    ) -> None:
        self._workbench = workbench
        self._stored = stored
        self._drafter = drafter

    async def write_draft(self, tenant: str, gap: Gap) -> tuple[GapDraft, str]:
        """Writes the draft of a gap.

        Returns:
            The draft, and for people what went wrong while a model wrote it, empty for nothing.

        Raises:
            KnowledgeError: The knowledge base cannot be searched.
        """
        misses = await self._workbench.stored.list_misses(tenant, gap.id, 200)
        words, origin = await self._stored.find_staff_words(tenant, misses)
        question, *variants = list_wordings(gap.question, misses)
        draft = GapDraft(question, words[:MAX_ANSWER_CHARS], tuple(variants), origin)
        if (drafter := self._drafter(tenant)) is None:
            return draft, ""
        near = [one.text for one in await self._workbench.find_near(tenant, question)] if question else []
        try:
            text = await drafter.write([question, *variants][:MODEL_QUESTIONS], words, near)
        except BudgetExhausted:
            return draft, "今天的大模型预算已用完，" + ("用的是客服的原话" if words else "请直接填写")
        except (GenerationError, UnreadableReply) as error:
            logger.bind(tenant=tenant).warning("no draft by the model: {}", error)
            return draft, "模型没有写成，用的是客服的原话" if words else "模型没有写成，请直接填写"
        if not text.answer:
            return draft, ""
        return _apply_model_text(draft, text), ""


def list_wordings(question: str, misses: Sequence[Miss]) -> list[str]:
    """Returns the question of a gap and other ways to ask it, the most frequent first, without those that held personal
    data.
    """
    counts = Counter(miss.question for miss in misses)
    asked = [question, *(text for text, _ in counts.most_common())]
    plain = {hash_question(text): text for text in reversed(asked) if text and _is_usable(text)}
    ordered = dict.fromkeys(hash_question(text) for text in asked)
    found = [plain[key] for key in ordered if key in plain]
    return (found or [_TAG.sub("", question).strip()[:MAX_QUESTION_CHARS]])[: MOST_VARIANTS + 1]


def _apply_model_text(draft: GapDraft, text: DraftText) -> GapDraft:
    question = mask_personal_data(text.question)[:MAX_QUESTION_CHARS]
    variants = [one for one in (draft.question, *draft.variants) if hash_question(one) != hash_question(question)]
    answer = mask_personal_data(text.answer)[:MAX_ANSWER_CHARS]
    return replace(
        draft, question=question, answer=answer, variants=tuple(variants[:MOST_VARIANTS]), origin=DraftOrigin.MODEL
    )


def _is_usable(text: str) -> bool:
    return len(text) <= MAX_QUESTION_CHARS and not _TAG.search(text)
