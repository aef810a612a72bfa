"""A tenant's own model labels questions about its base: what that takes, told beforehand, and the labels in force."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from agents.llm.calls import record_calls
from agents.llm.question_writer import QuestionWriter
from agents.types import ModelCall
from app.errors import Conflict
from app.search.verdicts import BaseJudge, BaseVerdict, fit_gate, sample_chunks
from knowledge.calibration.calibrator import LabelledQuestion
from knowledge.types import Chunk

if TYPE_CHECKING:
    from agents.reader import PassageReader
    from app.reader import ReaderScale
    from app.search.repository_verdicts import VerdictRepository
    from app.search.service import CalibratedSearch, Searches

# Two questions are written of each.
PASSAGES = 100
# Passages by which time, tokens and money of all are told beforehand.
TRIED = 2


@dataclass(frozen=True, slots=True)
class JudgingEstimate:
    """What it takes to judge questions about so many passages. cost: in the unit of LLM_PRICES, 0 without a price."""

    passages: int
    seconds: float
    prompt_tokens: int
    completion_tokens: int
    cost: float


@dataclass(frozen=True, slots=True)
class PreparedJudge:
    """A judge, and the passages of which it is to have questions written."""

    judge: BaseJudge
    chunks: list[Chunk]

    async def try_some(self) -> tuple[list[BaseVerdict], JudgingEstimate]:
        """Judges the first passages; the estimate is for all the others. Raises GenerationUnavailable."""
        calls: list[ModelCall] = []
        tried, started = self.chunks[:TRIED], time.monotonic()
        with record_calls(calls.append):
            verdicts = await self.judge.judge(tried)
        left = len(self.chunks) - len(tried)
        share = left / len(tried)
        estimate = JudgingEstimate(
            left,
            round((time.monotonic() - started) * share, 1),
            round(sum(call.usage.prompt_tokens for call in calls) * share),
            round(sum(call.usage.completion_tokens for call in calls) * share),
            round(sum(call.cost for call in calls) * share, 4),
        )
        return verdicts, estimate

    async def judge_rest(self, progress: Callable[[int], object]) -> list[BaseVerdict]:
        """Judges what was not tried. Raises GenerationUnavailable."""
        return await self.judge.judge(self.chunks[TRIED:], progress)


class VerdictService:
    """Of all tenants. models: gives what judges passages and what writes questions, by tenant; verdicts: where those in
    force are kept; searches: whose gates they move.
    """

    def __init__(
        self,
        models: Callable[[str], tuple[PassageReader | None, QuestionWriter | None]],
        reader: ReaderScale,
        verdicts: VerdictRepository,
        searches: Searches,
    ) -> None:
        self._models, self._reader = models, reader
        self.verdicts, self._searches = verdicts, searches

    async def prepare_estimate(self, tenant: str, search: CalibratedSearch, passages: int) -> JudgingEstimate:
        """Estimates what judging costs, by asking about some passages. Raises Conflict, GenerationUnavailable."""
        return (await self.prepare(tenant, search, passages).try_some())[1]

    def prepare(self, tenant: str, search: CalibratedSearch, passages: int) -> PreparedJudge:
        """Chooses passages of the base. Raises Conflict where no model can judge them, or there are none."""
        reader, writer = self._models(tenant)
        if reader is None or writer is None:
            message = "要先接一个大模型，并让它把门：LLM_API_KEY（或 LLM_PROVIDER=gguf）与 READER_ENABLED=true。"
            raise Conflict(message, code="no_model")
        if self._reader.calibration is None:
            message = f"{reader.title} 分不清资料里有没有写明答案，或者太慢，校准不能靠它；日志里有原因。"
            raise Conflict(message, code="model_cannot_judge", model=reader.title)
        chunks = sample_chunks(sorted(search.index.get_snapshot().walk(), key=lambda chunk: chunk.id), passages)
        if not chunks:
            raise Conflict("知识库是空的", code="empty_knowledge_base")
        return PreparedJudge(BaseJudge(search, writer, reader, self._reader.calibration), chunks)

    async def put_in_force(self, tenant: str, report_id: str, result: dict[str, Any], *, by: str) -> None:
        """Fits the gate to the verdicts of a report: in this process before it returns, in others within a minute.

        Raises Conflict for too few verdicts.
        """
        if result["fit"] is None:
            raise Conflict("明确的判断太少，不能用来校准。", code="too_few_verdicts", id=report_id)
        labelled = [LabelledQuestion(one["text"], one["answerable"]) for one in result["verdicts"]]
        await self.verdicts.put(tenant, report_id, labelled, by=by)
        await self._searches.refresh_labels(tenant)

    async def drop(self, tenant: str) -> None:
        """Fits the gate without labels again. Raises EmbeddingUnavailable."""
        await self.verdicts.drop(tenant)
        await self._searches.refresh_labels(tenant)


def describe_verdicts(verdicts: list[BaseVerdict], threshold: float) -> dict[str, Any]:
    """Builds what a report says about verdicts. threshold: of the gate; fit: None for too few of either kind."""
    fitted = fit_gate(verdicts, threshold)
    return {
        "fit": None if fitted is None else asdict(fitted),
        "answerable": sum(each.answerable for each in verdicts),
        "unanswerable": sum(not each.answerable for each in verdicts),
        "verdicts": [asdict(each) for each in verdicts],
        "values": {},
    }
