"""What the routes of this feature need of the wiring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from app.http.deps import Wired

if TYPE_CHECKING:
    from app.contacts.service import Contacts
    from app.desk.human_desk import HumanDesk
    from app.documents.repository import DocumentRepository
    from app.transcripts.repository import TranscriptRepository
    from app.transcripts.repository_history import HistoryRepository
    from app.transcripts.repository_whole import WholeTranscriptRepository


class Parts(Protocol):
    """What these routes are served by."""

    contacts: Contacts
    desk: HumanDesk
    documents: DocumentRepository
    histories: HistoryRepository
    transcripts: TranscriptRepository
    whole_transcripts: WholeTranscriptRepository


Wiring = Wired[Parts]
