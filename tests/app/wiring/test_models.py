"""The language models of a process are closed with it, each of them."""

from __future__ import annotations

import pytest

from agents.llm.endpoint import EndpointModel
from app.settings import Settings
from app.wiring.models import LanguageModels


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
