"""Four hundred claims over the documents of three trades: what the check without a model lets stand."""

from __future__ import annotations

import json
import re
from contextlib import closing
from pathlib import Path

import pytest

from agents.claim_reader import CLAIMS, ClaimReader
from agents.judge import ReaderOptions, list_measuring_examples
from agents.verification.support import Support, SupportChecker
from knowledge.embeddings.base import EmbeddingCache
from knowledge.embeddings.e5 import E5Embedder
from scripts.evaluation.claims import (
    LabelledClaim,
    count_flagged,
    embed_claims,
    judge_claims,
    judge_with_model,
    load_chunks,
    load_claims,
)
from tests.agents.models import scripted
from tests.agents.support import candidate

ROOT = Path(__file__).resolve().parents[3]
SET = Path(__file__).with_name("claim_set")
FOLDERS = [
    ROOT / "knowledge/samples/documents",
    ROOT / "tests/evaluation/property/documents",
    ROOT / "tests/evaluation/insurer/documents",
    SET / "documents",
]
PAID = (
    "质量问题、发错货的，寄回运费由云笙承担；无理由退货的，寄回运费由顾客承担，有运费险的由运费险赔付。\n"
    "金笙会员生日当月送一张优惠券。"
)


@pytest.mark.parametrize(
    ("half", "found", "flagged"),
    [("development", 0.61, 0.18), ("blind", 0.61, 0.25)],
)
def test_as_much_is_found_and_as_little_held_back_by_words_as_the_documents_tell(
    half: str, found: float, flagged: float
) -> None:
    claims = load_claims(SET / f"{half}.jsonl")
    assert len(claims) == 200
    counts = count_flagged(claims, judge_claims(claims, load_chunks(claims, FOLDERS)))
    assert counts["bad"][0] >= found * counts["bad"][1]
    assert counts["supported"][0] <= flagged * counts["supported"][1]
    assert counts["number_changed"][0] >= 0.9 * counts["number_changed"][1]


def test_claims_of_trades_that_nothing_was_fitted_on_are_told_apart_better_than_by_chance() -> None:
    claims = load_claims(SET / "trades.jsonl")
    assert len(claims) == 160
    counts = count_flagged(claims, judge_claims(claims, load_chunks(claims, [SET / "trades"])))
    assert counts["bad"][0] >= 0.45 * counts["bad"][1]
    assert counts["supported"][0] <= 0.5 * counts["supported"][1], "more of the good ones are held back than before"


def test_passages_stand_in_a_file_of_claims_in_the_place_of_documents(tmp_path: Path) -> None:
    row = {"passages": [PAID], "question": "", "label": "supported"}
    file = tmp_path / "claims.jsonl"
    file.write_text(json.dumps({**row, "claim": "质量问题的寄回运费由云笙承担。", "kind": "reworded"}) + "\n", "utf-8")
    claims = load_claims(file)
    assert claims[0].good
    assert judge_claims(claims, load_chunks(claims, [])) == [True]


@pytest.mark.parametrize(
    ("claim", "question", "support"),
    [
        ("质量问题的寄回运费由云笙承担。", "", Support.SUPPORTED),
        ("寄回运费由云笙承担。", "耳机有质量问题，发错货也一样，运费谁出", Support.SUPPORTED),
        ("退货的运费由云笙承担。", "", Support.UNSUPPORTED),
        ("金笙会员的退货运费由云笙承担。", "", Support.UNSUPPORTED),
        ("无理由退货的寄回运费由云笙承担。", "", Support.UNSUPPORTED),
    ],
)
async def test_a_claim_keeps_its_condition_unless_the_question_says_it(
    claim: str, question: str, support: Support, embedding_cache: EmbeddingCache
) -> None:
    chunks = {0: candidate(PAID, title="运费说明").chunk}
    with closing(E5Embedder(embedding_cache)) as embedder:
        (meaning,) = await embed_claims([LabelledClaim("", question, claim, "")], {"": chunks}, embedder)
    assert meaning is not None
    assert SupportChecker(chunks, question).check_sentence(claim, meaning=meaning).support is support


async def test_a_model_that_tells_them_apart_finds_what_the_check_without_one_lets_stand() -> None:
    claims = [claim for claim in load_claims(SET / "development.jsonl") if claim.document == "退货运费说明.md"]
    truth = {claim.text: claim.good for claim in claims} | {
        example.text: example.holds for example in list_measuring_examples(CLAIMS)
    }

    def judge(prompt: str) -> float:
        found = re.search(r"<句子>\n(.*)\n</句子>", prompt)
        assert found is not None
        return 4.0 if truth[found[1]] else -4.0

    chunks = load_chunks(claims, FOLDERS)
    async with scripted(judges=judge) as llm:
        reader = ClaimReader(llm.model, ReaderOptions(seconds=20.0))
        quality, stands = await judge_with_model(claims, chunks, reader)
    assert quality.auroc == 1.0
    counts = count_flagged(claims, stands)
    assert counts["bad"][0] == counts["bad"][1]
    assert counts.get("supported") == count_flagged(claims, judge_claims(claims, chunks)).get("supported")
