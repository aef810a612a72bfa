"""Other retrieval libraries over the same chunks and vectors; those that are not installed are named.

They are no requirement of the project, so they are looked up by name. Each stands in the configuration that its own
documentation shows for hybrid search, BM25 and vectors fused by rank, over jieba's words, as is usual for Chinese.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from time import perf_counter
from typing import Any

from jieba import lcut_for_search

from knowledge.calibration.calibrator import LabelledQuestion
from knowledge.embeddings.base import Embedder
from knowledge.evaluation.dataset import EvalSet
from knowledge.retriever import Retriever
from knowledge.types import Chunk, Matrix
from scripts.benchmarks.search import WARM_UP
from scripts.harness.timing import compute_percentiles, compute_ratio, measure_since

TOP_K = 25
# Searches for a question whose vector is known; returns ids of chunks, the best first.
Ask = Callable[[str, Any], Sequence[str]]


async def measure_peers(data: EvalSet, matrix: Matrix, embedder: Embedder, count: int) -> dict[str, Any]:
    """By library, what it takes besides the query embedding and how often it is right, or why it was left out.

    Args:
        data: the set; its first `count` answerable questions are asked.
        matrix: vectors of its chunks, in their order.
    """
    report: dict[str, Any] = {}
    for name, build_peer in PEERS.items():
        try:
            ask = build_peer(data.chunks, matrix)
        except ImportError as error:
            report[name] = {"skipped": f"没有安装 {error.name}"}
            continue
        report[name] = await _measure_peer(ask, data, embedder, data.answerable[:count])
    return report


async def measure_own_hits(data: EvalSet, retriever: Retriever, count: int) -> dict[str, float]:
    """The shares of `rate_hits` of the product's own retriever."""
    answers = [await retriever.search(question.text) for question in data.answerable[:count]]
    found = [[candidate.chunk.id for candidate in answer.candidates] for answer in answers]
    return rate_hits(data, data.answerable[:count], found)


def rate_hits(data: EvalSet, questions: Sequence[LabelledQuestion], found: Sequence[Sequence[str]]) -> dict[str, float]:
    """Shares of questions whose source comes first, and among the first five chunks found."""
    source = {chunk.id: data.source_of(chunk) for chunk in data.chunks}
    right = [
        [source[key] in question.documents for key in ids[:5]] for question, ids in zip(questions, found, strict=True)
    ]
    return {
        "hit@1": compute_ratio(sum(any(hits[:1]) for hits in right), len(right)),
        "hit@5": compute_ratio(sum(any(hits) for hits in right), len(right)),
    }


async def _measure_peer(
    ask: Ask, data: EvalSet, embedder: Embedder, questions: Sequence[LabelledQuestion]
) -> dict[str, Any]:
    embedding, overhead, found = [], [], []
    for question in [*questions[:WARM_UP], *questions]:
        started = perf_counter()
        vector = await embedder.embed_question(question.text)
        embedding.append(measure_since(started))
        started = perf_counter()
        found.append(ask(question.text, vector))
        overhead.append(measure_since(started))
    first = min(WARM_UP, len(questions))
    timed, embedded = compute_percentiles(overhead[first:]), compute_percentiles(embedding[first:])
    return {
        "overhead_ms": timed,
        "overhead_over_embedding": compute_ratio(timed["p50"], embedded["p50"]),
        **rate_hits(data, questions, found[first:]),
    }


def _build_langchain(chunks: Sequence[Chunk], matrix: Matrix) -> Ask:
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
    labels = [{"chunk": chunk.id} for chunk in chunks]
    dense = chroma.from_texts(texts, Known(), labels).as_retriever(search_kwargs={"k": TOP_K})
    lexical = bm25.from_texts(texts, labels, preprocess_func=lcut_for_search, k=TOP_K)
    retriever = ensemble(retrievers=[lexical, dense], weights=[0.4, 0.6], id_key="chunk")

    def ask(question: str, vector: Any) -> Sequence[str]:
        known[question] = vector
        return [document.metadata["chunk"] for document in retriever.invoke(question)]

    return ask


def _build_llama_index(chunks: Sequence[Chunk], matrix: Matrix) -> Ask:
    """Its BM25 is bm25s and takes no tokenizer any more, so texts are given to it in jieba's words."""
    core = import_module("llama_index.core")
    schema = import_module("llama_index.core.schema")
    store = import_module("llama_index.vector_stores.chroma").ChromaVectorStore
    bm25 = import_module("llama_index.retrievers.bm25").BM25Retriever
    fusion = import_module("llama_index.core.retrievers").QueryFusionRetriever
    mock = import_module("llama_index.core.llms").MockLLM  # never asked: there is one query
    embedding = import_module("llama_index.core.embeddings").MockEmbedding(embed_dim=matrix.shape[1])
    nodes = [
        schema.TextNode(id_=chunk.id, text=_join_words(chunk.indexed_text), embedding=row.tolist())
        for chunk, row in zip(chunks, matrix, strict=True)
    ]
    collection = import_module("chromadb").EphemeralClient().create_collection("llama_index")
    storage = core.StorageContext.from_defaults(vector_store=store(chroma_collection=collection))
    index = core.VectorStoreIndex(nodes, storage_context=storage, embed_model=embedding)
    dense = index.as_retriever(similarity_top_k=TOP_K)
    lexical = bm25.from_defaults(nodes=nodes, similarity_top_k=TOP_K, token_pattern=r"\S+", skip_stemming=True)
    retriever = fusion(
        [dense, lexical], llm=mock(), mode="reciprocal_rerank", num_queries=1, similarity_top_k=TOP_K, use_async=False
    )

    def ask(question: str, vector: Any) -> Sequence[str]:
        query = schema.QueryBundle(_join_words(question), embedding=vector.tolist())
        return [found.node.node_id for found in retriever.retrieve(query)]

    return ask


def _build_haystack(chunks: Sequence[Chunk], matrix: Matrix) -> Ask:
    """Its store in memory tells words by blanks, so texts are given to it in jieba's words."""
    document = import_module("haystack").Document
    retrievers = import_module("haystack.components.retrievers.in_memory")
    store = import_module("haystack.document_stores.in_memory").InMemoryDocumentStore(
        bm25_tokenization_regex=r"\S+", embedding_similarity_function="cosine"
    )
    store.write_documents(
        [
            document(id=chunk.id, content=_join_words(chunk.indexed_text), embedding=row.tolist())
            for chunk, row in zip(chunks, matrix, strict=True)
        ]
    )
    pipeline = import_module("haystack").Pipeline()
    pipeline.add_component("lexical", retrievers.InMemoryBM25Retriever(store, top_k=TOP_K))
    pipeline.add_component("dense", retrievers.InMemoryEmbeddingRetriever(store, top_k=TOP_K))
    joiner = import_module("haystack.components.joiners").DocumentJoiner
    pipeline.add_component("joiner", joiner("reciprocal_rank_fusion", weights=[0.4, 0.6], top_k=TOP_K))
    pipeline.connect("lexical", "joiner")
    pipeline.connect("dense", "joiner")

    def ask(question: str, vector: Any) -> Sequence[str]:
        given = {"lexical": {"query": _join_words(question)}, "dense": {"query_embedding": vector.tolist()}}
        return [found.id for found in pipeline.run(given)["joiner"]["documents"]]

    return ask


def _build_bm25s(chunks: Sequence[Chunk], matrix: Matrix) -> Ask:
    """Keywords only: what the fastest BM25 in Python leaves of the budget."""
    library = import_module("bm25s")
    model = library.BM25()
    model.index([lcut_for_search(chunk.indexed_text) for chunk in chunks], show_progress=False)

    def ask(question: str, vector: Any) -> Sequence[str]:
        rows, _ = model.retrieve([lcut_for_search(question)], k=min(TOP_K, len(chunks)), show_progress=False)
        return [chunks[row].id for row in rows[0]]

    return ask


def _join_words(text: str) -> str:
    return " ".join(lcut_for_search(text))


PEERS: dict[str, Callable[[Sequence[Chunk], Matrix], Ask]] = {
    "langchain_ensemble": _build_langchain,
    "llama_index": _build_llama_index,
    "haystack": _build_haystack,
    "bm25s": _build_bm25s,
}
