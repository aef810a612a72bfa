"""schemathesis over the OpenAPI document, against the product as a process with its sample knowledge base: every
check, and no failure. There is no endless stream in the document; those of a turn end.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.auth.principal import Role
from app.keys.service import create_key
from scripts.harness.servers import run_product
from tests.app.openapi.document import operations
from tests.security.test_hostile_bodies import UNLIMITED

SEED = "20261123"
# Role of the key -> random requests of an operation, beside those of its examples and of the bounds of its schema.
# The administrator comes last, because it revokes the keys of others.
EXAMPLES = {Role.AGENT: "3", Role.SERVER: "3", Role.CLIENT: "3", Role.METRICS: "3", Role.ADMIN: "15"}
FETCHING = ("import_from_url",)
# They refuse what fits their schema by rules that no schema states: one of two fields is given, a range begins before
# its end, a snooze ends in the future, whoever calls by a key says for whom.
CONDITIONAL = (
    *("change_session", "accept_session", "send_desk_message", "write_desk_note", "change_tickets"),
    *("bind_channel_member", "forget_channel_members", "read_report", "list_reported", "export_report"),
    *("write_model_connection", "test_model_connection"),
)
# Another server that is not there is a 502, as it is documented.
_UNREACHABLE = '["2xx", "3xx", "4xx", "502"]'


def configuration() -> str:
    """Whatever is in a file fits the schema of a form, and one that holds nothing of use is refused all the same. All
    other checks hold for forms too, and for CONDITIONAL.
    """
    forms = [name for name, operation in operations().items() if set(operation.request) == {"multipart/form-data"}]
    assert operations().keys() >= set(CONDITIONAL)
    parts = [
        'generation.database = "none"\ncontinue-on-failure = true\nrequest-timeout = 120',
        '[auth.openapi.ApiKey]\nbearer = "${KEY}"\n[auth.openapi.ApiKeyHeader]\napi_key = "${KEY}"',
    ]
    told = "checks.positive_data_acceptance.enabled = false"
    parts += [f'[[operations]]\ninclude-operation-id = "{name}"\n{told}' for name in (*forms, *CONDITIONAL)]
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
    own = create_key()  # of the environment, which no request revokes
    failed = []
    with run_product(tmp_path / "data", **options | unlimited, API_KEY=own) as target:
        # Made at the first request, which on a busy machine takes longer than schemathesis waits.
        httpx.get(f"{target.address}/openapi.json", timeout=120, trust_env=False).raise_for_status()
        for role, examples in EXAMPLES.items():
            key = own if role is Role.ADMIN else getattr(target, role.value)
            command: list[str | Path] = ["env", f"KEY={key}", Path(sys.executable).with_name("schemathesis")]
            command += ["--config-file", file, "run", f"{target.address}/openapi.json", "--no-color"]
            command += ["-n", examples, "--seed", SEED, "--phases", "examples,coverage,fuzzing"]
            done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
            sys.stdout.write(f"{role}: {done.stdout[-1500:]}\n")
            known = httpx.get(f"{target.address}/api/v1/keys", headers={"X-API-Key": key}, timeout=120, trust_env=False)
            assert known.status_code != 401, f"{role}: its key is no longer one, so that nothing was tried"
            if done.returncode:
                failed.append(f"{role}: {done.stdout[-20_000:]}{done.stderr}")
    assert not failed, "\n".join(failed)
