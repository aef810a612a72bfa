"""Langfuse: spans in its words, and the prompts as its versions. It takes spans by OTLP, so its SDK is not needed."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from loguru import logger

from agents.prompt_library import Prompts
from app.telemetry.service import Receiver
from app.work_loop import WorkLoop
from knowledge.lazy import LazyModule
from knowledge.tracing import Value

if TYPE_CHECKING:
    import httpx
else:
    httpx = LazyModule("httpx")

# Of one request about prompts; no turn waits for it.
SECONDS = 10.0
# Between two looks whether a prompt changed.
LOOK_SECONDS = 2.0
RETRY_SECONDS = 30.0
_PREFIX = "yingda-"


@dataclass(frozen=True, slots=True)
class LangfuseOptions:
    """host: its address; the keys are those of one project."""

    host: str
    public_key: str
    secret_key: str = field(repr=False)

    @property
    def receiver(self) -> Receiver:
        """Of spans."""
        url = f"{self.host.rstrip('/')}/api/public/otel/v1/traces"
        return Receiver(url, {"Authorization": self.authorization, "x-langfuse-ingestion-version": "4"})

    @property
    def authorization(self) -> str:
        return "Basic " + b64encode(f"{self.public_key}:{self.secret_key}".encode()).decode()


class LangfusePrompts(WorkLoop):
    """Registers the prompts in force, and knows the number that Langfuse gave each version."""

    name = "langfuse prompts"
    poll_seconds = LOOK_SECONDS

    def __init__(self, options: LangfuseOptions, current: Callable[[], Prompts]) -> None:
        super().__init__()
        self._current = current
        self._away = False
        self._numbers: dict[tuple[str, str], int] = {}
        headers = {"Authorization": options.authorization}
        self._client = httpx.AsyncClient(base_url=options.host, headers=headers, timeout=SECONDS)

    async def close(self) -> None:
        """Stops the loop. Prompts that are not registered yet are registered by the next process."""
        await super().close()
        await self._client.aclose()

    def translate_attributes(self, attributes: Mapping[str, Value]) -> Mapping[str, Value]:
        """Returns the attributes that Langfuse reads of a span: a request to a model is a generation, linked with its
        prompt once that is registered; tokens and cost are its usage. Empty for all other spans.
        """
        translated: dict[str, Value] = {}
        if "gen_ai.operation.name" in attributes:
            translated["langfuse.observation.type"] = "generation"
            translated["langfuse.observation.model.name"] = attributes["gen_ai.request.model"]
        if (name := attributes.get("yingda.prompt.name")) is not None:
            number = self._numbers.get((str(name), str(attributes["yingda.prompt.version"])))
            if number is not None:
                translated["langfuse.observation.prompt.name"] = f"{_PREFIX}{name}"
                translated["langfuse.observation.prompt.version"] = number
        if "gen_ai.usage.input_tokens" in attributes:
            used = {name: attributes[f"gen_ai.usage.{name}_tokens"] for name in ("input", "output")}
            translated["langfuse.observation.usage_details"] = json.dumps(used)
        if "yingda.cost" in attributes:
            translated["langfuse.observation.cost_details"] = json.dumps({"total": attributes["yingda.cost"]})
        return translated

    async def run_round(self) -> int:
        """Registers prompts whose text changed, and always returns 0: a prompt that failed waits for RETRY_SECONDS."""
        prompts, was_away = self._current(), self._away
        self._away = False
        try:
            for name in prompts:
                await self._register(name, prompts)
        except (httpx.HTTPError, ValueError, LookupError, TypeError) as error:
            self._away = True
            if not was_away:
                logger.opt(exception=error).warning("prompts could not be registered with Langfuse, trying again")
        self.poll_seconds = RETRY_SECONDS if self._away else LOOK_SECONDS
        return 0

    async def _register(self, name: str, prompts: Prompts) -> None:
        """Finds the number that Langfuse has for the version of a prompt in force, or creates that version there.

        A version is looked up once in the life of a process. Its number is that of the version that Langfuse labels
        `latest`, if both have the same text, so that a restart creates nothing. Otherwise the text is added as a new
        version labelled `production`, the label by which Langfuse chooses the version that it serves.

        Args:
            name: The name of the prompt here; Langfuse knows it with _PREFIX.
            prompts: The prompts in force.

        Raises:
            httpx.HTTPError: Langfuse is out of reach, or refused the request.
            ValueError, LookupError, TypeError: Its response is not what its interface promises.
        """
        key = name, prompts.versions[name]
        if key in self._numbers:
            return
        text, path = prompts.get_template(name), "/api/public/v2/prompts"
        latest = await self._client.get(f"{path}/{quote(_PREFIX + name)}", params={"label": "latest"})
        if latest.status_code != httpx.codes.NOT_FOUND:
            known: dict[str, Any] = latest.raise_for_status().json()
            if known["prompt"] == text:
                self._numbers[key] = int(known["version"])
                return
        body = {"name": _PREFIX + name, "type": "text", "prompt": text, "tags": ["yingda"], "commitMessage": key[1]}
        made = await self._client.post(path, json=body | {"labels": ["production"]})
        self._numbers[key] = int(made.raise_for_status().json()["version"])
