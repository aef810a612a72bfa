"""Documents without a title, and passages that no question ever found."""

from __future__ import annotations

import re

from app.quality.checks.types import IssueKind, QualityCorpus, QualityIssue, Severity, Steps

# Names that programs give.
_MEANINGLESS = re.compile(
    r"[\W\d_]*(?:(?:新建|未命名|无标题|untitled|document|scan|img|文档|副本|copy|final|最终版)[\W\d_]*)*", re.I
)


def find_untitled(corpus: QualityCorpus) -> Steps:
    """Finds titles that say nothing, of documents whose passages have no headings: nobody knows what 它 means."""
    for document, chunks in corpus.group_by_document().items():
        yield None
        facts = corpus.documents.get(document)
        if facts is not None and facts.curated:
            continue
        title = chunks[0].document.title
        if _MEANINGLESS.fullmatch(title) and not any(
            chunk.question or set(chunk.heading_path) - {title} for chunk in chunks
        ):
            detail = f"标题“{title}”看不出讲什么，正文也没有小标题" if title else "没有标题，正文也没有小标题"
            yield QualityIssue(IssueKind.UNTITLED, Severity.LOW, document, None, None, detail, (title,))


def find_unreached(corpus: QualityCorpus) -> Steps:
    """Finds passages that existed for the whole period and were a candidate for no question."""
    reach = corpus.reach
    if reach is None or reach.since is None:
        return
    for chunk in corpus.chunks:
        yield None
        facts = corpus.documents.get(chunk.document.id)
        if facts is None or facts.updated_at is None or facts.updated_at > reach.since or chunk.question is not None:
            continue
        if build_place_key(chunk.document.id, chunk.id) not in reach.chunks:
            detail = f"最近 {reach.turns} 次检索都没有找到过这一段"
            yield QualityIssue(IssueKind.UNREACHED, Severity.LOW, chunk.document.id, chunk, None, detail)


def build_place_key(document_id: str, chunk_id: str) -> str:
    """Returns a key that stays when a document is labelled again and its chunks get other ids."""
    return f"{document_id}-{chunk_id.rpartition('-')[2]}"
