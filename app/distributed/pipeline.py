"""The stages on Ray: as many workers as are asked for, on this machine or in a cluster, with bounded memory."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from app.distributed.stages import Embed, Parse, Row, Work, read
from knowledge.errors import MissingDependency, Unavailable

_ROOT = Path(__file__).resolve().parents[2]
FILES_OF_A_BLOCK = 8
# What workers hand on at once; more than that of one file is handed on alone.
_BLOCK_BYTES = 16 * 2**20


@dataclass(frozen=True, slots=True)
class RayOptions:
    """workers: processes for each of parsing and embedding; memory_mb: of what waits between stages, on this machine;
    address: of a cluster, empty for a Ray of this process, which ends with it.
    """

    workers: int = 2
    memory_mb: int = 256
    address: str = ""


@contextmanager
def run_ray(options: RayOptions) -> Iterator[None]:
    """Runs Ray for as long as the block lasts, without dashboard and usage reports.

    One that is started here listens on the loopback alone. Raises MissingDependency, and Unavailable if Ray does not
    start or the cluster does not answer.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # what goes wrong is in Ray's own logs, and raised
    try:
        ray: Any = import_module("ray")
    except ImportError as error:
        raise MissingDependency("分布式导入需要 Ray：pip install -r requirements-ray.txt") from error
    common: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    common["runtime_env"] = {"env_vars": {"PYTHONPATH": str(_ROOT)}}
    bounds = {"num_cpus": options.workers, "object_store_memory": options.memory_mb * 2**20}
    own = {"include_dashboard": False, "_node_ip_address": "127.0.0.1", **bounds}
    try:
        ray.init(options.address or "local", **common, **({} if options.address else own))
    except Exception as error:  # a plain one where a machine is too busy to start it within Ray's 30 seconds
        ray.shutdown()
        raise Unavailable(f"Ray 没有启动或连不上，请稍后再运行一次：{error}") from error
    try:
        yield
    finally:
        ray.shutdown()


def run_stages(work: Work, options: RayOptions) -> Iterator[Row]:
    """Rows of all files, in the order in which they are done. Inside `run_ray`. Blocking."""
    ray, data = import_module("ray"), import_module("ray.data")
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    context = data.DataContext.get_current()
    context.print_on_execution_start = False
    context.target_max_block_size = _BLOCK_BYTES
    context.execution_options.preserve_order = False
    shared = ray.put(work)
    rows: Any = data.from_items(
        [{"number": number} for number in range(len(work.files))],
        override_num_blocks=-(-len(work.files) // FILES_OF_A_BLOCK),
    )
    rows = rows.map(partial(_read, shared), num_cpus=0.25)
    for stage, share in ((Parse, 0.25), (Embed, 0.5)):
        pool = data.ActorPoolStrategy(size=options.workers)
        rows = rows.map(_Stage, fn_constructor_args=(stage, shared), compute=pool, num_cpus=share)
    yield from rows.iter_rows()


class _Stage:
    """A stage in a worker, made once."""

    def __init__(self, stage: type[Parse] | type[Embed], shared: Any) -> None:
        self._stage = stage(import_module("ray").get(shared))

    def __call__(self, row: Row) -> Row:
        return self._stage(row)


def _read(shared: Any, row: Row) -> Row:
    return read(row, import_module("ray").get(shared))
