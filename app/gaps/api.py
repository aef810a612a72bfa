"""Gaps of the knowledge base: what customers asked in vain, one by one, and clustered and ranked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Protocol

from fastapi import APIRouter, Path, Query, Request, Response

from agents.types import Outcome
from app.gaps.repository import GapFilters
from app.gaps.schemas import (
    GapDetailOut,
    GapDraftIn,
    GapMergeIn,
    GapOut,
    GapPage,
    GapPolicy,
    GapStepIn,
    MineIn,
    UnansweredPage,
)
from app.gaps.types import GapDraft, GapState, MissReason
from app.http.deps import AdminTenant, StaffTenant, Wired, get_caller_name
from app.http.failures import Responses, list_failures
from app.http.fields import Offset
from app.http.routes import GuardedRoute
from app.jobs.schemas import JobRunOut

if TYPE_CHECKING:
    from app.gaps.repository_unanswered import UnansweredRepository
    from app.gaps.review import GapReview
    from app.gaps.workbench import GapWorkbench
    from app.jobs.service import JobService
    from app.limits.service import RateLimits


class Parts(Protocol):
    """What these routes are served by."""

    gap_review: GapReview
    gaps: GapWorkbench
    jobs: JobService
    limits: RateLimits
    unanswered: UnansweredRepository


Wiring = Wired[Parts]

router = APIRouter(prefix="/api/v1/knowledge/gaps", tags=["gaps"], route_class=GuardedRoute)

GapId = Annotated[str, Path(max_length=32)]
MAX_AUTHOR_CHARS = 64
_INDEXING: Responses = {202: {"description": "已发布，索引还在更新", "model": GapDetailOut}}


@router.get("/questions", response_model=UnansweredPage)
async def list_unanswered(
    tenant: StaffTenant,
    wiring: Wiring,
    q: Annotated[str, Query(max_length=200, description="问题里的字")] = "",
    outcome: Annotated[Outcome | None, Query(description="最近一次是这个结论")] = None,
    order: Annotated[Literal["recent", "count"], Query(description="最近的在前，或次数多的在前")] = "recent",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    offset: Offset = 0,
) -> UnansweredPage:
    """Questions one by one, as they came in; `/gaps` has them clustered."""
    found, total = await wiring.unanswered.load_page(
        tenant, limit, offset, text=q, outcome=outcome or "", often=order == "count"
    )
    return UnansweredPage(questions=found, total=total)


@router.get("")
async def list_gaps(
    tenant: StaffTenant,
    wiring: Wiring,
    state: Annotated[list[GapState] | None, Query(max_length=7, description="只列这些状态的")] = None,
    q: Annotated[str, Query(max_length=200, description="问题里的字")] = "",
    reason: Annotated[MissReason | None, Query(description="有问题是因为这个算没答上来")] = None,
    customers: Annotated[int, Query(ge=0, le=1_000_000, description="至少多少个会话问过")] = 0,
    order: Annotated[Literal["rank", "recent"], Query(description="按最近 7 天的量与增势，或最近问的在前")] = "rank",
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> GapPage:
    """One page of gaps. The rank is how many conversations asked within seven days, their growth over the seven days
    before counting once more.
    """
    wanted = GapFilters(tuple(state or ()), q, reason, customers, recent=order == "recent")
    found, total, states = await wiring.gaps.load_page(tenant, wanted, offset=offset, limit=limit)
    return GapPage(items=list(map(GapOut.build_from, found)), total=total, offset=offset, limit=limit, states=states)


@router.post("/mine", status_code=202, responses=list_failures(400, 409))
async def mine_gaps(tenant: AdminTenant, wiring: Wiring, body: MineIn | None = None) -> JobRunOut:
    """Begins a run of the job `gap_mining`, which every night has too; see the jobs for how far it is."""
    parameters = (body or MineIn()).model_dump()
    return JobRunOut.from_run(await wiring.jobs.trigger_run(tenant, "gap_mining", parameters))


@router.get("/policy")
async def read_gap_policy(tenant: StaffTenant, wiring: Wiring) -> GapPolicy:
    """Whether somebody else has to approve what one wrote."""
    return GapPolicy(two_persons=await wiring.gap_review.stored.is_second_person_required(tenant))


@router.put("/policy")
async def put_gap_policy(body: GapPolicy, tenant: AdminTenant, wiring: Wiring) -> GapPolicy:
    """Says whether somebody else has to approve what one wrote: another key than the author's."""
    await wiring.gap_review.stored.require_two_persons(tenant, body.two_persons)
    return body


@router.get("/{gap_id}", responses=list_failures(404))
async def read_gap(gap_id: GapId, tenant: StaffTenant, wiring: Wiring) -> GapDetailOut:
    """One gap with its questions, what was said before each, the nearest fragments of the knowledge base, its draft."""
    return await _build_detail(wiring, tenant, gap_id)


@router.post("/{gap_id}/draft", responses=list_failures(404, 409))
async def draft_gap(gap_id: GapId, request: Request, tenant: AdminTenant, wiring: Wiring) -> GapDetailOut:
    """Makes a draft: by the model that is configured, out of what staff answered and the nearest fragments; else in the
    words of staff; else with an empty answer.
    """
    async with wiring.limits.slots.open_slot(tenant):
        await wiring.gap_review.make_draft(tenant, gap_id, get_actor_name(request))
    return await _build_detail(wiring, tenant, gap_id)


@router.put("/{gap_id}/draft", responses=list_failures(404, 409))
async def edit_gap(
    gap_id: GapId, body: GapDraftIn, request: Request, tenant: AdminTenant, wiring: Wiring
) -> GapDetailOut:
    """Writes the draft; what was submitted has to be submitted again."""
    before = await wiring.gap_review.stored.get_draft(tenant, gap_id)
    variants = body.variants if body.variants is not None else before.variants if before else ()
    draft = GapDraft(body.question, body.answer, tuple(variants))
    await wiring.gap_review.edit_draft(tenant, gap_id, draft, get_actor_name(request))
    return await _build_detail(wiring, tenant, gap_id)


@router.post("/{gap_id}/submit", responses=list_failures(404, 409))
async def submit_gap(
    gap_id: GapId, request: Request, tenant: AdminTenant, wiring: Wiring, body: GapStepIn | None = None
) -> GapDetailOut:
    """The draft is to be reviewed."""
    await wiring.gap_review.submit_draft(tenant, gap_id, get_actor_name(request), body.note if body else "")
    return await _build_detail(wiring, tenant, gap_id)


@router.post("/{gap_id}/approve", response_model=GapDetailOut, responses=_INDEXING | list_failures(400, 404, 409))
async def approve_gap(
    gap_id: GapId,
    request: Request,
    response: Response,
    tenant: AdminTenant,
    wiring: Wiring,
    body: GapStepIn | None = None,
) -> GapDetailOut:
    """Publishes the draft as a curated answer, whose wordings are the questions of the gap, and keeps its question as a
    case of the evaluation set 缺口回归. 200 once it answers, 202 while the index is at work.
    """
    if not await wiring.gap_review.approve_draft(tenant, gap_id, get_actor_name(request), body.note if body else ""):
        response.status_code = 202
    return await _build_detail(wiring, tenant, gap_id)


@router.post("/{gap_id}/reject", responses=list_failures(404, 409))
async def reject_gap(
    gap_id: GapId, request: Request, tenant: AdminTenant, wiring: Wiring, body: GapStepIn | None = None
) -> GapDetailOut:
    """What was submitted becomes a draft again."""
    await wiring.gap_review.reject_draft(tenant, gap_id, get_actor_name(request), body.note if body else "")
    return await _build_detail(wiring, tenant, gap_id)


@router.post("/{gap_id}/dismiss", responses=list_failures(404, 409))
async def dismiss_gap(
    gap_id: GapId, request: Request, tenant: AdminTenant, wiring: Wiring, body: GapStepIn | None = None
) -> GapDetailOut:
    """Nobody is to answer it, however often it is asked."""
    await wiring.gap_review.dismiss_gap(tenant, gap_id, get_actor_name(request), body.note if body else "")
    return await _build_detail(wiring, tenant, gap_id)


@router.post("/{gap_id}/reopen", responses=list_failures(404, 409))
async def reopen_gap(
    gap_id: GapId, request: Request, tenant: AdminTenant, wiring: Wiring, body: GapStepIn | None = None
) -> GapDetailOut:
    """Undoes what closed it: dismissed, merged, resolved, or approved; then the curated answer and the regression case
    are taken back, and the draft stays.
    """
    await wiring.gap_review.reopen_gap(tenant, gap_id, get_actor_name(request), body.note if body else "")
    return await _build_detail(wiring, tenant, gap_id)


@router.post("/{gap_id}/merge", responses=list_failures(404, 409))
async def merge_gap(
    gap_id: GapId, body: GapMergeIn, request: Request, tenant: AdminTenant, wiring: Wiring
) -> GapDetailOut:
    """Its questions count for the other gap from now on; gives that one."""
    await wiring.gap_review.merge_gap(tenant, gap_id, body.into, get_actor_name(request))
    return await _build_detail(wiring, tenant, body.into)


def get_actor_name(request: Request) -> str:
    """Returns the name of the caller, as the history of a gap shows it."""
    return get_caller_name(request)[:MAX_AUTHOR_CHARS]


async def _build_detail(wiring: Wiring, tenant: str, gap_id: str) -> GapDetailOut:
    return await wiring.gaps.load_detail(tenant, gap_id, await wiring.gap_review.stored.get_draft(tenant, gap_id))
