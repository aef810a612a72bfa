"""Exports a BGE embedder or reranker to ONNX; it is then served without PyTorch (BGE_RUNTIME, BGE_RERANKER_RUNTIME).

Needs requirements.txt; what it writes needs requirements-lite.txt alone. Weights lie in a file of their own beside the
graph: those of 1.1 GB then load in .4 s and .4 GB, and within the graph in 2.3 s and 1.9 GB.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from knowledge.checkpoint import Checkpoint
from knowledge.onnx_checkpoint import FOLDER, GRAPHS, TOKENIZER, write_source

RERANKER = "ForSequenceClassification"


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0, or 2 for arguments that cannot work."""
    parser = argparse.ArgumentParser(description="把 BGE 的向量模型或重排模型导出为 ONNX")
    parser.add_argument("model", help="文件夹，或模型站上的名称，如 BAAI/bge-large-zh-v1.5")
    parser.add_argument("--output", type=Path, help="写到哪个文件夹；模型是文件夹时默认写在它里面")
    options = parser.parse_args(arguments)
    if options.output is None and not Path(options.model).is_dir():
        parser.error("按名称导出时要用 --output 给出文件夹")
    for graph in export_model(options.model, options.output or Path(options.model)):
        size = sum(path.stat().st_size for path in graph.parent.glob(f"{graph.name}*"))
        print(f"{graph}（{size / 1e6:.0f} MB）")
    return 0


def export_model(model: str, output: Path) -> list[Path]:
    """Writes a graph in floats and one in 8-bit integers, with tokenizer and configuration where they are missing.

    Returns the two graphs. Raises ValueError where the graph computes something else, and whatever transformers raises
    of a model that is not there.
    """
    checkpoint = Checkpoint(model)
    from transformers import AutoConfig, AutoTokenizer

    output.mkdir(parents=True, exist_ok=True)
    config = AutoConfig.from_pretrained(model)
    if not (output / TOKENIZER).is_file():
        AutoTokenizer.from_pretrained(model).save_pretrained(output)
    if not (output / "config.json").is_file():
        config.save_pretrained(output)
    folder = output / FOLDER
    folder.mkdir(exist_ok=True)
    is_reranker = any(name.endswith(RERANKER) for name in config.architectures or ())
    graphs = [folder / GRAPHS["onnx"], folder / GRAPHS["onnx_int8"]]
    _write_graphs(_load_model(model, is_reranker), graphs[0], graphs[1])
    write_source(graphs, checkpoint.get_identity())
    return graphs


def _load_model(model: str, is_reranker: bool) -> Any:
    from transformers import AutoModel, AutoModelForSequenceClassification

    if is_reranker:
        return AutoModelForSequenceClassification.from_pretrained(model).eval()
    # without the pooler: BGE takes the state of the first token as it is
    return AutoModel.from_pretrained(model, add_pooling_layer=False).eval()


def _write_graphs(model: Any, floats: Path, integers: Path) -> None:
    """Integers of 7 bits: sums of products of 8 would overflow on processors without instructions for them (VNNI)."""
    import torch
    from onnxruntime.quantization import QuantType
    from transformers.exporters.configs import ExportFormat, OnnxConfig
    from transformers.exporters.exporter_onnx import OnnxExporter
    from transformers.exporters.quantizers.quantizer_onnxruntime import OnnxRuntimeDynamicConfig, OnnxRuntimeQuantizer

    ids = torch.ones(2, 16, dtype=torch.long)
    inputs: dict[str, Any] = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    if model.config.type_vocab_size > 1:
        inputs["token_type_ids"] = torch.zeros_like(ids)
    exporter: Any = OnnxExporter  # without types
    exported = exporter().export(model, inputs, config=OnnxConfig(dynamic=True)).program
    quantized = OnnxRuntimeQuantizer(
        OnnxRuntimeDynamicConfig(
            per_channel=True,
            reduce_range=True,
            weight_type=QuantType.QInt8,
            extra_options={"MatMulConstBOnly": True},  # not the products of attention, both sides of which vary
        )
    ).quantize(exported, inputs, ExportFormat.ONNX)
    for graph, path in ((exported, floats), (quantized, integers)):
        for left in path.parent.glob(f"{path.name}*"):
            left.unlink()
        exporter.save_program(graph, path)
    _check_graph(model, floats)


def _check_graph(model: Any, graph: Path) -> None:
    """Raises ValueError unless the graph gives what the model gives, at another length and with padding: the exporter
    calls itself experimental.
    """
    import torch
    from onnxruntime import InferenceSession

    ids = torch.randint(5, model.config.vocab_size, (3, 40), generator=torch.Generator().manual_seed(0))
    mask = torch.ones_like(ids)
    mask[1, 25:] = 0
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": torch.zeros_like(ids)}
    session = InferenceSession(graph, providers=["CPUExecutionProvider"])
    wanted = {given.name: inputs[given.name] for given in session.get_inputs()}
    with torch.no_grad():
        expected = model(**wanted)[0].numpy()
    found = session.run(None, {name: value.numpy() for name, value in wanted.items()})[0]
    if expected.ndim == 3:  # of padding nobody reads the states
        expected, found = expected[:, 0], found[:, 0]
    if not np.allclose(found, expected, rtol=1e-3, atol=1e-3):
        raise ValueError(f"{graph} 与模型的结果不同，最大相差 {np.abs(found - expected).max():.3g}")


if __name__ == "__main__":
    raise SystemExit(main())
