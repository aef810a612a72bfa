"""Chunks that are measured by the tokenizer of a tiny BGE checkpoint."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from knowledge.blocks import Block
from knowledge.chunking import ChunkOptions, split_document
from knowledge.embeddings.bge import BgeEmbedder
from knowledge.ingest import Identity, Ingestor
from knowledge.parsing.limits import ParsingLimits
from knowledge.sandbox.pool import Sandbox, SandboxOptions
from knowledge.text import Analyzer
from knowledge.tokens import ESTIMATED, measure_by
from knowledge.types import DocumentMeta, ParsedDocument
from tests.embedders import always

OPTIONS = ChunkOptions(min_tokens=5, max_tokens=30, overlap_tokens=10)
TEXT = "".join(
    f"第{number}条说明退货运费由您承担，质量问题除外，customers may return within 30 days。" for number in range(20)
)
LONG = "退货" * 100
IDENTITY = Identity("d", "v")


@pytest.fixture(scope="module")
def tokenizer(bge_embedder_folder: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(bge_embedder_folder)


def test_tokens_are_those_of_the_models_own_tokenizer(bge_embedder_folder: Path, tokenizer: Any) -> None:
    measure = measure_by(str(bge_embedder_folder / "tokenizer.json"))
    for text in (TEXT, LONG, "", " \n", "YS-H10 Pro"):
        assert (
            measure.count_units(text)
            == len(measure.find_unit_starts(text))
            == len(tokenizer.encode(text, add_special_tokens=False))
        )
    assert measure.convert_tokens(300) == 300
    assert measure.count_units(TEXT) != -(-3 * ESTIMATED.count_units(TEXT) // 4)


@pytest.mark.parametrize("text", [TEXT, LONG])
def test_chunks_keep_the_bounds_as_the_model_counts(bge_embedder_folder: Path, tokenizer: Any, text: str) -> None:
    options = replace(OPTIONS, tokenizer=str(bge_embedder_folder / "tokenizer.json"))
    chunks = split_document(ParsedDocument("标题", (Block(text),)), DocumentMeta("d", "a.md", "标题"), "v", options)
    sizes = [len(tokenizer.encode(chunk.text, add_special_tokens=False)) for chunk in chunks]
    assert len(sizes) > 3
    assert max(sizes) <= OPTIONS.max_tokens
    assert all(sentence in "".join(chunk.text for chunk in chunks) for sentence in text.split("。"))


async def test_a_file_is_cut_by_the_embedders_tokenizer_in_the_sandbox_too(
    bge_embedder_folder: Path, tokenizer: Any
) -> None:
    embedder = BgeEmbedder(str(bge_embedder_folder))
    sandbox = Sandbox(ParsingLimits(), SandboxOptions(workers=1))
    for reader in (None, sandbox):
        ingestor = Ingestor(always(embedder), Analyzer(), OPTIONS, reader)
        prepared = await ingestor.prepare("t", "说明.md", f"# 说明\n\n{TEXT}".encode(), IDENTITY, embed=False)
        sizes = [len(tokenizer.encode(chunk.text, add_special_tokens=False)) for chunk in prepared.chunks]
        assert len(sizes) > 3 and max(sizes) <= OPTIONS.max_tokens
    await sandbox.close()
    embedder.close()


async def test_without_its_tokenizer_tokens_are_estimated(tmp_path: Path) -> None:
    embedder = BgeEmbedder(str(tmp_path / "later"))
    assert embedder.tokenizer_file == ""
    ingestor = Ingestor(always(embedder), Analyzer(), OPTIONS)
    prepared = await ingestor.prepare("t", "说明.md", TEXT.encode(), IDENTITY, embed=False)
    assert all(
        ESTIMATED.count_units(chunk.text) <= ESTIMATED.convert_tokens(OPTIONS.max_tokens) for chunk in prepared.chunks
    )
    embedder.close()
