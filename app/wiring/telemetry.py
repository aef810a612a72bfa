"""Where spans are sent, from the settings."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from app.prompts.library import PromptLibrary
from app.settings import Settings
from app.telemetry.langfuse import LangfuseOptions, LangfusePrompts
from app.telemetry.service import Receiver, Telemetry, TelemetryOptions, open_telemetry


@asynccontextmanager
async def open_tracing(settings: Settings, library: PromptLibrary) -> AsyncIterator[Telemetry | None]:
    """Opens a collector, Langfuse, both or none. library: whose prompts Langfuse gets."""
    langfuse = build_langfuse_options(settings)
    receivers = [langfuse.receiver] if langfuse is not None else []
    if endpoint := settings.otel_exporter_otlp_endpoint:
        receivers.append(Receiver(f"{endpoint.rstrip('/')}/v1/traces", settings.otel_headers))
    options = TelemetryOptions(
        receivers, settings.otel_service_name, settings.otel_traces_share, _derive_secret(settings)
    )
    async with AsyncExitStack() as stack:
        if langfuse is None:
            yield await stack.enter_async_context(open_telemetry(options))
            return
        prompts = LangfusePrompts(langfuse, library.get_current)
        stack.push_async_callback(prompts.close)
        prompts.start()
        yield await stack.enter_async_context(open_telemetry(options, prompts.translate_attributes))


def build_langfuse_options(settings: Settings) -> LangfuseOptions | None:
    """Builds the options of Langfuse; None where it is not configured."""
    if not settings.langfuse_host:
        return None
    return LangfuseOptions(
        settings.langfuse_host, settings.langfuse_public_key, settings.langfuse_secret_key.get_secret_value()
    )


def _derive_secret(settings: Settings) -> str:
    """Derives a secret that all replicas of an installation know and nobody else, as far as it has secrets at all."""
    known = (
        settings.api_key.get_secret_value(),
        settings.user_token_secret.get_secret_value(),
        settings.langfuse_secret_key.get_secret_value(),
        settings.sql_url,
    )
    return hashlib.sha256("\0".join(known).encode()).hexdigest()
