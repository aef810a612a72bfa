"""HTTP statuses of all errors, in this one place, and the handlers that turn them into the error body.

AppError                    errors of this layer; `code` is stable, `message` is Chinese, for people
├── NotFound                404
├── Conflict                409
├── InvalidRequest          400
├── Forbidden               403
├── Unauthorized            401
├── PayloadTooLarge         413
├── BatchRejected           422
└── Overloaded              503
"""

from __future__ import annotations

from typing import Any

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


class BatchRejected(AppError):
    """No file of an upload of several was taken; `details["files"]` says why, one by one."""

    code = "batch_rejected"


class Overloaded(AppError):
    code = "overloaded"


STATUS: dict[type[Exception], int] = {
    AppError: 500,
    InvalidRequest: 400,
    Unauthorized: 401,
    Forbidden: 403,
    NotFound: 404,
    Conflict: 409,
    PayloadTooLarge: 413,
    BatchRejected: 422,
    Overloaded: 503,
    knowledge_errors.KnowledgeError: 500,
    knowledge_errors.InvalidDocument: 422,
    knowledge_errors.UnsupportedType: 415,
    knowledge_errors.EmptyDocument: 422,
    knowledge_errors.EncryptedDocument: 422,
    knowledge_errors.BrokenDocument: 422,
    knowledge_errors.WrongEncoding: 422,
    knowledge_errors.HostileDocument: 400,
    knowledge_errors.DocumentTooLarge: 413,
    knowledge_errors.IndexMismatch: 409,
    knowledge_errors.InvalidConfiguration: 500,
    knowledge_errors.MissingDependency: 501,
    knowledge_errors.NotCalibrated: 503,
    knowledge_errors.Unavailable: 503,
    knowledge_errors.EmbeddingUnavailable: 503,
    knowledge_errors.IndexUnavailable: 503,
    knowledge_errors.RerankUnavailable: 503,
}
"""One row per error class; a test fails on a class that is missing here."""


def status_of(error: Exception) -> int:
    """HTTP status of an error: that of its class, or of the nearest base that has one."""
    for base in type(error).__mro__:
        if base in STATUS:
            return STATUS[base]
    return 500
