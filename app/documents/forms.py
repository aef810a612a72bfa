"""Reading an upload within bounds, before anything of it is believed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request

from app.documents.labels import MAX_CATEGORY_CHARS, check_tags, check_url, require_valid_period
from app.documents.products import check_product, check_version
from app.documents.types import Change, Incoming, Labels
from app.documents.versions_schemas import MAX_AUTHOR_CHARS, MAX_REASON_CHARS
from app.errors import InvalidRequest
from app.http.fields import Moment
from app.http.forms import read_form
from knowledge.text import clean
from knowledge.types import FaqColumns

# Files in one upload.
MAX_FILES = 100
# Other form fields in one upload: a path, an external id and a URL for each file, and what is said of all.
MAX_FIELDS = 3 * MAX_FILES + 50
MAX_COLUMN_CHARS = 100

_MOMENT: TypeAdapter[datetime] = TypeAdapter(Moment)


@dataclass(frozen=True, slots=True)
class UploadForm:
    """The files of an upload, each with a path, an external id and a URL, which may be empty."""

    files: tuple[UploadFile, ...]
    paths: tuple[str, ...]
    external_ids: tuple[str, ...]
    urls: tuple[str, ...]
    labels: Labels
    columns: FaqColumns | None
    change: Change

    def read_files(self, max_bytes: int) -> Iterator[Incoming]:
        """Reads the files, one at a time; one byte over the limit is enough to refuse it."""
        for file, path, external_id, url in zip(self.files, self.paths, self.external_ids, self.urls, strict=True):
            name = file.filename or ""
            place = f"{path}{name}" if path.endswith(("/", "\\")) else path or name
            content, labels = file.file.read(max_bytes + 1), Labels(url=url or None)
            own = Incoming(place, content, external_id, labels, self.columns, self.change)
            yield own.add_labels(self.labels)

    def build_fingerprint(self) -> list[Any]:
        """Builds a short description of all that was sent, by which a repeated upload is recognised."""
        contents = [hashlib.file_digest(cast(Any, file.file), "sha256").hexdigest() for file in self.files]
        for file in self.files:
            file.file.seek(0)
        names = [file.filename or "" for file in self.files]
        return [names, contents, self.paths, self.external_ids, self.urls, self.labels, self.columns, self.change]


def open_form(request: Request) -> AbstractAsyncContextManager[FormData]:
    """See `read_form`."""
    return read_form(request, files=MAX_FILES, fields=MAX_FIELDS)


def upload_form(form: FormData, author: str = "") -> UploadForm:
    """Reads and checks the form of an upload. author: who made it, where that is not sent. Raises InvalidRequest."""
    files = tuple(part for part in form.getlist("files") if isinstance(part, UploadFile))
    if not files:
        raise InvalidRequest("没有收到文件：请把文件放在 multipart 的 files 字段里")
    urls = tuple(check_url(url) for url in _read_parallel(form, "urls", len(files)))
    labels = Labels(
        category=_read_category(form),
        tags=_read_tags(form),
        valid_from=_read_moment(form, "valid_from"),
        valid_until=_read_moment(form, "valid_until"),
        product=check_product(_read_text(form, "product")),
        product_version=check_version(_read_text(form, "product_version")),
    )
    require_valid_period(labels.valid_from, labels.valid_until)
    paths, ids = (_read_parallel(form, name, len(files)) for name in ("paths", "external_ids"))
    return UploadForm(files, paths, ids, urls, labels, _read_columns(form), _read_change(form, author))


def _read_parallel(form: FormData, name: str, files: int) -> tuple[str, ...]:
    """Reads a field that is sent once for each file, in the same order, or not at all."""
    values = tuple(value for value in form.getlist(name) if isinstance(value, str))
    if values and len(values) != files:
        raise InvalidRequest(f"{name} 要与 files 一一对应：有 {files} 个文件，却有 {len(values)} 个 {name}", field=name)
    return values or ("",) * files


def _read_category(form: FormData) -> str | None:
    value = form.get("category")
    if not isinstance(value, str):
        return None
    category = clean(value).strip()
    if len(category) > MAX_CATEGORY_CHARS:
        raise InvalidRequest(f"category 不能超过 {MAX_CATEGORY_CHARS} 个字")
    return category


def _read_text(form: FormData, name: str) -> str | None:
    value = form.get(name)
    return value if isinstance(value, str) else None


def _read_tags(form: FormData) -> tuple[str, ...] | None:
    """Reads the tags; a field may hold several, separated by commas."""
    values = [value for value in form.getlist("tags") if isinstance(value, str)]
    return check_tags(part for value in values for part in value.replace("，", ",").split(",")) if values else None


def _read_columns(form: FormData) -> FaqColumns | None:
    """Reads which columns of tables hold questions and answers; both fields or none."""
    values = [form.get(field) for field in ("question_column", "answer_column")]
    question, answer = (clean(value).strip() if isinstance(value, str) else "" for value in values)
    if not question and not answer:
        return None
    if not question or not answer:
        raise InvalidRequest("question_column 和 answer_column 要一起给")
    if max(len(question), len(answer)) > MAX_COLUMN_CHARS:
        raise InvalidRequest(f"question_column 和 answer_column 不能超过 {MAX_COLUMN_CHARS} 个字")
    return FaqColumns(question, answer)


def _read_change(form: FormData, author: str) -> Change:
    sent = (form.get(name) for name in ("author", "reason", "draft"))
    said, reason, draft = (clean(value).strip() if isinstance(value, str) else "" for value in sent)
    if len(said) > MAX_AUTHOR_CHARS or len(reason) > MAX_REASON_CHARS:
        raise InvalidRequest(f"author 不能超过 {MAX_AUTHOR_CHARS} 个字，reason 不能超过 {MAX_REASON_CHARS} 个字")
    if draft.lower() not in ("", "true", "false"):
        raise InvalidRequest("draft 要写成 true 或 false", field="draft")
    return Change(said or author[:MAX_AUTHOR_CHARS], reason, draft.lower() == "true")


def _read_moment(form: FormData, name: str) -> datetime | None:
    value = form.get(name)
    if not isinstance(value, str):
        return None
    try:
        return _MOMENT.validate_python(value)
    except ValidationError as error:
        raise InvalidRequest(f"{name} 要写成带时区的时间，例如 2026-12-31T00:00:00+08:00", field=name) from error
