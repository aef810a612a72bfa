"""Which runtime computes a checkpoint, and under whose name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from knowledge import onnx_checkpoint
from knowledge.checkpoint import Checkpoint
from knowledge.onnx_checkpoint import Runtime, RuntimeCheckpoint, read_source, write_source


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A checkpoint with two exports of which nobody knows what they were made of."""
    folder = tmp_path / "bge-own"
    (folder / "onnx").mkdir(parents=True)
    (folder / "config.json").write_text('{"hidden_size": 48}')
    (folder / "tokenizer.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"weights")
    for name in ("model.onnx", "model.onnx_data", "model_quantized.onnx"):
        (folder / "onnx" / name).write_bytes(name.encode())
    return folder


@pytest.fixture
def own(folder: Path) -> str:
    return Checkpoint(str(folder)).get_identity()


@pytest.fixture
def exported(folder: Path, own: str) -> Path:
    """With what they were made of written down."""
    write_source([folder / "onnx/model.onnx", folder / "onnx/model_quantized.onnx"], own)
    return folder


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where FlagEmbedding is not installed."""
    monkeypatch.setattr(onnx_checkpoint, "is_installed", lambda module: False)


def served(folder: Path, runtime: Runtime = "auto", device: str = "auto") -> tuple[str | None, str]:
    """The file that computes, and the name."""
    checkpoint = RuntimeCheckpoint(str(folder), runtime=runtime, device=device)
    graph = checkpoint.get_graph()
    return graph.name if graph else None, checkpoint.get_identity()


def test_an_export_of_the_weights_beside_it_has_their_name(exported: Path, own: str) -> None:
    assert served(exported) == served(exported, "onnx") == ("model.onnx", own)
    assert served(exported, "torch") == (None, own)


def test_weights_in_8_bits_are_another_model_and_are_never_chosen_unasked(exported: Path, own: str) -> None:
    assert served(exported, "onnx_int8") == ("model_quantized.onnx", f"{own}/int8")


def test_it_serves_without_the_weights_and_keeps_their_name(exported: Path, own: str) -> None:
    (exported / "model.safetensors").unlink()
    assert served(exported) == ("model.onnx", own)
    moved = exported.rename(exported.with_name("elsewhere"))
    assert served(moved) == ("model.onnx", own)


@pytest.mark.parametrize("changed", ["onnx/model.onnx", "onnx/model.onnx_data", "tokenizer.json"])
def test_an_export_that_was_changed_since_is_another_model(exported: Path, own: str, changed: str) -> None:
    (exported / "model.safetensors").unlink()
    (exported / changed).write_bytes(b"another")
    graph, name = served(exported)
    assert graph == "model.onnx"
    assert not name.endswith(own) and name.startswith("bge-own/")
    (exported / changed).write_bytes(b"a third")
    assert served(exported)[1] != name


def test_new_weights_are_computed_by_pytorch_until_they_are_exported(exported: Path, own: str) -> None:
    (exported / "model.safetensors").write_bytes(b"tuned")
    tuned = Checkpoint(str(exported)).get_identity()
    assert served(exported) == (None, tuned)
    assert served(exported, "onnx") == ("model.onnx", own)  # whose vectors they are
    write_source([exported / "onnx/model.onnx"], tuned)
    assert served(exported) == ("model.onnx", tuned)


def test_an_export_of_unknown_origin_is_not_taken_for_the_weights_beside_it(folder: Path, own: str) -> None:
    assert served(folder) == (None, own)
    graph, name = served(folder, "onnx")
    assert graph == "model.onnx" and name != own
    assert served(folder, "onnx_int8")[1].endswith("/int8")


@pytest.mark.usefixtures("alone")
def test_without_flagembedding_any_export_is_taken(folder: Path, own: str) -> None:
    graph, name = served(folder)
    assert graph == "model.onnx" and name != own


def test_a_gpu_is_for_pytorch(exported: Path, own: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for device in ("cuda", "cuda:1", "mps"):
        assert served(exported, device=device) == (None, own)
    assert served(exported, device="cpu") == ("model.onnx", own)
    monkeypatch.setattr(onnx_checkpoint, "has_cuda_driver", lambda: True)
    assert served(exported) == (None, own)
    assert served(exported, device="cpu") == ("model.onnx", own)


def test_an_export_that_is_demanded_and_is_not_there_may_come_later(exported: Path, own: str) -> None:
    graph = exported / "onnx/model.onnx"
    content = graph.read_bytes()
    graph.unlink()
    checkpoint = RuntimeCheckpoint(str(exported), runtime="onnx")
    for call in (checkpoint.get_identity, checkpoint.get_graph):
        with pytest.raises(FileNotFoundError, match=r"export_onnx\.py"):
            call()
    graph.write_bytes(content)
    assert (checkpoint.get_graph(), checkpoint.get_identity()) == (graph, own)


def test_half_a_record_says_nothing(exported: Path) -> None:
    (exported / "onnx/export.json").write_text('{"source": ')
    assert read_source(exported / "onnx/model.onnx") is None


REPOSITORY = "BAAI/bge-own"
CODE = """
import sys
from knowledge import onnx_checkpoint
onnx_checkpoint.is_installed = lambda module: sys.argv[3] == "library"
checkpoint = onnx_checkpoint.RuntimeCheckpoint(sys.argv[2], sys.argv[1], runtime=sys.argv[4])
for _ in range(2):
    try:
        graph = checkpoint.get_graph()
        print(checkpoint.get_identity(), graph and sorted(path.name for path in graph.parent.iterdir()))
    except FileNotFoundError as error:
        print(error)
"""


@contextmanager
def hub_of(files: dict[str, bytes]) -> Iterator[str]:
    """The address of a mirror that has one repository."""

    class Hub(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._answer(body=False)

        def do_GET(self) -> None:
            self._answer(body=True)

        def _answer(self, body: bool) -> None:
            name = self.path.split("/resolve/")[-1].partition("/")[2]
            if self.path.startswith(f"/api/models/{REPOSITORY}/tree/"):
                tree = [{"type": "file", "path": name, "size": len(files[name]), "oid": name} for name in files]
                content = json.dumps(tree).encode()
            elif self.path.startswith(f"/api/models/{REPOSITORY}/"):
                content = json.dumps({"id": REPOSITORY, "sha": "a" * 40}).encode()
            elif name in files:
                content = files[name]
            else:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("ETag", f'"{name.replace("/", "-")}"')
            self.send_header("X-Repo-Commit", "a" * 40)
            self.end_headers()
            if body:
                self.wfile.write(content)

        def log_message(self, format: str, *arguments: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def ask_hub(tmp_path: Path, files: dict[str, bytes], library: str, runtime: Runtime) -> list[str]:
    """What is said at two attempts, in a process of its own: a process has one mirror."""
    environment = os.environ | {"HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    environment.pop("HF_ENDPOINT", None)
    with hub_of(files) as address:
        command = [sys.executable, "-c", CODE, address, REPOSITORY, library, runtime]
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def test_an_export_on_a_hub_is_downloaded_with_its_weights_and_nothing_else(tmp_path: Path) -> None:
    files = {name: name.encode() for name in ("config.json", "tokenizer.json", "model.safetensors", "onnx/model.onnx")}
    files |= {"onnx/model.onnx_data": b"weights", "onnx/model_quantized.onnx": b"integers"}
    found = f"{REPOSITORY} ['model.onnx', 'model.onnx_data']"
    assert ask_hub(tmp_path, files, "none", "auto") == [found] * 2
    assert not list(tmp_path.rglob("model.safetensors"))


def test_where_a_hub_has_no_export_pytorch_computes_or_it_is_told(tmp_path: Path) -> None:
    files = {name: name.encode() for name in ("config.json", "tokenizer.json", "model.safetensors")}
    assert ask_hub(tmp_path, files, "library", "auto") == [f"{REPOSITORY} None"] * 2
    told = ask_hub(tmp_path, files, "none", "onnx_int8")
    assert all("没有 onnx/model_quantized.onnx" in line for line in told) and len(told) == 2
