"""Bodies of the comparison of drafts with what is published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field

from app.hit_test.compare import Compared, ComparedSide, Effect
from app.hit_test.schemas import DraftsIn
from app.hit_test.trial import Trial
from app.http.fields import CLEANED
from knowledge.types import GateVerdict

MAX_QUESTIONS = 200
_MAX_TEXT_CHARS = 200


class CompareRequest(BaseModel):
    """Questions, and the versions to try them on."""

    model_config = ConfigDict(extra="forbid")

    questions: list[Annotated[str, CLEANED, Field(min_length=1, max_length=2000)]] = Field(
        min_length=1, max_length=MAX_QUESTIONS, description="要试的问题"
    )
    drafts: DraftsIn = Field(True, description="当作已经发布来试的版本；true 为每篇文档最新的、还没发布的版本")

    def trials(self) -> Iterator[Trial]:
        """The questions, one by one."""
        return (Trial(question) for question in self.questions)


class ComparedSideOut(BaseModel):
    """What a question finds, and its best piece."""

    verdict: GateVerdict = Field(description="pass：会回答；clarify：会反问；refuse：没有依据")
    document_id: str | None
    title: str | None
    chunk_id: str | None
    text: str | None = Field(description="最好的片段，最多 200 字")
    probability: float = Field(description="校准后的把握")

    @classmethod
    def of(cls, finding: ComparedSide) -> Self:
        best = finding.best
        return cls(
            verdict=finding.verdict,
            document_id=best.chunk.document.id if best else None,
            title=best.chunk.document.title if best else None,
            chunk_id=best.chunk.id if best else None,
            text=best.chunk.text[:_MAX_TEXT_CHARS] if best else None,
            probability=round(best.probability, 4) if best else 0.0,
        )


class ComparedOut(BaseModel):
    """A question before and after."""

    question: str
    effect: Effect = Field(description="improved：更有依据；lost：失去依据；changed：依据换了一段；same：没有变化")
    before: ComparedSideOut = Field(description="现在")
    after: ComparedSideOut = Field(description="这些版本发布以后")


class CompareResponse(BaseModel):
    """What the drafts would change."""

    counts: dict[Effect, int] = Field(description="各种变化各有几问")
    questions: list[ComparedOut] = Field(description="逐问的结果，按提交的顺序")

    @classmethod
    def of(cls, questions: Sequence[Compared]) -> Self:
        counted = Counter(one.effect for one in questions)
        rows = [
            ComparedOut(
                question=one.question,
                effect=one.effect,
                before=ComparedSideOut.of(one.before),
                after=ComparedSideOut.of(one.after),
            )
            for one in questions
        ]
        return cls(counts={effect: counted[effect] for effect in Effect}, questions=rows)
