"""Findings in SQL, on SQLite and PostgreSQL."""

from __future__ import annotations

from typing import Any

from app.db.engine import Database
from app.documents.repository_knowledge import KnowledgeRepository
from app.quality import repository
from app.quality.checks.types import IssueKind, IssueState, QualityIssue, Severity
from app.quality.repository import IssueFilters
from app.quality.schemas import QualityIssueOut
from knowledge.types import Chunk, DocumentMeta
from tests.app.documents.builders import prepared

EVERYTHING = IssueFilters()


def chunk(document: str, text: str) -> Chunk:
    return Chunk(f"{document}-0", DocumentMeta(document, f"{document}.md", document), 0, text)


def against(one: Chunk, other: Chunk) -> QualityIssue:
    values = one.text[-2:], other.text[-2:]
    return QualityIssue(IssueKind.CONTRADICTION, Severity.HIGH, one.document.id, one, other, "两种说法", values)


async def keep(database: Database, tenant: str, *issues: QualityIssue, document: str = "") -> dict[str, int]:
    return dict(
        await database.transact(lambda connection: repository.save_issues(connection, tenant, issues, document))
    )


async def decide(database: Database, tenant: str, issue: str, *said: Any) -> QualityIssueOut | None:
    return await database.transact(lambda connection: repository.decide_issue(connection, tenant, issue, *said))


async def test_findings_stay_what_they_are_while_documents_change_their_order(database: Database) -> None:
    knowledge = KnowledgeRepository(database)
    for tenant, document in (("t", "甲"), ("t", "乙"), ("other", "甲")):
        await knowledge.commit(tenant, prepared(document, "文", document=document, version=f"v{document}"), None)
    one, other = chunk("甲", "保修 1年"), chunk("乙", "保修 2年")
    untitled = QualityIssue(IssueKind.UNTITLED, Severity.LOW, "甲", None, None, "没有标题")
    gone = QualityIssue(IssueKind.UNTITLED, Severity.LOW, "无", None, None, "没有标题")
    assert await keep(database, "t", untitled, against(one, other), gone) == {"new": 2, "stayed": 0, "gone": 0}
    assert await keep(database, "other", untitled) == {"new": 1, "stayed": 0, "gone": 0}

    listed, total = await repository.load_page(database, "t", EVERYTHING, 0, 10)
    counts = await database.run_in_reader(repository.count_open, "t")
    assert ([issue.severity for issue in listed], total) == ([Severity.HIGH, Severity.LOW], 2)
    assert counts == {"contradiction": 1, "untitled": 1}
    decided = IssueState.IGNORED, "多送一年", "小王"
    for tenant, there in (("other", False), ("t", True)):
        assert (await decide(database, tenant, listed[0].id, *decided) is not None) is there

    assert await keep(database, "t", against(other, one), document="甲") == {"new": 0, "stayed": 1, "gone": 1}
    [now], _ = await repository.load_page(database, "t", IssueFilters(document_id="乙"), 0, 10)
    assert (await repository.load_page(database, "other", EVERYTHING, 0, 10))[1] == 1
    assert (now.document_id, now.chunk_id, now.other_document_id, now.other_chunk_id) == ("乙", "乙-0", "甲", "甲-0")
    assert (now.excerpts, now.values, now.state) == (["保修 2年", "保修 1年"], ["2年", "1年"], IssueState.IGNORED)

    await knowledge.delete("t", "甲")
    assert await repository.load_page(database, "t", EVERYTHING, 0, 10) == ([], 0)
    assert await database.run_in_reader(repository.count_open, "t") == {}
