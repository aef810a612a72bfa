"""Which tables grow with use, and which of their rows are over. A new table is one row here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, String, delete, exists, inspect, select
from sqlalchemy.orm import aliased

from agents.ticketing.types import DONE
from app.attachments.tables import AttachmentRemovalRow, AttachmentRow
from app.audit.tables import AuditRow
from app.canned.tables import CannedReplyRow
from app.channels.tables import (
    ChannelCursorRow,
    ChannelMemberRow,
    ChannelMessageRow,
    ChannelReplyRow,
    ChannelSessionRow,
)
from app.connection.tables import ModelConnectionRow
from app.contacts.tables import ContactLabelRow, ContactRow
from app.conversations.tables import Conversation
from app.corrections.tables import CorrectionRow
from app.db.base import Base, match_equal, match_keys, now
from app.db.engine import insert_into
from app.db.tables import OutboxEvent
from app.desk.tables import DeskSessionRow, DeskSolution, DeskStaff, DeskTeamRow
from app.desk.types import ACTIVE
from app.documents.tables import (
    Content,
    Document,
    DocumentVersion,
    IngestionJob,
    IngestionOriginal,
    KbState,
    StoredChunk,
    Term,
)
from app.documents.types import DocumentKind, VersionState
from app.embeddings.tables import Embedding
from app.evaluation.tables import EvaluationCaseRow, EvaluationReportRow, EvaluationSetRow
from app.faqs.tables import FaqRow, FaqWordingRow
from app.gaps.tables import GapItemRow, GapPolicyRow, GapRow, KnowledgeGap
from app.generations.tables import GenerationRow
from app.history.tables import SavedViewRow
from app.idempotency.tables import IdempotentRequest
from app.jobs.tables import JobRunRow
from app.keys.tables import ApiKey
from app.people.tables import PersonRow, SignInRow
from app.performance.tables import MetricPoint, UsageCounter
from app.profiles.tables import Profile
from app.prompts.tables import StoredPrompt
from app.quality.tables import QualityCheckRow, QualityIssueRow
from app.retention.tables import RetentionPeriod
from app.search.tables import CalibrationRow, CalibrationVerdicts
from app.sources.tables import SourceItemRow, SourceRow
from app.spending.tables import ModelSpending, UnreadableReplies
from app.tickets.tables import Ticket
from app.tuner.tables import TunerParams, TunerReport
from app.vocabulary.tables import VocabularyRow
from app.webhooks.tables import Webhook, WebhookDelivery
from app.widget.tables import WidgetLook

Key = tuple[Any, ...]
# Deletes rows of a tenant by their keys, which are without the tenant.
Remove = Callable[[Connection, str, Sequence[Key]], None]


@dataclass(frozen=True, slots=True)
class GrowingTable:
    """Rows of a table whose age counts. kind: what its period is called; several tables may share one.

    since: the column of a row's age, a moment or a day; expired: what may go once everything before a moment may, where
    age alone does not tell; remove: how, where more than the rows has to be done.
    """

    kind: str
    table: type[Base]
    since: Any
    expired: Callable[[datetime], ColumnElement[bool]] | None = None
    remove: Remove | None = None

    @property
    def key(self) -> tuple[Any, ...]:
        """The primary key without the tenant."""
        return inspect(self.table).primary_key[1:]

    def match_expired(self, before: datetime) -> ColumnElement[bool]:
        """Matches the rows that may go once everything before that moment may."""
        if self.expired is not None:
            return self.expired(before)
        older: ColumnElement[bool] = self.since < (
            before.date().isoformat() if isinstance(self.since.type, String) else before
        )
        return older

    def delete(self, connection: Connection, tenant: str, keys: Sequence[Key]) -> None:
        """Deletes the rows of these keys."""
        if self.remove is not None:
            self.remove(connection, tenant, keys)
        else:
            rows = match_keys(inspect(self.table).primary_key, ((tenant, *key) for key in keys))
            connection.execute(delete(self.table).where(rows))


def _match_conversations(before: datetime) -> ColumnElement[bool]:
    """Matches conversations that may be deleted: not while a person is needed, or a ticket about them is open."""
    desk, ticket = DeskSessionRow, Ticket
    at_desk = exists().where(
        match_equal(desk, Conversation, "session_id"),
        desk.state.in_([state.value for state in ACTIVE]) | (desk.active_at >= before),
    )
    to_do = exists().where(
        match_equal(ticket, Conversation, "session_id"),
        ticket.state.not_in([state.value for state in DONE]),
    )
    return (Conversation.updated_at < before) & ~at_desk & ~to_do


def _match_channel_sessions(before: datetime) -> ColumnElement[bool]:
    """Matches sessions of channels without a conversation; the others are deleted with it."""
    session = ChannelSessionRow
    kept = exists().where(match_equal(Conversation, session, "session_id"))
    return (session.updated_at < before) & ~kept


def _match_versions(before: datetime) -> ColumnElement[bool]:
    """Matches versions that were replaced before; a draft waits for as long as it takes."""
    return (DocumentVersion.state == VersionState.ARCHIVED) & (DocumentVersion.archived_at < before)


def _remove_versions(connection: Connection, tenant: str, keys: Sequence[Key]) -> None:
    """Removes versions, with the contents that no other version has."""
    table = DocumentVersion
    mine = (table.tenant_id == tenant) & table.id.in_([key[0] for key in keys])
    contents = set(connection.execute(select(table.content_hash).where(mine)).scalars())
    connection.execute(delete(table).where(mine))
    _drop_unused(connection, tenant, contents)


def _drop_unused(connection: Connection, tenant: str, contents: set[str]) -> None:
    used = select(DocumentVersion.content_hash).where(DocumentVersion.tenant_id == tenant)
    unused = Content.content_hash.in_(contents) & Content.content_hash.not_in(used)
    connection.execute(delete(Content).where(Content.tenant_id == tenant, unused))


def _match_binned(before: datetime) -> ColumnElement[bool]:
    """Matches documents that were deleted before."""
    return (Document.kind == DocumentKind.BINNED) & (Document.deleted_at < before)


def _remove_binned(connection: Connection, tenant: str, keys: Sequence[Key]) -> None:
    """Removes deleted documents with their versions, and the contents that no other document has."""
    ids = [key[0] for key in keys]
    own = (DocumentVersion.tenant_id == tenant) & DocumentVersion.document_id.in_(ids)
    contents = set(connection.execute(select(DocumentVersion.content_hash).where(own)).scalars())
    connection.execute(delete(Document).where(Document.tenant_id == tenant, Document.id.in_(ids)))
    _drop_unused(connection, tenant, contents)


def _remove_jobs(connection: Connection, tenant: str, keys: Sequence[Key]) -> None:
    """Removes jobs with the originals that were kept."""
    ids = [key[0] for key in keys]
    originals = (IngestionOriginal.tenant_id == tenant) & IngestionOriginal.job_id.in_(ids)
    connection.execute(delete(IngestionOriginal).where(originals))
    connection.execute(delete(IngestionJob).where(IngestionJob.tenant_id == tenant, IngestionJob.id.in_(ids)))


def _remove_attachments(connection: Connection, tenant: str, keys: Sequence[Key]) -> None:
    """Removes the rows of attachments; their files are deleted after the commit."""
    ids = [key[0] for key in keys]
    rows = [{"tenant_id": tenant, "id": id, "due_at": now()} for id in ids]
    connection.execute(delete(AttachmentRow).where(AttachmentRow.tenant_id == tenant, AttachmentRow.id.in_(ids)))
    connection.execute(insert_into(connection, AttachmentRemovalRow).on_conflict_do_nothing(), rows)


def _match_keys(before: datetime) -> ColumnElement[bool]:
    """Matches keys that were revoked or have expired, but for the last one ever made.

    A server that has no key at all trusts whoever asks on loopback.
    """
    last = select(ApiKey.id).order_by(ApiKey.created_at.desc(), ApiKey.id).limit(1).scalar_subquery()
    return ((ApiKey.revoked_at < before) | (ApiKey.expires_at < before)) & (ApiKey.id != last)


def _match_gaps(before: datetime) -> ColumnElement[bool]:
    """Matches gaps about which nobody asks any more, and on which nobody worked since."""
    mine = (GapItemRow.tenant_id == GapRow.tenant_id) & (GapItemRow.gap_id == GapRow.id)
    return (GapRow.updated_at < before) & ~exists().where(mine)


def _match_runs(before: datetime) -> ColumnElement[bool]:
    """Matches runs of jobs, but for the last of a kind, which tells when it ran, and the last by schedule, which would
    be made again.
    """
    later, scheduled = aliased(JobRunRow), JobRunRow.scheduled.is_not(None)
    same = (later.tenant_id == JobRunRow.tenant_id) & (later.kind == JobRunRow.kind) & (later.id > JobRunRow.id)
    newer = exists().where(same, later.scheduled.is_not(None) | ~scheduled)
    return (JobRunRow.finished_at < before) & newer


def _match_failed(before: datetime) -> ColumnElement[bool]:
    """What fails is tried once an hour at most, so the tries tell for how long it failed."""
    return OutboxEvent.attempts >= (now() - before) // timedelta(hours=1)


def list_growing_tables(forget: Callable[[Connection, str, Sequence[str]], int]) -> tuple[GrowingTable, ...]:
    """forget: deletes conversations with all that was made of them. What belongs to a row by a foreign key, as turns do
    to their conversation, goes with it and needs no line.
    """

    def remove_conversations(connection: Connection, tenant: str, keys: Sequence[Key]) -> None:
        forget(connection, tenant, [key[0] for key in keys])

    return (
        GrowingTable(
            "conversations", Conversation, Conversation.updated_at, _match_conversations, remove_conversations
        ),
        GrowingTable("conversations", ChannelSessionRow, ChannelSessionRow.updated_at, _match_channel_sessions),
        GrowingTable("attachments", AttachmentRow, AttachmentRow.created_at, remove=_remove_attachments),
        GrowingTable(
            "tickets",
            Ticket,
            Ticket.updated_at,
            lambda before: (Ticket.updated_at < before) & Ticket.state.in_([state.value for state in DONE]),
        ),
        GrowingTable("solutions", DeskSolution, DeskSolution.updated_at),
        GrowingTable("gaps", KnowledgeGap, KnowledgeGap.last_seen),
        GrowingTable("gaps", GapItemRow, GapItemRow.asked_at),
        GrowingTable("gaps", GapRow, GapRow.updated_at, _match_gaps),
        GrowingTable("usage", UsageCounter, UsageCounter.day),
        GrowingTable("usage", ModelSpending, ModelSpending.day),
        GrowingTable("usage", UnreadableReplies, UnreadableReplies.day),
        GrowingTable("deliveries", WebhookDelivery, WebhookDelivery.updated_at),
        GrowingTable("deliveries", ChannelMessageRow, ChannelMessageRow.updated_at),
        GrowingTable("deliveries", ChannelReplyRow, ChannelReplyRow.updated_at),
        GrowingTable("deliveries", OutboxEvent, OutboxEvent.due_at, _match_failed),
        GrowingTable("requests", IdempotentRequest, IdempotentRequest.created_at),
        GrowingTable("versions", DocumentVersion, DocumentVersion.archived_at, _match_versions, _remove_versions),
        GrowingTable("bin", Document, Document.deleted_at, _match_binned, _remove_binned),
        GrowingTable("jobs", IngestionJob, IngestionJob.finished_at, remove=_remove_jobs),
        GrowingTable("jobs", JobRunRow, JobRunRow.finished_at, _match_runs),
        GrowingTable("jobs", TunerReport, TunerReport.created_at),
        GrowingTable("evaluations", EvaluationReportRow, EvaluationReportRow.created_at),
        GrowingTable("keys", ApiKey, ApiKey.revoked_at, _match_keys),
        GrowingTable("audit", AuditRow, AuditRow.at),
    )


# Tables that do not grow with use, and why.
STAYING: Mapping[type[Base], str] = {
    KbState: "one row a tenant",
    Profile: "one row a tenant",
    CalibrationRow: "one row a tenant, scorer and base; a later fit replaces it",
    CalibrationVerdicts: "one row a tenant; what a model judged, until an administrator takes it back",
    GapPolicyRow: "one row a tenant",
    ModelConnectionRow: "one row a tenant",
    WidgetLook: "one row a tenant",
    RetentionPeriod: "one row a tenant and kind",
    GenerationRow: "one row a tenant",
    Content: "goes with the last version that has it",
    StoredChunk: "of current versions only",
    QualityCheckRow: "one row a tenant",
    QualityIssueRow: "what the last check found; the next one replaces it",
    CorrectionRow: "what an administrator corrects, one a chunk; goes with its document",
    IngestionOriginal: "goes once its file is in, refused or cancelled; with the job, where the file ended its readers",
    Term: "the vocabulary of the knowledge base, whose ids must not change",
    AttachmentRemovalRow: "goes once its file is deleted, within a minute",
    Webhook: "what an administrator subscribed to",
    ChannelCursorRow: "one row an account",
    ChannelMemberRow: "who customers are, which the company's backend says and takes back",
    DeskStaff: "one row a member of staff",
    DeskTeamRow: "what a lead makes and removes",
    PersonRow: "one row a colleague; disabled ones stay for the names in history",
    SignInRow: "over after some days; deleted when somebody of the tenant signs in after that",
    SourceRow: "what an administrator adds and deletes",
    SourceItemRow: "one row a page or file of a source; goes with it",
    VocabularyRow: "words that an administrator adds and deletes; ended ones go after a day",
    EvaluationSetRow: "what an administrator measures the product with",
    EvaluationCaseRow: "an administrator adds and deletes; one made of a gap goes with it when it is erased",
    FaqRow: "curated answers, which an administrator writes and deletes",
    FaqWordingRow: "goes with its entry",
    ContactRow: "what staff call customers; goes with a customer's last conversation",
    ContactLabelRow: "what staff give customers; goes with a customer's last conversation",
    SavedViewRow: "what staff keep and delete",
    CannedReplyRow: "what staff write for their colleagues and delete",
    TunerParams: "one row a change by an administrator: who, when, before, after",
    MetricPoint: "minutes stay 2 days, hours 400, see `SeriesRecorder`",
    StoredPrompt: "one row a text that a prompt ever had, of no tenant",
    Embedding: "of no tenant; those unused for RETENTION_EMBEDDINGS_DAYS go, see `KeptEmbeddings.forget`",
}

KINDS = (
    "conversations",
    "attachments",
    "tickets",
    "solutions",
    "gaps",
    "usage",
    "deliveries",
    "requests",
    "versions",
    "bin",
    "jobs",
    "evaluations",
    "keys",
    "audit",
)
