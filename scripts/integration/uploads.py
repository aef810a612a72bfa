"""Messy files over HTTP: each reply has a type, each job ends, and what was taken is found."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from scripts.harness.checks import Report
from scripts.harness.servers import DOCUMENTS, Target, run_product
from scripts.harness.uploads import follow_job, is_text_found
from scripts.integration.base import Room
from scripts.integration.files import Messy, list_messy_files

JOB_SECONDS = 120.0
_PAGE = 200


@dataclass(frozen=True, slots=True)
class Sent:
    """What became of a file."""

    file: Messy
    status: int
    ended: bool
    # Why it was not taken; empty for one that is in.
    code: str
    report: dict[str, Any]

    @property
    def told(self) -> str:
        """A line for people: path, status, code."""
        return f"{self.file.path[-40:]}: {self.status} {self.code}".rstrip()

    @property
    def typed(self) -> bool:
        """Taken with a document's id, or refused with a code; no failure of the server's."""
        return self.status < 500 and bool(self.report.get("document_id") or self.code)

    @property
    def expected(self) -> bool:
        """Whether the file was taken or refused as its maker says."""
        return self.code in self.file.refused if self.file.refused else not self.code


def run_uploads(room: Room, checks: Report) -> None:
    """Sends all messy files to a server."""
    with run_product(room.folder / "uploads", keys=False, LOG_LEVEL="ERROR") as target:
        asyncio.run(check_uploads(target, list_messy_files(), checks))


async def check_uploads(target: Target, files: Sequence[Messy], checks: Report) -> None:
    """Sends files one after the other to a server without keys."""
    async with target.open_client(seconds=JOB_SECONDS) as http:
        await _check_uploads(http, files, checks)


async def _check_uploads(http: httpx.AsyncClient, files: Sequence[Messy], checks: Report) -> None:
    sent = [await _send_file(http, file) for file in files]
    checks.check_all({one.told: one.typed for one in sent}, "uploads: every reply is typed")
    checks.check_all({one.told: one.ended for one in sent}, "uploads: every job ends")
    checks.check_all({one.told: one.expected for one in sent}, "uploads: taken or refused, as they should be")
    checks.check_all({one.told: _has_notice(one) for one in sent if one.file.notice}, "uploads: notices are there")
    twins = {one.told: bool(one.report.get("same_as")) for one in sent if one.file.twin}
    checks.check_all(twins, "uploads: a twin names the other")
    taken, listed = [one for one in sent if not one.code], await _list_paths(http)
    checks.check_all({one.told: _get_listed_path(one) in listed for one in taken}, "uploads: what was taken is listed")
    found = {}
    for one in taken:
        if one.file.query:
            where = {"document_ids": [one.report["document_id"]]}
            found[one.told] = await is_text_found(http, one.file.query, one.file.needle, filter=where)
    checks.check_all(found, "uploads: what was taken is found")
    alive = (await http.get("/api/v1/health")).status_code
    checks.check(alive == 200, "uploads: the server is alive after them", alive)


async def _send_file(http: httpx.AsyncClient, file: Messy) -> Sent:
    fields = {"paths": file.path}
    if file.columns:
        fields["question_column"], fields["answer_column"] = file.columns
    response = await http.post(DOCUMENTS, data=fields, files={"files": (file.name, file.content)})
    first = response.status_code
    if response.is_error:
        return Sent(file, first, True, _read_code(response), {})
    body, ended = response.json(), True
    try:
        async with asyncio.timeout(JOB_SECONDS):
            body = await follow_job(http, body)
    except TimeoutError:
        ended = False
    report: dict[str, Any] = body["files"][0]
    return Sent(file, first, ended, (report["error"] or {}).get("code", ""), report)


def _read_code(response: httpx.Response) -> str:
    """Of the file where the refusal names it, else of the request; empty where it has none."""
    try:
        body = response.json()
        own = [file["error"]["code"] for file in body.get("files", []) if file.get("error")]
        return str((own or [body["error"]["code"]])[0])
    except (ValueError, KeyError, TypeError):
        return ""


def _get_listed_path(sent: Sent) -> str:
    """Where its content is listed: a twin is kept once, under the path of the other."""
    return str(sent.report.get("same_as") or sent.file.path)


def _has_notice(sent: Sent) -> bool:
    return any(notice["code"] == sent.file.notice and notice["message"] for notice in sent.report.get("notices", []))


async def _list_paths(http: httpx.AsyncClient) -> set[str]:
    paths: set[str] = set()
    while True:
        page = (await http.get(DOCUMENTS, params={"offset": len(paths), "limit": _PAGE})).raise_for_status().json()
        paths |= {item["path"] for item in page["items"]}
        if not page["items"] or len(paths) >= page["total"]:
            return paths
