"""Taking in many curated answers at once: what is there already is left, what is wrong is told row by row."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from app.errors import Conflict, InvalidRequest, NotFound
from app.faqs.rules import check_draft, hash_wording
from app.faqs.service import FaqService, build_faq
from app.faqs.transfer import FaqRowRefused, FaqSheetRow
from app.faqs.types import Faq, FaqDraft

# Entries of one transaction: others get in between, and a file that is sent again goes on where it was cut short.
TOGETHER = 50
# A row that was checked: its number, the id it names, its entry.
Good = tuple[int, str, FaqDraft]


@dataclass(frozen=True, slots=True)
class FaqImport:
    """What became of a file; by a dry run what would. ready: searches know all of it."""

    added: int
    changed: int
    unchanged: int
    refused: tuple[FaqRowRefused, ...]
    ready: bool = True


@dataclass(frozen=True, slots=True)
class _Planned:
    row: int
    entry: Faq
    known: Faq | None


class FaqImporter:
    """A row with the id of an entry, or with a question that one has, changes that; every other row is a new entry."""

    def __init__(self, faqs: FaqService) -> None:
        self._faqs = faqs

    async def run(
        self, tenant: str, rows: Sequence[FaqSheetRow | FaqRowRefused], author: str = "", *, dry_run: bool = False
    ) -> FaqImport:
        """Takes the good rows. Raises Conflict where there would be too many, EmbeddingUnavailable."""
        good, refused, keys = await asyncio.to_thread(_check_rows, rows)
        planned = await self._plan_rows(tenant, good, keys, author, refused)
        added = [one for one in planned if one.known is None]
        changed = [one for one in planned if one.known is not None and one.known.draft != one.entry.draft]
        ready = True
        if not dry_run:
            ready = await self._write(tenant, [*added, *changed], refused)
        told = tuple(sorted(refused, key=lambda one: one.row))
        lost = {one.row for one in told}
        return FaqImport(
            added=sum(one.row not in lost for one in added),
            changed=sum(one.row not in lost for one in changed),
            unchanged=len(planned) - len(added) - len(changed),
            refused=told,
            ready=ready,
        )

    async def _plan_rows(
        self, tenant: str, rows: Sequence[Good], keys: dict[str, str], author: str, refused: list[FaqRowRefused]
    ) -> list[_Planned]:
        """Decides which entry each row becomes; a row with a wording of another entry is refused. keys: of all
        wordings.
        """
        owners = await self._faqs.stored.load_owners(tenant, list(keys.values()))
        ids = {id for _, id, _ in rows if id} | set(owners.values())
        known = {faq.id: faq for faq in await self._faqs.stored.load_entries(tenant, sorted(ids))}
        taken: dict[str, int] = {}
        planned: list[_Planned] = []
        seen: dict[str, int] = {}
        for row, id, entry in rows:
            target = known.get(id) or known.get(owners.get(keys[entry.question], ""))
            mine = target.id if target else ""
            problem = _find_problem(entry, keys, owners, taken, mine)
            if target and target.id in seen:
                problem = f"与第 {seen[target.id]} 行是同一条。"
            if problem:
                refused.append(FaqRowRefused(row, problem, "question"))
                continue
            taken |= {keys[wording]: row for wording in entry.wordings}
            if target:
                seen[target.id] = row
            planned.append(_Planned(row, build_faq(entry, author, target), target))
        return planned

    async def _write(self, tenant: str, planned: Sequence[_Planned], refused: list[FaqRowRefused]) -> bool:
        revision = 0
        for start in range(0, len(planned), TOGETHER):
            part = planned[start : start + TOGETHER]
            added = [one.entry for one in part if one.known is None]
            changed = [one.entry for one in part if one.known is not None]
            try:
                revision = max(revision, await self._faqs.write(tenant, added, changed))
            except (Conflict, NotFound) as error:  # somebody else was there first, or deleted one meanwhile
                if error.code == "too_many_faqs":
                    raise
                refused += [FaqRowRefused(one.row, error.message, "question") for one in part]
        return await self._faqs.wait_for_revision(tenant, revision)


def _check_rows(
    rows: Sequence[FaqSheetRow | FaqRowRefused],
) -> tuple[list[Good], list[FaqRowRefused], dict[str, str]]:
    """Rows that may be taken, those that may not, and the keys of all wordings. Blocking: seconds for a large file."""
    refused = [row for row in rows if isinstance(row, FaqRowRefused)]
    good: list[Good] = []
    for row in rows:
        if isinstance(row, FaqSheetRow):
            try:
                good.append((row.row, row.id, check_draft(row.entry)))
            except InvalidRequest as error:
                refused.append(FaqRowRefused(row.row, error.message, str(error.details.get("field", ""))))
    return good, refused, {wording: hash_wording(wording) for _, _, entry in good for wording in entry.wordings}


def _find_problem(
    entry: FaqDraft, keys: dict[str, str], owners: dict[str, str], taken: dict[str, int], target: str
) -> str:
    for wording in entry.wordings:
        key = keys[wording]
        if key in taken:
            return f"“{wording}”在第 {taken[key]} 行已经有了。"
        if owners.get(key, target) != target:
            return f"“{wording}”已经在另一条精选问答里了。"
    return ""
