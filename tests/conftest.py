"""For all tests: no network, no download of weights, and vectors that are computed once per machine."""

from __future__ import annotations

import gc
import logging
import os
import shutil
import socket
import ssl
import warnings
from collections.abc import Iterator
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from app.embeddings.repository_local import SqliteEmbeddingCache
from tests.acceptance import WHOLE
from tests.vectors import fill

# Read when a library is imported, and inherited by the processes that tests start.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_OFFLINE"] = "1"
# Scripted models answer request by request: those of the reader would take what tests wrote for others.
os.environ.setdefault("READER_ENABLED", "false")
# As many test processes as cores run at once: threads of linear algebra beside them would spin and wait.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# What is imported and collected stays: looking through it again and again took a tenth of the time.
gc.set_threshold(50_000, 20, 20)

# Fixtures whose tests need it.
PYTORCH = {
    "bge_embedder_folder",
    "bge_reranker_folder",
    "exported_embedder_folder",
    "exported_reranker_folder",
}
CACHE = Path(__file__).resolve().parents[1] / ".cache"
# No test speaks TLS to another machine, and to read all certificates takes 20 ms of each process and client.
os.environ.setdefault("SSL_CERT_DIR", str(CACHE / "no-certificates"))


class NetworkBlocked(RuntimeError):
    """A test tried to reach another machine."""


@pytest.fixture(scope="session", autouse=True)
def no_network() -> Iterator[None]:
    """Sockets connect to this machine only, and only its names resolve."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", _guarded(socket.socket.connect, lambda args: args[1]))
        patch.setattr(socket.socket, "connect_ex", _guarded(socket.socket.connect_ex, lambda args: args[1]))
        patch.setattr(socket, "getaddrinfo", _guarded(socket.getaddrinfo, lambda args: args))
        yield


@pytest.fixture(scope="session", autouse=True)
def certificates() -> Iterator[None]:
    """Read once, also by the clients that heed no environment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", cache(ssl.create_default_context))
        yield


@pytest.fixture(scope="session", autouse=True)
def vectors() -> None:
    """What the tests embed is embedded already."""
    fill()


@pytest.fixture(scope="session")
def embedding_cache() -> Iterator[SqliteEmbeddingCache]:
    """Vectors that come with the tests, of earlier runs and of the other test processes."""
    cache = SqliteEmbeddingCache(CACHE / "embeddings.sqlite3")
    yield cache
    cache.close()


def pytest_itemcollected(item: pytest.Item) -> None:
    """One process runs all that needs BGE, so that PyTorch is loaded once, one the tests of a
    class, and one a module of attacks, which share a server.
    """
    if PYTORCH & set(getattr(item, "fixturenames", ())):
        item.add_marker(pytest.mark.xdist_group("bge"))
    elif isinstance(item, pytest.Function) and item.cls:
        item.add_marker(pytest.mark.xdist_group(item.cls.__name__))
    elif item.path.parent.name == "security":
        item.add_marker(pytest.mark.xdist_group(item.path.stem))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What is marked with `acceptance(only=True)` is left to `make acceptance`."""
    if WHOLE:
        return
    left = [item for item in items if any(mark.kwargs.get("only") for mark in item.iter_markers("acceptance"))]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]


def pytest_collection_finish() -> None:
    """Thousands of tests and the modules that they need are left out of every later collection of garbage."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def bge_embedder_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BGE embedder."""
    from tests.checkpoints import write_embedder

    return write_embedder(tmp_path_factory.mktemp("checkpoints") / "tiny-bge-zh")


@pytest.fixture(scope="session")
def bge_reranker_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BGE reranker; its weights are random."""
    from tests.checkpoints import write_reranker

    return write_reranker(tmp_path_factory.mktemp("checkpoints") / "tiny-bge-reranker")


@pytest.fixture(scope="session")
def exported_embedder_folder(bge_embedder_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny BGE embedder with its exports to ONNX."""
    return _export(bge_embedder_folder, tmp_path_factory)


@pytest.fixture(scope="session")
def exported_reranker_folder(bge_reranker_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny BGE reranker with its exports to ONNX."""
    return _export(bge_reranker_folder, tmp_path_factory)


def _export(checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from scripts.export_onnx import export_model

    folder = tmp_path_factory.mktemp("exports") / checkpoint.name
    shutil.copytree(checkpoint, folder)
    logging.disable(logging.CRITICAL)  # the exporter says thousands of things
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            export_model(str(folder), folder)
    finally:
        logging.disable(logging.NOTSET)
    return folder


def _guarded(call: Any, address_of: Any) -> Any:
    def guarded(*args: Any, **options: Any) -> Any:
        address = address_of(args)
        if isinstance(address, tuple) and not _is_this_machine(address[0]):
            raise NetworkBlocked(f"tests reach this machine only, not {address[0]!r}")
        return call(*args, **options)

    return guarded


def _is_this_machine(host: Any) -> bool:
    name = host.decode() if isinstance(host, bytes) else host
    if name in (None, "", "localhost"):
        return True
    try:
        return ip_address(name).is_loopback or ip_address(name).is_unspecified
    except ValueError:
        return False


@pytest.fixture(scope="session")
def chroma_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One Chroma server for all tests of the group `chroma_server`, each with tenants of its own: a start takes 2 s."""
    from tests.chroma_server import chroma_server

    with chroma_server(tmp_path_factory.mktemp("chroma")) as address:
        yield address
