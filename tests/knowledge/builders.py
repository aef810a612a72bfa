"""Small knowledge bases, indexed the way the indexer does it: term ids by first appearance, the hash embedder."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from knowledge.embeddings.base import Embedder
from knowledge.embeddings.hash import HashEmbedder
from knowledge.index import Index
from knowledge.probability import CalibrationMap
from knowledge.rerankers.base import Reranker
from knowledge.retriever import Retriever
from knowledge.scoring import RetrievalOptions
from knowledge.stores.memory import MemoryIndex
from knowledge.text import Analyzer
from knowledge.types import Chunk, DocumentMeta, IndexChange, IndexedChunk, TermIds

ANALYZER = Analyzer()

TEXTS = (
    "退货运费由买家承担，质量问题由卖家承担。",
    "支付成功后二十四小时内发货，节假日顺延。",
    "发票在订单完成后可以在线申请，电子发票即时开具。",
    "会员积分每年年底清零，请及时兑换礼品。",
    "路由器 AX-3000 重启后指示灯变绿表示联网成功。",
    "忘记密码请点击登录页的找回密码，用手机验证码重置。",
)


def document(name: str = "d1", category: str = "", tags: tuple[str, ...] = ()) -> DocumentMeta:
    return DocumentMeta(name, f"{name}.md", "", category, tags)


def chunk(chunk_id: str, text: str, source: DocumentMeta | None = None) -> Chunk:
    return Chunk(chunk_id, source or document(), 0, text, entry=chunk_id)


def faq(chunk_id: str, question: str, answer: str, entry: str, source: DocumentMeta | None = None) -> Chunk:
    return Chunk(chunk_id, source or document(), 0, answer, question=question, entry=entry)


def chunks(*texts: str) -> tuple[Chunk, ...]:
    """One document per text, so that every text is a subject of its own; ids c0, c1, ..."""
    return tuple(chunk(f"c{row}", text, document(f"d{row}")) for row, text in enumerate(texts))


class Base:
    """An index and what writes to it. `terms` is the vocabulary that SQL would keep, `told` how much the index has."""

    def __init__(self, index: Index | None = None, embedder: Embedder | None = None) -> None:
        self.index = index or MemoryIndex()
        self.embedder = embedder or HashEmbedder()
        self.terms: dict[str, int] = {}
        self.told = 0
        self.revision = 0

    async def change(self, added: Sequence[Chunk] = (), removed: Sequence[str] = ()) -> IndexChange:
        """The next revision, not applied."""
        first, documents = self.told, [self._ids(item.indexed_text) for item in added]
        vectors = await self.embedder.embed_passages([item.indexed_text for item in added])
        rows = zip(added, vectors, documents, strict=True)
        self.revision += 1
        self.told = len(self.terms)
        return IndexChange(
            self.revision,
            tuple(IndexedChunk(item, vector, terms) for item, vector, terms in rows),
            frozenset(removed),
            first,
            tuple(list(self.terms)[first:]),
        )

    async def apply(self, added: Sequence[Chunk] = (), removed: Sequence[str] = ()) -> IndexChange:
        change = await self.change(added, removed)
        await self.index.apply(change)
        return change

    def retriever(
        self, reranker: Reranker | None = None, options: RetrievalOptions | None = None, *, calibrated: bool = True
    ) -> Retriever:
        """Calibrated by hand: cutoff .3 on the dense scale, .2 on the lexical one."""
        retriever = Retriever(self.index, self.embedder, ANALYZER, reranker, options)
        for kind, cutoff in ((retriever.scorers.reranker.kind, 0.3), ("lexical", 0.2)) if calibrated else ():
            retriever.set_calibration(CalibrationMap(kind, 0.05, cutoff, 0.6))
        return retriever

    async def close(self) -> None:
        await self.index.close()
        self.embedder.close()

    def _ids(self, text: str) -> TermIds:
        tokens = ANALYZER.tokenize(text)
        return np.array([self.terms.setdefault(token, len(self.terms)) for token in tokens], dtype=np.int32)


async def base_of(*added: Chunk, embedder: Embedder | None = None) -> Base:
    """A base in memory that holds these chunks."""
    base = Base(embedder=embedder)
    await base.apply(added)
    return base
