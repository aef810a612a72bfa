"""Questions in topics, and how well clusters of them are told apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from agents.routing.anchors import load_shipped_anchors
from app.gaps.clusters import build_clusters, compute_similarities
from knowledge.embeddings.base import Embedder

TOPICS: Mapping[str, Mapping[str, Sequence[str]]] = yaml.safe_load(
    Path(__file__).with_name("topics.yaml").read_text(encoding="utf-8")
)


async def clustered(embedder: Embedder, topics: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """The topic of each question, by cluster."""
    labels = [name for name, questions in topics.items() for _ in questions]
    vectors = await embedder.embed_questions([question for questions in topics.values() for question in questions])
    background = await embedder.embed_questions([anchor.text for anchor in load_shipped_anchors().sentences])
    found = build_clusters(compute_similarities(vectors, background), range(len(labels)))
    return [[labels[place] for place in cluster] for cluster in found]


def purity(found: Sequence[Sequence[str]]) -> float:
    """The share of questions that are with the topic of most of their cluster."""
    right = sum(Counter(cluster).most_common(1)[0][1] for cluster in found)
    return right / sum(map(len, found))
