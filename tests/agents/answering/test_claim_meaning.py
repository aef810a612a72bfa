"""Vectors for whoever checks claims."""

from __future__ import annotations

from agents.answering.claim_meaning import PassageMeaning
from agents.answering.meaning import Meaning
from agents.verification.head import FITTED_ON
from knowledge.embeddings.e5 import E5Embedder
from knowledge.embeddings.hash import HashEmbedder
from tests.agents.support import candidate

CHUNKS = {3: candidate("签收后 7 天内可以退货。").chunk, 4: candidate("信用卡退款要 3 个工作日。").chunk}


def test_the_head_is_fitted_on_the_shipped_embedder() -> None:
    assert E5Embedder.name == FITTED_ON


async def test_with_another_embedder_words_alone_decide() -> None:
    assert await PassageMeaning(Meaning(HashEmbedder()), CHUNKS, "").embed_claim("七天内能退。") is None


class MeaningfulHashEmbedder(HashEmbedder):
    name, has_meaning = FITTED_ON, True


async def test_a_claim_is_embedded_alone_behind_its_question_and_clause_by_clause() -> None:
    passages = PassageMeaning(Meaning(MeaningfulHashEmbedder(), patience=60), CHUNKS, "怎么退货")
    found = await passages.embed_claim("签收后 7 天内可以退货，信用卡退款要 3 个工作日。")
    assert found is not None
    assert found.fragments == (3, 4)
    assert len(found.clauses) == 2
    assert found.compute_features()["clause_apart"] > 0
