"""The background jobs of one process: all kinds, and what is done periodically."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from app.documents.repository_knowledge import KnowledgeRepository
from app.documents.reread_job import RereadService, build_reread_kind
from app.gaps.miner import build_mining_kind
from app.history.repository_texts import purge
from app.indexing.verification import IndexVerification, build_verification_kind
from app.jobs.due import DueRuns
from app.jobs.repository import RunRepository
from app.jobs.repository_queue import RunQueue
from app.jobs.schedule import PeriodicJob
from app.jobs.service import JobService
from app.jobs.types import JobKind
from app.jobs.worker import JobWorker
from app.quality.service import build_quality_kind
from app.reindexing import build_reindex_kind
from app.retention.service import Retention
from app.sources.service import DueSources
from app.wiring.erasure import forget_conversations
from app.wiring.sources import sync_kind

if TYPE_CHECKING:
    from app.attachments.service import AttachmentService
    from app.connection.service import ModelConnections
    from app.desk.human_desk import HumanDesk
    from app.evaluation.runs import EvaluationRunner
    from app.gaps.miner import GapMiner
    from app.keys.management import KeyManagement
    from app.metrics import Metrics
    from app.performance.series import SeriesRecorder
    from app.profiles.repository import ProfileRepository
    from app.quality.service import QualityService
    from app.reindexing import Reindexer
    from app.search.service import Searches
    from app.sources.service import SourceService
    from app.tuner.reports import Reports
    from app.wiring.knowledge import KnowledgeBase


def build_job_kinds(
    base: KnowledgeBase,
    reindexing: Reindexer,
    gap_mining: GapMiner,
    sources: SourceService,
    quality: QualityService,
    reports: Reports,
    evaluation: EvaluationRunner,
) -> tuple[JobKind, ...]:
    """Builds every kind of job that can be run for a tenant. A new kind is one line here."""
    return (
        build_verification_kind(_build_verification(base)),
        build_reindex_kind(reindexing),
        build_reread_kind(RereadService(base.documents, base.versions)),
        build_mining_kind(gap_mining),
        sync_kind(sources),
        build_quality_kind(quality),
        *reports.kinds,
        evaluation.kind,
    )


def _build_verification(base: KnowledgeBase) -> IndexVerification:
    assert base.indexer is not None, "a server keeps the index"
    return IndexVerification(base.indexer, base.feed, KnowledgeRepository(base.database), base.generations.get_embedder)


def build_background_jobs(
    base: KnowledgeBase, kinds: Sequence[JobKind], profiles: ProfileRepository, metrics: Metrics
) -> tuple[JobService, JobWorker, DueRuns]:
    """Builds the jobs, their worker and what begins those that are due. Nothing of it is started."""
    database, ended = base.database, metrics.add_job_run
    by_name, runs = {kind.name: kind for kind in kinds}, RunRepository(database)
    alone = database.engine.dialect.name == "sqlite"  # the lock on DATA_DIR
    worker = JobWorker(by_name, RunQueue(database), alone=alone, ended=ended)

    async def load_zone(tenant: str) -> ZoneInfo:
        return ZoneInfo((await profiles.get(tenant)).timezone)

    due = DueRuns(kinds, runs, base.feed.load_oldest, load_zone, worker.wake)
    return JobService(by_name, runs, worker.wake, ended), worker, due


def list_periodic_jobs(
    base: KnowledgeBase,
    retention_days: Mapping[str, int],
    *,
    searches: Searches,
    reindexing: Reindexer,
    connections: ModelConnections,
    desk: HumanDesk,
    recorder: SeriesRecorder,
    key_management: KeyManagement,
    attachments: AttachmentService,
    due: DueRuns,
    sources: DueSources,
) -> tuple[PeriodicJob, ...]:
    """Lists what is done periodically.

    Documents come into force, or go out of it, at most ten seconds late; so do scheduled versions, which have to be
    read first. Where a leader ends, another one takes over in some seconds. Retention, once a day, has a lock of its
    own. It begins soon after the start, so that a server which is restarted every day deletes too.
    """
    seconds, minutes = timedelta(seconds=1), timedelta(minutes=1)
    retention = Retention(base.database, retention_days, base.embeddings, forget_conversations, purge)
    return (
        PeriodicJob("desk", "人工坐席：超时与提醒", desk.watch.run_round, 10 * seconds, 0 * seconds, for_all=True),
        PeriodicJob("validity", "文档生效与失效", base.labels.apply_validity, 10 * seconds, 10 * seconds, for_all=True),
        PeriodicJob("publishing", "定时发布", base.versions.publish_due, 5 * seconds, 5 * seconds, for_all=True),
        PeriodicJob("model", "跟上别处接的大模型", connections.follow, 2 * seconds, 2 * seconds),
        PeriodicJob("generations", "跟上别处重建的索引", reindexing.follow_others, 10 * seconds, 10 * seconds),
        PeriodicJob("series", "保存指标曲线", recorder.save, 10 * seconds, 10 * seconds),
        PeriodicJob("keys", "保存密钥的使用时间", key_management.save_use, minutes, minutes),
        PeriodicJob("jobs", "安排到时间的任务", due.begin_due_runs, minutes, minutes, for_all=True),
        PeriodicJob("sources", "安排到时间的来源同步", sources.begin_due_syncs, minutes, minutes, for_all=True),
        PeriodicJob(
            "attachments",
            "删除已清除的图片和文件",
            attachments.delete_removed_files,
            minutes,
            minutes,
            for_all=True,
        ),
        PeriodicJob("calibration", "检索校准", searches.catch_up, minutes, minutes),
        PeriodicJob("retention", "清理过期数据", retention.run, timedelta(days=1), 10 * minutes),
    )
