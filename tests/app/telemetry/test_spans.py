"""A span tells nothing that it may not, and its digests cannot be guessed back."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.settings import Settings
from app.telemetry.service import Receiver, Telemetry, TelemetryOptions, open_telemetry
from app.wiring.telemetry import _derive_secret
from knowledge.errors import InvalidConfiguration
from knowledge.tracing import NOTHING, start_span
from tests.app.telemetry.receiver import receiving, told


def options(url: str, secret: str = "s") -> TelemetryOptions:
    return TelemetryOptions([Receiver(url, {"x-key": "k"})], "yingda", 1.0, secret)


async def test_what_is_not_on_the_list_is_left_out_and_an_error_tells_its_kind_alone() -> None:
    with receiving() as receiver:
        async with open_telemetry(options(f"{receiver.address}/v1/traces")) as telemetry:
            assert telemetry is not None
            turn = telemetry.begin_span("acme", "session-1", "m1", "")
            turn.set_attributes({"question": "我的手机 13912345678", "yingda.outcome": "answered"})
            with pytest.raises(ValueError, match="13912345678"), turn:
                raise ValueError("13912345678 is no date")
            turn.end()
        (kept,) = receiver.spans
        assert told(kept).keys() == {"yingda.tenant", "yingda.turn", "session.id", "yingda.outcome", "error.type"}
        assert told(kept)["error.type"] == "ValueError" and not kept.events
        assert "139" not in str(kept) and receiver.headers[0]["x-key"] == "k"


async def test_a_digest_is_the_same_for_the_replicas_of_an_installation_and_for_nobody_else() -> None:
    digests = []
    for secret in ("one", "one", "two"):
        async with open_telemetry(options("http://127.0.0.1:9/v1/traces", secret)) as telemetry:
            assert isinstance(telemetry, Telemetry)
            digests.append(telemetry.hash_id("acme", "13912345678"))
    assert digests[0] == digests[1] != digests[2] and len(digests[0]) == 16


def test_the_secret_of_digests_follows_from_the_secrets_that_replicas_share() -> None:
    urls = {"database_url": "postgresql+asyncpg://u:p@db/yingda"}
    one, same = (Settings(_env_file=None, data_dir=Path(folder), **urls) for folder in ("a", "b"))  # type: ignore[arg-type]
    assert (
        _derive_secret(one)
        == _derive_secret(same)
        != _derive_secret(one.model_copy(update={"database_url": "postgresql://other"}))
    )


def test_where_nobody_records_a_span_is_nothing() -> None:
    with start_span("x") as nothing:
        assert nothing is NOTHING


@pytest.mark.parametrize(
    "name, value",
    [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "Bearer secret"),
        ("OTEL_TRACES_SHARE", "2"),
        ("LANGFUSE_HOST", "http://langfuse:3000"),
    ],
)
def test_a_setting_that_cannot_be_is_named(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from app.settings import load_settings

    monkeypatch.setenv(name, value)
    with pytest.raises(InvalidConfiguration, match=name):
        load_settings()
