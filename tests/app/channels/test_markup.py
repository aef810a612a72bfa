from __future__ import annotations

import pytest

from app.channels.markup import CUT, cut_text, draw_markdown, draw_plain, split_text, strip_markdown
from app.channels.types import ChannelReply, CitedSource


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("## 退货\n\n**七天**内可以退。", "退货\n\n七天内可以退。"),
        ("见[说明](https://a.example/b)。", "见说明 https://a.example/b。"),
        ("- 一\n- 二", "· 一\n· 二"),
        ("尺寸 60*40*30cm，3~5天 [1]", "尺寸 60*40*30cm，3~5天 [1]"),
        (
            "如下：\n\n| 代码 | 含义 | 处理 |\n|-|:-:|-|\n| E05 | 主刷\\|边刷 | 取出滚刷 |\n| E06 | 缺水 | |\n\n[1]",
            "如下：\n\nE05，含义：主刷|边刷；处理：取出滚刷\nE06，含义：缺水\n\n[1]",
        ),
        ("| 项目 | 参数 |\n|---|---|\n| 吸力 | 5000 Pa |", "吸力：5000 Pa"),
        ("| 不是表格 |\n| 也不是 |", "| 不是表格 |\n| 也不是 |"),
        ("执行 `ls -l`\n\n```bash\nls **x**\n```", "执行 ls -l\n\nls x"),
    ],
)
def test_marks_are_left_out_and_words_are_not(markdown: str, text: str) -> None:
    assert strip_markdown(markdown) == text


def test_pieces_hold_the_whole_text_and_break_between_sentences() -> None:
    text = "".join(f"第{number}条说明。" for number in range(60))
    pieces = split_text(text, 400)
    assert "".join(pieces) == text
    assert all(piece.endswith("。") and len(piece.encode()) <= 400 for piece in pieces)


def test_what_does_not_fit_is_cut_and_says_so() -> None:
    pieces = split_text("字" * 5000, 300)
    assert len(pieces) == 3
    assert pieces[-1].endswith(CUT)
    assert all(len(piece.encode()) <= 300 for piece in pieces)


def test_no_character_is_broken() -> None:
    assert cut_text("中文😀", 7) == "中文"
    assert split_text("", 10) == [""]


def test_sources_and_links_stand_below() -> None:
    cited = (CitedSource("1", "说明[新]", "https://a.example/b"), CitedSource("2", "内部"))
    reply = ChannelReply(
        "可以 [1][2]。", sources=cited, suggestions=("运费",), links=(("去退货", "https://a.example/r"),)
    )
    assert draw_markdown(reply).split("\n\n") == [
        "可以 [1][2]。",
        "[1] [说明［新］](https://a.example/b)",
        "[2] 内部",
        "[去退货](https://a.example/r)",
    ]
    assert draw_plain(reply, suggestions=True).endswith("去退货 https://a.example/r\n\n· 运费")


def test_platforms_that_draw_markdown_without_tables_get_lines() -> None:
    reply = ChannelReply("**参数** [1]\n\n| 项目 | 参数 |\n| --- | --- |\n| 吸力 | 5000 Pa |")
    assert draw_markdown(reply) == "**参数** [1]\n\n吸力：5000 Pa"
