"""What a reply quotes of a passage and what it leaves out, block by block."""

from __future__ import annotations

from agents.passages.coverage import Coverage, PassagePart, measure_coverage, split_by_quotes
from knowledge.chunking import ChunkOptions, split_document
from knowledge.parsing.registry import parse
from knowledge.types import Chunk, DocumentMeta

TEXT = """# 备份

备份前请先停掉服务。

运行下面的命令：

```bash
backup --all
```

| 套餐 | 份数 |
|-|-|
| 标准 | 3 |
| 高级 | 9 |

- 备份保存 30 天
- 过期自动删除
"""


def chunk_of(text: str) -> Chunk:
    parsed = parse("a.md", text.encode())
    chunk, *_ = split_document(parsed, DocumentMeta("d", "a.md", parsed.title), "v", ChunkOptions())
    return chunk


def test_blocks_that_are_quoted_and_left_are_told_apart() -> None:
    chunk = chunk_of(TEXT)
    quotes = ["运行下面的命令：\nbackup --all"]
    assert measure_coverage(chunk.text, chunk.layout, quotes) == Coverage(
        quoted=(1, 2),
        left_blocks=5,
        left_chars=len("备份前请先停掉服务。套餐：标准；份数：3套餐：高级；份数：9- 备份保存 30 天- 过期自动删除"),
    )


def test_a_passage_unfolds_in_its_order_as_markdown() -> None:
    chunk = chunk_of(TEXT)
    assert split_by_quotes(chunk.text, chunk.layout, ["运行下面的命令：\nbackup --all"]) == (
        PassagePart((0,), False, "备份前请先停掉服务。"),
        PassagePart((1, 2), True, "运行下面的命令：\n\n```bash\nbackup --all\n```"),
        PassagePart(
            (3, 4, 5, 6),
            False,
            "| 套餐 | 份数 |\n| --- | --- |\n| 标准 | 3 |\n| 高级 | 9 |\n\n- 备份保存 30 天\n- 过期自动删除",
        ),
    )


def test_of_a_table_only_the_rows_that_answer_are_quoted() -> None:
    chunk = chunk_of(TEXT)
    parts = split_by_quotes(chunk.text, chunk.layout, ["套餐：高级；份数：9"])
    assert [part.markdown for part in parts if part.quoted] == ["| 套餐 | 份数 |\n| --- | --- |\n| 高级 | 9 |"]


def test_a_heading_goes_with_what_it_heads_and_is_not_left_out() -> None:
    chunk = chunk_of("# 手册\n\n## 开机\n\n长按三秒。\n\n## 关机\n\n再按一次。\n")
    coverage = measure_coverage(chunk.text, chunk.layout, ["再按一次。"])
    assert (coverage.left_blocks, coverage.left_chars) == (1, len("长按三秒。"))
    assert [(part.quoted, part.markdown) for part in split_by_quotes(chunk.text, chunk.layout, ["再按一次。"])] == [
        (False, "**开机**\n\n长按三秒。"),
        (True, "**关机**\n\n再按一次。"),
    ]


def test_code_with_a_fence_in_it_and_cells_with_bars_stay_what_they_are() -> None:
    chunk = chunk_of("# 写法\n\n````\n```\n内层\n```\n````\n\n| 名 | 值 |\n|-|-|\n| a | x \\| y |\n| b | z |\n")
    [part] = split_by_quotes(chunk.text, chunk.layout, [])
    assert part.markdown.startswith("````\n```\n内层\n```\n````")
    assert "| a | x \\| y |" in part.markdown


def test_a_text_of_which_nobody_knows_the_blocks_is_read_line_by_line() -> None:
    assert split_by_quotes("先关机。\n1. 拔电源\n2. 等一分钟", None, ["1. 拔电源"]) == (
        PassagePart((0,), False, "先关机。"),
        PassagePart((1,), True, "1. 拔电源"),
        PassagePart((2,), False, "2. 等一分钟"),
    )
