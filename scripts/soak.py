"""Many turns against a model that misbehaves at random: `python scripts/soak.py [--turns 1000] [--json OUT]`.

The real application on the sample documents, in a folder of its own, with the scripted model behind it. Every turn has
to end in a typed outcome and to be kept; the exit code is 1 when one does not.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import httpx
from pydantic import SecretStr

from agents.types import Outcome
from app.auth.principal import DEFAULT_TENANT
from app.documents.samples import FOLDER
from app.logging import configure_logging
from app.main import create_app
from app.progress import ProgressBar
from app.settings import Settings, load_settings
from app.wiring.container import Container
from scripts.commands import add_json_option, write_report
from scripts.harness.servers import CHAT, STREAM
from scripts.harness.uploads import read_events
from scripts.scripted_llm import Behaviour, ScriptedLLM

CONCURRENCY = 8
# Seconds until a stall counts as an outage: short, so that a thousand turns take minutes.
SILENCE = 0.3
_OTHERS = ("你好", "转人工", "谢谢", "？？？", "今天天气怎么样", "")
_FOLLOW_UPS = ("那运费呢", "它多少钱", "第二个呢", "那保修多久呢")
# What the scripted model makes up.
_LIES = ("[97]", "9876.5", "QX-77421")


class Soak:
    """One customer after the other, several at once; every third session goes on with a follow-up.

    `wrong` holds a line for every turn that did not end as it should.
    """

    def __init__(self, client: httpx.AsyncClient, seed: int) -> None:
        self.outcomes: Counter[str] = Counter()
        self.degraded: Counter[str] = Counter()
        self.statuses: Counter[int] = Counter()
        self.replaced = 0
        self.wrong: list[str] = []
        self._kept: dict[str, set[str]] = {}
        self._client = client
        self._random = random.Random(seed)
        lines = (FOLDER.parent / "eval.jsonl").read_text("utf-8").splitlines()
        self._questions: list[str] = [json.loads(line)["text"] for line in lines]

    async def send_turn(self, number: int) -> None:
        """Sends one message, as JSON or as a stream."""
        session, streamed = f"soak-{number // 3}", number % 2 == 0
        body: dict[str, Any] = {"message": self._choose_message(number), "session_id": session}
        if number % 5 == 0:
            body["page"] = {"title": "YS-W5 智能手表 - 云笙商城", "text": "活动价 899 元。"}
        response = await self._client.post(STREAM if streamed else CHAT, json=body)
        events = [event async for event in read_events(response)] if streamed else [response.json()]
        self.statuses[response.status_code] += 1
        self.replaced += sum(event.get("type") == "replace" for event in events)
        done = events[-1] if response.status_code == 200 and events else {}
        outcome, reply = done.get("outcome"), done.get("reply", "")
        if outcome not in set(Outcome) or not reply:
            self.wrong.append(f"{body['message']!r}: {response.status_code} {response.text[-200:]}")
            return
        self.outcomes[outcome] += 1
        self.degraded.update(done["data"]["degraded"])
        if any(lie in reply for lie in _LIES):
            self.wrong.append(f"{body['message']!r}: {reply}")
        if outcome != Outcome.REJECTED:
            self._kept.setdefault(session, set()).add(done["message_id"])

    def _choose_message(self, number: int) -> str:
        if number % 3 == 1:
            return self._random.choice(_FOLLOW_UPS)
        return self._random.choice(_OTHERS if number % 10 == 0 else self._questions)

    async def count_lost(self, container: Container) -> int:
        """How many turns were answered and are not in the database."""
        lost = 0
        for session, ids in self._kept.items():
            rows = await container.conversations.load_last_turns(DEFAULT_TENANT, session, 100)
            lost += len(ids - {row.id for row in rows})
        return lost


async def run_soak(turns: int, seed: int, folder: Path) -> dict[str, Any]:
    """Sends all turns. Returns the report."""
    async with ScriptedLLM(*Behaviour, seed=seed) as llm, _open_application(llm, folder) as (client, container):
        soak, numbers = Soak(client, seed), iter(range(turns))
        with ProgressBar(turns, "对话", "轮") as bar:

            async def send_turns() -> None:
                for number in numbers:
                    await soak.send_turn(number)
                    bar.update()

            await asyncio.gather(*(send_turns() for _ in range(CONCURRENCY)))
        return {
            "turns": turns,
            "statuses": dict(soak.statuses),
            "outcomes": dict(soak.outcomes),
            "degraded": dict(soak.degraded),
            "replaced": soak.replaced,
            "lost": await soak.count_lost(container),
            "wrong": soak.wrong,
            "llm_requests": llm.requests,
            "llm_behaviours": dict(llm.taken),
        }


@asynccontextmanager
async def _open_application(llm: ScriptedLLM, folder: Path) -> AsyncIterator[tuple[httpx.AsyncClient, Container]]:
    settings: Settings = load_settings().model_copy(
        update={
            "data_dir": folder,
            "database_url": "",
            "chroma_url": "",
            "milvus_uri": SecretStr(""),
            "api_key": SecretStr(""),
            "llm_base_url": llm.base_url,
            "llm_api_key": SecretStr("scripted"),
            "llm_first_token_timeout": SILENCE,
            "rewrite_timeout": SILENCE,
        }
    )
    app = create_app(settings)
    async with app.router.lifespan_context(app):
        container: Container = app.state.container
        await container.startup.ready.wait()
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=120) as client:
            yield client, container


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 1 when a turn ended wrong or was lost."""
    parser = argparse.ArgumentParser(prog="scripts/soak.py", description="大模型随机出故障时连续对话")
    parser.add_argument("--turns", type=int, default=1000, help="轮数")
    parser.add_argument("--seed", type=int, default=1)
    add_json_option(parser)
    options = parser.parse_args(arguments)
    configure_logging("ERROR")
    with tempfile.TemporaryDirectory() as folder:
        report = asyncio.run(run_soak(options.turns, options.seed, Path(folder)))
    write_report(report, options.json)
    return int(bool(report["wrong"] or report["lost"]))


if __name__ == "__main__":
    sys.exit(main())
