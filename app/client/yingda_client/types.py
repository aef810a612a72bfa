"""What the server takes and sends, by its OpenAPI document. Made by scripts/client_package.py."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class AcceptIn(TypedDict):
    agent_id: NotRequired[str]


Actor: TypeAlias = Literal["bot", "customer", "staff", "system"]


class AttachmentOut(TypedDict):
    id: str
    name: str
    media_type: str
    bytes: int
    width: int
    height: int


class AttachmentTextOut(TypedDict):
    id: str
    text: str
    state: Literal["read", "none", "unread"]


Band: TypeAlias = Literal["high", "medium", "low"]


HistoryItem: TypeAlias = str


class BinnedDocumentOut(TypedDict):
    id: str
    name: str
    title: str
    path: str
    external_id: str | None
    category: str
    size: int
    versions: int
    deleted_at: str
    deleted_by: str
    erased_at: str | None


class ButtonOut(TypedDict):
    label: str
    url: str
    message: str


class CandidateBrief(TypedDict):
    document_id: str
    title: str
    heading: str
    text: str
    probability: float


class CannedIn(TypedDict):
    shortcut: str
    text: str


class CannedOut(TypedDict):
    id: str
    shortcut: str
    text: str
    updated_at: str


Category: TypeAlias = Literal["repair", "fault", "complaint", "request", "handoff", "other"]


Attachment: TypeAlias = str


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


class CommentIn(TypedDict):
    text: str
    public: NotRequired[bool]
    author: NotRequired[str]


Label: TypeAlias = str


class ContactIn(TypedDict):
    name: NotRequired[str]
    labels: NotRequired[list[Label]]


class ContactNoteOut(TypedDict):
    session_id: str
    name: str
    content: str
    created_at: str


class ContactTicketOut(TypedDict):
    number: str
    subject: str
    state: str
    priority: str
    updated_at: str


class ContactVoteOut(TypedDict):
    session_id: str
    question: str
    rating: Literal["up", "down"]
    reason: str
    created_at: str


class CurrentSession(TypedDict):
    session_id: str | None
    expires_at: str | None


CustomerKind: TypeAlias = Literal["member", "claimed", "visitor"]


class CustomerOut(TypedDict):
    kind: CustomerKind
    user_id: str
    given: str
    name: str
    level: str
    alias: str
    alias_en: str
    colour: int
    labels: list[str]


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


Tag: TypeAlias = str


class DocumentPatch(TypedDict):
    category: NotRequired[str | None]
    tags: NotRequired[list[Tag] | None]
    product: NotRequired[str | None]
    product_version: NotRequired[str | None]
    url: NotRequired[str | None]
    valid_from: NotRequired[str | None]
    valid_until: NotRequired[str | None]
    disabled: NotRequired[bool | None]
    folder: NotRequired[str | None]


class DraftKeyIn(TypedDict):
    document_id: str
    version: int


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


class ExpectedIn1(TypedDict):
    document_id: str
    chunk_id: NotRequired[str]


class ExpectedIn2(TypedDict):
    document_id: NotRequired[str]
    chunk_id: str


ExpectedIn: TypeAlias = ExpectedIn1 | ExpectedIn2


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


class FaqRefusedRow(TypedDict):
    row: int
    field: str
    message: str


FaqState: TypeAlias = Literal["draft", "published"]


class FeedbackIn(TypedDict):
    rating: Literal["up", "down"]
    reason: NotRequired[str]


class FileError(TypedDict):
    code: str
    message: str


FileOutcome: TypeAlias = Literal["created", "updated", "unchanged", "drafted", "failed"]


FileState: TypeAlias = Literal["queued", "parsing", "embedding", "indexing", "ready", "failed", "cancelled"]


DocumentId: TypeAlias = str


Category1: TypeAlias = str


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


class GapMergeIn(TypedDict):
    into: str


class GapPolicy(TypedDict):
    two_persons: bool


GapState: TypeAlias = Literal["open", "drafted", "in_review", "approved", "dismissed", "merged", "resolved"]


class GapStepIn(TypedDict):
    note: NotRequired[str]


GateVerdict: TypeAlias = Literal["pass", "clarify", "refuse"]


class HandoffIn(TypedDict):
    skill: NotRequired[str]
    user_id: NotRequired[str]
    channel: NotRequired[str]
    user_token: NotRequired[str]
    session_token: NotRequired[str]


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


class InvitationIn(TypedDict):
    invitation: str
    password: str


class JobError(TypedDict):
    code: str
    message: str


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


class JobPage(TypedDict):
    items: list[JobOut]
    total: int
    offset: int
    limit: int


class KeySignIn(TypedDict):
    key: str


class LabelList(TypedDict):
    labels: list[str]


class LabelsIn(TypedDict):
    labels: list[Label]


class MessageIn(TypedDict):
    content: NotRequired[str]
    attachments: NotRequired[list[Attachment]]
    agent_id: NotRequired[str]
    id: NotRequired[str]


class MetaEvent(TypedDict):
    type: Literal["meta"]
    session_id: str
    message_id: str
    trace_id: str
    agent: str
    intent: str
    session_token: NotRequired[str | None]


class MineIn(TypedDict):
    days: NotRequired[int]


MissReason: TypeAlias = Literal[
    "no_evidence", "cannot_answer", "clarify", "low_confidence", "thumbs_down", "handoff", "solution", "ticket"
]


class NearOut(TypedDict):
    document_id: str
    title: str
    heading: str
    text: str
    probability: float


class NoteIn(TypedDict):
    content: str
    agent_id: NotRequired[str]


class NoteOut(TypedDict):
    id: str
    agent_id: str
    content: str
    created_at: str


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


class PassagePartOut(TypedDict):
    blocks: list[int]
    quoted: bool
    markdown: str


class PasswordIn(TypedDict):
    current: str
    password: str


class PasswordSignIn(TypedDict):
    login: str
    password: str
    tenant: NotRequired[str]


class PingEvent(TypedDict):
    type: Literal["ping"]


class PresenceIn(TypedDict):
    online: bool
    name: NotRequired[str]


class PreviewChunk(TypedDict):
    text: str
    heading_path: list[str]
    page: int | None
    question: str | None


class PreviewOut(TypedDict):
    name: str
    title: str
    product: str
    product_version: str
    total: int
    chunks: list[PreviewChunk]
    notices: list[str]
    min_tokens: int
    max_tokens: int
    overlap_tokens: int


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


class RatingIn(TypedDict):
    score: int
    comment: NotRequired[str]


class RatingOut(TypedDict):
    asked: bool
    score: int


class ReadIn(TypedDict):
    agent_id: str
    seq: int
    viewing: NotRequired[bool]


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


class ResolveIn(TypedDict):
    note: NotRequired[str]
    agent_id: NotRequired[str]


Role: TypeAlias = Literal["admin", "lead", "agent", "server", "client", "metrics"]


class RowSourceOut(TypedDict):
    index: Literal["SQL"]
    table: str
    key: str
    fields: dict[str, str]


RunState: TypeAlias = Literal["queued", "running", "done", "failed", "cancelled"]


class SearchRequest(TypedDict):
    query: str
    top_k: NotRequired[int | None]
    filter: NotRequired[FilterIn]
    explain: NotRequired[bool]
    history: NotRequired[list[HistoryItem]]
    decide: NotRequired[bool]
    why: NotRequired[ExpectedIn | None]
    drafts: NotRequired[list[DraftKeyIn] | Literal[True] | None]


Sender: TypeAlias = Literal["customer", "agent", "system", "bot"]


class SessionIn(TypedDict):
    user_id: NotRequired[str]
    user_token: NotRequired[str]
    channel: NotRequired[str]
    cookie: NotRequired[bool]


class SessionOpened(TypedDict):
    session_id: str
    session_token: str
    expires_at: str


class SessionPatch(TypedDict):
    priority: NotRequired[int | None]
    snoozed_until: NotRequired[str | None]
    agent_id: NotRequired[str]


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


class SolutionIn(TypedDict):
    question: NotRequired[str]
    answer: NotRequired[str]
    agent_id: NotRequired[str]


class SolutionOut(TypedDict):
    id: str
    session_id: str
    gap: str
    question: str
    answer: str
    agent_id: str
    state: Literal["reviewed"]
    created_at: str
    updated_at: str


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


Skill: TypeAlias = str


Team: TypeAlias = str


Hour: TypeAlias = str


class StaffIn(TypedDict):
    name: str
    skills: NotRequired[list[Skill]]
    teams: NotRequired[list[Team]]
    hours: NotRequired[list[Hour]]
    capacity: NotRequired[int]


class StaffOut(TypedDict):
    agent_id: str
    name: str
    skills: list[str]
    teams: list[str]
    hours: list[str]
    capacity: int
    assigned: int
    last_seen: str | None


Stage: TypeAlias = Literal["not_found", "not_indexed", "filtered", "not_recalled", "rerank_cut", "gate", "passed"]


Standing: TypeAlias = Literal["open", "ended", "bot"]


State: TypeAlias = Literal["bot", "queued", "out_of_hours", "assigned", "resolved", "closed"]


class StopOut(TypedDict):
    stopped: bool


TableFormat: TypeAlias = Literal["csv", "xlsx"]


class TeamIn(TypedDict):
    name: str


class TeamOut(TypedDict):
    id: str
    name: str
    members: list[str]


class TicketIn(TypedDict):
    subject: str
    description: NotRequired[str]
    category: NotRequired[Category]
    priority: NotRequired[Priority]
    session_id: NotRequired[str]
    user_id: NotRequired[str]
    author: NotRequired[str]


class TicketPatch(TypedDict):
    subject: NotRequired[str | None]
    description: NotRequired[str | None]
    category: NotRequired[Category | None]
    priority: NotRequired[Priority | None]
    assignee: NotRequired[str | None]
    author: NotRequired[str]
    version: NotRequired[int | None]


TicketState: TypeAlias = Literal["open", "in_progress", "waiting", "resolved", "closed", "reopened"]


Tier: TypeAlias = Literal["rules", "entities", "head", "llm"]


class TokenEvent(TypedDict):
    type: Literal["token"]
    text: str


class TokenSignIn(TypedDict):
    id_token: str
    tenant: NotRequired[str]


class TransferIn(TypedDict):
    agent_id: NotRequired[str]
    team: NotRequired[str]
    skill: NotRequired[str]
    note: NotRequired[str]
    by: NotRequired[str]


class TransitionIn(TypedDict):
    to: TicketState
    note: NotRequired[str]
    author: NotRequired[str]
    version: NotRequired[int | None]


Trouble: TypeAlias = Literal["danger", "wanted_person", "thumbs_down", "refused", "unsure", "none"]


class UnansweredOut(TypedDict):
    id: str
    question: str
    outcome: Outcome
    count: int
    first_seen: str
    last_seen: str


class UnansweredPage(TypedDict):
    questions: list[UnansweredOut]
    total: int


class UrlImport(TypedDict):
    url: str
    path: NotRequired[str]
    external_id: NotRequired[str]
    category: NotRequired[str | None]
    tags: NotRequired[list[Tag] | None]
    product: NotRequired[str | None]
    product_version: NotRequired[str | None]
    valid_from: NotRequired[str | None]
    valid_until: NotRequired[str | None]
    draft: NotRequired[bool]
    author: NotRequired[str]
    reason: NotRequired[str]


class VerificationOut(TypedDict):
    verdict: ReplyVerdict
    factuality: int | None
    quality: int | None
    relevance: float | None


VersionState: TypeAlias = Literal["draft", "review", "scheduled", "published", "archived"]


class ViewFilter(TypedDict):
    q: NotRequired[str]
    label: NotRequired[str]
    agent_id: NotRequired[str]
    standing: NotRequired[Standing | None]
    outcome: NotRequired[Outcome | None]
    priority: NotRequired[int | None]
    since: NotRequired[str | None]
    until: NotRequired[str | None]
    days: NotRequired[int | None]


class ViewIn(TypedDict):
    name: str
    filter: ViewFilter
    agent_id: str
    shared: NotRequired[bool]


class ViewOut(TypedDict):
    id: str
    name: str
    filter: ViewFilter
    shared: bool
    created_at: str


class ViewerOut(TypedDict):
    agent_id: str
    name: str


class VisitIn(TypedDict):
    url: str
    title: NotRequired[str]


class VisitOut(TypedDict):
    url: str
    title: str
    visits: int
    first_at: str
    last_at: str


Who: TypeAlias = Literal["customer", "bot", "staff", "system"]


class AdviceOut(TypedDict):
    question: str
    outcome: Outcome
    draft: str
    confidence: float
    sources: list[SourceOut | RowSourceOut]
    candidates: list[CandidateBrief]
    degraded: list[str]


class BatchFindingOut(TypedDict):
    query: str
    verdict: GateVerdict
    confidence: float
    intents: list[str]
    rejected: Reason | None
    document_id: str | None
    title: str | None
    chunk_id: str | None
    text: str | None
    stage: Stage | None
    explanation: str
    degraded: list[str]


class BatchQuestionIn(TypedDict):
    query: str
    history: NotRequired[list[HistoryItem]]
    why: NotRequired[ExpectedIn | None]


class BatchSearchRequest(TypedDict):
    questions: list[BatchQuestionIn]
    decide: NotRequired[bool]


class BatchSearchResponse(TypedDict):
    counts: dict[GateVerdict, int]
    stages: dict[Stage, int]
    questions: list[BatchFindingOut]


class BidOut(TypedDict):
    intent: Intent | Literal["curated"]
    probability: float
    rank: Literal["urgent", "claims", "aside", "looks_up"]
    why: str


class BinPage(TypedDict):
    items: list[BinnedDocumentOut]
    total: int
    offset: int
    limit: int
    days: int


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


class CannedList(TypedDict):
    replies: list[CannedOut]


class ChatRequest(TypedDict):
    message: str
    attachments: NotRequired[list[Attachment]]
    session_id: NotRequired[str | None]
    user_id: NotRequired[str]
    user_token: NotRequired[str]
    session_token: NotRequired[str]
    channel: NotRequired[str]
    client_id: NotRequired[str]
    page: NotRequired[PageIn | None]
    filter: NotRequired[FilterIn | None]


class ConversationOut(TypedDict):
    session_id: str
    user_id: str
    verified: bool
    channel: str
    turns: int
    created_at: str
    updated_at: str
    first_question: str
    title: str
    trouble: Trouble
    worst: str
    last_outcome: str
    handoff: bool
    up: int
    down: int
    labels: list[str]


class DecisionOut(TypedDict):
    intents: list[Intent | Literal["curated"]]
    why: str
    bids: list[BidOut]


class DeskExchangeOut(TypedDict):
    question: str
    reply: str
    outcome: Outcome
    created_at: str


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


class EntryOut(TypedDict):
    who: Who
    agent_id: str
    name: str
    text: str
    event: Event | None
    note: str
    message_id: str
    seq: int | None
    created_at: str
    attachments: NotRequired[list[AttachmentOut]]


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


class ExchangeOut(TypedDict):
    message_id: str
    question: str
    reply: str
    outcome: Outcome
    data: dict[str, Any]
    created_at: str
    rating: Literal["up", "down"] | None
    reason: str


class FaqImportOut(TypedDict):
    added: int
    changed: int
    unchanged: int
    refused: list[FaqRefusedRow]


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


class FoundOut(TypedDict):
    session_id: str
    channel: str
    state: State
    priority: int
    agent: str
    turns: int
    first_question: str
    last_outcome: str
    ticket: str
    created_at: str
    updated_at: str
    snippet: str
    customer: NotRequired[CustomerOut | None]
    labels: NotRequired[list[str]]


class GapOut(TypedDict):
    id: str
    state: GapState
    question: str
    asked: int
    customers: int
    week: int
    week_before: int
    handoffs: int
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


class HistoryOut(TypedDict):
    version: int
    event: Event
    source: State
    target: State
    actor: Actor
    agent_id: str
    note: str
    created_at: str


class HistoryPage(TypedDict):
    conversations: list[FoundOut]
    total: int


class JobDetail(TypedDict):
    job: JobOut
    files: list[FileReportOut]


class JobRunOut(TypedDict):
    id: str
    kind: str
    parameters: dict[str, Any]
    state: RunState
    done: int
    total: int
    result: dict[str, Any] | None
    error: JobError | None
    scheduled: str | None
    created_at: str
    started_at: str | None
    finished_at: str | None
    duration: float | None


class LastMessageOut(TypedDict):
    seq: int
    sender: Sender
    content: str
    created_at: str


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


class PassageOut(TypedDict):
    index: int
    document_id: str
    title: str
    heading: str
    page: int | None
    text: str
    snippet: str
    url: str | None
    parts: list[PassagePartOut]
    current: bool


class ReadOut(TypedDict):
    unread: int
    viewers: list[ViewerOut]


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


class SessionDetail(TypedDict):
    session_id: str
    state: State
    version: int
    messages: int
    agent_id: str
    user_id: str
    verified: bool
    channel: str
    reason: str
    priority: int
    emotion: float
    skill: str
    team: str
    ticket: str
    card: dict[str, Any]
    queued_at: str | None
    assigned_at: str | None
    resolved_at: str | None
    customer_seen: NotRequired[int]
    staff_seen: NotRequired[int]
    snoozed_until: str | None
    customer: NotRequired[CustomerOut | None]
    labels: NotRequired[list[str]]
    unread: NotRequired[int]
    last_message: NotRequired[LastMessageOut | None]
    conversation: list[DeskExchangeOut]
    history: list[HistoryOut]
    notes: list[NoteOut]
    recent_messages: list[DeskMessageOut]
    viewers: list[ViewerOut]


class SessionOut(TypedDict):
    session_id: str
    state: State
    version: int
    messages: int
    agent_id: str
    user_id: str
    verified: bool
    channel: str
    reason: str
    priority: int
    emotion: float
    skill: str
    team: str
    ticket: str
    card: dict[str, Any]
    queued_at: str | None
    assigned_at: str | None
    resolved_at: str | None
    customer_seen: NotRequired[int]
    staff_seen: NotRequired[int]
    snoozed_until: str | None
    customer: NotRequired[CustomerOut | None]
    labels: NotRequired[list[str]]
    unread: NotRequired[int]
    last_message: NotRequired[LastMessageOut | None]


class SolutionList(TypedDict):
    solutions: list[SolutionOut]
    total: int


class StaffList(TypedDict):
    staff: list[StaffOut]


class TeamList(TypedDict):
    teams: list[TeamOut]


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
    session_id: str
    user_id: str
    verified: bool
    subject: str
    description: str
    category: Category
    priority: Priority
    state: TicketState
    assignee: str
    version: int
    sla: SlaOut
    resolved_at: str | None
    created_at: str
    updated_at: str


class TicketPage(TypedDict):
    tickets: list[TicketOut]
    total: int


class Transcript(TypedDict):
    session_id: str
    user_id: str
    verified: bool
    channel: str
    state: State
    created_at: str
    updated_at: str
    entries: list[EntryOut]
    turns: list[ExchangeOut]


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


class ViewList(TypedDict):
    views: list[ViewOut]


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


class ContactOut(TypedDict):
    customer: CustomerOut
    language: Literal["zh", "en"] | None
    channel: str
    first_seen: str
    last_seen: str
    visits: list[VisitOut]
    conversations: list[FoundOut]
    total: int
    tickets: list[ContactTicketOut]
    notes: list[ContactNoteOut]
    votes: list[ContactVoteOut]


class ConversationList(TypedDict):
    conversations: list[ConversationOut]
    next: str | None
    total: int


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
    first_seen: str | None
    last_seen: str | None
    merged_into: str
    updated_at: str
    questions: list[MissOut]
    near: list[NearOut]
    history: list[GapEventOut]
    draft: GapDraftOut | None


class SessionList(TypedDict):
    sessions: list[SessionOut]


class TicketDetail(TypedDict):
    number: str
    session_id: str
    user_id: str
    verified: bool
    subject: str
    description: str
    category: Category
    priority: Priority
    state: TicketState
    assignee: str
    version: int
    sla: SlaOut
    resolved_at: str | None
    created_at: str
    updated_at: str
    history: list[TicketEventOut]


ChatEvent: TypeAlias = MetaEvent | TokenEvent | ReplaceEvent | HandoffEvent | PingEvent | DoneEvent | ErrorEvent
