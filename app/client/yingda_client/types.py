"""What the server takes and sends, by its OpenAPI document. Made by scripts/client_package.py."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class AttachmentOut(TypedDict):
    id: str
    name: str
    media_type: str
    bytes: int
    width: int
    height: int


Band: TypeAlias = Literal["high", "medium", "low"]


class ButtonOut(TypedDict):
    label: str
    url: str
    message: str


Category: TypeAlias = Literal["repair", "fault", "complaint", "safety", "request", "question", "handoff", "other"]


class ChunkOut(TypedDict):
    id: str
    ordinal: int
    text: str
    heading_path: list[str]
    page: int | None
    question: str | None
    excluded: bool
    correction: str


class ChunkPage(TypedDict):
    items: list[ChunkOut]
    total: int
    offset: int
    limit: int


class DocumentOut(TypedDict):
    id: str
    name: str
    path: str
    folder: str
    external_id: str | None
    title: str
    category: str
    tags: list[str]
    product: str
    product_version: str
    url: str | None
    valid_from: str | None
    valid_until: str | None
    disabled: bool
    valid: bool
    published: bool
    media_type: str
    size: int
    content_hash: str
    version: int
    chunks: int
    status: Literal["ready", "indexing"]
    created_at: str
    updated_at: str


class DocumentPage(TypedDict):
    items: list[DocumentOut]
    total: int
    offset: int
    limit: int


DraftOrigin: TypeAlias = Literal["model", "solution", "ticket", "handoff", "edited", "empty"]


class ErrorInfo(TypedDict):
    code: str
    message: str
    details: dict[str, Any]
    request_id: str


Event: TypeAlias = Literal[
    "request",
    "request_after_hours",
    "open",
    "accept",
    "transfer",
    "requeue",
    "release",
    "resolve",
    "leave",
    "close",
    "expire",
    "return",
]


class FaqButtonIn1(TypedDict):
    label: str
    url: str
    message: NotRequired[str]


class FaqButtonIn2(TypedDict):
    label: str
    url: NotRequired[str]
    message: str


FaqButtonIn: TypeAlias = FaqButtonIn1 | FaqButtonIn2


Variant: TypeAlias = str


class FaqIn(TypedDict):
    question: str
    answer: str
    variants: NotRequired[list[Variant]]
    buttons: NotRequired[list[FaqButtonIn]]
    draft: NotRequired[bool]


FaqState: TypeAlias = Literal["draft", "published"]


class FileError(TypedDict):
    code: str
    message: str


FileOutcome: TypeAlias = Literal["created", "updated", "unchanged", "drafted", "failed"]


FileState: TypeAlias = Literal["queued", "parsing", "embedding", "indexing", "ready", "failed", "cancelled"]


DocumentId: TypeAlias = str


Category1: TypeAlias = str


Tag: TypeAlias = str


Folder: TypeAlias = str


Product: TypeAlias = str


Version: TypeAlias = str


class FilterIn(TypedDict):
    document_ids: NotRequired[list[DocumentId]]
    categories: NotRequired[list[Category1]]
    tags: NotRequired[list[Tag]]
    folders: NotRequired[list[Folder]]
    products: NotRequired[list[Product]]
    versions: NotRequired[list[Version]]


FormKind: TypeAlias = Literal["asked", "rewritten", "spelled", "in_full", "translated", "in_context", "part"]


class GapDraftIn(TypedDict):
    question: str
    answer: str
    variants: NotRequired[list[Variant] | None]


class GapDraftOut(TypedDict):
    question: str
    answer: str
    variants: list[str]
    origin: DraftOrigin
    author: str
    approver: str
    faq_id: str


class GapEventOut(TypedDict):
    event: str
    actor: str
    note: str
    at: str


GapState: TypeAlias = Literal["open", "drafted", "in_review", "approved", "dismissed", "merged", "resolved"]


GateVerdict: TypeAlias = Literal["pass", "clarify", "refuse"]


class HypothesisOut(TypedDict):
    text: str
    kind: FormKind


Intent: TypeAlias = Literal[
    "knowledge_qa",
    "business_query",
    "ticket",
    "high_stakes",
    "human_request",
    "chitchat",
    "irrelevant",
    "out_of_scope",
    "nonsense",
]


class JobOut(TypedDict):
    id: str
    status: Literal["queued", "running", "ready", "partial", "failed", "cancelled"]
    files: int
    counts: dict[FileState, int]
    chunks: int
    chunks_done: int
    eta_seconds: float | None
    created_at: str
    finished_at: str | None


class MetaEvent(TypedDict):
    type: Literal["meta"]
    session_id: str
    message_id: str
    trace_id: str
    agent: str
    intent: str
    session_token: NotRequired[str | None]


MissReason: TypeAlias = Literal[
    "no_evidence", "cannot_answer", "clarify", "low_confidence", "thumbs_down", "handoff", "solution", "ticket"
]


class NearOut(TypedDict):
    document_id: str
    title: str
    heading: str
    text: str
    probability: float


NoticeCode: TypeAlias = Literal[
    "faq_columns",
    "faq_columns_missing",
    "pages_without_text",
    "recognised",
    "parts_not_read",
    "left_out",
    "hidden_read",
    "table_uncertain",
    "cells_joined",
]


class NoticeOut(TypedDict):
    code: NoticeCode
    message: str
    pages: list[int]
    part: NotRequired[str]
    characters: NotRequired[int]


Outcome: TypeAlias = Literal[
    "answered",
    "partially_answered",
    "low_confidence",
    "clarify",
    "no_evidence",
    "cannot_answer",
    "high_stakes",
    "out_of_scope",
    "irrelevant",
    "nonsense",
    "handoff",
    "rejected",
]


Heading: TypeAlias = str


class PageIn(TypedDict):
    url: NotRequired[str]
    title: NotRequired[str]
    description: NotRequired[str]
    headings: NotRequired[list[Heading]]
    json_ld: NotRequired[str | dict[str, Any] | list[Any]]
    text: NotRequired[str]


class PingEvent(TypedDict):
    type: Literal["ping"]


class PreviousOut(TypedDict):
    document_id: str
    path: str
    version: int
    revision: int
    updated_at: str


Priority: TypeAlias = Literal["low", "normal", "high", "urgent"]


class ProposalOut(TypedDict):
    action: str
    fields: dict[str, str]
    expires: float


Reason: TypeAlias = Literal[
    "empty",
    "too_long",
    "repetition",
    "override",
    "extraction",
    "persona",
    "steering",
    "payload",
    "transcript",
    "suspicious",
]


class RecalledOut(TypedDict):
    vector: int
    keyword: int
    fused: int


class RelatedOut(TypedDict):
    document_id: str
    title: str
    heading: str
    score: float


class ReplaceEvent(TypedDict):
    type: Literal["replace"]
    text: str


ReplyVerdict: TypeAlias = Literal["auto", "human", "error"]


Role: TypeAlias = Literal["admin", "lead", "agent", "server", "client", "metrics"]


class RowSourceOut(TypedDict):
    index: Literal["SQL"]
    table: str
    key: str
    fields: dict[str, str]


Sender: TypeAlias = Literal["customer", "agent", "system", "bot"]


class SignedIn(TypedDict):
    signed_in: bool
    keyless: bool
    roles: list[Role]
    tenant: str
    key_id: str
    key_name: str
    agent_id: str
    by_provider: bool


class SlaOut(TypedDict):
    respond_by: str
    resolve_by: str
    responded_at: str | None
    paused: bool
    remaining_s: int
    response_breached: bool
    breached: bool


class SourceOut(TypedDict):
    index: int
    document_id: str
    title: str
    heading: str
    page: int | None
    snippet: str
    score: float
    quoted_blocks: NotRequired[list[int]]
    left_blocks: NotRequired[int]
    left_chars: NotRequired[int]


Stage: TypeAlias = Literal["not_found", "not_indexed", "filtered", "not_recalled", "rerank_cut", "gate", "passed"]


State: TypeAlias = Literal["bot", "queued", "out_of_hours", "assigned", "resolved", "closed"]


TicketOrigin: TypeAlias = Literal["conversation", "desk", "staff"]


TicketState: TypeAlias = Literal["open", "in_progress", "waiting", "resolved", "closed", "reopened"]


Tier: TypeAlias = Literal["rules", "entities", "head", "llm"]


class TokenEvent(TypedDict):
    type: Literal["token"]
    text: str


class VerificationOut(TypedDict):
    verdict: ReplyVerdict
    factuality: int | None
    quality: int | None
    relevance: float | None


VersionState: TypeAlias = Literal["draft", "review", "scheduled", "published", "archived"]


Who: TypeAlias = Literal["customer", "bot", "staff", "system"]


class BidOut(TypedDict):
    intent: Intent | Literal["curated"]
    probability: float
    rank: Literal["urgent", "claims", "aside", "looks_up"]
    why: str


class CandidateOut(TypedDict):
    rank: int
    chunk_id: str
    document_id: str
    document_name: str
    title: str
    heading: str
    page: int | None
    question: str | None
    text: str
    vector_rank: int | None
    keyword_rank: int | None
    cosine: float
    bm25: float
    fused: float
    scorer: str
    score: float
    probability: float
    verdict: GateVerdict
    hypothesis: int | None
    stage: Literal["passed", "gate", "rerank_cut"]


class DecisionOut(TypedDict):
    intents: list[Intent | Literal["curated"]]
    why: str
    bids: list[BidOut]


class DeskMessageOut(TypedDict):
    seq: int
    sender: Sender
    agent_id: str
    content: str
    created_at: str
    attachments: NotRequired[list[AttachmentOut]]


class DroppedOut(TypedDict):
    stage: Stage
    explanation: str
    candidate: CandidateOut | None
    cosine: float | None
    vector_rank: int | None
    keyword_rank: int | None
    probability: float | None


class EarlierTurnOut(TypedDict):
    question: str
    reply: str
    outcome: Outcome


class ErrorEvent(TypedDict):
    error: ErrorInfo
    type: Literal["error"]


class EvidenceOut(TypedDict):
    revision: int
    verdict: GateVerdict
    threshold: float
    degraded: list[str]
    hypotheses: list[HypothesisOut]
    recalled: RecalledOut
    candidates: list[CandidateOut]
    parts: NotRequired[list[EvidenceOut]]


class FaqOut(TypedDict):
    id: str
    question: str
    answer: str
    variants: list[str]
    buttons: list[ButtonOut]
    state: FaqState
    author: str
    hits: int
    ready: bool
    created_at: str
    updated_at: str


class FaqPage(TypedDict):
    items: list[FaqOut]
    total: int
    offset: int
    limit: int


class FileReportOut(TypedDict):
    name: str
    path: str
    external_id: str | None
    outcome: FileOutcome | None
    status: FileState
    document_id: str | None
    title: str | None
    chunks: int
    chunks_done: int
    revision: int | None
    same_as: str | None
    previous: PreviousOut | None
    notices: list[NoticeOut]
    error: FileError | None
    retry_at: str | None


class GapOut(TypedDict):
    id: str
    state: GapState
    question: str
    asked: int
    customers: int
    week: int
    week_before: int
    handoffs: int
    reasons: dict[MissReason, int]
    first_seen: str | None
    last_seen: str | None
    merged_into: str
    updated_at: str


class GapPage(TypedDict):
    items: list[GapOut]
    total: int
    offset: int
    limit: int
    states: dict[GapState, int]


class HandoffEvent(TypedDict):
    state: State
    position: int
    estimated_wait_s: int | None
    agent: str
    ticket: str
    type: Literal["handoff"]


class HandoffOut(TypedDict):
    state: State
    position: int
    estimated_wait_s: int | None
    agent: str
    ticket: str


class HandoffStarted(TypedDict):
    state: State
    position: int
    estimated_wait_s: int | None
    agent: str
    ticket: str
    session_token: NotRequired[str]


class JobDetail(TypedDict):
    job: JobOut
    files: list[FileReportOut]


class MessageList(TypedDict):
    messages: list[DeskMessageOut]
    last: int


class MissOut(TypedDict):
    question: str
    reason: MissReason
    note: str
    handoff: bool
    session_id: str
    turn_id: str | None
    revision: int
    asked_at: str
    before: list[EarlierTurnOut]


class RouteOut(TypedDict):
    intents: list[str]
    tier: Tier
    band: Band
    scores: dict[str, float]


class SearchResponse(TypedDict):
    revision: int
    verdict: GateVerdict
    threshold: float
    degraded: list[str]
    hypotheses: list[HypothesisOut]
    recalled: RecalledOut
    candidates: list[CandidateOut]
    parts: NotRequired[list[EvidenceOut]]
    query: str
    confidence: float
    terms: dict[str, float]
    timings_ms: dict[str, float]
    rejected: Reason | None
    decision: DecisionOut | None
    route: RouteOut | None
    why: DroppedOut | None


class SeenOut(TypedDict):
    who: Who
    text: str
    created_at: str
    message_id: NotRequired[str]
    outcome: NotRequired[Outcome | None]
    sources: NotRequired[list[SourceOut]]
    suggestions: NotRequired[list[str]]
    related: NotRequired[list[RelatedOut]]
    buttons: NotRequired[list[ButtonOut]]
    escalate_to_human: NotRequired[bool]
    degraded: NotRequired[list[str]]
    stopped: NotRequired[bool]
    withheld: NotRequired[bool]
    rating: NotRequired[Literal["up", "down"] | None]
    reason: NotRequired[str]
    name: NotRequired[str]
    seq: NotRequired[int | None]
    event: NotRequired[Event | None]
    attachments: NotRequired[list[AttachmentOut]]


class TicketEventOut(TypedDict):
    number: int
    kind: Literal["created", "updated", "comment", "transition", "urged", "erased"]
    actor: str
    text: str
    state: TicketState
    public: bool
    created_at: str


class TicketOut(TypedDict):
    number: str
    origin: TicketOrigin
    session_id: str
    user_id: str
    verified: bool
    subject: str
    description: str
    category: Category
    priority: Priority
    state: TicketState
    assignee: str
    team: str
    version: int
    sla: SlaOut
    resolved_at: str | None
    created_at: str
    updated_at: str


class TicketPage(TypedDict):
    tickets: list[TicketOut]
    total: int


class VersionOut(TypedDict):
    version: int
    state: VersionState
    author: str
    reason: str
    content_hash: str
    chunks: int
    publish_at: str | None
    decided_by: str
    decided_at: str | None
    note: str
    created_at: str


class ChatData(TypedDict):
    intent: str
    agent: str
    confidence: float
    sources: list[SourceOut | RowSourceOut]
    suggestions: list[str]
    escalate_to_human: bool
    degraded: list[str]
    cached: bool
    timings_ms: dict[str, float]
    trace_id: str
    related: NotRequired[list[RelatedOut]]
    buttons: NotRequired[list[ButtonOut]]
    verification: NotRequired[VerificationOut | None]
    proposal: NotRequired[ProposalOut | None]
    stopped: NotRequired[bool]
    handoff: NotRequired[HandoffOut | None]
    decision: NotRequired[DecisionOut | None]


class ChatResponse(TypedDict):
    session_id: str
    message_id: str
    reply: str
    outcome: Outcome
    data: ChatData
    session_token: NotRequired[str | None]


class ConversationSeen(TypedDict):
    session_id: str
    handoff: HandoffOut
    last_seq: int
    entries: list[SeenOut]
    previous: str | None


class DocumentDetail(TypedDict):
    document: DocumentOut
    versions: list[VersionOut]


class DoneEvent(TypedDict):
    session_id: str
    message_id: str
    reply: str
    outcome: Outcome
    data: ChatData
    session_token: NotRequired[str | None]
    type: Literal["done"]


class GapDetailOut(TypedDict):
    id: str
    state: GapState
    question: str
    asked: int
    customers: int
    week: int
    week_before: int
    handoffs: int
    reasons: dict[MissReason, int]
    first_seen: str | None
    last_seen: str | None
    merged_into: str
    updated_at: str
    questions: list[MissOut]
    near: list[NearOut]
    history: list[GapEventOut]
    draft: GapDraftOut | None


class TicketDetail(TypedDict):
    number: str
    origin: TicketOrigin
    session_id: str
    user_id: str
    verified: bool
    subject: str
    description: str
    category: Category
    priority: Priority
    state: TicketState
    assignee: str
    team: str
    version: int
    sla: SlaOut
    resolved_at: str | None
    created_at: str
    updated_at: str
    history: list[TicketEventOut]


ChatEvent: TypeAlias = MetaEvent | TokenEvent | ReplaceEvent | HandoffEvent | PingEvent | DoneEvent | ErrorEvent
