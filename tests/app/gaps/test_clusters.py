from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from agents.routing.anchors import load_shipped_anchors
from app.embeddings.repository_local import SqliteEmbeddingCache
from app.gaps.clusters import THRESHOLD, assign_to_gaps, build_clusters, compute_similarities
from knowledge.embeddings.base import Embedder
from knowledge.embeddings.registry import get_embedder
from tests.app.gaps.topics import TOPICS, clustered, purity

SHOP = TOPICS["shop"]


@pytest.fixture(scope="module")
def embedder(embedding_cache: SqliteEmbeddingCache) -> Iterator[Embedder]:
    embedder = get_embedder("e5", embedding_cache)
    yield embedder
    embedder.close()


async def test_questions_of_five_topics_make_five_clusters(embedder: Embedder) -> None:
    found = await clustered(embedder, SHOP)
    assert [len(cluster) for cluster in found] == [6] * 5
    assert purity(found) == 1.0


@pytest.mark.acceptance(only=True)
@pytest.mark.parametrize("name", list(TOPICS))
async def test_clusters_hold_one_topic_each(embedder: Embedder, name: str) -> None:
    found = await clustered(embedder, TOPICS[name])
    assert purity(found) >= 0.75
    assert len(found) <= 12


async def test_a_new_question_joins_the_gap_that_asks_the_same(embedder: Embedder) -> None:
    known = {name: questions[:4] for name, questions in SHOP.items() if name != "bulk"}
    new = [(name, question) for name in SHOP for question in SHOP[name][4:]]
    texts = [question for _, question in new] + [question for members in known.values() for question in members]
    background = await embedder.embed_questions([anchor.text for anchor in load_shipped_anchors().sentences])
    found = compute_similarities(await embedder.embed_questions(texts), background)
    places = {name: range(len(new) + 4 * number, len(new) + 4 * number + 4) for number, name in enumerate(known)}
    told = assign_to_gaps(found, places, range(len(new)))
    assert {place: new[place][0] for place in told} == told
    assert len(told) >= 6
    assert not Counter(new[place][0] for place in told)["bulk"]


async def test_unrelated_questions_stay_alone_however_few(embedder: Embedder) -> None:
    texts = ["能刻字吗", "可以寄到国外吗"]
    background = await embedder.embed_questions([anchor.text for anchor in load_shipped_anchors().sentences])
    assert len(build_clusters(compute_similarities(await embedder.embed_questions(texts), background), [0, 1])) == 2


@pytest.mark.parametrize("count", [2, 7, 120])
def test_clusters_are_those_of_scipy(count: int) -> None:
    generator = np.random.default_rng(count)
    found = np.triu(generator.normal(THRESHOLD - 0.2, 0.3, (count, count)), 1).astype(np.float32)
    found += found.T
    distances = squareform(found.max() - found, checks=False)
    labels = fcluster(linkage(distances, "average"), found.max() - THRESHOLD, "distance")
    expected = {frozenset(np.flatnonzero(labels == label).tolist()) for label in labels}
    assert {frozenset(cluster) for cluster in build_clusters(found, range(count))} == expected
    assert len(expected) > 1 or count == 2


def test_nothing_makes_no_cluster() -> None:
    assert build_clusters(np.zeros((0, 0), np.float32), []) == []
    assert assign_to_gaps(np.zeros((1, 1), np.float32), {}, [0]) == {}
