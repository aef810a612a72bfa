"""Requests and responses of the vocabulary."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, Field, StrictBool

from app.http.fields import CLEANED
from app.http.schemas import RequestBody, ResponseBody
from app.vocabulary.types import MAX_OTHERS, MAX_TERM_CHARS, PutReport, Refusal, StoredEntry
from knowledge.vocabulary import VocabularyEntry, VocabularyKind

MAX_AT_ONCE = 200
Term = Annotated[str, CLEANED, Field(min_length=1, max_length=MAX_TERM_CHARS)]


class VocabularyEntryIn(RequestBody):
    """An entry; one of the same kind and term is replaced."""

    kind: VocabularyKind = Field(
        description="word 词语，synonym 同义词，abbreviation 简称，protected 型号，stop 停用词，entity 实体"
    )
    term: Term = Field(description="词")
    others: list[Term] = Field(
        default=[],
        max_length=MAX_OTHERS,
        description="同义词：其余的词；简称：全称；实体：种类，如 product_model；其他：不填",
    )
    both_ways: StrictBool = Field(default=True, description="同义词：互相都能找到；false 只有 term 能找到其余的词")

    @property
    def entry(self) -> VocabularyEntry:
        return VocabularyEntry(self.kind, self.term, tuple(self.others), self.both_ways)


class VocabularyEntriesIn(RequestBody):
    """Several entries, for one change."""

    entries: list[VocabularyEntryIn] = Field(min_length=1, max_length=MAX_AT_ONCE, description="要收下的词")


class VocabularyEntryOut(ResponseBody):
    """An entry as it stands."""

    id: str
    kind: VocabularyKind
    term: str = Field(description="词")
    others: list[str] = Field(description="同义词、全称或实体种类")
    both_ways: bool = Field(description="同义词互相都能找到")
    created_at: datetime

    @classmethod
    def from_entry(cls, stored: StoredEntry) -> VocabularyEntryOut:
        return cls.build_from(stored.entry, id=stored.id, created_at=stored.created_at)


class VocabularyPage(BaseModel):
    """By their terms; `total` counts those that match, `counts` all of each kind."""

    entries: list[VocabularyEntryOut]
    total: int
    counts: dict[str, int] = Field(description="每一种有多少条")


class VocabularySuggestionOut(ResponseBody):
    """An entry that may help; taken in by `POST /entries`."""

    kind: VocabularyKind
    term: str = Field(description="建议收下的词")
    others: list[str] = Field(description="简称的全称；其他为空")
    count: int = Field(description="在知识库里出现的次数；简称是顾客问过的次数")
    examples: list[str] = Field(description="依据：现在被切成什么样，在哪篇文档里，或顾客的原话")


class VocabularySuggestionList(BaseModel):
    """The most frequent of each kind first."""

    suggestions: list[VocabularySuggestionOut]


class RefusedEntry(BaseModel):
    """An entry that was not taken, and why."""

    row: int = Field(description="第几条；导入文件时是表格里的行号")
    code: str = Field(description="原因，例如 also_stop_word、synonym_chain")
    message: str
    term: str = Field(description="与之冲突或有问题的词")


class VocabularyReport(BaseModel):
    """What became of several entries: what could not be taken stopped no other."""

    taken: int = Field(description="收下了多少条，原来就有的也算")
    refused: list[RefusedEntry] = Field(description="没有收下的")

    @classmethod
    def from_report(cls, report: PutReport, refused: list[tuple[int, Refusal]], rows: list[int]) -> VocabularyReport:
        """refused: those that were none to begin with; rows: the numbers of those that were judged."""
        judged = [(row, found) for row, found in zip(rows, report.results, strict=True) if isinstance(found, Refusal)]
        return cls(
            taken=len(rows) - len(judged),
            refused=[
                RefusedEntry(row=row, code=found.code, message=found.message, term=found.term)
                for row, found in sorted([*refused, *judged], key=lambda item: item[0])
            ],
        )
