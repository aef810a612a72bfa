"""Requests and responses. A case has the fields of a row of the files that `scripts/evaluate.py` reads."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, ConfigDict, Field, StrictBool, model_validator

from app.chat.page_schemas import PageIn
from app.evaluation.comparison import ReportComparison, TurnEffect
from app.evaluation.dialogues import Dialogue, TurnKind, build_row, parse_dialogue
from app.evaluation.judgement import TurnVerdict
from app.evaluation.types import (
    MAX_KEY_CHARS,
    MAX_TURNS,
    CaseOrigin,
    EvaluationCase,
    EvaluationReport,
)
from app.http.fields import CLEANED
from app.http.schemas import RequestBody, ResponseBody
from app.jobs.types import JobRun, RunState

MAX_AT_ONCE = 200
_ONE_FORM: dict[str, Any] = {
    "anyOf": [
        {"required": ["question"], "properties": {"question": {"type": "string"}, "turns": {"maxItems": 0}}},
        {
            "required": ["turns"],
            "properties": {
                "turns": {"minItems": 1},
                "question": {"type": "null"},
                "expect": {"type": "null"},
                "tag": {"maxLength": 0},
            },
        },
    ]
}


def _wrap_in_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _wrap_groups(value: object) -> object:
    return [_wrap_in_list(group) for group in listed] if isinstance(listed := _wrap_in_list(value), list) else listed


Phrase = Annotated[str, CLEANED, Field(min_length=1, max_length=500)]
_Group = Annotated[list[Phrase], Field(min_length=1, max_length=30)]
_Groups = Annotated[list[_Group | Phrase], Field(max_length=20)]
_Kinds = Annotated[list[TurnKind], Field(min_length=1, max_length=len(TurnKind))]
Phrases = Annotated[
    list[Phrase],
    BeforeValidator(_wrap_in_list, json_schema_input_type=Annotated[list[Phrase], Field(max_length=30)] | Phrase),
    Field(max_length=30),
]
Groups = Annotated[
    list[_Group], BeforeValidator(_wrap_groups, json_schema_input_type=_Groups | Phrase), Field(max_length=20)
]
# One stands for a list of it, so that a cell of a table can hold it.
Kinds = Annotated[_Kinds, BeforeValidator(_wrap_in_list, json_schema_input_type=_Kinds | TurnKind)]
Say = Annotated[str, CLEANED, Field(min_length=1, max_length=2000)]
Tag = Annotated[str, CLEANED, Field(max_length=64)]
Key = Annotated[str, Field(max_length=MAX_KEY_CHARS, pattern=r"^[A-Za-z0-9_.:@-]*$")]


class ExpectIn(RequestBody):
    """What is right."""

    kind: Kinds = Field([TurnKind.ANSWER], description="哪几类回应算对；不写就是要回答")
    must_any: Groups = Field([], description="每一组至少要说到一个")
    must_not: Phrases = Field([], description="一个也不能出现")
    source: Phrases = Field([], description="所引文档的标题或小节名里要有其中一个")
    documents: Phrases = Field([], description="或者所引文档的编号是其中一个")
    note: Annotated[str, CLEANED, Field(max_length=1000)] = Field("", description="给人看的备注")
    date_dependent: StrictBool = Field(False, description="怎样算对取决于今天的日期；给人看的")


class TurnIn(RequestBody):
    """What the customer says, and what is right."""

    say: Say = Field(description="顾客说的话；{d-2} 换成两天前的日期")
    expect: ExpectIn = ExpectIn()
    tag: Tag = Field("", description="分组用的标签")
    page: PageIn | None = Field(None, description="顾客正在看的网页")


class EvaluationCaseIn(RequestBody):
    """A question, or a conversation in `turns`."""

    model_config = ConfigDict(json_schema_extra=_ONE_FORM)

    id: Key = Field("", description="在评测集里的编号，相同的会替换；不写时由内容得出")
    question: Say | None = Field(None, description="单独一问；多轮对话写在 turns 里")
    expect: ExpectIn | None = Field(None, description="单独一问时，怎样算对")
    tag: Tag = Field("", description="单独一问时的标签")
    turns: list[TurnIn] = Field([], max_length=MAX_TURNS, description="多轮对话，先说的在前")
    user_id: Annotated[str, CLEANED, Field(max_length=128)] | None = Field(None, description="业务库里的会员")

    @model_validator(mode="after")
    def _check_one_form(self) -> Self:
        if bool(self.turns) == (self.question is not None):
            raise ValueError("question 与 turns 要写一个，只写一个")
        if self.turns and (self.expect or self.tag):
            raise ValueError("多轮对话的 expect 与 tag 写在每一轮里")
        return self

    @property
    def dialogue(self) -> Dialogue:
        """As evaluation plays it."""
        turns = self.turns or [TurnIn(say=self.question or "", expect=self.expect or ExpectIn(), tag=self.tag)]
        return parse_dialogue({"id": self.id, "user_id": self.user_id, "turns": [turn.model_dump() for turn in turns]})


class EvaluationCasesIn(RequestBody):
    """Several cases, for one change."""

    cases: list[EvaluationCaseIn] = Field(min_length=1, max_length=MAX_AT_ONCE, description="要放进去的题目")


class ExpectOut(ResponseBody):
    """What is right."""

    kind: list[TurnKind]
    must_any: list[list[str]]
    must_not: list[str]
    source: list[str]
    documents: list[str]
    note: str
    date_dependent: bool


class LabelledTurnOut(ResponseBody):
    """What the customer says, and what is right."""

    say: str
    expect: ExpectOut
    tag: str
    page: PageIn | None


class EvaluationCaseOut(ResponseBody):
    """A case as it stands in its set."""

    id: str
    key: str = Field(description="在评测集里的编号：两份报告按它对照")
    turns: list[LabelledTurnOut]
    user_id: str = Field(description="业务库里的会员，没有时为空")
    origin: CaseOrigin = Field(description="来自哪里：manual 手工，upload 文件，gap 知识缺口")
    origin_id: str = Field(description="例如知识缺口的编号，没有时为空")
    created_at: datetime
    updated_at: datetime

    @classmethod
    def from_case(cls, case: EvaluationCase) -> Self:
        row = build_row(case.dialogue)
        turns = [{"page": None} | turn for turn in row["turns"]]
        return cls.build_from(case, key=row["id"], turns=turns, user_id=row["user_id"])


class EvaluationCaseList(ResponseBody):
    """Cases that were put into a set."""

    cases: list[EvaluationCaseOut]


class EvaluationCasePage(ResponseBody):
    """In the order they came; `total` counts those that match."""

    cases: list[EvaluationCaseOut]
    total: int


class EvaluationSetIn(RequestBody):
    """What a set is called."""

    name: Annotated[str, CLEANED, Field(min_length=1, max_length=100)] = Field(description="名字")
    description: Annotated[str, CLEANED, Field(max_length=2000)] = Field("", description="说明")


class EvaluationSetOut(ResponseBody):
    """A set, and how much it holds."""

    id: str
    name: str
    description: str
    cases: int = Field(description="有几条：单独一问或一段对话各算一条")
    turns: int = Field(description="一共几轮")
    created_at: datetime
    updated_at: datetime


class EvaluationSetList(ResponseBody):
    """All sets, by their names."""

    sets: list[EvaluationSetOut]


class RefusedRow(ResponseBody):
    """A row of a file that could not be taken, and why."""

    row: int = Field(description="文件里的第几行；CSV、XLSX 的第一行是列名")
    message: str


class EvaluationImport(ResponseBody):
    """What became of a file: what could not be taken stopped no other."""

    taken: int = Field(description="收下了多少条，替换的也算")
    refused: list[RefusedRow] = Field(description="没有收下的行")


class EvaluationRunIn(RequestBody):
    """What is to be played."""

    set_id: str = Field(min_length=1, max_length=32, description="评测集的编号")
    judge: StrictBool = Field(True, description="接了大模型时，也由它评判忠实与切题；每个回答多一次请求")


class EvaluationCircumstances(ResponseBody):
    """What answered."""

    revision: int = Field(0, description="知识库的版本号")
    embedder: str = Field("", description="向量模型")
    reranker: str = Field("", description="重排模型")
    llm: str = Field("", description="写回答的大模型；没有时为空")
    judge: str = Field("", description="评判的大模型；没有时为空")


class TagFigures(ResponseBody):
    """Of the turns with a tag."""

    correct: int
    turns: int


class LatencyFigures(ResponseBody):
    """Seconds until the whole reply was there."""

    p50: float
    p95: float


class EvaluationFigures(ResponseBody):
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


class EvaluationReportOut(ResponseBody):
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
    def from_report(cls, report: EvaluationReport, run: JobRun | None) -> Self:
        """run: which makes it; None once that is deleted by age."""
        ended = RunState.DONE if report.finished_at else RunState.CANCELLED
        turns = int(report.figures.get("turns", 0))
        return cls.build_from(
            report,
            state=run.state if run else ended,
            done=turns or (run.done if run else 0),
            total=run.total if run and not report.finished_at else turns,
            error=str((run.error or {}).get("message", "")) if run else "",
            figures=report.figures or None,
        )


class EvaluationReportPage(ResponseBody):
    """The latest first."""

    reports: list[EvaluationReportOut]
    total: int


class CitedDocumentOut(ResponseBody):
    """A document that a reply cites."""

    place: str = Field(description="标题与小节名")
    document_id: str = Field(description="文档编号；顾客的网页为空")


class TurnResultOut(ResponseBody):
    """What came of a turn."""

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


class TurnResultPage(ResponseBody):
    """In the order of the set; `total` counts those that match."""

    results: list[TurnResultOut]
    total: int


class ComparedTurnOut(ResponseBody):
    """A turn in both reports."""

    effect: TurnEffect = Field(description="worse：变差；better：变好；other：判定没变，回复变了；same：没有变化")
    before: TurnResultOut = Field(description="先前的报告")
    after: TurnResultOut = Field(description="这份报告")


class ReportComparisonOut(ResponseBody):
    """Two reports, turn by turn."""

    counts: dict[TurnEffect, int] = Field(description="各种变化各有几轮")
    gained: int = Field(description="变成正确的轮数")
    lost: int = Field(description="不再正确的轮数")
    p_value: float = Field(description="变好与变差同样容易时，出现这样悬殊的概率（符号检验）；低于 0.05 才算确有差别")
    unmatched: int = Field(description="只在一份报告里，或问法不同的轮数")
    turns: list[ComparedTurnOut] = Field(description="有变化的轮次，变差的在前，最多 500 轮")

    @classmethod
    def from_comparison(cls, found: ReportComparison) -> Self:
        changed = tuple(turn for turn in found.turns if turn.effect is not TurnEffect.SAME)[:500]
        shown = replace(found, turns=changed, p_value=round(found.p_value, 6))
        return cls.build_from(shown)
