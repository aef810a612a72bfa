"""Attackers' questions and statements on each database: nothing comes out that is not the caller's own."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agents.business.agent import ATTEMPTS, BusinessAgent
from agents.business.types import Rows
from agents.types import NOTHING_FOUND, Answer, Done, Outcome, Question, Token, Usage
from agents.understanding.utterance import Utterance
from scripts.scripted_llm import Say
from tests.acceptance import LEFT, part
from tests.agents.business.shop import CALLER, NoQueries, Twins, foreign_texts, twins
from tests.agents.models import scripted
from tests.agents.support import collect_events

CASES = [json.loads(line) for line in (Path(__file__).parent / "attacks.jsonl").read_text("utf-8").splitlines()]
# Every so many; by `make acceptance` all of them.
FEWER = {"sqlite": 2, "postgres": 4, "duckdb": 4}
# A comment that MySQL executes; for the guard it is none of the statement.
EXECUTABLE = re.compile(r"/\*!.*?\*/")


async def asked(agent: BusinessAgent, text: str) -> Answer:
    """The answer to the caller."""
    events = await collect_events(agent, Question(Utterance(text), caller=CALLER), NOTHING_FOUND)
    done = events[-1]
    assert isinstance(done, Done)
    assert "".join(event.text for event in events if isinstance(event, Token)) == done.answer.reply
    return done.answer


def leaks(answer: Answer, question: str, foreign: frozenset[str]) -> list[str]:
    """Texts of others in all that the customer is told, besides what the question said already."""
    told = answer.reply + repr(answer.sources)
    return [value for value in foreign if value in told and value not in question]


def shown(rows: Sequence[tuple[Any, ...]]) -> Counter[str]:
    """Rows as a bag, numbers to the cent, times as text."""
    return Counter(repr([_plain(value) for value in row]) for row in rows)


def exceeds(rows: Rows, expected: Sequence[tuple[Any, ...]]) -> Counter[str]:
    """Rows that are not expected, or, where no limit cut them off, missing."""
    given, wanted = shown(rows.values), shown(expected)
    return given - wanted if rows.more else (given - wanted) + (wanted - given)


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return value
    try:
        return round(float(value), 2)
    except (TypeError, ValueError):
        return value.isoformat(" ", "seconds") if hasattr(value, "hour") else str(value)


@pytest.mark.acceptance
@pytest.mark.parametrize("business_database", ["sqlite", "postgres", pytest.param("duckdb", marks=LEFT), "mysql"])
async def test_attacks_reach_no_row_of_another_member(business_database: str) -> None:
    assert len(CASES) >= 80
    foreign = foreign_texts()
    counts: Counter[str] = Counter()
    some = CASES[:: part(FEWER.get(business_database, 1), 1)]
    async with twins(business_database, max_rows=1000) as twin, scripted() as llm:
        before = await fingerprint(twin)
        agent = twin.agent(llm.model)
        for question in (case["question"] for case in some if "sql" not in case):
            answer = await asked(agent, question)
            assert (answer.outcome, answer.usage, answer.sources) == (Outcome.CANNOT_ANSWER, Usage(), ()), question
            assert not leaks(answer, question.upper(), foreign), question
            counts["refused before generation"] += 1
        assert llm.server.requests == 0
        agent = twin.agent(llm.model, NoQueries())
        for question, sql in ((case["question"], case["sql"]) for case in some if "sql" in case):
            llm.server.script = [Say(json.dumps({"sql": sql}, ensure_ascii=False))]
            answer = await asked(agent, question)
            assert 1 <= answer.usage.calls <= ATTEMPTS, sql
            assert not leaks(answer, "", foreign), sql
            counts[await outcome(twin, sql, answer)] += 1
        assert await fingerprint(twin) == before
    sys.stdout.write(f"\n{business_database}: {len(some)} attacks, {dict(counts)}\n")
    assert counts["refused before generation"] >= len(some) // 5
    assert counts["refused by the guard"] >= len(some) // 2
    assert counts["own rows"] >= len(some) // 10


async def outcome(twin: Twins, sql: str, answer: Answer) -> str:
    """What became of a statement; where it was executed, its rows are those of a database without anybody else."""
    if answer.outcome is not Outcome.ANSWERED:
        assert answer.sources == ()
        return "refused by the guard"
    rows = await twin.database.query(sql, CALLER)
    expected = await twin.unguarded(EXECUTABLE.sub("", sql).replace("TABLE members", "SELECT * FROM members"))
    if expected is None:  # the guard takes names in any case and mends nothing else
        assert twin.database.dialect in ("postgres", "mysql") and sql != sql.lower(), sql
        expected = await twin.unguarded(sql.lower())
    assert expected is not None, sql
    assert not exceeds(rows, expected), sql
    return "own rows"


async def fingerprint(twin: Twins) -> list[int]:
    """Rows of every table: nothing may be written."""
    return [(await twin.everybodys(f"SELECT count(*) FROM {name}"))[0][0] for name in twin.database.schema.tables]
