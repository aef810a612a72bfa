"""Snippets of every dialect that `markdown_dialects` lists, and what a reader sees of them."""

from __future__ import annotations

import pytest

from knowledge.blocks import Block, BlockKind
from knowledge.parsing.registry import parse
from knowledge.types import ParsedDocument


def markdown(text: str, name: str = "说明.md") -> ParsedDocument:
    return parse(name, text.encode())


def texts(text: str, name: str = "说明.md") -> list[str]:
    return [block.text for block in markdown(text, name).blocks]


def one(text: str) -> Block:
    [block] = markdown(text).blocks
    return block


NOTES = {
    "mkdocs": ('!!! warning "当心烫手"\n    通电后勿碰。\n', "warning", ["当心烫手", "通电后勿碰。"]),
    "mkdocs without a title": ('!!! tip ""\n    通电后勿碰。\n', "tip", ["通电后勿碰。"]),
    "mkdocs by its kind": ("!!! note\n\n    通电后勿碰。\n", "note", ["通电后勿碰。"]),
    "mkdocs folded": ('???+ danger "当心"\n    通电后勿碰。\n', "danger", ["当心", "通电后勿碰。"]),
    "vuepress": ("::: tip 小窍门\n通电后勿碰。\n:::\n", "tip", ["小窍门", "通电后勿碰。"]),
    "docusaurus": (":::caution[小心 *烫*]\n\n通电后勿碰。\n\n:::\n", "warning", ["小心 烫", "通电后勿碰。"]),
    "docusaurus with attributes": (':::note{title="小心"}\n通电后勿碰。\n:::\n', "note", ["小心", "通电后勿碰。"]),
    "github": ("> [!IMPORTANT]\n> 通电后勿碰。\n", "important", ["通电后勿碰。"]),
    "obsidian": ("> [!tip]- 小窍门\n> 通电后勿碰。\n", "tip", ["小窍门", "通电后勿碰。"]),
    "gitbook": ('{% hint style="danger" %}\n通电后勿碰。\n{% endhint %}\n', "danger", ["通电后勿碰。"]),
    "hexo": ("{% note warning %}\n通电后勿碰。\n{% endnote %}\n", "warning", ["通电后勿碰。"]),
    "hugo": ("{{% notice note %}}\n通电后勿碰。\n{{% /notice %}}\n", "note", ["通电后勿碰。"]),
    "hugo by name": ('{{< callout type="warning" >}}\n通电后勿碰。\n{{< /callout >}}\n', "warning", ["通电后勿碰。"]),
    "html": ('<div class="alert alert-info">通电后勿碰。</div>\n', "info", ["通电后勿碰。"]),
}


@pytest.mark.parametrize("dialect", NOTES)
def test_notes_are_boxes_with_their_kind_and_title(dialect: str) -> None:
    text, label, said = NOTES[dialect]
    blocks = markdown(f"前文。\n\n{text}\n后文。\n").blocks
    assert [block.text for block in blocks] == ["前文。", *said, "后文。"]
    assert {(block.kind, block.label) for block in blocks[1:-1]} == {(BlockKind.NOTE, label)}
    assert len({block.group for block in blocks[1:-1]}) == 1
    assert blocks[-1].group == 0


@pytest.mark.parametrize(
    "text",
    [
        "!!!请注意!!!停机通知",
        "!!! 今晚停机",
        "::: 说明",
        ":::tip 没有结尾",
        "???怎么回事",
        "> [!明日] 停机",
        "{% raw %}",
    ],
)
def test_what_only_resembles_a_note_is_text(text: str) -> None:
    assert "".join(texts(text)).replace(" ", "") == text.removeprefix("> ").replace(" ", "")


def test_boxes_within_boxes_and_code_within_them_are_read() -> None:
    text = ":::: tip 外\n甲\n::: warning 内\n乙\n:::\n```\n::: 不是框\n:::\n```\n丙\n::::\n丁\n"
    blocks = markdown(text).blocks
    assert [block.text for block in blocks] == ["外", "甲", "内", "乙", "::: 不是框\n:::", "丙", "丁"]
    assert (blocks[4].kind, blocks[5].kind, blocks[6].kind) == (BlockKind.CODE, BlockKind.NOTE, BlockKind.PARAGRAPH)


def test_boxes_of_as_many_colons_may_stand_in_each_other() -> None:
    assert texts("::: tip\n甲\n::: warning\n乙\n:::\n丙\n:::\n丁\n") == ["甲", "乙", "丙", "丁"]


@pytest.mark.parametrize(
    "text",
    [
        '??? question "能退吗？"\n    七天内**可以**。\n',
        "::: details 能退吗？\n七天内**可以**。\n:::\n",
        "<details><summary>能退吗？</summary>\n\n七天内**可以**。\n\n</details>\n",
    ],
)
def test_what_unfolds_under_a_question_is_an_entry(text: str) -> None:
    parsed = markdown(f"# 退货\n\n{text}\n以上。\n")
    assert [(pair.question, pair.answer, pair.heading_path) for pair in parsed.faqs] == [
        ("能退吗？", "七天内可以。", ("退货",))
    ]
    assert [block.text for block in parsed.blocks] == ["以上。"]


@pytest.mark.parametrize(
    "text",
    [
        '=== "苹果"\n\n    从商店安装。\n\n=== "安卓"\n\n    下载安装包。\n',
        "::: tabs\n@tab 苹果\n从商店安装。\n@tab:active 安卓\n下载安装包。\n:::\n",
        '{% tabs %}\n{% tab title="苹果" %}\n从商店安装。\n{% endtab %}\n{% tab title="安卓" %}\n下载安装包。\n'
        "{% endtab %}\n{% endtabs %}\n",
    ],
)
def test_tabs_are_read_one_after_the_other_under_their_names(text: str) -> None:
    blocks = markdown(text).blocks
    assert [block.text for block in blocks] == ["苹果", "从商店安装。", "安卓", "下载安装包。"]
    assert blocks[0].markdown == "**苹果**"


def test_footnotes_stand_behind_the_block_that_refers_to_them() -> None:
    text = (
        "整机保修两年[^甲]，电池一年[^2]。\n\n| 项目 | 期限 |\n|-|-|\n| 电源[^3] | 半年 |\n\n- 换货[^4]\n- 退货\n\n"
        "[^甲]: 人为损坏除外。\n[^2]: 以发票为准，\n    见背面。\n[^3]: 含线材。\n[^4]: 限一次。\n[^9]: 没有人引用\n"
    )
    blocks = markdown(text).blocks
    assert [block.text for block in blocks] == [
        "整机保修两年[甲]，电池一年[2]。", "[甲] 人为损坏除外。", "[2] 以发票为准，见背面。",
        "项目：电源[3]；期限：半年", "[3] 含线材。", "- 换货[4]", "  [4] 限一次。", "- 退货", "[^9]: 没有人引用",
    ]  # fmt: skip
    assert [block.kind for block in blocks].count(BlockKind.FOOTNOTE) == 4


def test_definitions_that_are_used_are_links_and_others_stay() -> None:
    text = "见[手册][m]和[官网]。\n\n[m]: https://a.example/m\n[官网]: https://b.example\n[旧]: https://c.example\n"
    blocks = markdown(text).blocks
    assert [block.text for block in blocks] == ["见手册和官网。", "[旧]: https://c.example"]
    assert blocks[0].markdown == "见[手册](https://a.example/m)和[官网](https://b.example)。"


def test_a_number_that_is_referred_to_by_name_is_no_address() -> None:
    assert texts("请联系[客服]。\n\n[客服]: 400-800-9000\n") == ["请联系[客服]。", "[客服]: 400-800-9000"]


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("###标题\n\n正文\n", ("标题",)),
        ("##1.概述\n\n正文\n", ("1.概述",)),
        ("#总则\n\n##适用范围\n\n正文\n", ("总则", "适用范围")),
        ("## 标题 {#anchor .x}\n\n正文\n", ("标题",)),
        ("## 标题 ##\n\n正文\n", ("标题",)),
    ],
)
def test_headings_as_people_type_them(text: str, paths: tuple[str, ...]) -> None:
    assert [(block.text, block.heading_path) for block in markdown(text).blocks] == [("正文", paths)]


@pytest.mark.parametrize("text", ["#话题# 参与有礼", "#123 已经关闭", "#开箱视频", "# 号键返回", "#include <stdio.h>"])
def test_what_is_no_heading(text: str) -> None:
    assert [(block.text, block.heading_path) for block in markdown(f"{text}\n\n正文\n").blocks] == [
        (text, ()),
        ("正文", ()),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "```bash\n# 先停服务\nsystemctl stop a\n```\n", "~~~\n# 先停服务\nsystemctl stop a\n~~~\n",
        "    # 先停服务\n    systemctl stop a\n", "1. 执行\n\n   ```\n   # 先停服务\n   systemctl stop a\n   ```\n",
        "```bash\n# 先停服务\nsystemctl stop a",
    ],
)  # fmt: skip
def test_a_line_of_code_is_no_heading(text: str) -> None:
    block = next(block for block in markdown(f"## 停机\n\n{text}").blocks if block.kind is BlockKind.CODE)
    assert [line.strip() for line in block.text.split("\n")] == ["# 先停服务", "systemctl stop a"]
    assert block.heading_path == ("停机",)


TABLES = {
    "as it should be": "| 型号 | 价格 |\n| --- | :-: |\n| A-1 | 9*2 |\n",
    "dashes of any kind": "| 型号 | 价格 |\n|:-|—|\n| A-1 | 9*2 |\n",
    "no outer pipes": "型号 | 价格\n-|-\nA-1 | 9*2\n",
    "wide pipes": "｜型号｜价格｜\n｜：—｜—：｜\n｜A-1｜9*2｜\n",
    "wide and narrow ones": "|型号|价格|\n|-|-|\n｜A-1｜9*2｜\n",
    "one dash too many": "| 型号 | 价格 |\n|-|-|-|\n| A-1 | 9*2 |\n",
}


@pytest.mark.parametrize("dialect", TABLES)
def test_tables_as_people_type_them(dialect: str) -> None:
    assert texts(f"{TABLES[dialect]}以上含税。\n") == ["型号：A-1；价格：9*2", "以上含税。"]


def test_cells_beyond_the_header_are_kept() -> None:
    assert texts("| 型号 | 价格 |\n|-|-|\n| A-1 | 9 | 停产 |\n| B\\|2 |\n") == ["型号：A-1；价格：9；停产", "型号：B|2"]


def test_without_a_row_of_dashes_there_is_no_table() -> None:
    text = "| 型号 | 价格 |\n| A-1 | 9 |"
    assert texts(f"{text}\n") == [text]
    assert markdown(f"{text}\n").blocks[0].kind is BlockKind.PARAGRAPH


def test_lists_keep_what_a_reader_sees_of_them() -> None:
    text = "1) 甲\n2) 乙\n   - 子\n\n然后\n\n3. 丙\n5. 丁\n\n结束\n\n- [x] 完成\n- [ ] 未完\n"
    assert texts(text) == [
        "1) 甲", "2) 乙", "  - 子", "然后", "3. 丙", "5. 丁", "结束", "- [x] 完成", "- [ ] 未完",
    ]  # fmt: skip


def test_a_sentence_below_a_list_is_no_part_of_its_last_item() -> None:
    blocks = markdown("1. 打开 App\n2. 点击退款\n退款三天内到账。\n").blocks
    assert [(block.text, block.kind) for block in blocks] == [
        ("1. 打开 App", BlockKind.ITEM),
        ("2. 点击退款", BlockKind.ITEM),
        ("退款三天内到账。", BlockKind.PARAGRAPH),
    ]


def test_a_latin_line_that_was_wrapped_goes_on() -> None:
    assert texts("- open the app and\nclick refund\n") == ["- open the app and click refund"]


def test_definition_lists_are_terms_with_what_is_said_of_them() -> None:
    block = one("保修期\n: 整机两年\n: 电池一年\n")
    assert (block.text, block.kind, block.label) == ("保修期：整机两年；电池一年", BlockKind.FIELD, "保修期")


def test_a_definition_of_several_paragraphs_or_with_a_list_is_one_block_with_its_term() -> None:
    lists = one("清洗模式\n:   自动清洗滤芯。\n\n    - 快洗：十分钟\n    - 深洗：一小时\n")
    assert (lists.text, lists.kind) == ("清洗模式：自动清洗滤芯。\n- 快洗：十分钟\n- 深洗：一小时", BlockKind.FIELD)
    said = "滤芯要按时更换，否则出水变慢，水质变差，还会损坏水泵。" * 5
    long = one(f"滤芯\n:   {said}\n\n    {said}\n")
    assert (long.text, long.kind) == (f"滤芯：{said}\n{said}", BlockKind.FIELD)


def test_formulas_are_verbatim_and_alone_a_kind_of_their_own() -> None:
    blocks = markdown("折扣 $p_1*q_1*r$ 与 $5 和 $10。\n\n$$\nE=m*c*2\n$$\n").blocks
    assert [(block.text, block.kind) for block in blocks] == [
        ("折扣 $p_1*q_1*r$ 与 $5 和 $10。", BlockKind.PARAGRAPH),
        ("$$\nE=m*c*2\n$$", BlockKind.FORMULA),
    ]


def test_attributes_are_not_read() -> None:
    text = '![接口图](a.png){ width=50% }\n\n见[手册](https://a.example){:target="_blank"}的{名称}。\n{: .lead }\n'
    assert texts(text) == ["接口图", "见手册的{名称}。"]


def test_pictures_are_their_description_alone_or_in_their_sentence() -> None:
    blocks = markdown("![接口图](a.png)\n\n点击 ![齿轮](g.png) 设置\n\n![img_01.png](b.png)\n").blocks
    assert [(block.text, block.kind) for block in blocks] == [
        ("接口图", BlockKind.IMAGE),
        ("点击 齿轮 设置", BlockKind.PARAGRAPH),
    ]


def test_markdown_is_given_where_the_text_alone_says_less() -> None:
    text = "**能退吗？**\n点[这里](https://a.example/r)，填 `RMA-1`，~~旧版~~，尺寸 6*4。\n\n普通的 *一* 段。\n"
    first, second = markdown(text).blocks
    assert first.text == "能退吗？\n点这里，填 RMA-1，旧版，尺寸 6*4。"
    assert first.markdown == "**能退吗？**\n点[这里](https://a.example/r)，填 `RMA-1`，~~旧版~~，尺寸 6\\*4。"
    assert (second.text, second.markdown) == ("普通的 一 段。", "")
    assert one("1. 按 **确认**\n").markdown == "1. 按 **确认**"


def test_html_within_is_read_and_what_is_no_tag_is_text() -> None:
    text = "ssh root@<ip> 按<kbd>回车</kbd><br>填 <your-email>，<b>勿</b>外传\n"
    assert texts(text) == ["ssh root@<ip> 按回车\n填 <your-email>，勿外传"]


def test_titles_of_code_are_lines_above_it() -> None:
    assert texts('```bash title="安装"\nmake\n```\n') == ["安装", "make"]
    assert texts("::: code-group\n```bash [npm]\nnpm i\n```\n:::\n") == ["npm", "npm i"]


def test_front_matter_of_both_kinds_gives_the_title() -> None:
    assert markdown('+++\ntitle = "保修"\n+++\n\n一年。\n').title == "保修"
    assert markdown("---\ntitle: 保修\ntags: [a]\n---\n\n一年。\n").title == "保修"


def test_a_quotation_without_end_loses_nothing() -> None:
    assert texts(">" * 3000 + "内容\n")[0].endswith("内容")


MDX = """---
title: 安装
---
import Tabs from '@theme/Tabs';
import {
  Note,
} from "../components";
export const plan = {
  name: "Pro",
};

# 安装 {/* #install */}

<Tabs>
  <TabItem value="mac" label="苹果" default>
    先 **退出** 旧版，温度 <-10℃ 时勿用。

    ```bash
    # 注释
    <Tag>
    ```
  </TabItem>
</Tabs>

<Warning>
  勿断电，a < b。
  {"第二行。"}
</Warning>
<Info>单行 <Badge color="blue">Pro</Badge> 提示</Info>

<div style={{display: 'flex'}} className="row">
  <Card title="快速开始" icon="rocket" href="/start">
    五分钟上手。
  </Card>
</div>

<Accordion title="能退吗？">
  七天内可以。
</Accordion>

1. 打开
   <Callout type="warning" title="当心">
   烫手。
   </Callout>
2. 关闭 {/* 注释 */}
"""


def test_components_go_and_their_text_stays() -> None:
    parsed = markdown(MDX, "说明.mdx")
    assert parsed.title == "安装"
    assert [block.text for block in parsed.blocks] == [
        "苹果", "先 退出 旧版，温度 <-10℃ 时勿用。", "# 注释\n<Tag>", "勿断电，a < b。第二行。", "单行 Pro 提示",
        "快速开始", "五分钟上手。", "1. 打开", "当心", "烫手。", "2. 关闭",
    ]  # fmt: skip
    assert {block.text: block.label for block in parsed.blocks if block.kind is BlockKind.NOTE} == {
        "勿断电，a < b。第二行。": "warning", "单行 Pro 提示": "info", "当心": "warning", "烫手。": "warning",
    }  # fmt: skip
    assert [(pair.question, pair.answer) for pair in parsed.faqs] == [("能退吗？", "七天内可以。")]
    assert all(block.heading_path == ("安装",) for block in parsed.blocks)


def test_components_in_plain_markdown_are_read_alike() -> None:
    assert texts('## 版本 <Badge text="2.0+" />\n\n<Tip>\n    缩进的一行。\n</Tip>\n') == ["缩进的一行。"]
    assert texts("用法：`<Tag>`，以及 Map<String, String> 与 List<Order>。\n") == [
        "用法：<Tag>，以及 Map<String, String> 与 List<Order>。"
    ]


def test_what_hugo_makes_of_a_shortcode_is_not_shown_as_its_source() -> None:
    text = '前文。\n\n{{% children depth="3" %}}\n\n见 {{< param "version" >}} 版。\n\n`{{< code >}}`\n'
    assert [block.text for block in markdown(text).blocks] == ["前文。", "见 版。", "{{< code >}}"]
