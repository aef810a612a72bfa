"""The steps of a gap to an answer: drafted, submitted, approved, published; and back."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from app.db.base import now
from app.db.engine import Database
from app.errors import Conflict, NotFound
from app.faqs.rules import MAX_VARIANTS
from app.faqs.types import Faq, FaqDraft
from app.gaps import repository as gaps
from app.gaps import repository_drafts as drafts
from app.gaps.draft_writer import DraftWriter
from app.gaps.repository_drafts import DraftRepository
from app.gaps.types import WAITING, DraftOrigin, Gap, GapDraft, GapEvent, GapState
from app.gaps.workbench import GapWorkbench, build_unknown_error
from app.ids import create_id
from app.privacy import find_tags, mask_personal_data

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from app.faqs.service import FaqService
    from app.gaps.regression_cases import RegressionCases

_DRAFTABLE = (GapState.OPEN, GapState.DRAFTED)
_CLOSABLE = (*WAITING, GapState.RESOLVED)
_CLOSED = (GapState.DISMISSED, GapState.RESOLVED, GapState.MERGED, GapState.APPROVED)


class GapReview:
    """Every step names its author, adds an event to the history of the gap, and changes nothing where it fails."""

    def __init__(
        self,
        database: Database,
        workbench: GapWorkbench,
        drafting: DraftWriter,
        stored: DraftRepository,
        faqs: FaqService,
        cases: RegressionCases,
    ) -> None:
        self._database = database
        self._workbench = workbench
        self._drafting = drafting
        self.stored = stored
        self._published = faqs
        self._cases = cases

    async def make_draft(self, tenant: str, gap_id: str, actor: str) -> GapDraft:
        """Makes a draft in place of the one before. Raises NotFound, Conflict, KnowledgeError."""
        gap = await self._workbench.get_gap(tenant, gap_id)
        _require_state(gap, _DRAFTABLE)
        made, trouble = await self._drafting.write_draft(tenant, gap)
        event = GapEvent("drafted", actor, trouble, now())
        return await self._save_draft(tenant, gap_id, _DRAFTABLE, replace(made, author=actor), event)

    async def edit_draft(self, tenant: str, gap_id: str, text: GapDraft, actor: str) -> GapDraft:
        """Stores an edited draft, which has to be submitted again. Raises NotFound, Conflict."""
        variants = tuple(mask_personal_data(one) for one in text.variants)
        made = replace(
            text, question=mask_personal_data(text.question), answer=mask_personal_data(text.answer), variants=variants
        )
        made = replace(made, origin=DraftOrigin.EDITED, author=actor)
        return await self._save_draft(tenant, gap_id, WAITING, made, GapEvent("edited", actor, "", now()))

    async def submit_draft(self, tenant: str, gap_id: str, actor: str, note: str = "") -> None:
        """Submits the draft for review. Raises NotFound, and Conflict also where it has no answer, or would show
        customers a mask of personal data.
        """

        def check(connection: Connection) -> None:
            draft = drafts.find_draft(connection, tenant, gap_id)
            if draft is None or not draft.answer.strip() or not draft.question.strip():
                raise Conflict("草稿还没有答案，请先填写。", code="draft_is_empty", gap_id=gap_id)
            if tags := sorted(find_tags("\n".join((draft.question, draft.answer, *draft.variants)))):
                message = f"草稿里有遮盖了的个人信息（{'、'.join(tags)}），顾客会看到，请改写后再提交。"
                message += "公司自己的电话和邮箱，发布后在精选问答里填写。"
                raise Conflict(message, code="draft_is_masked", gap_id=gap_id, tags=tags)

        event = GapEvent("submitted", actor, note, now())
        await self._move_gap(tenant, gap_id, (GapState.DRAFTED,), GapState.IN_REVIEW, event, check)

    async def approve_draft(self, tenant: str, gap_id: str, actor: str, note: str = "") -> bool:
        """Publishes the draft as a curated answer, with the questions of the gap as its wordings, and keeps the
        question as a regression case; True once it answers. Raises NotFound, Conflict, and what publishing raises.
        """
        draft = await self._claim_draft(tenant, gap_id, actor)
        before = await self._find_entry(tenant, draft.faq_id)
        try:
            entry = await self._publish_draft(tenant, draft, before, actor)
        except Exception:
            await self._release_claim(tenant, gap_id, before)
            raise

        def publish(connection: Connection) -> None:
            found = drafts.find_draft(connection, tenant, gap_id)
            if found is None or replace(found, faq_id=draft.faq_id) != draft:
                raise Conflict("草稿刚刚被改过，请看过之后再审核。", code="draft_changed", gap_id=gap_id)
            drafts.save_draft(connection, tenant, gap_id, replace(draft, approver=actor))

        event = GapEvent("approved", actor, note, now())
        try:
            await self._cases.add(tenant, gap_id, draft.question, entry.id)
            await self._move_gap(tenant, gap_id, (GapState.IN_REVIEW,), GapState.APPROVED, event, publish)
        except Exception:
            if await self._release_claim(tenant, gap_id, before):
                await self._restore_entry(tenant, gap_id, entry, before)
            raise
        return entry.ready

    async def reject_draft(self, tenant: str, gap_id: str, actor: str, note: str = "") -> None:
        """Makes what was submitted a draft again. Raises NotFound, Conflict."""
        event = GapEvent("rejected", actor, note, now())
        await self._move_gap(tenant, gap_id, (GapState.IN_REVIEW,), GapState.DRAFTED, event)

    async def dismiss_gap(self, tenant: str, gap_id: str, actor: str, note: str = "") -> None:
        """Closes a gap that nobody is to answer, however often it is asked. Raises NotFound, Conflict."""
        event = GapEvent("dismissed", actor, note, now())
        await self._move_gap(tenant, gap_id, _CLOSABLE, GapState.DISMISSED, event)

    async def reopen_gap(self, tenant: str, gap_id: str, actor: str, note: str = "") -> None:
        """Opens a closed gap: a published answer is withdrawn and its draft kept. Raises NotFound, Conflict."""
        gap = await self._workbench.get_gap(tenant, gap_id)
        _require_state(gap, _CLOSED)
        draft = await self.stored.get_draft(tenant, gap_id)
        published = draft is not None and gap.state is GapState.APPROVED
        if draft is not None and published:
            await self._withdraw_entry(tenant, gap_id, draft.faq_id)

        def undo(connection: Connection) -> None:
            if draft is not None and published:
                drafts.save_draft(connection, tenant, gap_id, replace(draft, approver="", faq_id=""))

        event, state = GapEvent("reopened", actor, note, now()), GapState.DRAFTED if draft else GapState.OPEN
        await self._move_gap(tenant, gap_id, _CLOSED, state, event, undo, merged_into="")

    async def merge_gap(self, tenant: str, gap_id: str, into: str, actor: str) -> None:
        """Merges a gap into another, which its questions count for from now on. Raises NotFound, Conflict."""

        def check(connection: Connection) -> None:
            target = gaps.lock_gap(connection, tenant, into)
            if target is None:
                raise build_unknown_error(into)
            if target.id == gap_id or target.merged_into:
                raise Conflict("不能并入它自己，也不能并入已被合并的缺口。", code="cannot_merge", into=into)
            drafts.redirect_merged(connection, tenant, gap_id, into)

        event = GapEvent("merged", actor, into, now())
        await self._move_gap(tenant, gap_id, _CLOSABLE, GapState.MERGED, event, check, merged_into=into)

    async def _claim_draft(self, tenant: str, gap_id: str, actor: str) -> GapDraft:
        """Returns the draft in review, with the id of the entry that it becomes. The id is stored before the entry is
        published, so that an approval that a crash cuts short can be continued, and nothing is published twice.
        """
        two_persons = await self.stored.is_second_person_required(tenant)

        def work(connection: Connection) -> GapDraft:
            _lock_gap(connection, tenant, gap_id, (GapState.IN_REVIEW,))
            draft = drafts.find_draft(connection, tenant, gap_id)
            assert draft is not None, "what is in review has a draft"
            if two_persons and actor == draft.author:
                raise Conflict("要由另一个人审核：草稿是您写的。", code="another_reviewer", author=draft.author)
            claimed = draft if draft.faq_id else replace(draft, faq_id=create_id())
            drafts.save_draft(connection, tenant, gap_id, claimed)
            return claimed

        return await self._database.transact(work)

    async def _find_entry(self, tenant: str, faq_id: str) -> Faq | None:
        """Returns the entry as it is before an approval; None where there is none."""
        try:
            return await self._published.get(tenant, faq_id)
        except NotFound:
            return None

    async def _publish_draft(self, tenant: str, draft: GapDraft, before: Faq | None, actor: str) -> Faq:
        """Publishes the draft. A gap that has an entry changes it, and its buttons and other wordings stay."""
        entry = FaqDraft(draft.question, draft.answer, draft.variants)
        if before is None:
            return await self._published.create(tenant, entry, actor, id=draft.faq_id)
        variants = tuple(dict.fromkeys((*draft.variants, *before.variants)))[:MAX_VARIANTS]
        entry = replace(entry, variants=variants, buttons=before.buttons)
        return await self._published.change(tenant, draft.faq_id, entry, actor)

    async def _release_claim(self, tenant: str, gap_id: str, before: Faq | None) -> bool:
        """Takes back `_claim_draft` after a failed approval. False where another approval came first, whose entry it
        is.
        """

        def work(connection: Connection) -> bool:
            gap, draft = gaps.lock_gap(connection, tenant, gap_id), drafts.find_draft(connection, tenant, gap_id)
            if gap is None or draft is None:
                return True
            if gap.state is GapState.APPROVED:
                return False
            if before is None:
                drafts.save_draft(connection, tenant, gap_id, replace(draft, faq_id=""))
            return True

        return await self._database.transact(work)

    async def _restore_entry(self, tenant: str, gap_id: str, entry: Faq, before: Faq | None) -> None:
        """Restores the entry as it was before the approval."""
        if before is None:
            await self._withdraw_entry(tenant, gap_id, entry.id)
        else:
            await self._published.change(tenant, entry.id, before.draft, before.author)

    async def _withdraw_entry(self, tenant: str, gap_id: str, faq_id: str) -> None:
        await self._cases.remove(tenant, gap_id)
        try:
            await self._published.delete(tenant, faq_id)
        except NotFound:  # deleted by somebody already
            return

    async def _save_draft(
        self, tenant: str, gap_id: str, allowed: Collection[GapState], draft: GapDraft, event: GapEvent
    ) -> GapDraft:
        """Stores a draft; an entry that the gap has already stays the one to be changed."""

        def work(connection: Connection) -> GapDraft:
            _lock_gap(connection, tenant, gap_id, allowed)
            before = drafts.find_draft(connection, tenant, gap_id)
            made = replace(draft, faq_id=before.faq_id if before else "", approver="")
            drafts.save_draft(connection, tenant, gap_id, made)
            gaps.change_gap(connection, tenant, gap_id, {"state": GapState.DRAFTED}, event)
            return made

        return await self._database.transact(work)

    async def _move_gap(
        self,
        tenant: str,
        gap_id: str,
        allowed: Collection[GapState],
        state: GapState,
        event: GapEvent,
        also: Callable[[Connection], None] | None = None,
        **values: Any,
    ) -> None:
        def work(connection: Connection) -> None:
            _lock_gap(connection, tenant, gap_id, allowed)
            if also is not None:
                also(connection)
            gaps.change_gap(connection, tenant, gap_id, {"state": state} | values, event)

        await self._database.transact(work)


def _lock_gap(connection: Connection, tenant: str, gap_id: str, allowed: Collection[GapState]) -> None:
    """Locks a gap until the transaction ends. Raises NotFound, and Conflict unless it is in one of these states."""
    gap = gaps.lock_gap(connection, tenant, gap_id)
    if gap is None:
        raise build_unknown_error(gap_id)
    _require_state(gap, allowed)


def _require_state(gap: Gap, allowed: Collection[GapState]) -> None:
    if gap.state not in allowed:
        message = "这个缺口现在的状态不能这样处理，请刷新后再试。"
        raise Conflict(message, code="invalid_gap_state", state=gap.state, allowed=sorted(allowed))
