"""The words of a text are those of jieba's own search."""

from __future__ import annotations

from importlib.util import find_spec, module_from_spec
from typing import Any

import pytest
from jieba import finalseg, posseg

from agents.understanding.parts_of_speech import tag_words
from knowledge.segmentation import find_likeliest_states
from tests.long_messages import FAMILIES

_USUAL = ("查一下张三的订单", "我上个月买的耳机发货了吗", "帮我看看李晓明名下有几张优惠券", "訂單什麼時候發貨")


@pytest.mark.parametrize("text", [*_USUAL, *(made(30) for made in FAMILIES.values())])
def test_the_tags_are_those_of_jieba(text: str) -> None:
    assert list(tag_words(text)) == [(pair.word, pair.flag) for pair in posseg.cut(text)]


@pytest.fixture(scope="module")
def own_search() -> Any:
    """jieba's, as another copy of its module has it: the product puts its own in the place of the first."""
    spec = find_spec("jieba.finalseg")
    assert spec is not None and spec.loader is not None
    copy = module_from_spec(spec)
    spec.loader.exec_module(copy)
    return copy.viterbi


@pytest.mark.parametrize("text", [*_USUAL, *(made(80) for made in FAMILIES.values())])
def test_the_words_are_those_of_jieba(text: str, own_search: Any) -> None:
    model = "BMES", finalseg.start_P, finalseg.trans_P, finalseg.emit_P
    assert own_search(text, *model) == find_likeliest_states(text, *model)
