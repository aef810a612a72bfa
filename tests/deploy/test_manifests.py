"""The files of `deploy/`, Dockerfile and compose.yaml: they fit their schemas, each other and the settings.

There is no container engine here: no image is built.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import kubernetes.client.models as kubernetes
import pytest
import yaml
from jsonschema.validators import validator_for

from app.__main__ import GRACE_SECONDS
from app.documents.limits import compute_max_bytes
from app.settings import Settings
from tests.documents import ROOT

DEPLOY = ROOT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")
NGINX = (DEPLOY / "nginx.conf").read_text("utf-8")
UNITS = sorted((DEPLOY / "systemd").iterdir())
MANIFESTS = [
    pytest.param(manifest, id=f"{path.name}-{manifest['kind']}-{manifest['metadata']['name']}")
    for path in sorted((DEPLOY / "kubernetes").glob("*.yaml"))
    for manifest in yaml.safe_load_all(path.read_text("utf-8"))
]
PYTHONS = {"PATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "HOME"}
# How the variables of other programs begin.
OTHERS = re.compile("POSTGRES_|ETCD_|MINIO_")
_PLAIN: Mapping[str, type | tuple[type, ...]] = {
    "str": str,
    "int": int,
    "float": (int, float),
    "bool": bool,
    "bytes": str,
    "object": object,
}
_MODELS = {"v1": "V1", "apps/v1": "V1", "batch/v1": "V1", "policy/v1": "V1", "networking.k8s.io/v1": "V1"}


def problems(value: Any, kind: str, place: str) -> Iterator[str]:
    """What does not fit the type of Kubernetes' own client: unknown fields, other types, what is missing."""
    if listed := re.fullmatch(r"[Ll]ist\[(.+)\]", kind):
        for number, item in enumerate(value if isinstance(value, list) else [None]):
            yield from problems(item, listed[1], f"{place}[{number}]")
    elif mapped := re.fullmatch(r"[Dd]ict[(\[]str, (.+)[)\]]", kind):
        for name, item in value.items() if isinstance(value, dict) else [("?", None)]:
            yield from problems(item, mapped[1], f"{place}.{name}")
    elif kind in _PLAIN:
        if not isinstance(value, _PLAIN[kind]) or (kind == "int" and isinstance(value, bool)):
            yield f"{place}: {value!r} is no {kind}"
    elif isinstance(value, dict):
        yield from _object_problems(value, getattr(kubernetes, kind), place)
    else:
        yield f"{place}: {value!r} is no {kind}"


def _object_problems(value: Mapping[str, Any], model: Any, place: str) -> Iterator[str]:
    fields = {told: name for name, told in model.attribute_map.items()}
    yield from (f"{place}: there is no {name}" for name in value.keys() - fields.keys())
    known = {name: item for name, item in value.items() if name in fields}
    for name, item in known.items():
        yield from problems(item, model.openapi_types[fields[name]], f"{place}.{name}")
    try:
        model(**{fields[name]: item for name, item in known.items()})
    except ValueError as error:  # types were looked at above, in the names of the file
        if "required" in str(error) or "must not be" in str(error):
            yield f"{place}: {error}"


@pytest.mark.parametrize("manifest", MANIFESTS)
def test_a_manifest_fits_the_types_of_kubernetes(manifest: dict[str, Any]) -> None:
    kind = _MODELS[manifest["apiVersion"]] + manifest["kind"]
    assert list(problems(manifest, kind, manifest["kind"])) == []


def test_a_manifest_that_does_not_fit_is_found() -> None:
    wrong: dict[str, Any] = {"apiVersion": "v1", "kind": "Service", "spec": {"ports": [{"port": "80"}], "selectr": {}}}
    assert list(problems(wrong, "V1Service", "it")) == [
        "it.spec: there is no selectr",
        "it.spec.ports[0].port: '80' is no int",
    ]
    told = list(problems({"rules": [{"http": {}}]}, "V1IngressSpec", "it"))
    assert any("paths" in line for line in told)


def pods() -> Iterator[tuple[str, dict[str, Any]]]:
    for manifest in (param.values[0] for param in MANIFESTS):
        assert isinstance(manifest, dict)
        if template := manifest.get("spec", {}).get("template"):
            yield manifest["kind"], template["spec"]


def test_pods_are_of_the_images_user_and_write_where_they_may() -> None:
    user = re.search(r"^USER (\d+):(\d+)$", DOCKERFILE, re.MULTILINE)
    assert user and int(user[1]) > 0
    found = dict(pods())
    assert found.keys() == {"StatefulSet", "Job"}
    for pod in found.values():
        assert pod["securityContext"]["runAsUser"] == int(user[1])
        (container,) = pod["containers"]
        assert container["securityContext"]["readOnlyRootFilesystem"]
        assert {mount["mountPath"] for mount in container["volumeMounts"]} == {"/data", "/tmp"}


def test_probes_ask_what_the_service_serves(app_paths: set[str]) -> None:
    (container,) = dict(pods())["StatefulSet"]["containers"]
    asked = {name: container[name]["httpGet"]["path"] for name in ("startupProbe", "livenessProbe", "readinessProbe")}
    assert asked["readinessProbe"].endswith("/ready") and not asked["livenessProbe"].endswith("/ready")
    assert set(asked.values()) <= app_paths
    assert set(re.findall(r"127\.0\.0\.1:8000(/[a-z0-9/]+)", DOCKERFILE)) <= app_paths


@pytest.fixture(scope="module")
def app_paths() -> set[str]:
    from app.health.api import router

    return {getattr(route, "path", "") for route in router.routes}


def test_everything_waits_as_long_as_a_stop_may_take() -> None:
    pod = dict(pods())["StatefulSet"]
    before = int(pod["containers"][0]["lifecycle"]["preStop"]["exec"]["command"][-1])
    assert pod["terminationGracePeriodSeconds"] >= before + 2 * GRACE_SECONDS
    for path in UNITS:
        if path.name.startswith(("yingda.service", "yingda@")):
            assert int(setting(path, "TimeoutStopSec")) >= 2 * GRACE_SECONDS
    for name in ("app1", "app2"):
        assert int(COMPOSE["services"][name]["stop_grace_period"].rstrip("s")) >= 2 * GRACE_SECONDS


def test_every_variable_is_a_setting() -> None:
    known = {name.upper() for name in Settings.model_fields}
    told = set(re.findall(r"^\s+(?:ENV )?([A-Z_]+)=\S+ ?\\?$", DOCKERFILE.partition("ENV PATH")[2], re.MULTILINE))
    assert {"HOST", "DATA_DIR"} <= told
    for param in MANIFESTS:
        manifest = param.values[0]
        assert isinstance(manifest, dict)
        told |= (manifest.get("data", {}) | manifest.get("stringData", {})).keys()
    for service in COMPOSE["services"].values():
        told |= {name for name in service.get("environment", {}) if not OTHERS.match(name)}
    for path in UNITS:
        told |= set(re.findall(r"^Environment=([A-Z_]+)=", path.read_text("utf-8"), re.MULTILINE))
    assert told - PYTHONS - known == set()


def test_compose_fits_the_schema_of_compose_files() -> None:
    shipped = files("check_jsonschema") / "builtin_schemas/vendor/compose-spec.json"
    schema = json.loads(shipped.read_text("utf-8"))
    validator = validator_for(schema)(schema)
    assert [error.message for error in validator.iter_errors(COMPOSE)] == []
    wrong = COMPOSE | {"services": COMPOSE["services"] | {"app1": {"image": 1, "restrat": "always"}}}
    assert list(validator.iter_errors(wrong)) != []


def test_compose_names_what_is_there() -> None:
    services = COMPOSE["services"]
    assert {"app1", "app2", "nginx", "postgres", "redis", "milvus"} <= services.keys()
    for name, service in services.items():
        for other in service.get("depends_on", ()):
            assert other in services, (name, other)
        for volume in service.get("volumes", ()):
            source = volume.split(":")[0]
            assert source in COMPOSE["volumes"] or ROOT.joinpath(source).is_file(), (name, source)
        assert set(service.get("networks", ())) <= COMPOSE["networks"].keys()
    mounted = [services[name]["volumes"] for name in ("app1", "app2")]
    assert mounted[0] != mounted[1], "each process has a DATA_DIR of its own"
    (network,) = (entry["subnet"] for entry in COMPOSE["networks"]["inside"]["ipam"]["config"])
    assert services["app1"]["environment"]["TRUSTED_PROXIES"] == network


def test_nginx_reaches_the_processes_of_compose_and_holds_no_event_back() -> None:
    assert NGINX.count("{") == NGINX.count("}")
    assert re.findall(r"server (\w+):8000 ", NGINX) == ["app1", "app2"]
    stream = re.search(r"location ~ (\S+) \{([^}]+)\}", NGINX)
    assert stream
    for path in ("/api/v1/chat/stream", "/v1/chat/completions"):
        assert re.search(stream[1], path)
    assert {"proxy_buffering off;", "gzip off;"} <= {line.strip() for line in stream[2].splitlines()}
    kept = re.search(r"keepalive_timeout (\d+)s", NGINX)
    assert kept and int(kept[1]) < Settings().keep_alive_timeout
    upload = re.search(r"documents \{\s+client_max_body_size (\d+)m", NGINX)
    assert upload and int(upload[1]) * 2**20 >= compute_max_bytes(Settings().max_upload_bytes)


def test_the_image_gets_the_files_that_it_copies_and_the_drivers_of_servers() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)
    names = {name for line in copied for name in line.split()}
    let_in = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert {"app", "agents", "knowledge", "scripts"} <= names == let_in
    assert all(ROOT.joinpath(name).exists() for name in names)
    wanted = re.search(r"grep -E '(.+)' requirements", DOCKERFILE)
    assert wanted
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    drivers = {re.split(r"[\[=]", line)[0] for line in lines if re.search(wanted[1], line)}
    assert {"asyncpg", "redis"} <= drivers


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_systemd_takes_the_unit(path: Path, tmp_path: Path) -> None:
    """With a program that is there in place of the one that is installed on a server."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd-analyze here")
    for unit in UNITS:
        text = unit.read_text("utf-8").replace("/opt/yingda/.venv/bin/python", shutil.which("true") or "")
        tmp_path.joinpath(unit.name).write_text(text, "utf-8")
    name = path.name.replace("@.", "@8001.")
    command = ["systemd-analyze", "verify", "--man=no", str(tmp_path / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    told = [line for line in done.stderr.splitlines() if "yingda" in line]
    assert (done.returncode, told) == (0, [])


def setting(path: Path, name: str) -> str:
    found = re.search(rf"^{name}=(.+)$", path.read_text("utf-8"), re.MULTILINE)
    assert found, (path, name)
    return found[1]
