"""What people call the things that actions are about, read before the action: a deleted thing has its name after."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import InstrumentedAttribute

from app.canned.tables import CannedReplyRow
from app.db.engine import Database
from app.desk.tables import DeskStaff, DeskTeamRow
from app.documents.tables import Document
from app.evaluation.tables import EvaluationReportRow, EvaluationSetRow
from app.faqs.tables import FaqRow
from app.history.tables import SavedViewRow
from app.jobs.tables import JobRunRow
from app.keys.tables import ApiKey
from app.people.tables import PersonRow
from app.sources.tables import SourceRow
from app.tuner.tables import TunerReport
from app.vocabulary.tables import VocabularyRow
from app.webhooks.tables import Webhook

Column = InstrumentedAttribute[str]
# Parameters of paths that are names themselves.
NAMED_ITSELF = frozenset({"name", "kind", "number"})
# By the parameter of a path: tenant, id and name. What customers wrote (conversations, attachments, gaps) has none
# here: it is erased with the conversation, and the audit log stays.
_NAMES: Mapping[str, tuple[tuple[Column, Column, ColumnElement[str] | Column], ...]] = {
    "agent_id": ((DeskStaff.tenant_id, DeskStaff.agent_id, DeskStaff.name),),
    "canned_id": ((CannedReplyRow.tenant_id, CannedReplyRow.id, CannedReplyRow.shortcut),),
    "document_id": ((Document.tenant_id, Document.id, func.coalesce(func.nullif(Document.title, ""), Document.name)),),
    "entry_id": ((VocabularyRow.tenant_id, VocabularyRow.id, VocabularyRow.term),),
    "faq_id": ((FaqRow.tenant_id, FaqRow.id, FaqRow.question),),
    "key_id": ((ApiKey.tenant_id, ApiKey.id, ApiKey.name),),
    "person_id": ((PersonRow.tenant_id, PersonRow.id, PersonRow.name),),
    "report_id": (
        (EvaluationReportRow.tenant_id, EvaluationReportRow.id, EvaluationReportRow.set_name),
        (TunerReport.tenant_id, TunerReport.id, TunerReport.title),
    ),
    "run_id": ((JobRunRow.tenant_id, JobRunRow.id, JobRunRow.kind),),
    "set_id": ((EvaluationSetRow.tenant_id, EvaluationSetRow.id, EvaluationSetRow.name),),
    "source_id": ((SourceRow.tenant_id, SourceRow.id, SourceRow.name),),
    "team_id": ((DeskTeamRow.tenant_id, DeskTeamRow.id, DeskTeamRow.name),),
    "view_id": ((SavedViewRow.tenant_id, SavedViewRow.id, SavedViewRow.name),),
    "webhook_id": ((Webhook.tenant_id, Webhook.id, Webhook.url),),
}


class NameRepository:
    """Names of all tenants' things; every read names one."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find_name(self, tenant: str, target: Mapping[str, str]) -> str:
        """Returns the name of the thing that these path parameters point to; empty where none has a name."""
        for parameter, value in target.items():
            if parameter in NAMED_ITSELF:
                return value
            for owner, key, name in _NAMES.get(parameter, ()):
                query = select(name).where(owner == tenant, key == value)
                found = await self._database.fetch_value(query.limit(1))
                if found:
                    return str(found)
        return ""
