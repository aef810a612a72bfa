"""One spelling of a message; what it asks stays what it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.understanding.facts import has_all_facts
from agents.understanding.normalise import normalise_text

WORDS = (
    *["你好", "您好", "请问", "想问下", "麻烦", "谢谢", "亲", "那个", "在吗", "我跟你说", "不好意思", "退货", "保修"],
    *["，", "。", "？", " ", "\n", "~", "😭", "1️⃣", "能", "不", "没有", "别", "未"],
    *["咋", "啥", "木有", "米有", "小米", "实木", "灰常", "好滴", "唔该"],
    *["h30pro", "YS-H30", "v6-max", "Ｈ３０", "e03", "JD20240101123", "SF-2024-0012", "3.5", "10²", "７", "Pro"],
)


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("你好，我想问下退货运费谁出，谢谢", "退货运费谁出"),
        ("请问请问怎么开发票？谢谢您！", "怎么开发票？"),
        ("那个，麻烦问一下保修多久呀亲", "保修多久呀"),
        ("谢谢，还有发票怎么开", "还有发票怎么开"),
        ("請問運費怎麼算😭😭", "运费怎么算"),
        ("为啥耳机咋都连不上", "为什么耳机怎么都连不上"),
        ("有木有优惠券，我木有收到", "有没有优惠券，我没有收到"),
        ("你能8能快点，我8能等", "你能不能快点，我不能等"),
        ("不好意思，有个问题想请教下，换货要几天，在线等", "换货要几天"),
        ("亲亲，运费险怎么用", "运费险怎么用"),
        ("唔该，呢个冇货咗", "呢个没有货了"),
        ("Hello, how do I return it?", "how do I return it?"),
        ("ＹＳ－Ｗ５多少钱", "YS-W5多少钱"),
    ],
)
def test_what_is_asked_is_left_in_standard_words(written: str, asked: str) -> None:
    assert normalise_text(written) == asked


@pytest.mark.parametrize("written", ["h30pro", "h30 pro", "H30PRO", "H30-Pro", "Ｈ30 ｐｒｏ"])
def test_a_model_is_written_as_manufacturers_do(written: str) -> None:
    assert normalise_text(f"{written}怎么充电") == "H30 Pro怎么充电"
    assert normalise_text(f"ys-{written}怎么充电") == "YS-H30 Pro怎么充电"


@pytest.mark.parametrize("text", ["你好", "您好，在吗", "谢谢", "谢谢亲", "👍", "那个", "", "  ", "……", "请问"])
def test_a_message_that_asks_nothing_stays_as_it_is(text: str) -> None:
    assert normalise_text(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "那个怎么用",
        "亲自送货吗",
        "送给母亲",
        "你好像没听懂",
        "感谢信怎么写",
        "退货麻烦吗",
        "问题件怎么处理",
        "实木有味道吗",
        "小米有货吗",
        "正好滴到水里",
        "唔，好吧",
        "iPhone 8能用吗",
        "要8会员卡",
        "hello kitty 联名款有吗",
        "不用谢谢",
        "这个颜色送人会不会不好意思",
        "10²是多少",
        "3~5天",
        "a1@example.com 收不到邮件",
        "JD20240101123 到哪了",
    ],
)
def test_what_only_looks_polite_or_misspelt_is_kept(text: str) -> None:
    assert normalise_text(text) == text


@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=3), max_size=12))
def test_no_number_model_order_or_negation_is_lost(words: list[str]) -> None:
    """But for 8 in the place of 不, see above."""
    text = "".join(words)
    kept = normalise_text(text)
    assert has_all_facts(text, kept) or "8" in text
    assert bool(kept.strip()) == bool(text.strip())


@pytest.mark.parametrize("piece", ["谢谢", "你好 ", "h30pro", "😭 ", "a-", "，", " ", "pro ", "木有", "8能", "1 pro"])
def test_a_long_message_takes_as_long_as_its_length(piece: str) -> None:
    """A quadratic pattern would take minutes."""
    assert len(normalise_text(piece * 50_000 + "x")) <= len(piece) * 60_000
