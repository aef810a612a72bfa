"""What routes ask of the wiring, the wiring has: mypy says here what is missing or of another type."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Generic, TypeVar

from app.attachments.parts import Parts as AttachmentsParts
from app.audit.api import Parts as AuditParts
from app.canned.api import Parts as CannedParts
from app.channels.api import Parts as ChannelsParts
from app.chat.parts import Parts as ChatParts
from app.connection.api import Parts as ConnectionParts
from app.contacts.api import Parts as ContactsParts
from app.conversations.api import Parts as ConversationsParts
from app.corrections.api import Parts as CorrectionsParts
from app.desk.parts import Parts as DeskParts
from app.documents.parts import Parts as DocumentsParts
from app.evaluation.api import Parts as EvaluationParts
from app.faqs.api import Parts as FaqsParts
from app.first_steps.api import Parts as FirstStepsParts
from app.gaps.parts import Parts as GapsParts
from app.health.api import Parts as HealthParts
from app.history.api import Parts as HistoryParts
from app.hit_test.api import Parts as HitTestParts
from app.http.parts import HttpParts
from app.jobs.api import Parts as JobsParts
from app.keys.api import Parts as KeysParts
from app.observability.api import Parts as ObservabilityParts
from app.people.parts import Parts as PeopleParts
from app.performance.parts import Parts as PerformanceParts
from app.profiles.api import Parts as ProfilesParts
from app.prompts.api import Parts as PromptsParts
from app.quality.api import Parts as QualityParts
from app.ratings.api import Parts as RatingsParts
from app.reports.api import Parts as ReportsParts
from app.sources.api import Parts as SourcesParts
from app.spending.api import Parts as SpendingParts
from app.tickets.api import Parts as TicketsParts
from app.traces.api import Parts as TracesParts
from app.transcripts.parts import Parts as TranscriptsParts
from app.tuner.api import Parts as TunerParts
from app.vocabulary.api import Parts as VocabularyParts
from app.web.api import Parts as WebParts
from app.webhooks.api import Parts as WebhooksParts
from app.widget.api import Parts as WidgetParts
from app.wiring.container import Container

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[3]


class Serves(Generic[T]):
    """Parts of the wiring."""

    def __init__(self, parts: T) -> None:
        self.parts = parts


def serve_everything(container: Container) -> None:
    """Is never called: its types are what counts."""
    Serves[HttpParts](container)
    Serves[AttachmentsParts](container)
    Serves[AuditParts](container)
    Serves[CannedParts](container)
    Serves[ChannelsParts](container)
    Serves[ChatParts](container)
    Serves[ConnectionParts](container)
    Serves[ContactsParts](container)
    Serves[ConversationsParts](container)
    Serves[CorrectionsParts](container)
    Serves[DeskParts](container)
    Serves[DocumentsParts](container)
    Serves[EvaluationParts](container)
    Serves[FaqsParts](container)
    Serves[FirstStepsParts](container)
    Serves[GapsParts](container)
    Serves[HealthParts](container)
    Serves[HistoryParts](container)
    Serves[HitTestParts](container)
    Serves[JobsParts](container)
    Serves[KeysParts](container)
    Serves[ObservabilityParts](container)
    Serves[PeopleParts](container)
    Serves[PerformanceParts](container)
    Serves[ProfilesParts](container)
    Serves[PromptsParts](container)
    Serves[QualityParts](container)
    Serves[RatingsParts](container)
    Serves[ReportsParts](container)
    Serves[SourcesParts](container)
    Serves[SpendingParts](container)
    Serves[TicketsParts](container)
    Serves[TracesParts](container)
    Serves[TranscriptsParts](container)
    Serves[TunerParts](container)
    Serves[VocabularyParts](container)
    Serves[WebParts](container)
    Serves[WebhooksParts](container)
    Serves[WidgetParts](container)


def test_all_that_routes_ask_for_is_compared_with_the_wiring() -> None:
    asking = {path for path in (ROOT / "app").rglob("*.py") if "\nclass Parts(" in path.read_text("utf-8")}
    own = ast.parse(Path(__file__).read_text("utf-8"))
    compared = {
        ROOT / f"{node.module.replace('.', '/')}.py"
        for node in own.body
        if isinstance(node, ast.ImportFrom) and node.module and node.names[0].name == "Parts"
    }
    assert compared == asking
