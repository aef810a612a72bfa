"""What requirements-lite.lock installs is all that the product loads by default."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path
from time import monotonic, sleep

import httpx
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.app.telemetry.receiver import receiving
from tests.chroma_server import chroma_server
from tests.contracts.test_parser_contract import SAMPLES

ROOT = Path(__file__).resolve().parents[1]


def read_releases(name: str) -> list[Requirement]:
    """What a lock file pins; of a package that has no wheel of the newest release somewhere, there are several."""
    lines = ROOT.joinpath(name).read_text("utf-8").splitlines()
    return [Requirement(line.removesuffix("\\")) for line in lines if line and not line.startswith((" ", "#"))]


LOCKED = read_releases("requirements-lite.lock")
NAMES = {canonicalize_name(locked.name) for locked in LOCKED}
EXCLUDED = frozenset(tomllib.loads(ROOT.joinpath("pyproject.toml").read_text())["tool"]["uv"]["exclude-dependencies"])
HIDE = """
import sys
from importlib.machinery import PathFinder

class LiteFinder(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in HIDDEN else super().find_spec(name, path, target)

sys.meta_path = [LiteFinder if finder is PathFinder else finder for finder in sys.meta_path]
"""
CHROMA = """
import os, sys
from pathlib import Path
import numpy as np
from knowledge.errors import IndexUnavailable
from knowledge.stores.chroma import ChromaStore, SharedChromaStore

vectors = np.eye(3, dtype=np.float32)
for store in ChromaStore(Path(sys.argv[1]), "t", "e", 3), SharedChromaStore(sys.argv[2], "t", "e", 3):
    store.upsert(["a", "b", "c"], vectors, 1)
    store.delete(["c"], 2)
    print(store.list_ids() == {"a", "b"}, store.search(vectors[1], 1)[0].chunk_id)
os.environ |= {"CHROMA_OTEL_COLLECTION_ENDPOINT": sys.argv[2], "CHROMA_OTEL_GRANULARITY": "all"}
try:
    SharedChromaStore(sys.argv[2].replace("127.0.0.1", "localhost"), "t", "e", 3)
except IndexUnavailable as error:
    print(error)
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """In which no process finds a package that the lock does not have."""
    owners = packages_distributions()
    hidden = {name for name in owners if not NAMES & {canonicalize_name(owner) for owner in owners[name]}}
    assert {"kubernetes", "grpc", "scipy", "torch", "pytest"} <= hidden
    folder = tmp_path_factory.mktemp("lite")
    folder.joinpath("sitecustomize.py").write_text(f"HIDDEN = frozenset({sorted(hidden)})\n{HIDE}")
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])}


@pytest.mark.parametrize("name", ["requirements-lite", "requirements"])
def test_the_lock_has_what_the_requirements_say(name: str) -> None:
    """After a change of either: make lock."""
    lines = ROOT.joinpath(f"{name}.txt").read_text("utf-8").splitlines()
    wanted = [Requirement(line.partition(" #")[0]) for line in lines if line and not line.startswith(("#", "-r"))]
    releases = {(canonicalize_name(locked.name), locked.specifier) for locked in read_releases(f"{name}.lock")}
    assert [str(each) for each in wanted if (canonicalize_name(each.name), each.specifier) not in releases] == []


def test_the_lock_lacks_nothing_but_what_is_excluded() -> None:
    """By what the locked releases say of themselves, as far as they are installed here."""
    required = {
        canonicalize_name(requirement.name)
        for locked in LOCKED
        if (locked.marker is None or locked.marker.evaluate()) and _is_installed(locked)
        for requirement in map(Requirement, distribution(locked.name).requires or ())
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""})
    }
    assert {"numpy", "kubernetes"} <= required
    assert required - NAMES <= EXCLUDED
    assert not EXCLUDED & NAMES


def test_chroma_needs_no_more_in_this_process_and_on_a_server(environment: dict[str, str], tmp_path: Path) -> None:
    with chroma_server(tmp_path / "server") as address:
        command = [sys.executable, "-c", CHROMA, str(tmp_path / "own"), address]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    own, server, traced = done.stdout.splitlines()
    assert own == server == "True b"
    assert "OTEL_EXPORTER_OTLP_ENDPOINT" in traced, "Chroma's traces are refused, not dropped"


def test_a_server_as_it_is_shipped_needs_no_more(environment: dict[str, str], tmp_path: Path) -> None:
    """It starts, takes a file of every format, answers from them and sends its spans."""
    with receiving() as receiver, _server(environment, tmp_path, receiver.address) as http:
        files = [("files", (f"{suffix[1:]}-退货{suffix}", content)) for suffix, content in SAMPLES.items()]
        uploaded = http.post("/api/v1/knowledge/documents?wait=60", files=files)
        assert uploaded.status_code == 201, uploaded.text
        answer = http.post("/api/v1/chat", json={"message": "签收后几天内可以退货"}).json()
        assert answer["outcome"] == "answered" and "7 天" in answer["reply"]
        until = monotonic() + 30
        while not receiver.spans and monotonic() < until:
            sleep(0.1)
        assert receiver.spans


@pytest.mark.parametrize("options", [["--set", "knowledge/samples"], ["--rejection", "x.jsonl"]])
def test_an_evaluation_says_what_to_install_before_it_begins(
    environment: dict[str, str], tmp_path: Path, options: list[str]
) -> None:
    command = [sys.executable, "scripts/evaluate.py", *options]
    own = environment | {"DATA_DIR": str(tmp_path)}
    done = subprocess.run(command, env=own, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "评测的指标要用 ir_measures、scipy：请运行 pip install -r requirements.txt\n"


@contextmanager
def _server(environment: dict[str, str], folder: Path, traces: str) -> Iterator[httpx.Client]:
    """The product with nothing set but where it is, where traces go, and no samples, whose import takes a while."""
    settings = {"PORT": "0", "SAMPLES_ENABLED": "false", "OTEL_EXPORTER_OTLP_ENDPOINT": traces}
    settings |= {"DATA_DIR": str(folder / "data"), "EXACT_SEARCH_MAX_CHUNKS": "0"}  # asks Chroma from the first chunk
    command = [sys.executable, "-m", "app"]
    with subprocess.Popen(
        command, env=environment | settings, cwd=folder, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            started = re.search(r"http://127\.0\.0\.1:\d+", process.stdout.readline())
            assert started
            with httpx.Client(base_url=started.group(), timeout=120) as http:
                yield http
        finally:
            process.send_signal(signal.SIGTERM)


def _is_installed(locked: Requirement) -> bool:
    try:
        return distribution(locked.name).version in locked.specifier
    except PackageNotFoundError:
        return False
