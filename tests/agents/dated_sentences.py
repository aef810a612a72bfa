"""Plays sentences with a day in them against a rule each: false deadlines, and real ones with the right date.

    python -m tests.agents.dated_sentences SENTENCES.jsonl

Each line has `today`, `rule`, `text`, `event` (whether the rule's event is said to have happened to the customer on a
day, and nothing excludes it), `expected` (the last day, null without an event) and `within` (whether today is).
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

from loguru import logger

from agents.answering.date_phrases import format_day
from agents.answering.deadlines import compute_date_sentence, list_texts_to_judge
from agents.heads.events import EventHead, fit_event_head
from agents.understanding.reading import read
from knowledge.embeddings.registry import get_embedder
from knowledge.english import is_chinese


async def tell_date(case: Mapping[str, Any], head: EventHead) -> str | None:
    """What the knowledge agent would add to the rule where that is what it found."""
    today, asked = date.fromisoformat(case["today"]), read(case["text"]).normalized_text
    judged = await head.judge_texts(list_texts_to_judge(asked, "", [case["rule"]], today))
    return compute_date_sentence(asked, "", [case["rule"]], today, not is_chinese(case["rule"]), judged)


def is_right(case: Mapping[str, Any], told: str | None) -> bool:
    """Whether the expected date is told, and that it is over where it is; nothing where nothing is expected."""
    if told is None or case["expected"] is None:
        return told is None and case["expected"] is None
    last = date.fromisoformat(case["expected"])
    written = {format_day(last, english, year=year) for english in (True, False) for year in (True, False)}
    over = "过了" in told or "passed" in told
    return any(day in told for day in written) and not (over and case["within"])


async def play(cases: Sequence[Mapping[str, Any]]) -> None:
    with closing(get_embedder("e5")) as embedder:
        head = await fit_event_head(embedder)
        told = [await tell_date(case, head) for case in cases]
    wrong = [(case, said) for case, said in zip(cases, told, strict=True) if not is_right(case, said)]
    for case, said in wrong:
        logger.info("{} | {} | {} | {}", case["text"], case["rule"], case["expected"], said)
    real = sum(case["event"] for case in cases)
    false = sum(said is not None and not case["event"] for case, said in wrong)
    missed = sum(case["event"] for case, _ in wrong)
    misdated = sum(said is not None and case["event"] for case, said in wrong)
    logger.info("false deadlines: {} of {}", false, len(cases) - real)
    logger.info("real ones with the right date: {} of {}, with a wrong one: {}", real - missed, real, misdated)


if __name__ == "__main__":
    lines = Path(sys.argv[1]).read_text("utf-8").splitlines()
    asyncio.run(play([json.loads(line) for line in lines if line.strip()]))
