"""Files to take in, wherever they lie: folders of this machine, object stores, archives, by the URLs of fsspec."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from app.documents.files import FoundFile, SamePath, Skipped, find_files, put_below
from knowledge.errors import InvalidConfiguration, MissingDependency, Unavailable
from knowledge.parsing.registry import LEGACY, PARSERS, PICTURES

_LOCAL = "file://"


@dataclass(frozen=True, slots=True)
class StoredFile:
    """url: of the store, as it was given; path: in it; place: of the document; category: see `FoundFile`."""

    url: str
    path: str
    place: str
    category: str = ""

    def read(self, max_bytes: int) -> bytes:
        """Reads the content, cut one byte after `max_bytes`. Raises OSError, also for a link on this machine."""
        if self.url == _LOCAL:
            return FoundFile(Path(self.path), self.place).read(max_bytes)
        store, _ = _open_store(self.url)
        with store.open(self.path, "rb") as file:
            return bytes(file.read(max_bytes + 1))


def find_stored(
    locations: Iterable[str], skipped: Callable[[Path, Skipped], None] | None = None, folder: str | None = None
) -> list[StoredFile]:
    """Files of folders and URLs, in a stable order, under the names that `find_files` gives them.

    Raises FileNotFoundError, SamePath, Unavailable, InvalidConfiguration for a kind of URL that nothing here reads.
    """
    found: dict[str, StoredFile] = {}
    given = list(locations)
    for location in given:
        plain = location.removeprefix(_LOCAL) if "::" not in location else location
        if "://" in plain:
            root = put_below(folder, _get_name(location), alone=len(given) == 1)
            files = _list_below(location, skipped or (lambda _path, _why: None), root)
        else:
            path = Path(plain)
            into = folder
            if folder is not None and path.is_dir():
                into = put_below(folder, path.resolve().name, alone=len(given) == 1)
            local = find_files([path], skipped, into)
            files = [StoredFile(_LOCAL, str(file.path), file.place, file.category) for file in local]
        for file in files:
            earlier = found.setdefault(file.place, file)
            if (earlier.url, earlier.path) != (file.url, file.path):
                raise SamePath(
                    f"{earlier.path} 与 {file.path} 在知识库里的路径都是 {file.place}，会成为同一篇文档："
                    "请分两次导入，用 --folder 给它们不同的目录"
                )
    return list(found.values())


def _list_below(url: str, skipped: Callable[[Path, Skipped], None], root_name: str) -> list[StoredFile]:
    """Lists the files below a URL that can be ingested; names that begin with a dot are passed over.

    Args:
        url: A folder or a file of a store.
        skipped: Called with each file that is not ingested, and why.
        root_name: The folder of the knowledge base that the files go to; empty for its root.

    Raises:
        FileNotFoundError: Nothing is there.
        Unavailable: The store does not answer.
    """
    root, found = _list_store(url)
    files = []
    for path in found:
        below = PurePosixPath(_decode_path(url, path.removeprefix(root)).lstrip("/")).parts or (
            PurePosixPath(path).name,
        )
        if any(part.startswith(".") for part in below):
            continue
        kind = PurePosixPath(below[-1]).suffix.lower()
        if kind in PICTURES or kind not in PARSERS | LEGACY:
            skipped(Path(*below), Skipped.PICTURE if kind in PICTURES else Skipped.UNSUPPORTED)
            continue
        place = "/".join(part for part in (root_name, *below) if part)
        files.append(StoredFile(url, path, place, below[0] if len(below) > 1 else ""))
    return files


def _list_store(url: str) -> tuple[str, list[str]]:
    """Returns the root that a URL names in its store, and the paths of all files below it, sorted.

    Raises FileNotFoundError where nothing is there, Unavailable where the store does not answer.
    """
    store, root = _open_store(url)
    try:
        found = sorted(store.find(root))
        there = bool(found) or store.exists(root)
    except FileNotFoundError:
        there = False
    except Exception as error:  # stores raise what they like
        raise Unavailable(f"读不到 {url}：{type(error).__name__}: {error}") from error
    if not there:
        raise FileNotFoundError(url)
    return root, found


def _get_name(url: str) -> str:
    """Returns the name of the folder, bucket or archive that a URL means."""
    where = url.rpartition("::")[2]
    parts = urlsplit(where)
    last = (
        PurePosixPath(_decode_path(where, parts.path if _is_web(where) else where.partition("://")[2])).name
        or parts.netloc
    )
    return PurePosixPath(last).stem if "::" in url else last


def _decode_path(url: str, path: str) -> str:
    """Returns a path as a folder has it: of all stores, only web servers write it percent-encoded."""
    return unquote(path) if _is_web(url) else path


def _is_web(url: str) -> bool:
    return url.startswith(("http://", "https://"))


def _open_store(url: str) -> tuple[Any, str]:
    """Opens a store, which fsspec keeps open. Raises InvalidConfiguration, MissingDependency, FileNotFoundError."""
    try:
        core = import_module("fsspec.core")
    except ImportError as error:
        raise MissingDependency(f"读 {url} 需要 fsspec：pip install -r requirements-ray.txt") from error
    try:
        store, root = core.url_to_fs(url)
    except ImportError as error:
        raise MissingDependency(f"读 {url} 还缺一个包：{error}") from error
    except ValueError as error:
        raise InvalidConfiguration(f"不认识的地址 {url}：{error}") from error
    return store, str(root)
