from __future__ import annotations

import pytest

from agents.understanding.consent import Consent, Reply
from agents.understanding.reading import read

CONFIRM, CANCEL, SUPPLEMENT = Consent.CONFIRM, Consent.CANCEL, Consent.SUPPLEMENT


@pytest.mark.parametrize(
    "text",
    [
        "确认",
        "好的",
        "确认！",
        "好的，提交吧",
        "可以",
        "可以的，谢谢",
        "嗯嗯",
        "行",
        "对",
        "是的",
        "没问题，提交",
        "确定",
        "ok",
        "确认提交",
        "帮我提交",
        "麻烦登记一下",
        "就这样吧",
        "yes",
        "OK,submit",
        "好",
        "同意",
        "行吧",
    ],
)
def test_a_yes_confirms(text: str) -> None:
    assert read(text).reply == Reply(CONFIRM)


@pytest.mark.parametrize(
    "text",
    [
        "取消",
        "算了",
        "不用了，我自己处理吧",
        "先不用，谢谢你帮忙",
        "不用了",
        "不用了，谢谢",
        "先不用",
        "不要",
        "不确认",
        "不了",
        "不提交",
        "算了不用了",
        "还是算了吧",
        "不",
        "no",
        "cancel",
        "放弃",
        "我不要了",
        "不是",
        "不对",
        "不可以",
    ],
)
def test_a_no_cancels(text: str) -> None:
    assert read(text).reply == Reply(CANCEL)


@pytest.mark.parametrize(
    ("text", "added"),
    [
        ("补充：阳台也在漏水", "阳台也在漏水"),
        ("再补充一下，型号是 YS-A1 Pro", "型号是 YS-A1 Pro"),
        ("我的电话是 13800138000", "我的电话是 13800138000"),
        ("地址是幸福路 3 号 2 栋", "地址是幸福路 3 号 2 栋"),
        ("周末我都在家", "周末我都在家"),
        ("另外遥控器也坏了", "遥控器也坏了"),
        ("是上个月买的，现在完全不制冷", "是上个月买的，现在完全不制冷"),
        ("不是洗衣机，是烘干机坏了", "不是洗衣机，是烘干机坏了"),
        ("also the remote is broken", "the remote is broken"),
    ],
)
def test_a_statement_adds_to_it(text: str, added: str) -> None:
    assert read(text).reply == Reply(SUPPLEMENT, added)


@pytest.mark.parametrize(
    ("text", "added"), [("确认，电话 13800138000", "电话 13800138000"), ("好的。请下午再来", "请下午再来")]
)
def test_a_yes_may_add_something(text: str, added: str) -> None:
    assert read(text).reply == Reply(CONFIRM, added)


@pytest.mark.parametrize(
    "text",
    [
        "可以吗？",
        "提交之后多久有人联系我",
        "怎么退货",
        "帮我查一下订单",
        "转人工",
        "找真人",
        "我要投诉",
        "谢谢",
        "在吗",
        "收到",
        "保修几年",
        "确认什么？",
        "运费谁出",
        "",
        "。。。",
        "asdfghjkl",
        "how long does it take",
        "推荐一款耳机",
    ],
)
def test_anything_else_is_no_word_on_the_proposal(text: str) -> None:
    assert read(text).reply is None


@pytest.mark.parametrize(
    "text", ["那就提交吧", "没了，提交", "不用补充了，直接提交", "确认无误请提交", "好滴", "就这些，提交"]
)
def test_a_yes_may_have_a_lead(text: str) -> None:
    assert read(text).reply == Reply(CONFIRM)


@pytest.mark.parametrize("text", ["我再想想", "等一下", "就这些", "不需要补充了", "没有别的了"])
def test_whoever_does_not_say_yet_is_asked_again(text: str) -> None:
    assert read(text).reply == Reply(SUPPLEMENT)
