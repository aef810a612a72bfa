"""The whole product with the hash embedder, over documents of a test."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from app.evaluation.dialogues import Dialogue, Expectation, LabelledTurn, TurnKind
from app.evaluation.playback import play_dialogues
from app.evaluation.results import PlayedTurn, build_turn_row, compute_figures, describe_failures
from app.settings import Settings
from knowledge.errors import InvalidConfiguration
from scripts.evaluation.product import Setup, open_product
from tests.knowledge.evaluation.files import document_set


def turn(name: str, say: str, *kinds: TurnKind, tag: str = "first", **fields: Any) -> LabelledTurn:
    return LabelledTurn(name, say, tag, Expectation(frozenset(kinds), **fields))


FREIGHT = turn("a.1", "退货的运费谁承担", TurnKind.ANSWER, must_any=(("首重 12 元",),), sources=("退货",))
WRONG = turn("a.2", "怎么开电子发票", TurnKind.REFUSE, tag="unanswerable")
PERSON = turn("b.1", "转人工", TurnKind.HANDOFF, tag="handoff")
ALONE = turn("c.1", "转人工", TurnKind.ANSWER, tag="swallowed")
AFTER = turn("c.2", "退货的运费谁承担", TurnKind.ANSWER, tag="swallowed")
DIALOGUES = Dialogue("a", (FREIGHT, WRONG)), Dialogue("b", (PERSON,)), Dialogue("c", (ALONE, AFTER))


def setup(tmp_path: Path, **fields: Any) -> Setup:
    settings = Settings(data_dir=tmp_path / "untouched", embedder="hash", vector_store="memory", _env_file=None)
    return Setup(settings, tmp_path / "cache", **fields)


@pytest.fixture
async def played(tmp_path: Path) -> list[PlayedTurn]:
    documents = document_set(tmp_path / "set") / "documents"
    async with open_product(setup(tmp_path, documents=(documents,))) as product:
        return await play_dialogues(product, DIALOGUES, date(2026, 3, 1))


async def test_conversations_are_played_judged_and_reported(played: list[PlayedTurn], tmp_path: Path) -> None:
    by_id = {turn.labelled.id: turn for turn in played}
    assert [turn.labelled.id for turn in played] == ["a.1", "a.2", "b.1", "c.1", "c.2"]
    assert by_id["a.1"].result.correct
    assert by_id["a.1"].result.unfounded == ()
    assert by_id["a.2"].result.false_answer
    assert by_id["b.1"].result.correct
    assert by_id["c.1"].result.swallowed
    assert by_id["c.2"].result.correct  # the queue was left in between
    assert not (tmp_path / "untouched").exists()

    report = compute_figures([turn.result for turn in played])
    assert (report["conversations"], report["turns"], report["correct"]) == (3, 5, 3)
    assert (report["accuracy"], report["false_answers"], report["swallowed"]) == (0.6, 0.2, 1)
    assert (report["conversations_clean"], report["hallucination_rate"]) == (1, 0.0)
    assert report["by_tag"]["swallowed"] == {"correct": 1, "turns": 2}


async def test_a_failure_is_told_with_its_reply_sources_and_trace(played: list[PlayedTurn]) -> None:
    first, second = describe_failures(played)
    assert first.startswith("a.2 wrong [unanswerable] 怎么开电子发票")
    assert "answer, not refuse" in first
    assert "来源：常见问题 怎么开发票" in first
    assert "agent knowledge" in first
    assert "swallowed by the queue" in second
    row = build_turn_row(played[0])
    assert (row["verdict"], row["trace"]["route"], row["trace"]["agent"]) == ("correct", "knowledge_qa", "knowledge")


async def test_the_sample_business_database_is_of_the_day(tmp_path: Path) -> None:
    documents = document_set(tmp_path / "set") / "documents"
    own = setup(tmp_path, documents=(documents,), business=True)
    async with open_product(own) as product:
        told = await product.ask("s", "我有多少笙豆", user_id="M0001")
    assert told.body["data"]["agent"] == "business"
    assert "[SQL]" in told.body["reply"]


async def test_a_folder_without_documents_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "empty", tmp_path / "missing"):
        with pytest.raises(InvalidConfiguration):
            async with open_product(setup(tmp_path, documents=(path,))):
                pass
