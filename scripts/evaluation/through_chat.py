"""Conversations and sets through the product's own chat: the part of `scripts/evaluate.py` that opens a product."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

from agents.types import Answer
from app.evaluation.dialogues import read_dialogues
from app.evaluation.playback import PlayedTurn, play_dialogues
from app.evaluation.question_run import (
    AskedQuestion,
    ask_all,
    build_question_report,
    build_row,
    build_source_of,
    open_documents,
)
from app.evaluation.report import build_report, build_turn_row, describe_failures
from app.progress import ProgressBar, show_progress
from app.retrieval import chunk_options
from app.settings import Settings
from knowledge.errors import InvalidConfiguration
from knowledge.evaluation.dataset import load_set
from knowledge.evaluation.rows import read_rows
from scripts.evaluation.danger import danger_report
from scripts.evaluation.product import Setup, open_product
from scripts.evaluation.routing import decided_report, labelled_rows
from scripts.evaluation.with_model import both_report, both_row, both_table, play_both


async def dialogues_report(options: argparse.Namespace, settings: Settings) -> dict[str, Any]:
    """Figures of `--dialogues`; failures are printed to stderr, as `--show` asks."""
    if options.model:
        return await _dialogues_with_model(options, settings)
    setup = _setup(options, settings, options.docs)
    played = await played_dialogues(options.dialogues, setup, first=options.first)
    for paragraph in describe_failures(played)[: options.show]:
        print(f"\n{paragraph}", file=sys.stderr)
    if options.run:
        _write(options.run, map(build_turn_row, played))
    return {"dialogues": options.dialogues.name} | build_report(played)


async def _dialogues_with_model(options: argparse.Namespace, settings: Settings) -> dict[str, Any]:
    """The table goes to stderr."""
    setup = _setup(options, settings, options.docs)
    name, turns = await play_both(read_dialogues(options.dialogues)[: options.first], setup)
    for paragraph in describe_failures([turn.with_model for turn in turns])[: options.show]:
        print(f"\n{paragraph}", file=sys.stderr)
    print(both_table(turns), file=sys.stderr)
    if not any(turn.spent.calls for turn in turns):
        print(f"{name} 一次也没有被请：日志里有原因，例如读得太慢、判断分不清", file=sys.stderr)
    if options.run:
        _write(options.run, map(both_row, turns))
    return {"dialogues": options.dialogues.name} | both_report(name, turns)


async def played_dialogues(path: Path, setup: Setup, *, every: int = 1, first: int | None = None) -> list[PlayedTurn]:
    """The conversations of a file, the first so many, or one in so many of them, played."""
    dialogues = read_dialogues(path)[:first:every]
    turns = sum(len(dialogue.turns) for dialogue in dialogues)
    async with open_product(setup) as product:
        with ProgressBar(turns, "对话", "轮") as bar:
            return await play_dialogues(product, dialogues, setup.today, bar.update)


async def chat_set_report(options: argparse.Namespace, settings: Settings) -> dict[str, Any]:
    """Figures of `--set … --through chat`."""
    data = load_set(options.set, options.out_of_domain, chunk_options(settings))
    groups = data.answerable, data.unanswerable, data.out_of_domain
    asked: list[list[AskedQuestion]] = []
    with open_documents(options.set) as (folder, ids):
        async with open_product(_setup(options, settings, [folder])) as product:
            with ProgressBar(sum(map(len, groups)), "提问", "问") as bar:
                for group in groups:
                    asked.append(await ask_all(product, group, build_source_of(data, ids), bar.update))
    if options.run:
        _write(options.run, [build_row(one) for group in asked for one in group])
    return build_question_report(data, *asked)


async def routing_through_chat(options: argparse.Namespace, settings: Settings) -> dict[str, Any]:
    """Figures of `--routing … --through chat`: every message opens a conversation with the sample shop, whose documents
    and business database are evidence too. Nobody is signed in.
    """
    rows, decided = labelled_rows(options.routing), list[tuple[str, ...]]()
    async with open_product(_setup(options, settings, ())) as product:
        for number, row in enumerate(show_progress(rows, len(rows), "路由", "条")):
            told = await product.ask(f"routing-{number}", row["text"])
            decision = told.answer.decision if told.answer else None
            decided.append(decision.intents if decision else ("",))
    if options.run:
        given = zip(rows, decided, strict=True)
        _write(options.run, ({"id": row["id"], "text": row["text"], "intents": intents} for row, intents in given))
    return {"routing": options.routing.name, "through": "chat"} | decided_report(rows, decided)


async def danger_through_chat(options: argparse.Namespace, settings: Settings) -> dict[str, Any]:
    """Figures of `--danger`: every message opens a conversation with the sample shop."""
    rows, answers = read_rows(options.danger, text=str, label=str), list[tuple[str, Answer]]()
    async with open_product(_setup(options, settings, options.docs)) as product:
        for number, row in enumerate(show_progress(rows, len(rows), "险情", "条")):
            told = await product.ask(f"danger-{number}", row["text"])
            if told.answer is None:
                raise InvalidConfiguration(f"第 {number + 1} 条没有得到回答")
            answers.append((row["label"], told.answer))
    return {"danger": danger_report(answers)}


def _setup(options: argparse.Namespace, settings: Settings, documents: Sequence[Path]) -> Setup:
    business = options.business if options.business is not None else not documents
    return Setup(settings, options.cache, tuple(documents), business, date.today())


def _write(path: Path, rows: Any) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
