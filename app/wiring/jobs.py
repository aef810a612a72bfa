"""The background jobs of one process: all kinds, and what is done periodically."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from app.documents.repository_knowledge import KnowledgeRepository
from app.documents.reread_job import RereadService, build_reread_kind
from app.gaps.miner import build_mining_kind
from app.generations.reindex import build_reindex_kind
from app.history.repository_texts import purge
from app.indexing.verification import IndexVerification, build_verification_kind
from app.jobs.due import DueRuns
from app.jobs.repository import RunRepository
from app.jobs.repository_queue import RunQueue
from app.jobs.schedule import PeriodicJob, Scheduler
from app.jobs.service import JobService
from app.jobs.types import JobKind
from app.jobs.worker import JobWorker
from app.quality.service import build_quality_kind
from app.retention.service import Retention
from app.sources.service import DueSources
from app.wiring.erasure import forget_conversations
from app.wiring.evaluation import build_evaluation_runner
from app.wiring.sources import sync_kind

if TYPE_CHECKING:
    from app.search.service import Searches
    from app.wiring.container import Container


def build_job_kinds(container: Container) -> tuple[JobKind, ...]:
    """Builds every kind of job that can be run for a tenant. A new kind is one line here."""
    return (
        build_verification_kind(_build_verification(container)),
        build_reindex_kind(container.reindexing),
        build_reread_kind(RereadService(container.base.database, container.versions)),
        build_mining_kind(container.gap_mining),
        sync_kind(container.sources),
        build_quality_kind(container.quality),
        *container.reports.kinds,
        build_evaluation_runner(container).kind,
    )


def _build_verification(container: Container) -> IndexVerification:
    base = container.base
    assert base.indexer is not None, "a server keeps the index"
    return IndexVerification(base.indexer, base.feed, KnowledgeRepository(base.database), base.generations.get_embedder)


def build_background_jobs(
    container: Container, searches: Searches
) -> tuple[JobService, JobWorker, Scheduler, DueSources]:
    """Builds the jobs, their worker, the scheduler and what begins syncs. Nothing of it is started."""
    database, ended = container.base.database, container.metrics.add_job_run
    kinds: Mapping[str, JobKind] = {kind.name: kind for kind in build_job_kinds(container)}
    runs, alone = RunRepository(database), database.engine.dialect.name == "sqlite"  # the lock on DATA_DIR
    worker = JobWorker(kinds, RunQueue(database), alone=alone, ended=ended)

    async def load_zone(tenant: str) -> ZoneInfo:
        return ZoneInfo((await container.profiles.get(tenant)).timezone)

    due = DueRuns(kinds.values(), runs, container.base.feed.load_oldest, load_zone, worker.wake)
    service = JobService(kinds, runs, worker.wake, ended)
    sources = DueSources(container.sources.rows, service)
    return service, worker, _build_scheduler(container, searches, due, sources), sources


def _build_scheduler(container: Container, searches: Searches, due: DueRuns, sources: DueSources) -> Scheduler:
    return Scheduler(_build_housekeeping(container, searches, due, sources), lambda: container.leader.leads)


def _build_housekeeping(
    container: Container, searches: Searches, due: DueRuns, sources: DueSources
) -> tuple[PeriodicJob, ...]:
    """Documents come into force, or go out of it, at most ten seconds late; so do scheduled versions, which have to be
    read first. Where a leader ends, another one takes over in some seconds. Retention, once a day, has a lock of its
    own. It begins soon after the start, so that a server which is restarted every day deletes too.
    """
    base, seconds, minutes = container.base, timedelta(seconds=1), timedelta(minutes=1)
    retention = Retention(
        base.database, container.settings.retention_days, base.embeddings, forget_conversations, purge
    )
    return (
        PeriodicJob(
            "desk", "人工坐席：超时与提醒", container.desk.watch.run_round, 10 * seconds, 0 * seconds, for_all=True
        ),
        PeriodicJob("validity", "文档生效与失效", base.labels.apply_validity, 10 * seconds, 10 * seconds, for_all=True),
        PeriodicJob("publishing", "定时发布", base.versions.publish_due, 5 * seconds, 5 * seconds, for_all=True),
        PeriodicJob("model", "跟上别处接的大模型", container.connections.follow, 2 * seconds, 2 * seconds),
        PeriodicJob(
            "generations", "跟上别处重建的索引", container.reindexing.follow_others, 10 * seconds, 10 * seconds
        ),
        PeriodicJob("series", "保存指标曲线", container.recorder.save, 10 * seconds, 10 * seconds),
        PeriodicJob("keys", "保存密钥的使用时间", container.key_management.save_use, minutes, minutes),
        PeriodicJob("jobs", "安排到时间的任务", due.begin_due_runs, minutes, minutes, for_all=True),
        PeriodicJob("sources", "安排到时间的来源同步", sources.begin_due_syncs, minutes, minutes, for_all=True),
        PeriodicJob(
            "attachments",
            "删除已清除的图片和文件",
            container.attachments.delete_removed_files,
            minutes,
            minutes,
            for_all=True,
        ),
        PeriodicJob("calibration", "检索校准", searches.catch_up, minutes, minutes),
        PeriodicJob("retention", "清理过期数据", retention.run, timedelta(days=1), 10 * minutes),
    )
