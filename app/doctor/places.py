"""Folders and files that the service writes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from app.db.lock import LOCK_FILE, is_in_use
from app.doctor.types import Diagnosis, report_error, report_fine, report_warning
from app.settings import Settings

_DATA, _DISK, _LOG = "数据目录", "磁盘空间", "日志文件"
# Bytes; below it a write may fail any time.
LEAST_FREE = 200_000_000
# Bytes; a knowledge base of 10,000 fragments with its index takes some 200 MB, and a backup as much again.
SCARCE_FREE = 2_000_000_000


async def check_data_dir(settings: Settings) -> Sequence[Diagnosis]:
    """Whether DATA_DIR is a folder that this user can write, and all in it can be read."""
    folder = settings.data_dir
    change = "改正 DATA_DIR，或把它交给运行服务的用户：chown -R 用户 " + str(folder)
    if not folder.exists():
        parent = _find_existing(folder)
        if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
            return [report_error(_DATA, f"DATA_DIR={folder} 不存在，{parent} 里也不能建目录", change)]
        return [report_fine(_DATA, f"DATA_DIR={folder} 还没有，首次启动时建立")]
    if not folder.is_dir():
        return [report_error(_DATA, f"DATA_DIR={folder} 是文件，不是目录", "删掉或移走它，或改正 DATA_DIR")]
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return [report_error(_DATA, f"DATA_DIR={folder} 不能读写", change)]
    closed = [path for path in sorted(folder.iterdir()) if not os.access(path, os.R_OK | os.W_OK)]
    if closed:
        return [report_error(_DATA, f"{folder} 里有不能读写的文件：{'、'.join(path.name for path in closed)}", change)]
    if is_in_use(folder):
        return [report_fine(_DATA, f"DATA_DIR={folder} 可以读写，正由服务使用（{LOCK_FILE}）")]
    return [report_fine(_DATA, f"DATA_DIR={folder} 可以读写")]


async def check_disk(settings: Settings) -> Sequence[Diagnosis]:
    """Checks how much space is free where DATA_DIR lies."""
    free = shutil.disk_usage(_find_existing(settings.data_dir)).free
    told = f"DATA_DIR 所在的磁盘还剩 {free / 1e9:.1f} GB"
    fix = "腾出空间，或把 DATA_DIR 换到别的磁盘；过期的数据可用 scripts/retention.py 删除"
    if free < LEAST_FREE:
        return [report_error(_DISK, told, fix)]
    if free < SCARCE_FREE:
        return [report_warning(_DISK, told, fix)]
    return [report_fine(_DISK, told)]


async def check_log_file(settings: Settings) -> Sequence[Diagnosis]:
    """Whether LOG_FILE can be written, where there is one."""
    path = settings.log_file
    if path is None:
        return []
    place = path if path.exists() else _find_existing(path)
    if path.is_dir() or not os.access(place, os.W_OK):
        return [report_error(_LOG, f"LOG_FILE={path} 不能写", "换一个路径，或让运行服务的用户能写那个目录")]
    return [report_fine(_LOG, f"LOG_FILE={path}")]


def _find_existing(path: Path) -> Path:
    """Returns the path itself, or the nearest folder above it that exists."""
    return next(place for place in (path.absolute(), *path.absolute().parents) if place.exists())
