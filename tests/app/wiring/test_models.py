"""The language models of a process are closed with it, each of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agents.errors import BudgetExhausted
from agents.llm.endpoint import EndpointModel
from app.configuration.models import ModelBudget
from app.db.engine import Database
from app.db.migrate import upgrade_schema
from app.settings import Settings
from app.spending.repository import SpendingRepository
from app.spending.service import Accounts
from app.wiring.models import LanguageModels
from scripts.scripted_llm import Say, ScriptedLLM
from tests.gguf_model import instruct_file


async def test_a_model_that_cannot_be_closed_keeps_no_other_open(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[str] = []

    async def close(self: EndpointModel) -> None:
        closed.append(self.name)
        raise OSError(self.name)

    monkeypatch.setattr(EndpointModel, "close", close)
    settings = Settings.model_validate({"llm_api_key": "k", "llm_model": "large", "small_llm_model": "small"})
    with pytest.raises(OSError):
        async with LanguageModels(settings):
            pass
    assert sorted(closed) == ["large", "small"]


async def test_drafts_are_on_the_account_of_who_asked_for_them(tmp_path: Path) -> None:
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'spent.sqlite3'}")
    await upgrade_schema(database)
    accounts = Accounts(SpendingRepository(database), {}, {"acme": ModelBudget(tokens=1)}, ModelBudget())
    reply = json.dumps({"question": "能刻字吗", "answer": "能。"}, ensure_ascii=False)
    async with ScriptedLLM(Say(reply)) as llm:
        settings = Settings.model_validate({"llm_api_key": "k", "llm_model": "large", "llm_base_url": llm.base_url})
        async with LanguageModels(settings, accounts) as models:
            drafter = models.for_tenant("acme").build_drafter()
            assert drafter is not None
            assert (await drafter.write(["能刻字不"], "能。", [])).answer == "能。"
            await accounts.settle()
            [(entry, spent)] = await accounts.stored.load_days("acme", 1)
            assert (entry.model, spent.calls) == ("large", 1) and spent.completion_tokens > 0
            with pytest.raises(BudgetExhausted):
                await drafter.write(["能刻字不"], "能。", [])
            assert await accounts.stored.load_days("other", 1) == []
    await database.close()


async def test_a_file_that_writes_and_reads_is_loaded_once_and_nobody_is_asked_beside_it() -> None:
    path = str(instruct_file())
    own = Settings.model_validate(
        {"llm_provider": "gguf", "llm_local_model": path, "reader_model": path, "reader_enabled": True}
    )
    async with LanguageModels(own) as models:
        assert models.main is not None and models.judge is not None
        assert models.judge.models == models.main.models
        assert models._patience.hedge == 0.0
    async with LanguageModels(Settings.model_validate({"reader_model": path, "reader_enabled": True})) as models:
        assert (models.main, models.small, models.build_verifier(), models.build_drafter()) == (None, None, None, None)
        assert models.build_reader() is not None and not models.present
