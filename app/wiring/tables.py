"""All tables, for what needs to know them as a whole: importing this module fills `METADATA`."""

from __future__ import annotations

import app.attachments.tables
import app.audit.tables
import app.canned.tables
import app.channels.tables
import app.connection.tables
import app.contacts.tables
import app.conversations.tables
import app.corrections.tables
import app.db.tables
import app.desk.tables
import app.documents.tables
import app.embeddings.tables
import app.evaluation.tables
import app.faqs.tables
import app.gaps.tables
import app.generations.tables
import app.history.tables
import app.idempotency.tables
import app.jobs.tables
import app.keys.tables
import app.people.tables
import app.performance.tables
import app.profiles.tables
import app.prompts.tables
import app.quality.tables
import app.ratings.tables
import app.retention.tables
import app.search.tables
import app.sources.tables
import app.spending.tables
import app.tickets.tables
import app.traces.tables
import app.tuner.tables
import app.vocabulary.tables
import app.webhooks.tables
import app.widget.tables  # noqa: F401
from app.db.base import Base

METADATA = Base.metadata
