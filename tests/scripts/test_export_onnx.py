from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from knowledge.checkpoint import Checkpoint
from knowledge.onnx_checkpoint import RuntimeCheckpoint
from scripts.export_onnx import _check_graph, main
from tests.checkpoints import write_reranker

WRITTEN = {"export.json", "model.onnx", "model.onnx.data", "model_quantized.onnx", "model_quantized.onnx.data"}
pytestmark = pytest.mark.filterwarnings("ignore")  # the exporter's own


def test_exports_lie_beside_the_weights_whose_identity_stays(
    exported_embedder_folder: Path, bge_embedder_folder: Path
) -> None:
    assert {path.name for path in (exported_embedder_folder / "onnx").iterdir()} == WRITTEN
    assert (
        Checkpoint(str(exported_embedder_folder)).get_identity() == Checkpoint(str(bge_embedder_folder)).get_identity()
    )


def test_exports_in_another_folder_serve_alone_and_a_second_run_replaces_them(
    bge_reranker_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, output = tmp_path / bge_reranker_folder.name, tmp_path / "served"
    shutil.copytree(bge_reranker_folder, source)
    assert main([str(source), "--output", str(output)]) == 0
    assert "model_quantized.onnx" in capsys.readouterr().out
    served = RuntimeCheckpoint(str(output))
    assert served.get_graph() == output / "onnx/model.onnx"
    assert served.get_identity() == Checkpoint(str(source)).get_identity()
    assert not list(output.glob("*.safetensors"))
    assert main([str(source), "--output", str(output)]) == 0
    assert {path.name for path in (output / "onnx").iterdir()} == WRITTEN


def test_an_export_that_computes_something_else_is_refused(
    exported_reranker_folder: Path, bge_reranker_folder: Path, tmp_path: Path
) -> None:
    from transformers import AutoModelForSequenceClassification

    other = write_reranker(tmp_path / "other", seed=1)
    graph = exported_reranker_folder / "onnx/model.onnx"
    _check_graph(AutoModelForSequenceClassification.from_pretrained(bge_reranker_folder).eval(), graph)
    with pytest.raises(ValueError, match="与模型的结果不同"):
        _check_graph(AutoModelForSequenceClassification.from_pretrained(other).eval(), graph)


def test_a_name_needs_a_folder_to_write_to(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["BAAI/bge-large-zh-v1.5"])
    assert stopped.value.code == 2
    assert "--output" in capsys.readouterr().err
