"""Blocks are quoted whole: a procedure, code with what announces it."""

from __future__ import annotations

from agents.answering.selection import SentenceSelector, build_passages
from agents.generator import Request
from knowledge.chunking import ChunkOptions, split_document
from knowledge.parsing.registry import parse
from knowledge.types import Candidate, DocumentMeta, GateVerdict
from tests.agents.support import ANALYZER


def replied(question: str, text: str) -> str:
    """What is quoted of a Markdown file whose one section it is."""
    parsed = parse("a.md", text.encode())
    chunk, *_ = split_document(parsed, DocumentMeta("d", "a.md", parsed.title), "v", ChunkOptions())
    found = Candidate(chunk, 1, 1, 0.8, 5.0, 0.01, "test", 0.8, 0.9, GateVerdict.PASS)
    terms = tuple(dict.fromkeys(ANALYZER.tokenize(question)))
    request = Request(question, (found,), terms, (1.0,) * len(terms))
    (quote,) = SentenceSelector(ANALYZER, 3).select_quotes(request, build_passages(request), {})
    return "".join(quote.build_pieces(chunk.text))


def test_steps_are_not_torn_apart() -> None:
    steps = [f"{number}. 第{name}步要做的事，做完之后再往下走。" for number, name in enumerate("甲乙丙丁戊己庚辛", 1)]
    text = "# 手册\n\n机器不用时请拔掉电源。\n\n重置的办法：\n\n" + "\n".join(steps) + "\n\n重置后要重新联网。\n"
    assert "\n".join(steps) in replied("机器怎么重置", text)


def test_code_comes_with_what_announces_it_and_is_drawn_as_code() -> None:
    code = "```nginx\nserver {\n    limit 1024m;\n}\n```"
    text = f"# 上传\n\n太大时会报错。在 server 节点里放宽上限，写法如下：\n\n{code}\n\n改完要重启。\n"
    assert f"在 server 节点里放宽上限，写法如下：\n{code}" in replied("上传的上限在哪里放宽", text)


def test_code_stays_with_what_is_said_of_it_without_a_colon() -> None:
    text = "# 日志\n\n使用 docker logs 查看日志\n\n```\ndocker logs -f app\n```\n\n磁盘满了会停止写入，请及时清理。\n"
    assert replied("日志怎么查看", text).startswith("使用 docker logs 查看日志\n```\ndocker logs -f app\n```")


def test_code_within_a_step_is_drawn_without_the_indent_of_the_step() -> None:
    text = "# 升级\n\n升级的步骤：\n\n1. 停止程序\n\n   ```bash\n   stop app\n     --now\n   ```\n\n2. 换上新版\n"
    assert replied("怎么升级", text) == ("升级的步骤：\n1. 停止程序\n```bash\nstop app\n  --now\n```\n\n2. 换上新版")


def test_a_note_stays_with_what_it_warns_of() -> None:
    other = "标签用来给图片分类，可以自己起名字，也可以换颜色。" * 5
    text = f"# 附件\n\n点击删除按钮即可删除附件。\n\n> [!WARNING]\n> 不可恢复，请谨慎操作。\n\n{other}\n"
    assert replied("怎么删除附件", text) == "点击删除按钮即可删除附件。\n不可恢复，请谨慎操作。"


def test_an_item_comes_with_those_below_it_and_not_with_its_neighbours() -> None:
    others = "".join(f"- 第{name}项设置：{'用来调整页面显示的样子，不影响数据。' * 6}\n" for name in "甲乙丙丁")
    text = f"# 设置\n\n- 别名策略：\n  - 按标题生成\n  - 按时间生成\n{others}"
    said = replied("别名策略有哪几种", text)
    assert "按标题生成" in said and "按时间生成" in said
    assert "第甲项设置" not in said


def test_a_row_is_known_by_its_cells_and_not_by_its_signs() -> None:
    table = "| 型号 | 说明 |\n|-|-|\n| H1 | 适合：小户型；带支架 |\n| H2 | 适合：大户型；带支架 |\n"
    assert "| 型号 | 说明 |\n| --- | --- |\n| H2 | 适合：大户型；带支架 |" in replied(
        "H2 适合什么户型", f"# 选购\n\n{table}"
    )


def test_a_definition_is_quoted_whole_with_its_term() -> None:
    said = "由两层滤网组成，第一层拦住泥沙，第二层拦住余氯。" * 8
    text = f"# 术语\n\n前置滤芯\n:   {said}\n\n    半年换一次。\n\n后置滤芯\n:   改善口感。\n"
    assert replied("前置滤芯是什么", text).startswith(f"前置滤芯：{said}\n半年换一次。")
