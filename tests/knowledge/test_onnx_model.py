"""What onnxruntime makes of an export, beside the library that loads the checkpoint itself."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from knowledge.onnx_checkpoint import GRAPHS, TOKENIZER, Runtime
from knowledge.onnx_model import BATCH, MAX_QUESTION_TOKENS, MAX_TOKENS, OnnxModel
from tests.contracts.embedders import alike

WORDS = "退货/运费/谁承担/发票/路由器/ax3000/a1b2/straße/ελλάς/ответ/שלום/مرحبا/नमस/한국/ありがとう/สวส/😀/，/。/-/é/ñ"
LONG = "退货" * MAX_TOKENS


def texts(count: int) -> list[str]:
    """Of all scripts that the tiny checkpoints have letters for, of 1 to 60 words."""
    chance, words = random.Random(7), [*WORDS.split("/"), " "]
    return ["".join(chance.choices(words, k=chance.randint(1, 60))).strip() or "退货" for _ in range(count)]


def model_of(folder: Path, runtime: Runtime = "onnx", **options: Any) -> OnnxModel:
    options = {"alone": runtime == "onnx_int8"} | options
    return OnnxModel(folder / "onnx" / GRAPHS[runtime], folder / TOKENIZER, **options)


@pytest.fixture(scope="module")
def embedder(exported_embedder_folder: Path) -> OnnxModel:
    return model_of(exported_embedder_folder, pairs=False)


@pytest.fixture(scope="module")
def reranker(exported_reranker_folder: Path) -> OnnxModel:
    return model_of(exported_reranker_folder, pairs=True)


def test_vectors_are_those_of_the_library(embedder: OnnxModel, exported_embedder_folder: Path) -> None:
    from FlagEmbedding import FlagModel

    wanted = [*texts(250), LONG, "a" * 3 * MAX_TOKENS, "\n退\t货 "]
    library = FlagModel(str(exported_embedder_folder), normalize_embeddings=True, use_fp16=False, devices="cpu")
    expected = library.encode_corpus(wanted, batch_size=len(wanted) + 1)
    found = embedder.embed(wanted)
    assert found.shape == (len(wanted), embedder.width)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_scores_are_those_of_the_library(reranker: OnnxModel, exported_reranker_folder: Path) -> None:
    from FlagEmbedding import FlagReranker

    some = texts(250)
    pairs = [(question[:40], passage) for question, passage in zip(some, reversed(some), strict=True)]
    pairs += [
        ("", "退货"),
        ("退货", ""),
        ("退货", LONG),
        (LONG, "发票"),
        (LONG, LONG),
        ("退" * MAX_QUESTION_TOKENS, LONG),
    ]
    library = FlagReranker(str(exported_reranker_folder), devices="cpu", normalize=False, max_length=MAX_TOKENS)
    expected = library.compute_score(pairs, batch_size=len(pairs) + 1)
    assert np.std(expected) > 0.5
    np.testing.assert_allclose(reranker.score(pairs), expected, atol=1e-3)


def test_a_character_that_the_tokenizer_does_not_know_is_read_as_in_training(
    reranker: OnnxModel, exported_reranker_folder: Path
) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    pairs = [("𠮷野家", "退货"), ("退货", "ab𠮷野 𠮷")]
    tokenizer = AutoTokenizer.from_pretrained(exported_reranker_folder)
    model = AutoModelForSequenceClassification.from_pretrained(exported_reranker_folder).eval()
    with torch.no_grad():
        expected = [float(model(**tokenizer(*pair, return_tensors="pt")).logits) for pair in pairs]
    np.testing.assert_allclose(reranker.score(pairs), expected, atol=1e-3)


def test_short_texts_of_nearly_one_length_are_one_call_and_keep_their_order(
    embedder: OnnxModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = ["退货", LONG, *(f"运费谁承担{number}" for number in range(BATCH + 1)), LONG, "发票"]
    alone = [embedder.embed([text])[0] for text in wanted]
    calls, feed = list[tuple[int, int]](), embedder._build_inputs

    def counted(encodings: Any) -> Any:
        calls.append((len(encodings), len(encodings[0])))
        return feed(encodings)

    monkeypatch.setattr(embedder, "_build_inputs", counted)
    np.testing.assert_allclose(embedder.embed(wanted), alone, atol=1e-5)
    assert sorted(calls) == [(1, 8), (1, MAX_TOKENS), (1, MAX_TOKENS), (2, 4), (BATCH, 8)]


def test_with_weights_in_8_bits_a_vector_is_near_and_does_not_depend_on_its_company(
    embedder: OnnxModel, exported_embedder_folder: Path
) -> None:
    integers, wanted = model_of(exported_embedder_folder, "onnx_int8", pairs=False), texts(40)
    together = integers.embed(wanted)
    np.testing.assert_array_equal(together, [integers.embed([text])[0] for text in wanted])
    floats = embedder.embed(wanted)
    assert alike(together, floats, 0.99)
    assert not np.allclose(together, floats, atol=1e-4)


def test_the_export_of_another_kind_of_model_is_refused(
    exported_embedder_folder: Path, exported_reranker_folder: Path
) -> None:
    with pytest.raises(ValueError, match="不是重排模型的导出"):
        model_of(exported_embedder_folder, pairs=True)
    with pytest.raises(ValueError, match="不是向量模型的导出"):
        model_of(exported_reranker_folder, pairs=False)


SERVE = """
import asyncio, sys
from pathlib import Path
from knowledge.embeddings.registry import EmbedderOptions, get_embedder
from knowledge.rerankers.registry import RerankerOptions, get_reranker
embedder = get_embedder("bge", options=EmbedderOptions(bge_model=sys.argv[1]))
assert asyncio.run(embedder.embed_passages(["退货"])).any()
reranker = get_reranker("bge", RerankerOptions(bge_model=sys.argv[2]))
assert reranker._compute_logits([("退货", "运费")])
print(*sorted({name.split(".")[0] for name in sys.modules} & {"torch", "transformers", "FlagEmbedding", "onnxruntime"}))
"""


def test_where_there_are_exports_pytorch_is_not_imported(
    exported_embedder_folder: Path, exported_reranker_folder: Path
) -> None:
    command = [sys.executable, "-c", SERVE, str(exported_embedder_folder), str(exported_reranker_folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["onnxruntime"]
