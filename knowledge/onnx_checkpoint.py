"""A checkpoint that FlagEmbedding or onnxruntime computes: which of them does, and whose vectors and scores they are.

An export lies in the folder `onnx` of a checkpoint, as on the hubs. scripts/export_onnx.py writes beside it which
weights it was made of: floats give the same vectors and scores as those, and so share their identity with PyTorch.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from loguru import logger

from knowledge.checkpoint import AUTO, Checkpoint, has_cuda_driver, hash_files, is_installed

# auto: onnxruntime where there is an export and no GPU is to compute, else FlagEmbedding on PyTorch.
Runtime = Literal["auto", "torch", "onnx", "onnx_int8"]

FOLDER = "onnx"
# As exports are called on the hubs.
GRAPHS: dict[Runtime, str] = {"auto": "model.onnx", "onnx": "model.onnx", "onnx_int8": "model_quantized.onnx"}
RECORD = "export.json"
TOKENIZER = "tokenizer.json"
LIBRARY = "FlagEmbedding"
_INT8 = "/int8"
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")


class RuntimeCheckpoint(Checkpoint):
    """A checkpoint with the runtime that computes it."""

    def __init__(self, model: str, hub: str = "", runtime: Runtime = "auto", device: str = AUTO) -> None:
        """hub: see `Checkpoint`; device: what PyTorch would compute on, which decides in `auto`."""
        super().__init__(model, hub)
        self._runtime = runtime
        self._device = device
        self._graph: Path | None = None
        self._served: str | None = None

    def get_identity(self) -> str:
        """Returns the identity of the weights, which floats of either runtime share.

        8-bit weights are another model, and so is an export of unknown origin.

        Raises:
            FileNotFoundError: If a path, or an export that is required, does not exist.
        """
        weights = super().get_identity()
        if not Path(self.model).is_dir():
            return weights + self._suffix
        if self._served is None:
            self._graph = self._choose_graph(weights)
            self._served = weights if self._graph is None else self._identify_graph(self._graph, weights)
        return self._served

    def get_graph(self) -> Path | None:
        """Returns the export to compute with, downloaded if needed; None if FlagEmbedding is to compute. Blocking.

        Raises:
            FileNotFoundError: If a required export does not exist.
            Exception: Whatever the library of a hub raises.
        """
        self.get_identity()
        if Path(self.model).is_dir():
            return self._graph
        if self._runtime == "torch" or (self._runtime == "auto" and self._wants_torch()):
            return None
        graph = self._download_graph()
        if graph is None and self._runtime != "auto":
            raise FileNotFoundError(f"{self.model} 没有 {FOLDER}/{self._graph_name}，{_HOW_TO_EXPORT}")
        return graph

    @property
    def is_int8(self) -> bool:
        """Whether the weights are integers: then a vector depends slightly on what else is computed in the same
        call.
        """
        return self._runtime == "onnx_int8"

    @property
    def _graph_name(self) -> str:
        return GRAPHS[self._runtime]

    @property
    def _suffix(self) -> str:
        return _INT8 if self.is_int8 else ""

    def _choose_graph(self, weights: str) -> Path | None:
        """Chooses the export in a folder; None if there is none to use."""
        if self._runtime == "torch":
            return None
        graph = Path(self.model, FOLDER, self._graph_name)
        if self._runtime != "auto":
            if not graph.is_file():
                raise FileNotFoundError(f"没有 {graph}，{_HOW_TO_EXPORT}")
            return graph
        if not graph.is_file() or self._wants_gpu():
            return None
        return graph if self._is_current(graph, weights) or not is_installed(LIBRARY) else None

    def _is_current(self, graph: Path, weights: str) -> bool:
        """Returns whether an export was made of the weights in its folder, or is alone there."""
        if not any(self.find_file(name) for name in _WEIGHTS):
            return True
        if read_source(graph) == weights:
            return True
        logger.warning("{} was not made of the weights beside it and is not used; scripts/export_onnx.py", graph)
        return False

    def _identify_graph(self, graph: Path, weights: str) -> str:
        source = read_source(graph)
        if source is None:
            source = f"{weights}/{hash_files(list_graph_files(graph))}"
        return source + self._suffix

    def _wants_torch(self) -> bool:
        """Returns whether a model of a hub should run in PyTorch, since its files are already here in that form."""
        if self._wants_gpu():
            return True
        there = is_installed(LIBRARY) and any(self.find_file(name) for name in _WEIGHTS)
        return there and self.find_file(f"{FOLDER}/{self._graph_name}") is None

    def _wants_gpu(self) -> bool:
        if self._device == AUTO:
            return has_cuda_driver() and is_installed(LIBRARY)
        return self._device != "cpu"

    def _download_graph(self) -> Path | None:
        """Downloads the export; None if the hub has none, or if it fails and FlagEmbedding may be tried instead."""
        from huggingface_hub import snapshot_download

        wanted = ["config.json", TOKENIZER, f"{FOLDER}/{self._graph_name}*"]
        try:
            graph = Path(snapshot_download(self.model, allow_patterns=wanted), FOLDER, self._graph_name)
        except Exception as error:  # whatever a library says of files and networks
            if self._runtime != "auto" or not is_installed(LIBRARY):
                raise
            logger.info("no export of {} can be had, PyTorch is to compute it: {}", self.model, error)
            return None
        return graph if graph.is_file() else None


def list_graph_files(graph: Path) -> list[Path]:
    """Lists the files that the results of an export depend on: the graph, its weights and the tokenizer."""
    return [graph, *sorted(graph.parent.glob(f"{graph.name}?data")), graph.parents[1] / TOKENIZER]


def read_source(graph: Path) -> str | None:
    """Reads the identity of the weights that an export was made of; None if it was not written down or does not fit."""
    try:
        record: dict[str, Any] = json.loads((graph.parent / RECORD).read_text("utf-8"))
        made = record["graphs"].get(graph.name) == hash_files(list_graph_files(graph))
        return str(record["source"]) if made else None
    except (OSError, ValueError, KeyError):
        return None


def write_source(graphs: Sequence[Path], source: str) -> None:
    """Writes down which weights the exports of one folder were made of.

    Args:
        graphs: The exports.
        source: Identity of the weights, see `Checkpoint.get_identity`.
    """
    record = {"source": source, "graphs": {graph.name: hash_files(list_graph_files(graph)) for graph in graphs}}
    (graphs[0].parent / RECORD).write_text(json.dumps(record, indent=2) + "\n", "utf-8")


_HOW_TO_EXPORT = "请在装有 requirements.txt 的机器上运行 python scripts/export_onnx.py"
