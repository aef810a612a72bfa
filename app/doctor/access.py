"""Who can reach the service, and whether it asks for a key."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from app.auth.principal import is_loopback, require_safe_binding
from app.doctor.types import Diagnosis, report_error, report_fine, report_warning
from app.settings import Settings
from knowledge.errors import InvalidConfiguration

_ACCESS, _PROXY, _DOCS, _ENV = "访问", "反向代理", "接口文档", "配置文件"
_FILE = Path(".env")


def check_access(settings: Settings, *, has_key: bool) -> Sequence[Diagnosis]:
    """Address, keys, proxies, documents of the interface, and who may read the file of secrets.

    has_key: API_KEY is set, or a key that is not revoked is stored.
    """
    return [
        _check_binding(settings, has_key=has_key),
        *_check_surroundings(settings, has_key=has_key),
        *_check_secrets(),
    ]


def _check_binding(settings: Settings, *, has_key: bool) -> Diagnosis:
    try:
        require_safe_binding(settings.host, has_key=has_key)
    except InvalidConfiguration as problem:
        told, _, fix = str(problem).partition("。")
        return report_error(_ACCESS, told, fix.rstrip("。"))
    keys = "要密钥" if has_key else "没有密钥：本机的请求拥有全部角色"
    return report_fine(_ACCESS, f"监听 {settings.host}:{settings.port}，{keys}")


def _check_surroundings(settings: Settings, *, has_key: bool) -> list[Diagnosis]:
    found = []
    if has_key and not settings.trusted_proxies:
        fix = "前面有反向代理时，把它的地址写进 TRUSTED_PROXIES；没有代理就不用管"
        found.append(report_warning(_PROXY, "TRUSTED_PROXIES 没有设：经代理来的顾客会算作同一个来源，很快就 429", fix))
    if settings.api_docs_enabled == "true" and not is_loopback(settings.host):
        fix = "上线时设 API_DOCS_ENABLED=false 或去掉它"
        found.append(report_warning(_DOCS, "/docs 与 /openapi.json 对外开放", fix))
    return found


def _check_secrets() -> list[Diagnosis]:
    if os.name == "nt" or not _FILE.is_file():
        return []
    if stat.S_IMODE(_FILE.stat().st_mode) & (stat.S_IRWXG | stat.S_IRWXO):
        return [report_warning(_ENV, "本机的其他用户能读 .env，里面有密钥", "chmod 600 .env")]
    return [report_fine(_ENV, ".env 只有它的用户能读")]
