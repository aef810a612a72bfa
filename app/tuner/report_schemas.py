"""Requests and responses of calibrations and sweeps."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, StrictBool, StrictFloat, StrictInt, model_validator

from app.http.fields import CLEANED, VISIBLE, WHOLE
from app.http.schemas import RequestBody, ResponseBody
from app.jobs.types import JobRun, RunState
from app.search.verdict_service import PASSAGES, TRIED
from app.tuner.ranges import RANGES
from app.tuner.schemas import Note
from app.tuner.types import TuningReport
from knowledge.calibration.calibrator import LabelledQuestion

MAX_QUESTIONS = 1000
Text = Annotated[str, CLEANED, Field(min_length=1, max_length=500)]
DocumentName = Annotated[str, CLEANED, Field(min_length=1, max_length=500)]
Title = Annotated[str, CLEANED, Field(max_length=100)]


class LabelledQuestionIn(RequestBody):
    """A question with whether the knowledge base answers it."""

    question: Text
    answerable: StrictBool = Field(description="知识库里有没有答案")
    documents: list[DocumentName] = Field(
        default=[], max_length=20, description="答案在哪些文档里：编号或文件名；填了才能比较排序"
    )

    @property
    def labelled_question(self) -> LabelledQuestion:
        return LabelledQuestion(self.question, self.answerable, tuple(self.documents))


_ONE_OF_BOTH: dict[str, Any] = {
    "oneOf": [
        {"required": ["questions"], "properties": {"questions": {"minItems": 1}, "set": {"maxLength": 0}}},
        {"required": ["set"], "properties": {"questions": {"maxItems": 0}, "set": {"pattern": VISIBLE}}},
    ]
}
_KS = RANGES["rrf_k"]
_WIDTHS = RANGES["vector_top_k"]


class QuestionsIn(RequestBody):
    """Questions by themselves, or those of a set."""

    model_config = ConfigDict(json_schema_extra=_ONE_OF_BOTH)

    title: Title = Field("", description="给这次起个名字")
    questions: list[LabelledQuestionIn] = Field(
        default=[], max_length=MAX_QUESTIONS, description="标注的题目；与 set 二选一"
    )
    set: Annotated[str, CLEANED, Field(max_length=64)] = Field("", description="评测集的编号；与 questions 二选一")

    @model_validator(mode="after")
    def _require_one_source(self) -> Self:
        if bool(self.questions) == bool(self.set):
            raise ValueError("questions 与 set 须且只须给一个")
        return self


class CalibrationIn(QuestionsIn):
    """Where should the gate stand?"""

    refusal: StrictFloat | None = Field(
        None, gt=0, le=1, description="不能答的题至少要拒掉多大比例；不填则让两种题的正确率之和最大"
    )


class SweepIn(QuestionsIn):
    """Which weights, constant and width are best?"""

    alphas: list[Annotated[StrictFloat, Field(ge=0, le=1)]] = Field(
        default=[0.3, 0.45, 0.6, 0.75], min_length=1, max_length=20, description="向量召回的权重；关键词为 1 减它"
    )
    ks: list[Annotated[StrictInt, Field(ge=int(_KS.low), le=int(_KS.high)), WHOLE]] = Field(
        default=[20, 60], min_length=1, max_length=20, description="融合常数 k"
    )
    widths: list[Annotated[StrictInt, Field(ge=int(_WIDTHS.low), le=int(_WIDTHS.high)), WHOLE]] = Field(
        default=[25, 50], min_length=1, max_length=20, description="两路召回的条数"
    )


class JudgementIn(RequestBody):
    """How much a model is to judge."""

    title: Title = Field("", description="给这次起个名字")
    passages: Annotated[StrictInt, WHOLE] = Field(
        PASSAGES, ge=TRIED, le=1000, description="就知识库里的几段出题，每段两道"
    )


class EstimateOut(ResponseBody):
    """What it takes, by some passages that were tried."""

    passages: int = Field(description="还要出题的段数；知识库不足这么多段时较少")
    seconds: float = Field(description="大约要多少秒")
    prompt_tokens: int = Field(description="大约发出多少 token")
    completion_tokens: int = Field(description="大约收回多少 token")
    cost: float = Field(description="大约的费用，单位同 LLM_PRICES；没有写单价的模型为 0")


class VerdictsOut(ResponseBody):
    """A model's verdicts by which the gate is calibrated."""

    report_id: str = Field(description="出自哪份报告")
    answerable: int = Field(description="有答案的题数")
    unanswerable: int = Field(description="没有答案的题数")
    by: str
    created_at: datetime


class VerdictsInForceOut(ResponseBody):
    """What the gate is calibrated by."""

    verdicts: VerdictsOut | None = Field(description="正在使用的大模型判断；没有时为 null，门槛自动校准")


class ApplyIn(RequestBody):
    """Why."""

    note: Note = Field("", description="为什么采用，留在历史里")


class ReportOut(ResponseBody):
    """A calibration, a sweep or a model's judgements. How far it is: `GET /api/v1/jobs/runs/{run_id}`."""

    id: str
    kind: Literal["calibration", "sweep", "judgement"]
    title: str = Field(description="起的名字；没有起名为空")
    parameters: dict[str, Any]
    run_id: str
    state: RunState | None = Field(description="运行状态；运行记录已过保留期时为 null")
    done: int
    total: int
    result: dict[str, Any] | None = Field(
        description="结果，没做完时为 null。校准：curve 曲线、current 现值、recommended 建议、interval 95% 区间；"
        "扫描：points 各组合、current 现在的参数、best 最好的组合；"
        "difference 差多少、p 值；values 建议改成什么，没有把握更好时为空；"
        "大模型判断：verdicts 题目与判断，fit 按它校准前后的正确率，判断太少时为 null"
    )
    by: str
    created_at: datetime
    finished_at: datetime | None
    applied: int | None = Field(
        description="采用后成为第几版参数；没有采用为 null；大模型判断不改参数，是采用时的那一版"
    )

    @classmethod
    def from_report(cls, report: TuningReport, run: JobRun | None) -> Self:
        state, done, total = (run.state, run.done, run.total) if run is not None else (None, 0, 0)
        return cls.build_from(report, state=state, done=done, total=total)


class MeasuredPointOut(ResponseBody):
    """What came of the labelled questions at one value."""

    value: float
    answered: float | None = Field(description="能答的题答了多大比例；没有这样的题为 null")
    refused: float | None = Field(description="不能答的题拒了多大比例；没有这样的题为 null")
    right: float | None = Field(description="判断正确的比例；校准不数，为 null")
    hit1: float | None = Field(description="排第一的出自标注文档的比例；没有标注文档为 null")


class ParameterEffectOut(ResponseBody):
    """What the last measurement gave."""

    report_id: str
    measured_at: datetime
    questions: int = Field(description="用了多少道标注的题")
    outdated: bool = Field(description="量过之后，知识库或参数又改过")
    now: MeasuredPointOut = Field(description="现在的值")
    down: MeasuredPointOut | None = Field(description="调低一步；没有试过为 null")
    up: MeasuredPointOut | None = Field(description="调高一步；没有试过为 null")


class ParameterMeasurementOut(ResponseBody):
    """Of one parameter."""

    name: str
    measured_by: Literal["calibration", "sweep", ""] = Field(description="哪一种报告会量它；都不量为空")
    effect: ParameterEffectOut | None = Field(description="最近一次量得的效果；没有量过，或那之后这些参数改过，为 null")


class ParameterMeasurements(ResponseBody):
    """In the order of the parameters."""

    items: list[ParameterMeasurementOut]


class ReportPage(ResponseBody):
    """The latest first, without their results."""

    items: list[ReportOut]
    total: int
