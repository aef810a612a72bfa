"""Clusters missed questions into gaps, nightly and on demand."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from agents.routing.anchors import load_shipped_anchors
from app.conversations.questions import hash_question
from app.db.base import now
from app.db.engine import Database
from app.gaps import repository_miner as mining
from app.gaps.clusters import assign_to_gaps, build_clusters, compute_similarities
from app.gaps.repository_miner import ClusteredMisses
from app.gaps.repository_misses import collect_misses
from app.gaps.schemas import MiningOptions
from app.gaps.types import BY_OUTCOME, Miss
from app.jobs.types import Daily, JobContext, JobKind
from knowledge.ingest import EmbedderOf
from knowledge.types import Retrieval

HOUR = 3
# Questions of a gap that are searched again.
ASKED_AGAIN = 5
# Share of them that has to be found before a gap counts as answered.
ANSWERED_SHARE = 2 / 3

Search = Callable[[str, str], Awaitable[Retrieval]]


class GapMiner:
    """Mines the gaps of all tenants. search: the chat's own, of a tenant; confident: the probability from which an
    answer needs no disclaimer.
    """

    def __init__(self, database: Database, embedder_of: EmbedderOf, search: Search, confident: float) -> None:
        self._database = database
        self._embedder_of = embedder_of
        self._search = search
        self._confident = confident

    async def run_mining(self, context: JobContext) -> dict[str, Any]:
        """Runs the job for one tenant, and returns what it did in numbers. Raises EmbeddingUnavailable, KnowledgeError;
        then what was collected waits for the next run.
        """
        tenant, since = context.tenant, now() - timedelta(days=context.parameters["days"])
        transact = self._database.transact
        collected = await transact(lambda connection: collect_misses(connection, tenant, since))
        await context.report_progress(1, 3)
        known, new = await self._database.run_in_reader(mining.load_misses, tenant)
        found = await self._cluster_misses(tenant, known, new)
        returned = await transact(lambda connection: mining.save_clusters(connection, tenant, found, new))
        await context.report_progress(2, 3)
        resolved = await self._close_answered(tenant)
        await context.report_progress(3, 3)
        return {
            "collected": collected,
            "joined": len(found.known),
            "new_gaps": len(found.new),
            "returned": returned,
            "resolved": resolved,
        }

    async def _cluster_misses(
        self, tenant: str, known: Mapping[str, Sequence[Miss]], new: Sequence[Miss]
    ) -> ClusteredMisses:
        """Clusters new misses. A question is embedded once, however often it was asked; the same words belong to the
        same gap.
        """
        owners = {hash_question(miss.question): gap for gap, members in known.items() for miss in members}
        place = {
            miss.id: owners[hash_question(miss.question)] for miss in new if hash_question(miss.question) in owners
        }
        left: dict[str, list[Miss]] = defaultdict(list)
        for miss in new:
            if miss.id not in place:
                left[hash_question(miss.question)].append(miss)
        texts = [members[0].question for members in left.values()]
        members = {gap: [miss.question for miss in missed] for gap, missed in known.items()}
        groups = list(left.values())
        closest, alone = await self._group_questions(tenant, members, texts)
        place |= {miss.id: gap for number, gap in closest.items() for miss in groups[number]}
        return ClusteredMisses(place, [[miss for number in cluster for miss in groups[number]] for cluster in alone])

    async def _group_questions(
        self, tenant: str, known: Mapping[str, Sequence[str]], new: Sequence[str]
    ) -> tuple[dict[int, str], list[list[int]]]:
        """Returns the gap of each new question that belongs to one, by its row, and clusters of the others."""
        if not new:
            return {}, []
        asked = [question for members in known.values() for question in members]
        embedder = await self._embedder_of(tenant)
        vectors = await embedder.embed_questions([*new, *asked])
        background = await embedder.embed_questions([anchor.text for anchor in load_shipped_anchors().sentences])
        places, start = {}, len(new)
        for gap, members in known.items():
            places[gap] = range(start, start + len(members))
            start += len(members)

        def work() -> tuple[dict[int, str], list[list[int]]]:
            found = compute_similarities(vectors, background)
            closest = assign_to_gaps(found, places, range(len(new)))
            return closest, build_clusters(found, [place for place in range(len(new)) if place not in closest])

        return await asyncio.to_thread(work)

    async def _close_answered(self, tenant: str) -> int:
        """Closes the gaps that later knowledge answers, and returns how many."""
        known = await self._database.run_in_reader(mining.list_open, tenant)
        checked, answered = {}, []
        for gap, missed in known:
            questions = list(dict.fromkeys(miss.question for miss in missed if miss.reason in BY_OUTCOME))[:ASKED_AGAIN]
            if not questions or 2 * sum(miss.reason in BY_OUTCOME for miss in missed) < len(missed):
                continue
            first = await self._search(tenant, questions[0])
            if first.revision <= gap.checked or first.degraded:
                continue
            found = [first, *[await self._search(tenant, question) for question in questions[1:]]]
            checked[gap.id] = first.revision
            if sum(one.confidence >= self._confident for one in found) >= ANSWERED_SHARE * len(found):
                answered.append(gap.id)
        await self._database.transact(lambda connection: mining.close_answered(connection, tenant, checked, answered))
        return len(answered)


def build_mining_kind(miner: GapMiner) -> JobKind:
    """Builds the kind of job, nightly and on demand."""
    return JobKind("gap_mining", "知识缺口挖掘", miner.run_mining, Daily(HOUR), MiningOptions)
