"""Requests and responses of evaluation runs and reports."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, StrictBool

from app.evaluation.comparison import ComparedTurn, ReportComparison, TurnEffect
from app.evaluation.judgement import TurnVerdict
from app.evaluation.results import TurnResult
from app.evaluation_runs.service import ReportedRun
from app.jobs.types import RunState


class EvaluationRunIn(BaseModel):
    """What is to be played."""

    model_config = ConfigDict(extra="forbid")

    set_id: str = Field(min_length=1, max_length=32, description="评测集的编号")
    judge: StrictBool = Field(True, description="接了大模型时，也由它评判忠实与切题；每个回答多一次请求")


class EvaluationCircumstances(BaseModel):
    """What answered."""

    revision: int = Field(0, description="知识库的版本号")
    embedder: str = Field("", description="向量模型")
    reranker: str = Field("", description="重排模型")
    llm: str = Field("", description="写回答的大模型；没有时为空")
    judge: str = Field("", description="评判的大模型；没有时为空")


class TagFigures(BaseModel):
    """Of the turns with a tag."""

    correct: int
    turns: int


class LatencyFigures(BaseModel):
    """Seconds until the whole reply was there."""

    p50: float
    p95: float


class EvaluationFigures(BaseModel):
    """Shares are of all turns but where said otherwise."""

    conversations: int = Field(description="题数")
    turns: int = Field(description="轮数")
    correct: int = Field(description="判为正确的轮数")
    partly: int = Field(description="方向对、要点说了一部分的轮数")
    accuracy: float = Field(description="判为正确的占比")
    false_answers: float = Field(description="误答的占比：不该回答却回答了，或说了不该说的")
    brush_offs: int = Field(description="正经问题被打发的轮数")
    swallowed: int = Field(description="没要人工却被人工队列接走的轮数")
    conversations_clean: int = Field(description="每一轮都正确的题数")
    answers: int = Field(description="取自文档或业务数据的回答数")
    hallucination_rate: float = Field(description="这些回答里，有数字、型号或编码没有依据的占比")
    citation_precision: float | None = Field(description="标了出处的回答所引的文档里，引对的占比；没有时为空")
    citation_recall: float | None = Field(description="标了出处的回答里，引到了其中一个的占比；没有时为空")
    faithfulness: float | None = Field(description="所引片段支持的句子占比，由大模型评判；没有评判时为空")
    relevance: float | None = Field(description="切题程度，0 到 1，由大模型评判；没有评判时为空")
    judged: int = Field(0, description="由大模型评判了的回答数；少于应评的，是请求失败或读不懂")
    degraded: int = Field(0, description="有部件出故障的轮数，没有回复的也算；这些轮次说明不了知识库好坏")
    seconds: LatencyFigures = Field(description="用时，秒")
    by_tag: dict[str, TagFigures] = Field(description="按标签分开数")


class EvaluationReportOut(BaseModel):
    """A report, and how far its run is."""

    id: str = Field(description="编号，也是任务运行的编号")
    set_id: str = Field(description="评测集的编号")
    set_name: str = Field(description="评测集当时的名字")
    state: RunState = Field(description="queued：排队；running：进行中；done：完成；failed：失败；cancelled：已取消")
    done: int = Field(description="已完成的轮数")
    total: int = Field(description="总轮数；还不知道时为 0")
    error: str = Field(description="失败的原因，没有时为空")
    circumstances: EvaluationCircumstances = Field(description="当时是什么在回答")
    figures: EvaluationFigures | None = Field(description="指标；还没有结果时为空，没完成时是已完成的部分")
    created_at: datetime
    finished_at: datetime | None = Field(description="完成的时间")

    @classmethod
    def from_run(cls, found: ReportedRun) -> Self:
        report, run = found.report, found.run
        ended = RunState.DONE if report.finished_at else RunState.CANCELLED
        turns = int(report.figures.get("turns", 0))
        return cls(
            id=report.id,
            set_id=report.set_id,
            set_name=report.set_name,
            state=run.state if run else ended,
            done=turns or (run.done if run else 0),
            total=run.total if run and not report.finished_at else turns,
            error=str((run.error or {}).get("message", "")) if run else "",
            circumstances=EvaluationCircumstances.model_validate(report.circumstances),
            figures=EvaluationFigures.model_validate(report.figures) if report.figures else None,
            created_at=report.created_at,
            finished_at=report.finished_at,
        )


class EvaluationReportPage(BaseModel):
    """The latest first."""

    reports: list[EvaluationReportOut]
    total: int


class CitedDocumentOut(BaseModel):
    """A document that a reply cites."""

    place: str = Field(description="标题与小节名")
    document_id: str = Field(description="文档编号；顾客的网页为空")


class TurnResultOut(BaseModel):
    """What came of a turn."""

    model_config = ConfigDict(from_attributes=True)

    case: str = Field(description="题目在评测集里的编号")
    turn: int = Field(description="第几轮，从 1 起")
    say: str = Field(description="顾客说的话")
    tag: str
    verdict: TurnVerdict = Field(description="correct：正确；partly：说了一部分；wrong：错误")
    why: str = Field(description="哪里不对；正确时为空")
    outcome: str = Field(description="回复的结论类型")
    reply: str
    sources: list[CitedDocumentOut] = Field(description="引用的文档")
    rows: bool = Field(description="引用了业务数据")
    unfounded: list[str] | None = Field(description="没有依据的数字、型号与编码；不是取自资料的回答时为空")
    probability: float = Field(description="回复的把握")
    seconds: float = Field(description="用时，秒")
    precision: float | None = Field(description="所引文档里引对的占比；没标出处或没有引用时为空")
    degraded: list[str] = Field(description="这一轮出故障的部件；没有回复时为 error")
    recall: float | None = Field(description="引到了标注的出处为 1，否则为 0；没标出处时为空")
    faithfulness: float | None = Field(description="所引片段支持的句子占比；没有评判时为空")
    relevance: float | None = Field(description="切题程度；没有评判时为空")

    @classmethod
    def from_result(cls, result: TurnResult) -> Self:
        told: dict[str, Any] = {name: getattr(result, name) for name in cls.model_fields if name != "sources"}
        cited = [CitedDocumentOut(place=place, document_id=document) for place, document in result.sources]
        return cls(**told, sources=cited)


class TurnResultPage(BaseModel):
    """In the order of the set; `total` counts those that match."""

    results: list[TurnResultOut]
    total: int


class ComparedTurnOut(BaseModel):
    """A turn in both reports."""

    effect: TurnEffect = Field(description="worse：变差；better：变好；other：判定没变，回复变了；same：没有变化")
    before: TurnResultOut = Field(description="先前的报告")
    after: TurnResultOut = Field(description="这份报告")

    @classmethod
    def from_turn(cls, turn: ComparedTurn) -> Self:
        return cls(
            effect=turn.effect,
            before=TurnResultOut.from_result(turn.before),
            after=TurnResultOut.from_result(turn.after),
        )


class ReportComparisonOut(BaseModel):
    """Two reports, turn by turn."""

    counts: dict[TurnEffect, int] = Field(description="各种变化各有几轮")
    gained: int = Field(description="变成正确的轮数")
    lost: int = Field(description="不再正确的轮数")
    p_value: float = Field(description="变好与变差同样容易时，出现这样悬殊的概率（符号检验）；低于 0.05 才算确有差别")
    unmatched: int = Field(description="只在一份报告里，或问法不同的轮数")
    turns: list[ComparedTurnOut] = Field(description="有变化的轮次，变差的在前，最多 500 轮")

    @classmethod
    def from_comparison(cls, found: ReportComparison) -> Self:
        changed = [turn for turn in found.turns if turn.effect is not TurnEffect.SAME][:500]
        return cls(
            counts=found.counts,
            gained=found.gained,
            lost=found.lost,
            p_value=round(found.p_value, 6),
            unmatched=found.unmatched,
            turns=[ComparedTurnOut.from_turn(turn) for turn in changed],
        )
