"""Conversations and sets through the product's own chat: the part of `scripts/evaluate.py` that opens a product."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from agents.types import Answer
from app.evaluation.dialogues import read_dialogues
from app.evaluation.questions import (
    build_dialogues,
    build_question_report,
    build_question_row,
    build_source_of,
    open_documents,
    read_answers,
)
from app.evaluation.results import PlayedTurn, build_turn_row, compute_figures, describe_failures
from app.retrieval import chunk_options
from app.settings import Settings
from knowledge.errors import InvalidConfiguration
from knowledge.evaluation.dataset import load_set
from knowledge.evaluation.rows import read_rows, write_rows
from scripts.evaluation.danger import build_danger_report
from scripts.evaluation.product import Setup, open_product, play_with_progress
from scripts.evaluation.routing import build_decision_report, read_labelled_rows
from scripts.evaluation.with_model import build_both_report, build_both_row, build_both_table, play_both


async def measure_dialogues(options: argparse.Namespace, settings: Settings) -> dict[str, Any]:
    """Figures of `--dialogues`; failures are printed to stderr, as `--show` asks."""
    setup, dialogues = _build_setup(options, settings, options.docs), read_dialogues(options.dialogues)[: options.first]
    if options.model:
        name, turns = await play_both(dialogues, setup)
        _print_failures([turn.with_model for turn in turns], options.show)
        print(build_both_table(turns), file=sys.stderr)
        if not any(turn.spent.calls for turn in turns):
            print(f"{name} 一次也没有被请：日志里有原因，例如读得太慢、判断分不清", file=sys.stderr)
        _write_run(options, map(build_both_row, turns))
        return {"dialogues": options.dialogues.name} | build_both_report(name, turns)
    async with open_product(setup) as product:
        played = await play_with_progress(product, dialogues, setup.today)
    _print_failures(played, options.show)
    _write_run(options, map(build_turn_row, played))
    return {"dialogues": options.dialogues.name} | compute_figures([turn.result for turn in played])


async def measure_questions(options: argparse.Namespace, settings: Settings) -> dict[str, Any]:
    """Figures of `--set … --through chat`."""
    data = load_set(options.set, options.out_of_domain, chunk_options(settings))
    questions = data.questions
    with open_documents(options.set) as (folder, ids):
        setup, dialogues = _build_setup(options, settings, [folder]), build_dialogues([one.text for one in questions])
        async with open_product(setup) as product:
            played = await play_with_progress(product, dialogues, setup.today, "提问", "问")
            asked = read_answers(questions, played, product.chunks, build_source_of(data, ids))
    _write_run(options, map(build_question_row, asked))
    return build_question_report(data, asked)


async def measure_routing(options: argparse.Namespace, settings: Settings) -> dict[str, Any]:
    """Figures of `--routing … --through chat`: every message opens a conversation with the sample shop, whose documents
    and business database are evidence too. Nobody is signed in.
    """
    rows, decided = read_labelled_rows(options.routing), list[tuple[str, ...]]()
    for answer in await _ask_each(_build_setup(options, settings, ()), "路由", rows):
        decided.append(answer.decision.intents if answer and answer.decision else ("",))
    given = zip(rows, decided, strict=True)
    _write_run(options, ({"id": row["id"], "text": row["text"], "intents": intents} for row, intents in given))
    return {"routing": options.routing.name, "through": "chat"} | build_decision_report(rows, decided)


async def measure_danger(options: argparse.Namespace, settings: Settings) -> dict[str, Any]:
    """Figures of `--danger`: every message opens a conversation with the sample shop."""
    rows, labelled = read_rows(options.danger, text=str, label=str), list[tuple[str, Answer]]()
    answers = await _ask_each(_build_setup(options, settings, options.docs), "险情", rows)
    for number, (row, answer) in enumerate(zip(rows, answers, strict=True), start=1):
        if answer is None:
            raise InvalidConfiguration(f"第 {number} 条没有得到回答")
        labelled.append((row["label"], answer))
    return {"danger": build_danger_report(labelled)}


async def _ask_each(setup: Setup, title: str, rows: Sequence[dict[str, Any]]) -> list[Answer | None]:
    """The answer to every message by itself; None after an error."""
    async with open_product(setup) as product:
        dialogues = build_dialogues([row["text"] for row in rows])
        played = await play_with_progress(product, dialogues, setup.today, title, "条")
    return [turn.response.answer for turn in played]


def _build_setup(options: argparse.Namespace, settings: Settings, documents: Sequence[Path]) -> Setup:
    business = options.business if options.business is not None else not documents
    return Setup(settings, options.cache, tuple(documents), business, date.today())


def _print_failures(played: Sequence[PlayedTurn], shown: int) -> None:
    for paragraph in describe_failures(played)[:shown]:
        print(f"\n{paragraph}", file=sys.stderr)


def _write_run(options: argparse.Namespace, rows: Iterable[dict[str, Any]]) -> None:
    if options.run:
        write_rows(options.run, rows)
