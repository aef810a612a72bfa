"""The sample knowledge base, and what to ask it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

import knowledge
from app.documents.types import Filing

if TYPE_CHECKING:
    from app.documents.repository import DocumentRepository


FOLDER = Path(knowledge.__file__).with_name("samples") / "documents"
QUESTIONS = FOLDER.with_name("questions.yaml")
# In DATA_DIR: whether they were taken in, so that those that were deleted do not come back.
MARKER = "samples.state"


@cache
def sample_paths() -> frozenset[str]:
    """Returns the paths under which samples are filed."""
    return frozenset(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if path.is_file())


async def sample_questions(tenant: str, documents: DocumentRepository, *, english: bool) -> list[str]:
    """Returns questions to ask a new knowledge base first, one for each of some samples that it has; none if it has
    others.
    """
    questions: dict[str, str] = yaml.safe_load(QUESTIONS.read_text("utf-8"))["en" if english else "zh"]
    return [text for path, text in questions.items() if await documents.find_filed(tenant, Filing(path))]
