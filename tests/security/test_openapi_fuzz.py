"""schemathesis over the OpenAPI document, against the product as a process with its sample knowledge base: every
check, and no failure. There is no endless stream in the document; those of a turn end.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from app.auth.principal import Role
from scripts.attacks.process import process
from tests.security.test_hostile_bodies import UNLIMITED

SEED = "20261123"
EXAMPLES = {Role.ADMIN: "15", Role.AGENT: "3", Role.SERVER: "3", Role.CLIENT: "3", Role.METRICS: "3"}
"""Role of the key -> random requests of an operation, beside those of its examples and of the bounds of its schema."""
FILES = ("import_evaluation_cases", "import_faqs", "import_vocabulary", "search_file")
"""Their body is a file as bytes, so that every body fits the schema: one that holds nothing of use is refused all the
same. All other checks hold for them too.
"""
FETCHING = ("import_from_url",)
_REFUSING = '["2xx", "3xx", "400", "401", "403", "404", "409", "422", "429", "5xx"]'
_UNREACHABLE = '["2xx", "3xx", "4xx", "502"]'
"""Another server that is not there is a 502, as it is documented."""


def configuration() -> str:
    parts = [
        'generation.database = "none"\ncontinue-on-failure = true\nrequest-timeout = 120',
        '[auth.openapi.ApiKey]\nbearer = "${KEY}"\n[auth.openapi.ApiKeyHeader]\napi_key = "${KEY}"',
        '[[operations]]\ninclude-operation-id = "upload_documents"\nchecks.positive_data_acceptance.enabled = false',
    ]
    told = "checks.positive_data_acceptance.expected-statuses"
    parts += [f'[[operations]]\ninclude-operation-id = "{name}"\n{told} = {_REFUSING}' for name in FILES]
    told = "checks.not_a_server_error.expected-statuses"
    parts += [f'[[operations]]\ninclude-operation-id = "{name}"\n{told} = {_UNREACHABLE}' for name in FETCHING]
    return "\n\n".join(parts)


@pytest.mark.timeout(7200)
@pytest.mark.acceptance(only=True)
def test_no_check_of_schemathesis_fails_for_any_role(tmp_path: Path) -> None:
    file = tmp_path / "schemathesis.toml"
    file.write_text(configuration(), "utf-8")
    unlimited = {name.upper(): "0" for name in UNLIMITED}
    options: dict[str, Any] = {"EMBEDDER": "e5", "SAMPLES_ENABLED": "true", "API_DOCS_ENABLED": "true"}
    failed = []
    with process(tmp_path / "data", **options | unlimited) as target:
        for role, examples in EXAMPLES.items():
            command: list[str | Path] = [
                "env",
                f"KEY={getattr(target, role.value)}",
                Path(sys.executable).with_name("schemathesis"),
            ]
            command += ["--config-file", file, "run", f"{target.address}/openapi.json", "--no-color"]
            command += ["-n", examples, "--seed", SEED, "--phases", "examples,coverage,fuzzing"]
            done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
            sys.stdout.write(f"{role}: {done.stdout[-1500:]}\n")
            if done.returncode:
                failed.append(f"{role}: {done.stdout[-20_000:]}{done.stderr}")
    assert not failed, "\n".join(failed)
