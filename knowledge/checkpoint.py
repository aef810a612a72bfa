"""Checkpoints of models that a library loads: how they are identified, and how they are loaded once, off the event
loop.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from threading import Lock, Thread
from time import monotonic
from typing import Any, Generic, TypeVar

from loguru import logger

from knowledge.errors import InvalidConfiguration, MissingDependency, Unavailable

# How long the first users wait for the weights; a download takes longer, and they are answered without them.
FIRST_LOAD_SECONDS = 60.0
BACKOFF_SECONDS = 2.0
MAX_BACKOFF_SECONDS = 60.0

# The device that the library of a model would choose: CUDA where there is one.
AUTO = "auto"

_HUB_NAME = re.compile(r"[\w-][\w.-]*(?:/[\w-][\w.-]*)?")
_MODEL_FILES = frozenset({".bin", ".json", ".model", ".safetensors", ".txt"})
_SLICES, _SLICE_BYTES = 64, 64 * 1024

M = TypeVar("M")


class Checkpoint:
    """A model: a local folder, or a name on a hub or a mirror of it. A folder may appear later; it is read when
    needed.
    """

    def __init__(self, model: str, hub: str = "") -> None:
        """hub: the address of a mirror, of which there is one a process; empty for the hub itself."""
        self.model = model
        if hub:
            # The hub's library takes it from nowhere else, and at its import, which is with the first model.
            os.environ["HF_ENDPOINT"] = hub
        self._identity: str | None = None

    def get_identity(self) -> str:
        """Returns what identifies the weights: the name, and for a folder a hash of its content.

        Raises:
            FileNotFoundError: For a path that does not exist.
        """
        if self._identity is None:
            folder = Path(self.model)
            if folder.is_dir():
                self._identity = f"{folder.resolve().name}/{hash_files(list_model_files(folder))}"
            elif is_hub_name(self.model):
                return self.model  # not kept: it may be a folder that comes later
            else:
                raise FileNotFoundError(f"没有模型文件夹 {self.model}")
        return self._identity

    def find_file(self, name: str) -> Path | None:
        """Returns the path of one of the checkpoint's files in its folder or in the hub's cache; None if it is not
        there.
        """
        path = Path(self.model) / name
        if path.is_file():
            return path
        return _find_in_hub_cache(self.model, name) if is_hub_name(self.model) else None

    def read_hidden_size(self) -> int | None:
        """Returns the width of the model by its config.json; None if there is none that can be read."""
        path = self.find_file("config.json")
        try:
            size = json.loads(path.read_text("utf-8")).get("hidden_size") if path else None
        except (OSError, ValueError):  # half copied: loading will say so
            return None
        return size if isinstance(size, int) else None


class LazyModel(Generic[M]):
    """Loads a model in a thread of its own at the first use; all callers wait for that one load.

    After a failure it is loaded again in the background, at the first use after a growing pause; nobody waits for that.

    Args:
        title: Name of the model, for messages.
        failure: The error that callers get meanwhile.
    """

    def __init__(self, title: str, load: Callable[[], M], failure: type[Unavailable]) -> None:
        self._title = title
        self._load = load
        self._failure = failure
        self._lock = Lock()
        self._loading: Future[M] | None = None
        self._patient_until = self._retry_at = 0.0
        self._backoff = BACKOFF_SECONDS

    def get(self) -> M:
        """Returns the model, waiting for it to be loaded. Blocking.

        Raises:
            MissingDependency: If a package is not installed.
            Exception: `failure`, while the model cannot be loaded.
        """
        with self._lock:
            if self._loading is None:
                self._start_first_load()
            elif self._has_failed() and monotonic() >= self._retry_at:
                self._patient_until = 0.0
                self._loading = self._start_thread()
            assert self._loading is not None
            loading, patience = self._loading, max(0.0, self._patient_until - monotonic())
        try:
            return loading.result(patience)
        except InvalidConfiguration:  # trying again would not help: a package is missing
            raise
        except TimeoutError as error:
            raise self._failure(f"{self._title} is still being loaded") from error
        except Exception as error:  # whatever a library says of files and networks
            raise self._failure(f"{self._title} cannot be loaded: {error}") from error

    def start_loading(self) -> None:
        """Starts loading in the background before the first use; returns at once."""
        with self._lock:
            if self._loading is None:
                self._start_first_load()

    def close(self) -> None:
        """Drops the model; callers who wait for it get `failure`."""
        with self._lock:
            if self._loading is not None:
                self._loading.cancel()
            self._loading = None

    def _start_first_load(self) -> None:
        self._patient_until = monotonic() + FIRST_LOAD_SECONDS
        self._loading = self._start_thread()

    def _has_failed(self) -> bool:
        return self._loading is not None and self._loading.done() and self._loading.exception() is not None

    def _start_thread(self) -> Future[M]:
        loading: Future[M] = Future()
        # A daemon: a download that hangs must not keep the process from ending.
        Thread(target=self._load_in_thread, args=(loading,), name="load-model", daemon=True).start()
        return loading

    def _load_in_thread(self, loading: Future[M]) -> None:
        try:
            model = self._load()
        except Exception as error:  # handed to those who wait
            self._retry_at = monotonic() + self._backoff
            logger.warning("{} cannot be loaded, trying again in {} s: {}", self._title, self._backoff, error)
            self._backoff = min(self._backoff * 2, MAX_BACKOFF_SECONDS)
            with suppress(InvalidStateError):  # closed meanwhile
                loading.set_exception(error)
        else:
            with suppress(InvalidStateError):
                loading.set_result(model)


def choose_device(wanted: str, library: Any) -> tuple[str, bool]:
    """Chooses the device for a model of FlagEmbedding, and whether it runs in 16 bits.

    16 bits are used on CUDA only: elsewhere they are no faster. Only one device is used: with a second one the library
    would start processes of its own.

    Args:
        wanted: The configured device, or `auto`.
        library: The class of FlagEmbedding, which knows the available devices.

    Returns:
        The device and whether to compute in 16 bits.
    """
    device = library.get_target_devices(None)[0] if wanted == AUTO else wanted
    return device, device.startswith("cuda")


def has_cuda_driver() -> bool:
    """Returns whether NVIDIA's driver is installed; asking PyTorch would take seconds and 200 MB."""
    for library in ("libcuda.so.1", "nvcuda.dll"):
        with suppress(OSError):
            ctypes.CDLL(library)
            return True
    return False


def is_installed(module: str) -> bool:
    """Returns whether a module can be imported, without importing it."""
    try:
        return find_spec(module) is not None
    except ValueError:  # what is in sys.modules without a specification was put there to hide it
        return False


def require_package(module: str, command: str) -> None:
    """Checks that a module can be imported.

    Args:
        module: The module.
        command: The command that installs it, for the message.

    Raises:
        MissingDependency: If it cannot be imported.
    """
    if not is_installed(module):
        raise MissingDependency(command)


def is_hub_name(model: str) -> bool:
    """Returns whether a text may name a model on a hub; it may be the name of a folder as well."""
    return _HUB_NAME.fullmatch(model) is not None


def _find_in_hub_cache(model: str, file: str) -> Path | None:
    try:
        from huggingface_hub import try_to_load_from_cache
    except ImportError:  # then nothing was ever loaded from a hub
        return None
    found = try_to_load_from_cache(model, file)
    return Path(found) if isinstance(found, str) else None


def list_model_files(folder: Path) -> list[Path]:
    """Lists the configuration, tokenizer and weights of a PyTorch checkpoint, by name."""
    return sorted(path for path in folder.iterdir() if path.suffix in _MODEL_FILES and path.is_file())


def hash_files(files: Iterable[Path]) -> str:
    """Hashes the names, sizes and content of files; of large files it reads slices only.

    64 slices of 64 KB meet every layer of a model of 24, so that a fine-tuned one never passes for its base, and cost
    milliseconds where 1.3 GB would cost seconds at every start.
    """
    digest = hashlib.sha256()
    for path in files:
        size = path.stat().st_size
        digest.update(f"{path.name}\0{size}\0".encode())
        with path.open("rb") as file:
            if size <= _SLICES * _SLICE_BYTES:
                digest.update(file.read())
                continue
            for number in range(_SLICES):
                file.seek((size - _SLICE_BYTES) * number // (_SLICES - 1))
                digest.update(file.read(_SLICE_BYTES))
    return digest.hexdigest()[:12]
