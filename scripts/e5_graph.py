"""Writes knowledge/e5/encoder.onnx: the encoder of e5 as a graph without weights."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from onnx import ModelProto, NodeProto, TensorProto, helper

from knowledge.e5.graph import GRAPH, load_initializers
from knowledge.e5.weights import BLOCK, WeightsFile, find_weights

_MICROSOFT = "com.microsoft"


class GraphWriter:
    """Collects the nodes of a graph. Every method that adds some returns the name of the last one's output."""

    def __init__(self, file: WeightsFile) -> None:
        self._file = file
        self._nodes: list[NodeProto] = []
        self._weights = load_initializers(file)

    def build_model(self) -> ModelProto:
        """From embeddings, shape (texts, tokens, hidden), to the last hidden states, of the same shape."""
        inputs = ["embeddings", "embedding.weight", "embedding.bias"]
        states = self._add_node("LayerNormalization", inputs, "embedding", epsilon=self._file.epsilon)
        for layer in range(self._file.layers):
            states = self._add_layer(f"l{layer}", states)
        shape = ["texts", "tokens", self._file.hidden]
        graph = helper.make_graph(
            self._nodes,
            "e5",
            [helper.make_tensor_value_info("embeddings", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info(states, TensorProto.FLOAT, shape)],
            [build_external_tensor(name, array) for name, array in self._weights.items()],
        )
        imports = [helper.make_opsetid("", 20), helper.make_opsetid(_MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=imports, ir_version=9, producer_name="yingda")

    def _add_layer(self, layer: str, states: str) -> str:
        parts = [f"{layer}.{part}" for part in "qkv"]
        joined = self._add_product(f"{layer}.qkv", states)
        self._nodes.append(helper.make_node("Split", [joined], parts, axis=-1, num_outputs=len(parts)))
        context = self._add_node(
            "MultiHeadAttention", parts, f"{layer}.context", _MICROSOFT, num_heads=self._file.heads
        )
        attended = self._add_norm(f"{layer}.attention_norm", states, self._add_product(f"{layer}.attention", context))
        inner = self._add_node("Gelu", [self._add_product(f"{layer}.inner", attended)], f"{layer}.gelu", _MICROSOFT)
        return self._add_norm(f"{layer}.output_norm", attended, self._add_product(f"{layer}.outer", inner))

    def _add_norm(self, norm: str, states: str, added: str) -> str:
        inputs = [states, added, f"{norm}.weight", f"{norm}.bias"]
        return self._add_node("SkipLayerNormalization", inputs, norm, _MICROSOFT, epsilon=self._file.epsilon)

    def _add_product(self, product: str, states: str) -> str:
        rows, blocks, _ = self._weights[f"{product}.weight"].shape
        inputs = [states, f"{product}.weight", f"{product}.scale", "", "", f"{product}.bias"]
        # accuracy level 4: states are multiplied as 8-bit integers, too
        sizes = {"N": rows, "K": blocks * BLOCK, "bits": 4, "block_size": BLOCK, "accuracy_level": 4}
        return self._add_node("MatMulNBits", inputs, f"{product}.sum", _MICROSOFT, **sizes)

    def _add_node(self, kind: str, inputs: Sequence[str], output: str, domain: str = "", **attributes: Any) -> str:
        self._nodes.append(helper.make_node(kind, inputs, [output], domain=domain, **attributes))
        return output


def build_external_tensor(name: str, array: Any) -> TensorProto:
    """An initializer whose values are given when the graph is loaded."""
    tensor = TensorProto(name=name, data_type=helper.np_dtype_to_tensor_dtype(array.dtype), dims=array.shape)
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", "weights"), ("offset", "0"), ("length", str(array.nbytes))):
        entry = tensor.external_data.add()
        entry.key, entry.value = key, value
    return tensor


def build_graph() -> bytes:
    """The content of the file."""
    content: bytes = GraphWriter(WeightsFile(find_weights())).build_model().SerializeToString()
    return content


def main() -> None:
    """Writes the file."""
    GRAPH.write_bytes(build_graph())


if __name__ == "__main__":
    main()
