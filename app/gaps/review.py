"""The way of a gap to an answer: drafted, submitted, approved, published; and back."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from app.db.base import now
from app.db.engine import Database
from app.errors import Conflict, NotFound
from app.faqs.rules import MAX_VARIANTS
from app.faqs.types import Faq, FaqDraft
from app.gaps import repository as gaps
from app.gaps import repository_drafts as drafts
from app.gaps.drafting import Drafting
from app.gaps.repository_drafts import DraftRepository
from app.gaps.types import WAITING, DraftOrigin, Gap, GapDraft, GapEvent, GapState
from app.gaps.workbench import GapWorkbench, unknown
from app.ids import create_id
from app.privacy import find_tags, mask_personal_data

if TYPE_CHECKING:
    from sqlalchemy import Connection

_DRAFTABLE = (GapState.OPEN, GapState.DRAFTED)
_CLOSABLE = (*WAITING, GapState.RESOLVED)
_CLOSED = (GapState.DISMISSED, GapState.RESOLVED, GapState.MERGED, GapState.APPROVED)


class Published(Protocol):
    """Curated answers, as `FaqService` keeps them."""

    async def get(self, tenant: str, faq_id: str) -> Faq: ...

    async def create(self, tenant: str, entry: FaqDraft, author: str = "", *, id: str = "") -> Faq: ...

    async def change(self, tenant: str, faq_id: str, entry: FaqDraft, author: str = "") -> Faq: ...

    async def delete(self, tenant: str, faq_id: str) -> bool: ...


class RegressionCases(Protocol):
    """The tenant's evaluation set of questions that were gaps once."""

    async def add(self, tenant: str, gap_id: str, question: str, faq_id: str) -> None:
        """The question has to be answered from that entry; in the place of an earlier case of the gap."""

    async def remove(self, tenant: str, gap_id: str) -> None:
        """Takes it out, where it is there."""


class GapReview:
    """Every step names who took it, writes into the history of the gap, and leaves all as it was where it fails."""

    def __init__(
        self,
        database: Database,
        workbench: GapWorkbench,
        drafting: Drafting,
        stored: DraftRepository,
        published: Published,
        cases: RegressionCases,
    ) -> None:
        self._database = database
        self._workbench = workbench
        self._drafting = drafting
        self.stored = stored
        self._published = published
        self._cases = cases

    async def draft(self, tenant: str, gap_id: str, actor: str) -> GapDraft:
        """Makes a draft, in the place of the one that is there. Raises NotFound, Conflict, KnowledgeError."""
        gap = await self._workbench.get(tenant, gap_id)
        _require(gap, _DRAFTABLE)
        made, trouble = await self._drafting.make(tenant, gap)
        event = GapEvent("drafted", actor, trouble, now())
        return await self._wrote(tenant, gap_id, _DRAFTABLE, replace(made, author=actor), event)

    async def edit(self, tenant: str, gap_id: str, text: GapDraft, actor: str) -> GapDraft:
        """Writes the draft, which has to be submitted again. Raises NotFound, Conflict."""
        variants = tuple(mask_personal_data(one) for one in text.variants)
        made = replace(
            text, question=mask_personal_data(text.question), answer=mask_personal_data(text.answer), variants=variants
        )
        made = replace(made, origin=DraftOrigin.EDITED, author=actor)
        return await self._wrote(tenant, gap_id, WAITING, made, GapEvent("edited", actor, "", now()))

    async def submit(self, tenant: str, gap_id: str, actor: str, note: str = "") -> None:
        """The draft is to be reviewed. Raises NotFound, Conflict also where it has no answer, or would show
        customers the place of personal data.
        """

        def check(connection: Connection, gap: Gap) -> None:
            draft = drafts.find(connection, tenant, gap_id)
            if draft is None or not draft.answer.strip() or not draft.question.strip():
                raise Conflict("草稿还没有答案，请先填写。", code="draft_is_empty", gap_id=gap_id)
            if tags := sorted(find_tags("\n".join((draft.question, draft.answer, *draft.variants)))):
                told = f"草稿里有遮盖了的个人信息（{'、'.join(tags)}），顾客会看到，请改写后再提交。"
                told += "公司自己的电话和邮箱，发布后在精选问答里填写。"
                raise Conflict(told, code="draft_is_masked", gap_id=gap_id, tags=tags)

        event = GapEvent("submitted", actor, note, now())
        await self._move(tenant, gap_id, (GapState.DRAFTED,), GapState.IN_REVIEW, event, check)

    async def approve(self, tenant: str, gap_id: str, actor: str, note: str = "") -> bool:
        """Publishes the draft as a curated answer, with the questions of the gap as its wordings, and keeps the
        question as a regression case; True once it answers. Raises NotFound, Conflict, and what publishing raises.
        """
        draft = await self._claim(tenant, gap_id, actor)
        before = await self._standing(tenant, draft.faq_id)
        try:
            entry = await self._publish(tenant, draft, before, actor)
        except Exception:
            await self._release(tenant, gap_id, before)
            raise

        def publish(connection: Connection, gap: Gap) -> None:
            found = drafts.find(connection, tenant, gap_id)
            if found is None or replace(found, faq_id=draft.faq_id) != draft:
                raise Conflict("草稿刚刚被改过，请看过之后再审核。", code="draft_changed", gap_id=gap_id)
            drafts.put(connection, tenant, gap_id, replace(draft, approver=actor))

        event = GapEvent("approved", actor, note, now())
        try:
            await self._cases.add(tenant, gap_id, draft.question, entry.id)
            await self._move(tenant, gap_id, (GapState.IN_REVIEW,), GapState.APPROVED, event, publish)
        except Exception:
            if await self._release(tenant, gap_id, before):
                await self._take_back(tenant, gap_id, entry, before)
            raise
        return entry.ready

    async def reject(self, tenant: str, gap_id: str, actor: str, note: str = "") -> None:
        """What was submitted becomes a draft again. Raises NotFound, Conflict."""
        event = GapEvent("rejected", actor, note, now())
        await self._move(tenant, gap_id, (GapState.IN_REVIEW,), GapState.DRAFTED, event)

    async def dismiss(self, tenant: str, gap_id: str, actor: str, note: str = "") -> None:
        """Nobody is to answer it, however often it is asked. Raises NotFound, Conflict."""
        event = GapEvent("dismissed", actor, note, now())
        await self._move(tenant, gap_id, _CLOSABLE, GapState.DISMISSED, event)

    async def reopen(self, tenant: str, gap_id: str, actor: str, note: str = "") -> None:
        """Undoes what closed it: a published answer is taken back and its draft kept. Raises NotFound, Conflict."""
        gap = await self._workbench.get(tenant, gap_id)
        _require(gap, _CLOSED)
        draft = await self.stored.get(tenant, gap_id)
        published = draft is not None and gap.state is GapState.APPROVED
        if draft is not None and published:
            await self._withdraw(tenant, gap_id, draft.faq_id)

        def undo(connection: Connection, gap: Gap) -> None:
            if draft is not None and published:
                drafts.put(connection, tenant, gap_id, replace(draft, approver="", faq_id=""))

        event, state = GapEvent("reopened", actor, note, now()), GapState.DRAFTED if draft else GapState.OPEN
        await self._move(tenant, gap_id, _CLOSED, state, event, undo, merged_into="")

    async def merge(self, tenant: str, gap_id: str, into: str, actor: str) -> None:
        """Its questions count for the other gap from now on. Raises NotFound, Conflict."""

        def check(connection: Connection, gap: Gap) -> None:
            target = gaps.locked(connection, tenant, into)
            if target is None:
                raise unknown(into)
            if target.id == gap_id or target.merged_into:
                raise Conflict("不能并入它自己，也不能并入已被合并的缺口。", code="cannot_merge", into=into)
            drafts.absorb(connection, tenant, gap_id, into)

        event = GapEvent("merged", actor, into, now())
        await self._move(tenant, gap_id, _CLOSABLE, GapState.MERGED, event, check, merged_into=into)

    async def _claim(self, tenant: str, gap_id: str, actor: str) -> GapDraft:
        """The draft that is in review, with the id of the entry that it becomes: kept before that is published, so that
        an approval which a kill cuts short is gone on with, and never made twice.
        """
        two_persons = await self.stored.two_persons(tenant)

        def work(connection: Connection) -> GapDraft:
            gap = gaps.locked(connection, tenant, gap_id)
            if gap is None:
                raise unknown(gap_id)
            _require(gap, (GapState.IN_REVIEW,))
            draft = drafts.find(connection, tenant, gap_id)
            assert draft is not None, "what is in review has a draft"
            if two_persons and actor == draft.author:
                raise Conflict("要由另一个人审核：草稿是您写的。", code="another_reviewer", author=draft.author)
            claimed = draft if draft.faq_id else replace(draft, faq_id=create_id())
            drafts.put(connection, tenant, gap_id, claimed)
            return claimed

        return await self._database.transact(work)

    async def _standing(self, tenant: str, faq_id: str) -> Faq | None:
        """The entry as it is before an approval."""
        try:
            return await self._published.get(tenant, faq_id)
        except NotFound:
            return None

    async def _publish(self, tenant: str, draft: GapDraft, before: Faq | None, actor: str) -> Faq:
        """A gap that came back changes the entry that it has, whose buttons and other wordings stay."""
        entry = FaqDraft(draft.question, draft.answer, draft.variants)
        if before is None:
            return await self._published.create(tenant, entry, actor, id=draft.faq_id)
        variants = tuple(dict.fromkeys((*draft.variants, *before.variants)))[:MAX_VARIANTS]
        entry = replace(entry, variants=variants, buttons=before.buttons)
        return await self._published.change(tenant, draft.faq_id, entry, actor)

    async def _release(self, tenant: str, gap_id: str, before: Faq | None) -> bool:
        """After an approval that failed: an id that no entry has is no longer kept. False where somebody else's
        approval came first, whose entry it is.
        """

        def work(connection: Connection) -> bool:
            gap, draft = gaps.locked(connection, tenant, gap_id), drafts.find(connection, tenant, gap_id)
            if gap is None or draft is None:
                return True
            if gap.state is GapState.APPROVED:
                return False
            if before is None:
                drafts.put(connection, tenant, gap_id, replace(draft, faq_id=""))
            return True

        return await self._database.transact(work)

    async def _take_back(self, tenant: str, gap_id: str, entry: Faq, before: Faq | None) -> None:
        """The entry is as it was before the approval."""
        if before is None:
            await self._withdraw(tenant, gap_id, entry.id)
        else:
            await self._published.change(tenant, entry.id, before.draft, before.author)

    async def _withdraw(self, tenant: str, gap_id: str, faq_id: str) -> None:
        await self._cases.remove(tenant, gap_id)
        try:
            await self._published.delete(tenant, faq_id)
        except NotFound:  # deleted by somebody already
            return

    async def _wrote(
        self, tenant: str, gap_id: str, allowed: Collection[GapState], draft: GapDraft, event: GapEvent
    ) -> GapDraft:
        """The entry that an earlier answer of the gap became stays the one to be changed."""

        def work(connection: Connection) -> GapDraft:
            gap = gaps.locked(connection, tenant, gap_id)
            if gap is None:
                raise unknown(gap_id)
            _require(gap, allowed)
            before = drafts.find(connection, tenant, gap_id)
            made = replace(draft, faq_id=before.faq_id if before else "", approver="")
            drafts.put(connection, tenant, gap_id, made)
            gaps.change(connection, tenant, gap_id, {"state": GapState.DRAFTED}, event)
            return made

        return await self._database.transact(work)

    async def _move(
        self,
        tenant: str,
        gap_id: str,
        allowed: Collection[GapState],
        state: GapState,
        event: GapEvent,
        also: Callable[[Connection, Gap], None] | None = None,
        **values: Any,
    ) -> None:
        def work(connection: Connection) -> None:
            gap = gaps.locked(connection, tenant, gap_id)
            if gap is None:
                raise unknown(gap_id)
            _require(gap, allowed)
            if also is not None:
                also(connection, gap)
            gaps.change(connection, tenant, gap_id, {"state": state} | values, event)

        await self._database.transact(work)


def _require(gap: Gap, allowed: Collection[GapState]) -> None:
    if gap.state not in allowed:
        message = "这个缺口现在的状态不能这样处理，请刷新后再试。"
        raise Conflict(message, code="invalid_gap_state", state=gap.state, allowed=sorted(allowed))
