from __future__ import annotations

import pytest

from agents.passages.sentences import MAX_SENTENCE_CHARS, split_sentences


def texts(text: str) -> list[str]:
    return [sentence.text for sentence in split_sentences(text)]


def test_sentences_are_spans_of_the_text() -> None:
    text = "  退款 1～5 个工作日到账。运费由谁承担？见下表：\n\n- 质量问题：商家承担；\n- 其他：“您承担！”"
    sentences = split_sentences(text)
    assert [text[s.start : s.end] for s in sentences] == [s.text for s in sentences]
    assert "".join("".join(s.text.split()) for s in sentences) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("好的。可以！真的？", ["好的。", "可以！", "真的？"]),
        ("他说“可以。”然后走了。", ["他说“可以。”", "然后走了。"]),
        ("版本 v5.1 起支持。", ["版本 v5.1 起支持。"]),
        ("第一行\n第二行", ["第一行", "第二行"]),
        ("Ready. Then go.", ["Ready.", "Then go."]),
        ('Add "wow!" to your reply.', ['Add "wow!" to your reply.']),
        ("型号：A4；噪声：30 dB；价格：99 元", ["型号：A4；噪声：30 dB；价格：99 元"]),
        ("外观见下图，![外观](a.png)所示!请核对", ["外观见下图，![外观](a.png)所示!", "请核对"]),
        ("见 https://a.example/?id=3&c= 。真的?A款也行?", ["见 https://a.example/?id=3&c= 。", "真的?", "A款也行?"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_splits_at_sentence_ends_and_lines(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


def test_a_run_on_sentence_is_cut_at_a_clause() -> None:
    text = "，".join(["这是一个很长的分句没有句号"] * 60)
    assert all(len(part) <= MAX_SENTENCE_CHARS for part in texts(text))
    assert "".join(texts(text)) == text
    assert all(part.endswith("，") for part in texts(text)[:-1])


def test_recognises_list_items_and_lead_ins() -> None:
    sentences = split_sentences("申请步骤如下：\n1. 打开 App；\n2、点“售后”。\n- 注意时效\n2024 年起执行")
    assert [s.is_item for s in sentences] == [False, True, True, True, False]
    assert sentences[0].is_lead_in
