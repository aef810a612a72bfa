"""HTTP statuses and public descriptions of all errors, in this one place.

AppError                    errors of this layer; `code` is stable, `message` is Chinese, for people
├── NotFound                404
├── Conflict                409
├── InvalidRequest          400
├── Forbidden               403
├── Unauthorized            401
├── RequestTimeout          408
├── PayloadTooLarge         413
├── RateLimited             429
├── HeadTooLarge            431
├── BatchRejected           422
├── FileRejected            422, or what the reason has
│   └── AttachmentInfected  422, the scanner found something
├── FetchFailed             422, what another server said cannot be taken, now or later
│   └── FetchUnavailable    502, it may be in a while
├── Overloaded              503
│   ├── QueueTimeout        503
│   └── AttachmentsUnavailable 503, scanner or store does not answer: nothing is taken unseen
├── DatabaseUnavailable     503
│   ├── DatabaseBusy        503
│   └── StorageFull         503
├── DatabaseDamaged         500
├── IdentityUnavailable     503
└── ShuttingDown            503
"""

from __future__ import annotations

import errno
import re
import sqlite3
from dataclasses import dataclass
from typing import Any

from agents import errors as agent_errors
from knowledge import errors as knowledge_errors


class AppError(Exception):
    """Base of the errors of this layer."""

    code = "internal_error"

    def __init__(self, message: str, *, code: str | None = None, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or type(self).code
        self.details = details


class NotFound(AppError):
    code = "not_found"


class Conflict(AppError):
    code = "conflict"


class InvalidRequest(AppError):
    code = "invalid_request"


class Unauthorized(AppError):
    code = "unauthorized"


class Forbidden(AppError):
    code = "forbidden"


class PayloadTooLarge(AppError):
    code = "payload_too_large"


class RequestTimeout(AppError):
    """The request did not come in time."""

    code = "request_timeout"


class HeadTooLarge(AppError):
    code = "head_too_large"


class BatchRejected(AppError):
    """No file of an upload of several was taken; `details["files"]` says why, one by one."""

    code = "batch_rejected"


class FileRejected(AppError):
    """The one file of an upload was not taken; status: that of the reason, which was met before."""

    code = "file_rejected"

    def __init__(self, message: str, *, code: str | None = None, status: int = 422, **details: Any) -> None:
        super().__init__(message, code=code, **details)
        self.status = status


class AttachmentInfected(FileRejected):
    code = "attachment_infected"


class FetchFailed(AppError):
    """What was fetched from another server cannot be taken."""

    code = "fetch_failed"


class FetchUnavailable(FetchFailed):
    """Another server does not answer as it should, for now."""

    code = "fetch_unavailable"


class RateLimited(AppError):
    """Too much within a time; `details["retry_after"]` are the seconds until it may be tried again."""

    code = "rate_limit_exceeded"


class Overloaded(AppError):
    code = "overloaded"


class QueueTimeout(Overloaded):
    """A turn waited too long for a place to be computed in."""

    code = "queue_timeout"


class AttachmentsUnavailable(Overloaded):
    """What scans or keeps pictures and files does not answer."""

    code = "attachments_unavailable"


class DatabaseUnavailable(AppError):
    """The database server does not answer, or went away meanwhile."""

    code = "database_unavailable"


class DatabaseBusy(DatabaseUnavailable):
    """Another holds the lock on the database, and for longer than a write may wait."""

    code = "database_busy"

    def __init__(self, message: str = "数据库正被占用，暂时不能保存，请稍后再试。") -> None:
        super().__init__(message, retry_after=RETRY_SECONDS)


class StorageFull(DatabaseUnavailable):
    """Nothing more can be written: the disk, or the share of it, is full."""

    code = "storage_full"

    def __init__(self, message: str = "磁盘空间不足，暂时不能保存，请稍后再试。") -> None:
        super().__init__(message, retry_after=FULL_SECONDS)


class DatabaseDamaged(AppError):
    """The file of the database is none, or not whole."""

    code = "database_damaged"


class IdentityUnavailable(AppError):
    """Whose a token is cannot be told now, because the keys of who signed it cannot be had."""

    code = "identity_unavailable"


class ShuttingDown(AppError):
    """The server stops; the client should try again, elsewhere or a little later."""

    code = "shutting_down"


# One row per error class; a test fails on a class that is missing here.
STATUS: dict[type[Exception], int] = {
    AppError: 500,
    InvalidRequest: 400,
    Unauthorized: 401,
    Forbidden: 403,
    NotFound: 404,
    Conflict: 409,
    RequestTimeout: 408,
    PayloadTooLarge: 413,
    HeadTooLarge: 431,
    BatchRejected: 422,
    FileRejected: 422,
    AttachmentInfected: 422,
    FetchFailed: 422,
    FetchUnavailable: 502,
    RateLimited: 429,
    Overloaded: 503,
    QueueTimeout: 503,
    AttachmentsUnavailable: 503,
    DatabaseUnavailable: 503,
    DatabaseBusy: 503,
    StorageFull: 503,
    DatabaseDamaged: 500,
    IdentityUnavailable: 503,
    ShuttingDown: 503,
    agent_errors.AgentError: 500,
    agent_errors.GenerationError: 502,
    agent_errors.GenerationUnavailable: 503,
    agent_errors.GenerationLate: 503,
    agent_errors.CircuitOpen: 503,
    agent_errors.ThoughtsAloud: 503,
    agent_errors.GenerationRejected: 502,
    agent_errors.GenerationForbidden: 502,
    agent_errors.UnreadableReply: 502,
    agent_errors.BudgetExhausted: 503,
    agent_errors.BusinessUnavailable: 503,
    knowledge_errors.KnowledgeError: 500,
    knowledge_errors.InvalidDocument: 422,
    knowledge_errors.UnsupportedType: 415,
    knowledge_errors.EmptyDocument: 422,
    knowledge_errors.ScannedDocument: 422,
    knowledge_errors.ReaderMissing: 415,
    knowledge_errors.EncryptedDocument: 422,
    knowledge_errors.BrokenDocument: 422,
    knowledge_errors.WrongEncoding: 422,
    knowledge_errors.HostileDocument: 400,
    knowledge_errors.ReaderDied: 400,
    knowledge_errors.DocumentTooLarge: 413,
    knowledge_errors.CostlyDocument: 422,
    knowledge_errors.ParserFault: 500,
    knowledge_errors.IndexMismatch: 409,
    knowledge_errors.InvalidConfiguration: 500,
    knowledge_errors.MissingDependency: 501,
    knowledge_errors.NotCalibrated: 503,
    knowledge_errors.Unavailable: 503,
    knowledge_errors.EmbeddingUnavailable: 503,
    knowledge_errors.EmbeddingRefused: 503,
    knowledge_errors.NotEmbedded: 503,
    knowledge_errors.IndexUnavailable: 503,
    knowledge_errors.RerankUnavailable: 503,
    knowledge_errors.RerankRefused: 503,
    knowledge_errors.ParsingUnavailable: 503,
}

_TRY_AGAIN = "服务暂时不可用，请稍后再试。"
# What people are told of errors whose own message is for the log; that of AppError and InvalidDocument is for them.
_MESSAGES: dict[type[Exception], str] = {
    Exception: "服务出了点问题，请稍后再试；如果一直这样，请把 request_id 告诉管理员。",
    knowledge_errors.IndexMismatch: "索引与当前的向量模型不一致，请管理员重建索引。",
    knowledge_errors.InvalidConfiguration: "服务配置有误，请管理员查看启动日志。",
    knowledge_errors.MissingDependency: "服务缺少所需的组件，请管理员查看日志。",
    knowledge_errors.NotCalibrated: "知识库正在准备，请稍后再试。",
    knowledge_errors.Unavailable: "检索" + _TRY_AGAIN,
    knowledge_errors.ParsingUnavailable: "文件解析" + _TRY_AGAIN,
    agent_errors.GenerationError: "生成回答时出了问题，请稍后再试。",
    agent_errors.GenerationUnavailable: "生成" + _TRY_AGAIN,
    agent_errors.BusinessUnavailable: "业务查询" + _TRY_AGAIN,
}


# Below it the interface is OpenAI's, errors included.
OPENAI_PREFIX = "/v1/"
_OPENAI_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
# Told with a 503 that does not know better.
RETRY_SECONDS = 5
# Told while the disk is full: somebody has to make room.
FULL_SECONDS = 30
_NO_SPACE = {errno.ENOSPC, errno.EDQUOT}
# As PostgreSQL calls it.
_DISK_FULL = "53100"


@dataclass(frozen=True, slots=True)
class Description:
    """What a client learns of an error."""

    status: int
    code: str
    message: str
    details: dict[str, Any]

    @property
    def headers(self) -> dict[str, str]:
        """What goes with the status."""
        if self.status == 401:
            return {"WWW-Authenticate": "Bearer"}
        if self.status in (429, 503):
            return {"Retry-After": str(self.details.get("retry_after", RETRY_SECONDS))}
        return {}

    def build_body(self, request_id: str) -> dict[str, Any]:
        """The error body of every endpoint."""
        return {
            "error": {
                "code": self.code,
                "message": self.message,
                "details": self.details,
                "request_id": request_id,
            }
        }

    def build_openai_body(self) -> dict[str, Any]:
        """The error body in the shape that OpenAI's clients read; the request id stands in a header there."""
        kind = _OPENAI_TYPES.get(self.status, "invalid_request_error" if self.status < 500 else "server_error")
        error = {"message": self.message, "type": kind, "param": self.details.get("param"), "code": self.code}
        return {"error": error}

    def build_body_for(self, path: str, request_id: str) -> dict[str, Any]:
        """The body that clients of the endpoint at `path` expect."""
        return self.build_openai_body() if path.startswith(OPENAI_PREFIX) else self.build_body(request_id)


def find_outage(error: BaseException) -> DatabaseUnavailable | None:
    """The outage that an error of a driver or of the system tells of, wherever it was met; None for any other error."""
    if isinstance(error, DatabaseUnavailable):
        return error
    cause = getattr(error, "orig", error)  # SQLAlchemy's errors have the driver's own there
    code = getattr(cause, "sqlite_errorcode", 0)
    if (
        (isinstance(cause, OSError) and cause.errno in _NO_SPACE)
        or code & 0xFF == sqlite3.SQLITE_FULL
        or code == sqlite3.SQLITE_IOERR_SHMSIZE
        or getattr(cause, "sqlstate", "") == _DISK_FULL
    ):
        return StorageFull()
    if code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return DatabaseBusy()
    return None


def find_status(error: Exception) -> int:
    """HTTP status of an error: that of its class, or of the nearest base that has one."""
    return next((STATUS[base] for base in type(error).__mro__ if base in STATUS), 500)


def describe(error: Exception) -> Description:
    """The public side of any error; of an unknown one only that it happened."""
    error = find_outage(error) or error
    status = error.status if isinstance(error, FileRejected) else find_status(error)
    if isinstance(error, AppError):
        return Description(status, error.code, error.message, error.details)
    if isinstance(error, knowledge_errors.InvalidDocument):
        return Description(status, error.code, str(error), {"name": error.name})
    message = next(_MESSAGES[base] for base in type(error).__mro__ if base in _MESSAGES)
    known = any(base in STATUS for base in type(error).__mro__)
    code = getattr(error, "code", "") or _convert_to_snake_case(type(error).__name__)
    return Description(status, code if known else "internal_error", message, {})


def _convert_to_snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
