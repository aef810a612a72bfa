from __future__ import annotations

import re
from dataclasses import replace

import pytest

from agents.errors import GenerationUnavailable
from agents.judge import ReaderOptions
from agents.llm.question_writer import MAX_QUESTION_CHARS, QuestionWriter
from agents.llm.replies import UnreadableReply
from agents.reader import PassageReader
from app.search.verdicts import BaseJudge, BaseVerdict, fit_gate, sample_chunks
from knowledge.probability import CalibrationMap
from knowledge.reader import READER
from scripts.scripted_llm import Behaviour, Say
from tests.agents.models import Scripted, scripted
from tests.agents.support import FixedSearcher, candidate

STATED, MISSING, UNSURE = "退款几天到账", "退款收手续费吗", "退款能退到微信吗"
WRITTEN = Say(f'{{"stated": "{STATED}", "missing": "{MISSING}"}}')
SCALE = CalibrationMap(READER, -4.0, 0.0, 4.0)
CHUNK = candidate("退款 5 天到账。").chunk
_QUESTION = re.compile(r"<问题>\n(.*?)\n</问题", re.DOTALL)


def judges(prompt: str) -> float:
    found = _QUESTION.search(prompt)
    assert found is not None
    return {STATED: 5.0, MISSING: -5.0, UNSURE: 0.1}[found[1]]


def base_judge(llm: Scripted, *, found: bool = True) -> BaseJudge:
    searcher = FixedSearcher(*([candidate("退款 5 天到账。", 0.7), candidate("运费 12 元。", 0.5)] if found else []))
    reader = PassageReader(llm.model, ReaderOptions(seconds=20.0))
    return BaseJudge(searcher, QuestionWriter(llm.model, 20.0), reader, SCALE)


async def test_what_is_written_is_searched_and_judged_and_not_believed() -> None:
    swapped = Say(f'{{"stated": "{MISSING}", "missing": "{STATED}"}}')
    async with scripted(swapped, judges=judges) as llm:
        verdicts = await base_judge(llm).judge([CHUNK])
    assert verdicts == [BaseVerdict(MISSING, False, 0.7), BaseVerdict(STATED, True, 0.7)]


async def test_what_is_not_clear_is_no_verdict() -> None:
    async with scripted(Say(f'{{"stated": "{STATED}", "missing": "{UNSURE}"}}'), judges=judges) as llm:
        assert [verdict.text for verdict in await base_judge(llm).judge([CHUNK])] == [STATED]


async def test_a_question_that_finds_nothing_is_not_answered() -> None:
    async with scripted(WRITTEN, judges=judges) as llm:
        verdicts = await base_judge(llm, found=False).judge([CHUNK])
        assert llm.server.judged == 0
    assert {verdict.answerable for verdict in verdicts} == {False}


async def test_a_passage_without_readable_questions_is_left_out() -> None:
    steps: list[int] = []
    async with scripted(Say("我不会"), WRITTEN, judges=judges) as llm:
        verdicts = await base_judge(llm).judge([CHUNK, CHUNK], steps.append)
    assert len(verdicts) == 2 and steps == [1, 1]


async def test_an_outage_ends_it() -> None:
    async with scripted(Behaviour.BROKEN, judges=judges) as llm:
        with pytest.raises(GenerationUnavailable):
            await base_judge(llm).judge([CHUNK])


async def test_questions_are_one_line_and_short() -> None:
    async with scripted(Say('{"stated": "一\\n二", "missing": "' + "长" * 300 + '"}')) as llm:
        stated, missing = await QuestionWriter(llm.model, 20.0).write(CHUNK)
        assert (stated, len(missing)) == ("一 二", MAX_QUESTION_CHARS)
        assert CHUNK.text in llm.server.prompt
    for text in ("[]", '{"stated": "", "missing": "好"}', '{"stated": "好"}'):
        async with scripted(Say(text)) as llm:
            with pytest.raises(UnreadableReply):
                await QuestionWriter(llm.model, 20.0).write(CHUNK)


def test_the_gate_is_fitted_on_one_half_and_tried_on_the_other() -> None:
    verdicts = [BaseVerdict("甲", True, 0.45 + number / 1000) for number in range(40)]
    verdicts += [BaseVerdict("乙", False, 0.2 + number / 1000) for number in range(40)]
    fitted = fit_gate(verdicts, 0.6)
    assert fitted is not None
    assert (fitted.answerable, fitted.unanswerable, fitted.auroc) == (40, 40, 1.0)
    assert (fitted.right_before, fitted.right_after) == (0.5, 1.0)
    assert fit_gate(verdicts[:50], 0.6) is None


def test_a_sample_is_the_same_for_the_same_base() -> None:
    chunks = [replace(CHUNK, id=f"c{number}", text="" if number == 3 else "字") for number in range(10)]
    assert sample_chunks(chunks, 4) == sample_chunks(chunks, 4)
    assert len(sample_chunks(chunks, 50)) == 9
