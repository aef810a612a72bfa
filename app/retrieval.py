"""Settings in the words of the packages below, so that chat, evaluation and scripts run the same configuration."""

from __future__ import annotations

import hashlib
from datetime import datetime
from zoneinfo import ZoneInfo

from agents.answering.meaning import Meaning
from agents.heads.events import EventHead
from agents.knowledge import KnowledgePolicy
from agents.llm.registry import GeneratorOptions
from agents.profile import TenantProfile
from agents.prompt_library import Prompts
from app.settings import Settings
from knowledge import text
from knowledge.breaker import BreakerOptions
from knowledge.chunking import ChunkOptions
from knowledge.embeddings.registry import EmbedderOptions
from knowledge.gate import EvidenceGate
from knowledge.rerankers.registry import RerankerOptions
from knowledge.sandbox.pool import SandboxOptions
from knowledge.scoring import RetrievalOptions
from knowledge.text import Analyzer


def build_retrieval_options(settings: Settings) -> RetrievalOptions:
    """Recall widths, fusion weights and the gate."""
    return RetrievalOptions(
        vector_top_k=settings.vector_top_k,
        bm25_top_k=settings.bm25_top_k,
        rrf_k=settings.rrf_k,
        vector_weight=settings.rrf_vector_weight,
        keyword_weight=settings.rrf_keyword_weight,
        rerank_top_k=settings.rerank_top_k,
        gate=EvidenceGate(settings.similarity_threshold, settings.clarify_threshold, settings.min_surviving_chunks),
    )


def build_embedder_options(settings: Settings) -> EmbedderOptions:
    """Checkpoint and endpoint of the embedders that need one."""
    return EmbedderOptions(
        bge_model=settings.bge_model,
        hub=settings.hf_endpoint,
        device=settings.bge_device,
        runtime=settings.bge_runtime,
        base_url=settings.embedding_base_url,
        api_key=settings.embedding_api_key.get_secret_value(),
        model=settings.embedding_model,
        dimension=settings.embedding_dimension,
        instruction=settings.embedding_query_instruction,
        breaker=_build_breaker(settings),
    )


def build_reranker_options(settings: Settings) -> RerankerOptions:
    """Checkpoint or endpoint, width and stand-in of the cross-encoder."""
    return RerankerOptions(
        bge_model=settings.bge_reranker_model,
        candidates=settings.rerank_candidates,
        hub=settings.hf_endpoint,
        fallback=settings.rerank_fallback,
        device=settings.bge_device,
        runtime=settings.bge_reranker_runtime,
        base_url=settings.rerank_base_url,
        api_key=settings.rerank_api_key.get_secret_value(),
        model=settings.rerank_model,
        template=settings.rerank_template,
        breaker=_build_breaker(settings),
    )


def _build_breaker(settings: Settings) -> BreakerOptions:
    return BreakerOptions(settings.encoder_breaker_failures, settings.encoder_breaker_seconds)


def chunk_options(settings: Settings) -> ChunkOptions:
    """Bounds of chunks."""
    return ChunkOptions(settings.chunk_min_tokens, settings.chunk_max_tokens, settings.chunk_overlap_tokens)


def build_sandbox_options(settings: Settings) -> SandboxOptions:
    """What reading one file may take."""
    return SandboxOptions(settings.parse_workers, settings.parse_max_memory_mb, settings.parse_max_seconds)


def build_recognising_options(settings: Settings) -> SandboxOptions:
    """What recognising the pictures of one file may take; one file at a time."""
    return SandboxOptions(1, settings.parse_max_memory_mb, settings.ocr_max_seconds, recognises=True)


def build_generator_options(
    settings: Settings,
    analyzer: Analyzer,
    profile: TenantProfile,
    *,
    meaning: Meaning | None,
    prompts: Prompts,
) -> GeneratorOptions:
    """Builds the options of a tenant's generators; the model is added for those that need one."""
    limits = settings.max_source_count, settings.max_chunk_chars
    return GeneratorOptions(analyzer, *limits, profile, meaning=meaning, prompts=prompts)


def build_knowledge_policy(
    settings: Settings, profile: TenantProfile, events: EventHead | None = None
) -> KnowledgePolicy:
    """Builds what the knowledge agent needs to know besides the search: thresholds, the tenant's profile and its day.

    events: recognises events in messages, for computed dates; None until it is learnt.
    """
    zone = ZoneInfo(profile.timezone)
    return KnowledgePolicy(
        settings.confident_threshold,
        profile,
        settings.page_boost,
        today=lambda: datetime.now(zone).date(),
        events=events,
    )


def build_default_profile(settings: Settings) -> TenantProfile:
    """Builds the profile of a tenant that never stored one."""
    return TenantProfile(fallback_script=settings.fallback_script)


def hash_configuration(settings: Settings, embedder: str, prompts: str) -> str:
    """Returns a hash of all that answers depend on besides knowledge, calibration and profile: part of every cache key.

    prompts: the version of the prompts.
    """
    parts = (settings.model_dump_json(), embedder, text.VERSION, prompts)  # secrets are not in the dump
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
