"""An upload from its acceptance to its answer, however the files came."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson
from fastapi import Request, Response

from app.documents import jobs_api
from app.documents.job_schemas import FileReportOut, JobDetail
from app.documents.parts import Wiring
from app.documents.repository_jobs import FileRow, JobRow
from app.documents.types import Incoming
from app.errors import BatchRejected, FileRejected
from app.http.disconnects import CLIENT_LEFT, run_while_connected
from app.idempotency.types import KeptResponse

MAX_WAIT_SECONDS = 60.0


async def accept_upload(
    request: Request, wiring: Wiring, tenant: str, files: Iterable[Incoming], wait: float | None
) -> KeptResponse:
    """Accepts files and waits for their job, `wait` seconds at most: 201, or 202 where it goes on. Raises FileRejected,
    BatchRejected where none was taken.

    A client that goes away before it has an answer stops it; files that were taken by then stay.
    """
    seconds = wiring.settings.upload_wait if wait is None else wait
    job_id = await wiring.document_jobs.submit_files(tenant, files)
    job = await run_while_connected(request, wiring.document_jobs.wait_until_finished(tenant, job_id, seconds))
    if job is None:
        await wiring.document_jobs.cancel_job(tenant, job_id)
        return KeptResponse(CLIENT_LEFT, b"")
    if job.finished_at is not None:
        _raise_if_nothing_was_taken(job)
    return KeptResponse(202 if job.finished_at is None else 201, JobDetail.from_row(job).model_dump_json().encode())


def add_location(response: Response) -> Response:
    """Adds the address of its job to the response."""
    if response.body:
        job_id = orjson.loads(response.body)["job"]["id"]
        response.headers["Location"] = f"{jobs_api.router.prefix}/{job_id}"
    return response


def _raise_if_nothing_was_taken(job: JobRow) -> None:
    errors = [file.error for file in job.files if file.error is not None]
    if len(errors) < len(job.files):
        return
    if len(errors) == 1:
        (error,) = errors
        raise FileRejected(error["message"], code=error["code"], status=error["status"], **error["details"])
    files = [_describe_failure(file) for file in job.files]
    raise BatchRejected(f"{len(errors)} 个文件都没有导入，第一个的原因：{errors[0]['message']}", files=files)


def _describe_failure(file: FileRow) -> dict[str, Any]:
    return FileReportOut.from_row(file).model_dump(mode="json")
