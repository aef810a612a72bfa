from __future__ import annotations

import pytest

from knowledge.own_names import drop_names, find_own_names
from knowledge.probability import CalibrationMap
from knowledge.rerankers.registry import get_reranker
from tests.knowledge.builders import base_of, chunk

NAMES = frozenset({"halo"})
TOPICS = (
    "备份与恢复的步骤",
    "附件删除以后怎么找回",
    "插件的安装与升级",
    "评论审核的开关",
    "许可证的激活",
    "域名的绑定",
)


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("halo有没有培训课程", "有没有培训课程"),
        ("我想问 Halo 的备份在哪里", "我想问  备份在哪里"),
        ("Halo 是什么", "Halo 是什么"),
        ("halogen灯泡怎么更换", "halogen灯泡怎么更换"),
        ("How do I back up Halo", "How do I back up Halo"),
    ],
)
def test_the_name_goes_where_something_else_is_asked(question: str, left: str) -> None:
    assert drop_names(question, NAMES) == left


async def test_a_base_is_about_the_name_that_most_of_its_passages_hold() -> None:
    named = await base_of(*(chunk(f"c{n}", f"Halo 的{topic}，用 Docker 部署") for n, topic in enumerate(TOPICS[:4])))
    mixed = await base_of(
        *(chunk(f"c{n}", f"{('Halo', 'WordPress', 'Typecho')[n % 3]} 的{topic}") for n, topic in enumerate(TOPICS))
    )
    assert "halo" in find_own_names(named.index.get_snapshot())
    assert not find_own_names(mixed.index.get_snapshot())
    await named.close()
    await mixed.close()


async def test_passages_are_judged_as_if_the_name_had_not_been_said() -> None:
    base = await base_of(*(chunk(f"c{n}", f"Halo 的{topic}") for n, topic in enumerate(TOPICS)))
    retriever = base.retriever(get_reranker("cosine"))
    named = await retriever.search("halo有没有培训课程可以报名", explain=True)
    plain = await retriever.search("有没有培训课程可以报名", explain=True)
    scores = {found.chunk.id: found.score for found in plain.candidates}
    assert {found.chunk.id: found.score for found in named.candidates} == pytest.approx(scores)
    await base.close()


async def test_the_scorer_that_stands_in_judges_without_the_name_too() -> None:
    base = await base_of(*(chunk(f"c{n}", f"Halo 的{topic}") for n, topic in enumerate(TOPICS)))
    retriever = base.retriever(get_reranker("bge"), calibrated=False)
    retriever.set_calibration(CalibrationMap("lexical_dense", 0.05, 0.3, 0.6))
    direct = base.retriever(get_reranker("lexical_dense"))
    found = [await each.search("halo有没有培训课程可以报名", explain=True) for each in (retriever, direct)]
    stood_in, own = ({item.chunk.id: item.score for item in each.candidates} for each in found)
    assert found[0].degraded == ("rerank",) and stood_in == pytest.approx(own)
    await base.close()
