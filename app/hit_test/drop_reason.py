"""Why a document that somebody expected is not what an answer rests on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from app.hit_test.trial import Dropped, Stage, Stored
from app.search.waterfall import list_ranked
from knowledge.filters import Filter
from knowledge.index import Snapshot, has_vectors
from knowledge.types import Hit, QuestionVectors, Retrieval

# How far down the recalls the place of a piece is looked for.
PLACES = 500
_REACHED = {stage: place for place, stage in enumerate(Stage)}


@dataclass(frozen=True, slots=True)
class Search:
    """A search to look into: the view of the index, the vectors of the question, what it was narrowed to, and all that
    was recalled. vector_top_k, bm25_top_k: how many pieces each recall gives; left_out: ids of documents for which
    another version of them answers.
    """

    snapshot: Snapshot
    vectors: QuestionVectors
    where: Filter
    found: Retrieval
    vector_top_k: int
    bm25_top_k: int
    left_out: frozenset[str] = frozenset()


async def find_drop_reason(stored: Stored | None, search: Search) -> Dropped:
    """Returns the stage that the best chunk of what is stored reached, with its numbers."""
    if stored is None:
        return Dropped(Stage.NOT_FOUND, "知识库里没有它：可能已被删除，或被文档的新版本取代。")
    pieces = sorted(await asyncio.to_thread(search.snapshot.find_existing, stored.chunks))
    if not pieces:
        if not stored.live:
            return Dropped(Stage.FILTERED, _describe_validity(stored))
        return Dropped(Stage.NOT_INDEXED, "文档已保存，但索引还没有更新到它，请稍后再试。")
    if not search.where.matches(stored.document):
        return Dropped(Stage.FILTERED, "它在知识库里，但不在这次限定的范围（filter）之内。")
    if stored.document.id in search.left_out and not search.found.superseded:
        message = "同一份资料有更新的版本，或者问的是别的版本：由那个版本回答，它没有参加检索。"
        return Dropped(Stage.FILTERED, message)
    best = max(_list_candidates(search.found, stored.chunks), key=_rank_stage, default=None)
    if best is None:
        return await _explain_unrecalled(search, pieces)
    stage = Stage(best["stage"])
    return Dropped(
        stage,
        _describe_judgement(stage, best, search.found),
        best,
        best["cosine"],
        best["vector_rank"],
        best["keyword_rank"],
        best["probability"],
    )


def _list_candidates(found: Retrieval, chunks: frozenset[str]) -> Iterator[dict[str, Any]]:
    """Yields the ranked candidates of a search that are among `chunks`; of a message with several questions, those of
    each question first.
    """
    for one in (*found.parts, found):
        yield from (fields for fields in list_ranked(one) if fields["chunk_id"] in chunks)


def _rank_stage(candidate: dict[str, Any]) -> tuple[int, int]:
    return _REACHED[Stage(candidate["stage"])], -candidate["rank"]


def _describe_validity(stored: Stored) -> str:
    if stored.valid_from is not None and stored.valid_from > datetime.now(UTC):
        return f"还没到它的有效期：{_format_moment(stored.valid_from)} 起有效。"
    until = f"：到 {_format_moment(stored.valid_until)} 为止" if stored.valid_until else ""
    return f"已过它的有效期{until}。"


def _format_moment(moment: datetime) -> str:
    return moment.astimezone().strftime("%Y-%m-%d %H:%M")


def _describe_judgement(stage: Stage, candidate: dict[str, Any], found: Retrieval) -> str:
    """Describes, in a sentence, what happened to a chunk that was recalled."""
    rank, probability = candidate["rank"], candidate["probability"]
    sure, threshold = f"{probability:.1%}", f"{found.threshold:.0%}"
    if stage is Stage.RERANK_CUT:
        return f"找到了，但综合排在第 {rank}，只有前 {found.top} 段会拿来回答；把握 {sure}，门槛 {threshold}。"
    if stage is Stage.GATE and probability >= found.threshold:
        return f"排在第 {rank}，把握 {sure}，过了门槛 {threshold}；但过门槛的段数不够，所以仍不会拿来回答。"
    if stage is Stage.GATE:
        return f"找到了，排在第 {rank}，但把握只有 {sure}，没有达到门槛 {threshold}。"
    return f"可以用来回答：排在第 {rank}，把握 {sure}，门槛 {threshold}。"


async def _explain_unrecalled(search: Search, pieces: list[str]) -> Dropped:
    snapshot, question_vectors = search.snapshot, search.vectors
    vectors = [vector for vector in (question_vectors.alone, question_vectors.in_context) if vector is not None]
    if not has_vectors(snapshot):
        vectors = []
    dense_hits = [await snapshot.search_dense(vector, PLACES, search.where) for vector in vectors]
    lexical_hits = await snapshot.search_lexical(search.found.terms, PLACES, search.where)
    by_meaning = min((place for hits in dense_hits if (place := _find_place(hits, pieces))), default=None)
    by_words = _find_place(lexical_hits, pieces)
    cosine = max((float(snapshot.compute_cosines(vector, pieces).max()) for vector in vectors), default=None)
    meaning_place = (
        f"按意思{_describe_place(by_meaning, far=f'排在 {PLACES} 位以后')}"
        if vectors
        else "向量模型暂时用不上，没有按意思找"
    )
    unmatched = "没有对上问题里的词" if len(lexical_hits) < PLACES else f"排在 {PLACES} 位以后"
    words_place = f"按字词{_describe_place(by_words, far=unmatched)}"
    limits = f"两路分别只取前 {search.vector_top_k} 段和前 {search.bm25_top_k} 段"
    explanation = f"没有被找到：{meaning_place}，{words_place}；{limits}。"
    return Dropped(
        Stage.NOT_RECALLED,
        explanation,
        cosine=None if cosine is None else round(cosine, 4),
        vector_rank=by_meaning,
        keyword_rank=by_words,
    )


def _find_place(hits: list[Hit], pieces: list[str]) -> int | None:
    wanted = set(pieces)
    return next((place for place, hit in enumerate(hits, 1) if hit.chunk_id in wanted), None)


def _describe_place(place: int | None, *, far: str) -> str:
    return far if place is None else f"排在第 {place}"
