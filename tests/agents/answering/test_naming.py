from __future__ import annotations

import pytest

from agents.answering.document_names import find_topic
from agents.types import Outcome
from knowledge.types import Chunk, DocumentMeta
from tests.agents.support import FixedSearcher, candidate
from tests.agents.test_knowledge import answer


def passage(name: str, title: str, text: str = "略", heading: tuple[str, ...] = ()) -> Chunk:
    return Chunk("v-0", DocumentMeta("d", name, title), 0, text, heading)


@pytest.mark.parametrize(
    ("stem", "shown"),
    [
        ("退货说明_v2", "退货说明"),
        ("退货说明_v2_final", "退货说明"),
        ("2024-05-退货政策", "退货政策"),
        ("20240501 会员权益(3)", "会员权益"),
        ("退货说明V2.1", "退货说明"),
        ("X10 说明书_20240501", "X10 说明书"),
        ("退货说明", "退货说明"),
        ("return_policy_v2", "return policy"),
        ("IMG_20240101", ""),
        ("20240101", ""),
        ("scan0012", ""),
    ],
)
def test_the_name_of_a_file_is_told_by_its_words_alone(stem: str, shown: str) -> None:
    for suffix in (".docx", ".PDF", ".md"):
        for title in (stem, f"{stem}{suffix}"):
            assert find_topic(passage(f"{stem}{suffix}", title)) == shown
        assert find_topic(passage("别的.md", "标题", heading=(f"{stem}{suffix}",))) == (shown or "标题")


def test_titles_headings_and_names_of_products_stay_as_they_are() -> None:
    assert find_topic(passage("a.docx", "退货说明_v2")) == "退货说明_v2", "somebody wrote it into the document"
    assert find_topic(passage("a.docx", "a", heading=("退款", "到账时间"))) == "到账时间"
    assert find_topic(passage("YS-1001.md", "YS-1001", "YS1001 的量程为 5 米。")) == "YS-1001"
    assert find_topic(passage("2.0 版本.md", "升级说明", heading=("2.0",))) == "2.0"


async def test_nobody_is_asked_whether_they_mean_a_file() -> None:
    near = [
        candidate("略", 0.5, number=0, title="退换货细则_v2.docx"),
        candidate("略", 0.48, number=1, title="scan0012.pdf"),
        candidate("略", 0.46, number=2, heading=("退款", "到账时间")),
    ]
    result = await answer("退款", FixedSearcher(*near))
    assert (result.outcome, result.suggestions) == (Outcome.CLARIFY, ("退换货细则", "退货的到账时间是多久？"))
    assert "docx" not in result.reply and "_v2" not in result.reply
    nameless = await answer("退款", FixedSearcher(candidate("略", 0.5, title="scan0012.pdf")))
    assert nameless.outcome is Outcome.NO_EVIDENCE
