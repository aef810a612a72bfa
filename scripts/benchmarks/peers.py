"""Other retrieval libraries over the same chunks and vectors; those that are not installed are named.

They are no requirement of the project, so they are looked up by name. Each stands in the configuration that its own
documentation shows for hybrid search, BM25 and Chroma fused by rank, over jieba's words, as is usual for Chinese.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from time import perf_counter
from typing import Any

from jieba import lcut_for_search

from knowledge.embeddings.base import Embedder
from knowledge.types import Chunk, Matrix
from scripts.benchmarks.timing import WARM_UP, percentiles, ratio, since

TOP_K = 25
Ask = Callable[[str, Any], object]
"""Searches for a question whose vector is known."""


async def measure(
    chunks: Sequence[Chunk], matrix: Matrix, embedder: Embedder, questions: Sequence[str]
) -> dict[str, Any]:
    """By library, what it takes besides the query embedding, or why it was left out."""
    report: dict[str, Any] = {}
    for name, build in PEERS.items():
        try:
            ask = build(chunks, matrix)
        except ImportError as error:
            report[name] = {"skipped": f"没有安装 {error.name}"}
            continue
        report[name] = await _timed(ask, embedder, questions)
    return report


async def _timed(ask: Ask, embedder: Embedder, questions: Sequence[str]) -> dict[str, Any]:
    embedding, overhead = [], []
    for question in [*questions[:WARM_UP], *questions]:
        started = perf_counter()
        vector = await embedder.query(question)
        embedding.append(since(started))
        started = perf_counter()
        ask(question, vector)
        overhead.append(since(started))
    first = min(WARM_UP, len(questions))
    timed, embedded = percentiles(overhead[first:]), percentiles(embedding[first:])
    return {"overhead_ms": timed, "overhead_over_embedding": ratio(timed["p50"], embedded["p50"])}


def _langchain(chunks: Sequence[Chunk], matrix: Matrix) -> Ask:
    ensemble = import_module("langchain_classic.retrievers").EnsembleRetriever
    bm25 = import_module("langchain_community.retrievers").BM25Retriever
    chroma = import_module("langchain_chroma").Chroma
    known: dict[str, Any] = {chunk.indexed_text: row for chunk, row in zip(chunks, matrix, strict=True)}

    class Known(import_module("langchain_core.embeddings").Embeddings):  # type: ignore[misc]
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [known[text].tolist() for text in texts]

        def embed_query(self, text: str) -> list[float]:
            return known[text].tolist()  # type: ignore[no-any-return]

    texts = [chunk.indexed_text for chunk in chunks]
    dense = chroma.from_texts(texts, Known()).as_retriever(search_kwargs={"k": TOP_K})
    lexical = bm25.from_texts(texts, preprocess_func=lcut_for_search, k=TOP_K)
    retriever = ensemble(retrievers=[lexical, dense], weights=[0.4, 0.6])

    def ask(question: str, vector: Any) -> object:
        known[question] = vector
        return retriever.invoke(question)

    return ask


def _llama_index(chunks: Sequence[Chunk], matrix: Matrix) -> Ask:
    core = import_module("llama_index.core")
    schema = import_module("llama_index.core.schema")
    store = import_module("llama_index.vector_stores.chroma").ChromaVectorStore
    bm25 = import_module("llama_index.retrievers.bm25").BM25Retriever
    fusion = import_module("llama_index.core.retrievers").QueryFusionRetriever
    mock = import_module("llama_index.core.llms").MockLLM  # never asked: there is one query
    embedding = import_module("llama_index.core.embeddings").MockEmbedding(embed_dim=matrix.shape[1])
    nodes = [
        schema.TextNode(id_=chunk.id, text=chunk.indexed_text, embedding=row.tolist())
        for chunk, row in zip(chunks, matrix, strict=True)
    ]
    collection = import_module("chromadb").EphemeralClient().create_collection("llama_index")
    storage = core.StorageContext.from_defaults(vector_store=store(chroma_collection=collection))
    index = core.VectorStoreIndex(nodes, storage_context=storage, embed_model=embedding)
    dense = index.as_retriever(similarity_top_k=TOP_K)
    lexical = bm25.from_defaults(nodes=nodes, similarity_top_k=TOP_K, tokenizer=lcut_for_search)
    retriever = fusion(
        [dense, lexical], llm=mock(), mode="reciprocal_rerank", num_queries=1, similarity_top_k=TOP_K, use_async=False
    )

    def ask(question: str, vector: Any) -> object:
        return retriever.retrieve(schema.QueryBundle(question, embedding=vector.tolist()))

    return ask


def _bm25s(chunks: Sequence[Chunk], matrix: Matrix) -> Ask:
    """Keywords only: what the fastest BM25 in Python leaves of the budget."""
    library = import_module("bm25s")
    model = library.BM25()
    model.index([lcut_for_search(chunk.indexed_text) for chunk in chunks], show_progress=False)

    def ask(question: str, vector: Any) -> object:
        return model.retrieve([lcut_for_search(question)], k=min(TOP_K, len(chunks)), show_progress=False)

    return ask


PEERS: dict[str, Callable[[Sequence[Chunk], Matrix], Ask]] = {
    "langchain_ensemble": _langchain,
    "llama_index": _llama_index,
    "bm25s": _bm25s,
}
