from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from time import monotonic, sleep
from typing import Any

import pytest

from knowledge import checkpoint
from knowledge.checkpoint import Checkpoint, LazyModel, require_package
from knowledge.errors import EmbeddingUnavailable, MissingDependency, RerankUnavailable


class Loader:
    """Counts its calls; each raises the next of `errors`, then it loads, once `let` is set."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.calls = 0
        self.let = Event()
        self.let.set()

    def __call__(self) -> str:
        self.calls += 1
        self.let.wait(20)
        if self.errors:
            raise self.errors.pop(0)
        return "model"


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "BACKOFF_SECONDS", 0.05)


def eventually(model: LazyModel[str]) -> str:
    """What the model is once a load has succeeded."""
    deadline = monotonic() + 60
    while True:
        try:
            return model.get()
        except EmbeddingUnavailable:
            assert monotonic() < deadline
            sleep(0.01)


def test_nothing_is_loaded_before_the_first_use() -> None:
    load = Loader()
    model = LazyModel("bge", load, EmbeddingUnavailable)
    assert load.calls == 0
    assert model.get() == "model"


def test_many_first_users_wait_for_one_load() -> None:
    load = Loader()
    load.let.clear()
    model = LazyModel("bge", load, EmbeddingUnavailable)
    with ThreadPoolExecutor(8) as pool:
        users = [pool.submit(model.get) for _ in range(8)]
        load.let.set()
        assert [user.result() for user in users] == ["model"] * 8
    assert model.get() == "model"
    assert load.calls == 1


def test_a_load_that_takes_too_long_goes_on_while_its_users_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "FIRST_LOAD_SECONDS", 0.02)
    load = Loader()
    load.let.clear()
    model = LazyModel("bge", load, EmbeddingUnavailable)
    for _ in range(2):
        with pytest.raises(EmbeddingUnavailable, match="still being loaded"):
            model.get()
    load.let.set()
    assert eventually(model) == "model"
    assert load.calls == 1


def test_a_failed_load_is_told_by_its_type_and_tried_again_after_a_pause() -> None:
    load = Loader(OSError("no such file"), OSError("half a file"))
    model = LazyModel("bge", load, EmbeddingUnavailable)
    with pytest.raises(EmbeddingUnavailable, match="bge cannot be loaded: no such file"):
        model.get()
    assert eventually(model) == "model"
    assert load.calls == 3


def test_within_the_pause_nothing_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "BACKOFF_SECONDS", 60.0)
    load = Loader(OSError("no such file"))
    model = LazyModel("bge", load, RerankUnavailable)
    for _ in range(3):
        with pytest.raises(RerankUnavailable, match="no such file"):
            model.get()
    assert load.calls == 1


def test_nobody_waits_for_a_load_that_follows_a_failed_one() -> None:
    load = Loader(OSError("gone"))
    model = LazyModel("bge", load, EmbeddingUnavailable)
    with pytest.raises(EmbeddingUnavailable):
        model.get()
    load.let.clear()
    sleep(0.1)
    for _ in range(3):
        with pytest.raises(EmbeddingUnavailable, match="still being loaded"):
            model.get()
    load.let.set()
    assert eventually(model) == "model"
    assert load.calls == 2


def test_a_missing_package_stays_what_it_is() -> None:
    with pytest.raises(MissingDependency, match="pip install x"):
        LazyModel("bge", Loader(MissingDependency("pip install x")), EmbeddingUnavailable).get()


def test_a_package_is_there_or_its_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    require_package("json", "never")
    with pytest.raises(MissingDependency, match="pip install y"):
        require_package("no_such_module_of_ours", "pip install y")
    monkeypatch.setitem(sys.modules, "FlagEmbedding", None)
    with pytest.raises(MissingDependency, match="pip install y"):
        require_package("FlagEmbedding", "pip install y")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "bge-own"
    folder.mkdir()
    (folder / "config.json").write_text('{"hidden_size": 48}')
    (folder / "model.safetensors").write_bytes(b"\0" * 9_000_000)
    return folder


def rewrite_middle(folder: Path) -> None:
    with (folder / "model.safetensors").open("r+b") as file:
        file.seek(4_000_000)
        file.write(b"\1" * 200_000)


@pytest.mark.parametrize(
    "change",
    [
        rewrite_middle,
        lambda folder: (folder / "config.json").write_text('{"hidden_size": 64}'),
        lambda folder: (folder / "vocab.txt").write_text("的"),
    ],
)
def test_other_content_in_the_same_folder_is_another_model(folder: Path, change: Callable[[Path], object]) -> None:
    before = Checkpoint(str(folder)).get_identity()
    assert before.startswith("bge-own/")
    assert Checkpoint(str(folder)).get_identity() == before
    change(folder)
    assert Checkpoint(str(folder)).get_identity() != before


def test_a_copy_elsewhere_is_the_same_model_and_notes_do_not_count(folder: Path, tmp_path: Path) -> None:
    before = Checkpoint(str(folder)).get_identity()
    (folder / "README.md").write_text("notes")
    elsewhere = tmp_path / "other" / "bge-own"
    elsewhere.parent.mkdir()
    folder.rename(elsewhere)
    assert Checkpoint(str(elsewhere)).get_identity() == before


def test_a_name_of_a_hub_is_its_own_identity() -> None:
    assert Checkpoint("BAAI/bge-large-zh-v1.5").get_identity() == "BAAI/bge-large-zh-v1.5"
    assert Checkpoint("BAAI/bge-large-zh-v1.5").read_hidden_size() is None


def test_a_path_that_is_not_there_may_come_later(folder: Path, tmp_path: Path) -> None:
    later = Checkpoint(str(tmp_path / "later"))
    with pytest.raises(FileNotFoundError, match="later"):
        later.get_identity()
    assert later.read_hidden_size() is None
    folder.rename(tmp_path / "later")
    assert later.get_identity().startswith("later/")
    assert later.read_hidden_size() == 48


def test_half_a_configuration_says_nothing(folder: Path) -> None:
    (folder / "config.json").write_text('{"hidden_')
    assert Checkpoint(str(folder)).read_hidden_size() is None


def test_a_mirror_is_asked_instead_of_the_hub(tmp_path: Path) -> None:
    asked: list[str] = []

    class Mirror(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, format: str, *arguments: Any) -> None: ...

    code = (
        "import sys; from knowledge.embeddings.registry import EmbedderOptions, get_embedder\n"
        "get_embedder('bge', options=EmbedderOptions(hub=sys.argv[1]))\n"
        "from huggingface_hub import hf_hub_download\n"
        "try: hf_hub_download('BAAI/bge-large-zh-v1.5', 'config.json')\n"
        "except Exception as error: print(error)"
    )
    with ThreadingHTTPServer(("127.0.0.1", 0), Mirror) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        environment = os.environ | {"HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "0"}
        environment.pop("HF_ENDPOINT", None)
        subprocess.run([sys.executable, "-c", code, address], env=environment, check=True, capture_output=True)
        server.shutdown()
    assert asked[:1] == ["/BAAI/bge-large-zh-v1.5/resolve/main/config.json"]
