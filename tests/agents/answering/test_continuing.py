from __future__ import annotations

from dataclasses import replace

from agents.answering.article_continuity import keep_article
from agents.types import Question
from agents.understanding.state import DialogueState, Topic
from agents.understanding.utterance import Utterance
from knowledge.types import Candidate, Retrieval
from tests.agents.support import candidate, page_candidate, retrieval

OWN = candidate("每次最多提交 500 条。", number=0, title="云帆工单手册")
OTHER = candidate("一次最多能提交 200 条。", 0.95, number=1, title="灵犀审批手册")
ENTRY = candidate("每天限 1000 条。", number=2, question="一天能提交多少条", title="问答")
PAGE = page_candidate("本页最多 10 条。")
STATE = DialogueState(("云帆怎么批量导入",), (Topic("云帆工单手册", ("d0",), ()),))


def found(*candidates: Candidate, goes_on: bool = True) -> Retrieval:
    return replace(retrieval("q", *candidates), goes_on=goes_on)


def kept(text: str, *candidates: Candidate, goes_on: bool = True) -> list[Candidate]:
    return list(keep_article(Question(Utterance(text), state=STATE), found(*candidates, goes_on=goes_on)))


def test_another_products_manual_stays_out_of_a_follow_up() -> None:
    assert kept("一次最多能提交几条", OTHER, OWN, ENTRY, PAGE) == [OWN, ENTRY, PAGE]


def test_it_answers_where_the_message_names_it_or_fits_it_clearly_better() -> None:
    assert kept("那灵犀呢", OTHER, OWN) == [OTHER, OWN]
    assert kept("审批单能提交几条", OTHER, OWN, goes_on=False) == [OTHER, OWN]


def test_what_both_titles_have_names_neither() -> None:
    assert kept("手册里说一次最多提交几条", OTHER, OWN) == [OWN]


def test_without_the_article_that_answered_all_stay() -> None:
    assert kept("一次最多能提交几条", OTHER, ENTRY) == [OTHER, ENTRY]
    first = Question(Utterance("一次最多能提交几条"))
    assert keep_article(first, found(OTHER, OWN, goes_on=False)) == (OTHER, OWN)
