"""Several questions in one message: an answer each, numbered."""

from __future__ import annotations

from dataclasses import replace

from agents.knowledge import KnowledgeAgent, KnowledgePolicy
from agents.llm.extractive import ExtractiveGenerator
from agents.profile import TenantProfile
from agents.question_search import search_question
from agents.types import NOTHING_FOUND, Answer, Outcome, Question, Settled, SubQuestion
from agents.understanding.followups import find_choice
from agents.understanding.reading import read
from agents.understanding.state import DialogueState, Turn
from agents.understanding.utterance import Utterance
from agents.wording.catalogue import load_catalogue
from knowledge.filters import Filter
from knowledge.types import NOT_EMBEDDED, Candidate, Context, PageText, QuestionVectors, Retrieval
from tests.agents.support import ANALYZER, ask, candidate, collect_events, finish, fragments_of, retrieval

REFUND = candidate("退款在验货后 1～5 个工作日内到账。", 0.9, number=1, title="退款时效")
FEES = candidate("寄回的运费首重 12 元。", 0.95, number=2, title="运费")
INVOICE = candidate("可以，在订单里点「开发票」。", 0.92, number=3, title="问答", question="能开发票吗", entry="q3")
ALL: dict[str, tuple[Candidate, ...]] = {"退款多久到账": (REFUND,), "寄回运费多少": (FEES,), "能不能开发票": (INVOICE,)}


class ByQuestion:
    """Finds what belongs to a question; everything for a message of several."""

    def __init__(self, found: dict[str, tuple[Candidate, ...]] = ALL) -> None:
        self._found = found
        self.contexts: dict[str, Context] = {}

    async def search(
        self,
        question: str,
        *,
        rewrite: str | None = None,
        vectors: QuestionVectors = NOT_EMBEDDED,
        where: Filter = Filter(),  # noqa: B008 - immutable
        explain: bool = False,
        context: Context = Context(),  # noqa: B008 - immutable
        page: PageText | None = None,
    ) -> Retrieval:
        self.contexts[question] = context
        whole = tuple(candidate for found in self._found.values() for candidate in found)
        known = question in self._found or len(question) < 12
        return retrieval(question, *(self._found.get(question, ()) if known else whole))


def _several(*texts: str) -> Question:
    return replace(ask("？".join((*texts, ""))), sub_questions=tuple(map(SubQuestion, texts)))


def _agent(searcher: ByQuestion, confident: float = 0.75) -> KnowledgeAgent:
    return KnowledgeAgent(searcher, ExtractiveGenerator(ANALYZER, 3), KnowledgePolicy(confident, TenantProfile()))


async def _answer(question: Question, searcher: ByQuestion | None = None) -> Answer:
    return await finish(await collect_events(_agent(searcher or ByQuestion()), question, NOTHING_FOUND))


async def test_each_question_has_its_line_and_its_source() -> None:
    result = await _answer(_several("退款多久到账", "寄回运费多少"))
    assert result.reply == f"1. {REFUND.chunk.text}[1]\n2. {FEES.chunk.text}[2]"
    assert result.outcome is Outcome.ANSWERED
    assert [(source.index, source.document_id) for source in fragments_of(result)] == [(1, "d1"), (2, "d2")]


async def test_a_curated_answer_is_given_verbatim_in_its_line() -> None:
    result = await _answer(_several("寄回运费多少", "能不能开发票"))
    assert result.reply == f"1. {FEES.chunk.text}[1]\n2. {INVOICE.chunk.text}[2]"
    assert [source.curated for source in fragments_of(result)] == [False, True]


async def test_a_question_without_evidence_says_so_and_the_answer_is_a_part() -> None:
    result = await _answer(_several("退款多久到账", "月亮有多远"))
    first, second, *_ = result.reply.splitlines()
    assert first == f"1. {REFUND.chunk.text}[1]"
    assert second.removeprefix("2. ") in load_catalogue("zh")["part_not_found"]
    assert (result.outcome, result.escalate_to_human) == (Outcome.PARTIALLY_ANSWERED, True)


async def test_the_first_may_be_the_one_without_evidence() -> None:
    result = await _answer(_several("月亮有多远", "退款多久到账"))
    assert result.reply.splitlines()[1] == f"2. {REFUND.chunk.text}[1]"
    assert result.outcome is Outcome.PARTIALLY_ANSWERED


async def test_questions_with_one_answer_are_answered_once() -> None:
    searcher = ByQuestion({"退款多久到账": (REFUND,), "退款几天到账": (REFUND,)})
    result = await _answer(_several("退款多久到账", "退款几天到账"), searcher)
    assert result.reply == f"{REFUND.chunk.text}[1]"


async def test_what_was_told_already_is_pointed_to() -> None:
    searcher = ByQuestion({**ALL, "退款几天到账": (REFUND,)})
    result = await _answer(_several("退款多久到账", "寄回运费多少", "退款几天到账"), searcher)
    assert result.reply.splitlines()[2] == "3. 同第 1 问的回答。"
    assert result.outcome is Outcome.ANSWERED


async def test_one_unsure_line_puts_the_reply_under_the_disclaimer() -> None:
    unsure = replace(REFUND, probability=0.65)
    searcher = ByQuestion({"退款多久到账": (unsure,), "寄回运费多少": (FEES,)})
    result = await _answer(_several("退款多久到账", "寄回运费多少"), searcher)
    assert result.outcome is Outcome.LOW_CONFIDENCE
    assert result.reply.startswith(f"{load_catalogue('zh')['disclaimer'][0]}\n1. ")


async def test_every_line_settles_as_it_is_written() -> None:
    events = await collect_events(_agent(ByQuestion()), _several("退款多久到账", "寄回运费多少"), NOTHING_FOUND)
    assert sum(isinstance(event, Settled) for event in events) == 2


async def test_a_line_on_another_model_tells_none_of_its_facts() -> None:
    other = candidate("容量 1.7 升。", 0.9, number=4, title="QD-K3 电水壶")
    searcher = ByQuestion({"K7 能装多少": (other,), "退款多久到账": (REFUND,)})
    result = await _answer(_several("K7 能装多少", "退款多久到账"), searcher)
    assert "1.7" not in result.reply
    assert result.outcome is Outcome.PARTIALLY_ANSWERED


async def test_where_no_question_finds_anything_the_whole_message_is_searched() -> None:
    found = await search_question(ByQuestion(), _several("月亮有多远", "太阳有多大"), NOTHING_FOUND)
    assert found.parts == ()
    assert len(found.passing_candidates) == 3


async def test_a_question_is_searched_behind_those_before_it() -> None:
    searcher = ByQuestion()
    question = replace(_several("退款多久到账", "寄回运费多少"), state=DialogueState(("怎么退货",)))
    await search_question(searcher, question, NOTHING_FOUND)
    assert searcher.contexts["退款多久到账"].questions == ("怎么退货",)
    assert searcher.contexts["寄回运费多少"].questions == ("怎么退货", "退款多久到账")


async def test_another_model_is_offered_and_a_yes_takes_it() -> None:
    kettle = candidate("容量 1.7 升，烧开约 5 分钟。", 0.9, number=4, title="QD-K3 电水壶")
    result = await _answer(ask("K7 能装多少水"), ByQuestion({"K7 能装多少水": (kettle,)}))
    assert result.outcome is Outcome.CLARIFY
    assert result.suggestions == ("QD-K3 能装多少水",)
    assert "K7" in result.reply
    assert "QD-K3" in result.reply
    assert "1.7" not in result.reply
    assert not result.sources
    turn = Turn(Utterance("K7 能装多少水"), result.reply, result.suggestions)
    assert find_choice(read("是的"), [turn]) == "QD-K3 能装多少水"
    assert "QD-K3 能装多少水" in (find_choice(read("第一个"), [turn]) or "")
