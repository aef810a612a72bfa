"""Requests and responses of evaluation sets. A case has the fields of a row of the files that `scripts/evaluate.py`
reads.
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, model_validator

from app.chat.page_schemas import PageIn
from app.evaluation.dialogues import Dialogue, Expectation, LabelledTurn, TurnKind
from app.evaluation_sets.types import (
    MAX_KEY_CHARS,
    MAX_TURNS,
    CaseOrigin,
    EvaluationCase,
    EvaluationSet,
    NewCase,
)
from app.http.fields import CLEANED

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


class ExpectIn(BaseModel):
    """What is right."""

    model_config = ConfigDict(extra="forbid")

    kind: Kinds = Field([TurnKind.ANSWER], description="哪几类回应算对；不写就是要回答")
    must_any: Groups = Field([], description="每一组至少要说到一个")
    must_not: Phrases = Field([], description="一个也不能出现")
    source: Phrases = Field([], description="所引文档的标题或小节名里要有其中一个")
    documents: Phrases = Field([], description="或者所引文档的编号是其中一个")
    note: Annotated[str, CLEANED, Field(max_length=1000)] = Field("", description="给人看的备注")
    date_dependent: StrictBool = Field(False, description="怎样算对取决于今天的日期；给人看的")

    @property
    def expectation(self) -> Expectation:
        return Expectation(
            frozenset(self.kind),
            tuple(map(tuple, self.must_any)),
            tuple(self.must_not),
            tuple(self.source),
            tuple(self.documents),
            self.note,
            self.date_dependent,
        )


class TurnIn(BaseModel):
    """What the customer says, and what is right."""

    model_config = ConfigDict(extra="forbid")

    say: Say = Field(description="顾客说的话；{d-2} 换成两天前的日期")
    expect: ExpectIn = ExpectIn()
    tag: Tag = Field("", description="分组用的标签")
    page: PageIn | None = Field(None, description="顾客正在看的网页")


class EvaluationCaseIn(BaseModel):
    """A question, or a conversation in `turns`."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=_ONE_FORM)

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
        told = self.turns or [TurnIn(say=self.question or "", expect=self.expect or ExpectIn(), tag=self.tag)]
        turns = tuple(
            LabelledTurn(
                f"{self.id}.{number}",
                turn.say,
                turn.tag,
                turn.expect.expectation,
                turn.page.build_page() if turn.page else None,
            )
            for number, turn in enumerate(told, 1)
        )
        return Dialogue(self.id, turns, self.user_id or "")


class EvaluationCasesIn(BaseModel):
    """Several cases, for one change."""

    model_config = ConfigDict(extra="forbid")

    cases: list[EvaluationCaseIn] = Field(min_length=1, max_length=MAX_AT_ONCE, description="要放进去的题目")

    def build_cases(self) -> list[NewCase]:
        return [NewCase(case.dialogue) for case in self.cases]


class ExpectOut(BaseModel):
    """What is right."""

    kind: list[TurnKind]
    must_any: list[list[str]]
    must_not: list[str]
    source: list[str]
    documents: list[str]
    note: str
    date_dependent: bool

    @classmethod
    def from_expectation(cls, expect: Expectation) -> Self:
        return cls(
            kind=sorted(expect.kinds),
            must_any=[list(group) for group in expect.must_any],
            must_not=list(expect.must_not),
            source=list(expect.sources),
            documents=list(expect.documents),
            note=expect.note,
            date_dependent=expect.date_dependent,
        )


class LabelledTurnOut(BaseModel):
    """What the customer says, and what is right."""

    say: str
    expect: ExpectOut
    tag: str
    page: PageIn | None

    @classmethod
    def from_turn(cls, turn: LabelledTurn) -> Self:
        page = PageIn.model_validate(asdict(turn.page)) if turn.page else None
        return cls(say=turn.say, expect=ExpectOut.from_expectation(turn.expect), tag=turn.tag, page=page)


class EvaluationCaseOut(BaseModel):
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
        told: dict[str, Any] = {
            name: getattr(case, name) for name in ("id", "origin", "origin_id", "created_at", "updated_at")
        }
        turns = [LabelledTurnOut.from_turn(turn) for turn in case.dialogue.turns]
        return cls(**told, key=case.dialogue.id, turns=turns, user_id=case.dialogue.user_id)


class EvaluationCaseList(BaseModel):
    """Cases that were put into a set."""

    cases: list[EvaluationCaseOut]


class EvaluationCasePage(BaseModel):
    """In the order they came; `total` counts those that match."""

    cases: list[EvaluationCaseOut]
    total: int


class EvaluationSetIn(BaseModel):
    """What a set is called."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, CLEANED, Field(min_length=1, max_length=100)] = Field(description="名字")
    description: Annotated[str, CLEANED, Field(max_length=2000)] = Field("", description="说明")


class EvaluationSetOut(BaseModel):
    """A set, and how much it holds."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    name: str
    description: str
    cases: int = Field(description="有几条：单独一问或一段对话各算一条")
    turns: int = Field(description="一共几轮")
    created_at: datetime
    updated_at: datetime

    @classmethod
    def from_set(cls, found: EvaluationSet) -> Self:
        return cls.model_validate(found)


class EvaluationSetList(BaseModel):
    """All sets, by their names."""

    sets: list[EvaluationSetOut]


class RefusedRow(BaseModel):
    """A row of a file that could not be taken, and why."""

    row: int = Field(description="文件里的第几行；CSV、XLSX 的第一行是列名")
    message: str


class EvaluationImport(BaseModel):
    """What became of a file: what could not be taken stopped no other."""

    taken: int = Field(description="收下了多少条，替换的也算")
    refused: list[RefusedRow] = Field(description="没有收下的行")
