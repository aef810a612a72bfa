from __future__ import annotations

import time

from knowledge.blocks import Block
from knowledge.parsing.registry import parse
from knowledge.types import FaqPair, ParsedDocument
from tests.knowledge.parsing.files import texts_of


def markdown(text: str) -> ParsedDocument:
    return parse("文件名.md", text.encode())


def test_headings_become_paths_and_the_first_h1_the_title() -> None:
    parsed = markdown("# 退货\n\n导语\n\n## 条件\n\n甲\n\n#### 细则\n\n乙\n\n## 流程\n\n丙\n")
    assert parsed.title == "退货"
    assert texts_of(parsed) == (
        Block("导语", ("退货",)),
        Block("甲", ("退货", "条件")),
        Block("乙", ("退货", "条件", "细则")),
        Block("丙", ("退货", "流程")),
    )


def test_without_a_heading_the_file_name_is_the_title() -> None:
    assert markdown("正文").title == "文件名"


def test_front_matter_gives_the_title_and_nothing_else() -> None:
    parsed = markdown('---\ntitle: "保修政策"\nauthor: 张三\n---\n# 说明\n\n一年。\n')
    assert parsed.title == "保修政策"
    assert texts_of(parsed) == (Block("一年。", ("说明",)),)


def test_rule_at_the_top_is_not_front_matter() -> None:
    assert [block.text for block in markdown("---\n\n第一段\n\n---\n\n第二段").blocks] == ["第一段", "第二段"]


def test_list_items_keep_markers_and_what_is_nested_is_of_their_list() -> None:
    parsed = markdown("3. 打开 App\n4. 选择：\n   - 退货\n   - 换货\n\n* 其他\n")
    assert [block.text for block in parsed.blocks] == ["3. 打开 App", "4. 选择：", "  - 退货", "  - 换货", "- 其他"]
    assert [(block.marker, block.level) for block in parsed.blocks[:3]] == [("3.", 0), ("4.", 0), ("-", 1)]
    assert len({block.group for block in parsed.blocks}) == 1


def test_table_rows_are_readable_and_keep_the_heading() -> None:
    parsed = markdown("## 运费\n\n| 地区 | 运费 | 备注 |\n|-|-|-|\n| 港澳 | **30** 元 | |\n| 台湾 | 45 元 | 需报关 |\n")
    assert texts_of(parsed) == (
        Block("地区：港澳；运费：30 元", ("运费",)),
        Block("地区：台湾；运费：45 元；备注：需报关", ("运费",)),
    )


def test_question_and_answer_table_becomes_faq_pairs() -> None:
    parsed = markdown("| 问题 | 答案 |\n|-|-|\n| 能退吗？ | 七天内可以。 |\n")
    assert parsed.faqs == (FaqPair("能退吗？", "七天内可以。"),)
    assert not parsed.blocks


def test_code_is_verbatim() -> None:
    parsed = markdown("```python\nif a:\n    b = '**x**'\n```\n")
    assert parsed.blocks[0].text == "if a:\n    b = '**x**'"


def test_inline_markup_is_stripped_to_what_a_reader_sees() -> None:
    parsed = markdown("见[帮助](https://a.cn/x)和 `设置`，~~旧~~ *斜* __粗__ ![示意图](a.png)<b>内嵌</b>&amp;\n")
    assert parsed.blocks[0].text == "见帮助和 设置，旧 斜 粗 示意图内嵌&"


def test_strong_text_next_to_chinese_punctuation_is_stripped() -> None:
    assert markdown("**注意：**请勿**“拆封”**后退货").blocks[0].text == "注意：请勿“拆封”后退货"


def test_soft_breaks_join_chinese_without_a_space_and_words_with_one() -> None:
    assert markdown("签收后\n七天内 open the\nApp 申请").blocks[0].text == "签收后七天内 open the App 申请"


def test_heading_with_nothing_under_it_is_kept_as_text() -> None:
    parsed = markdown("# 常见问题\n\n## 支持分期\n\n## 不支持货到付款\n")
    assert texts_of(parsed) == (Block("支持分期", ("常见问题",)), Block("不支持货到付款", ("常见问题",)))


def test_over_long_paragraph_of_unmatched_emphasis_does_not_take_quadratic_time() -> None:
    began = time.process_time()
    assert markdown("*a **a " * 100_000).blocks
    assert time.process_time() - began < 20  # 11 s at a tenth of it before the guard, hours at this size
