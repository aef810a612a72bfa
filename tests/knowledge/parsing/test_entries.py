"""Questions that a document asks and answers, in every format that has them: an entry each."""

from __future__ import annotations

import docx
import pytest

from knowledge.blocks import Block, BlockKind
from knowledge.chunking import ChunkOptions, split_document
from knowledge.parsing.entries import extract_entries
from knowledge.parsing.questions import QuestionMark, find_opening
from knowledge.parsing.registry import parse
from knowledge.types import DocumentMeta, FaqPair, ParsedDocument
from tests.knowledge.parsing.files import word

PAIRS = [("电动车能上牌吗？", "能，请带发票和合格证。"), ("电池保多久？", "两年，自购买之日起。")]


def entries(parsed: ParsedDocument) -> list[tuple[str, str]]:
    return [(pair.question, pair.answer) for pair in parsed.faqs]


def texts(parsed: ParsedDocument) -> list[str]:
    return [block.text for block in parsed.blocks]


def written(kind: str, *, named: bool = False) -> bytes:
    """A page with a paragraph before and headings that ask, or with questions and answers that are named so."""
    question, answer = ("问：", "答：") if named else ("", "")
    if kind == "docx":
        document = docx.Document()
        document.add_heading("用车手册", 1)
        document.add_paragraph("欢迎使用。")
        for asked, told in PAIRS:
            if named:
                document.add_paragraph(question + asked)
            else:
                document.add_heading(asked, 2)
            document.add_paragraph(answer + told)
        return word(document)
    if kind == "html":
        tag = "p" if named else "h2"
        body = "".join(f"<{tag}>{question}{asked}</{tag}><p>{answer}{told}</p>" for asked, told in PAIRS)
        return f"<h1>用车手册</h1><p>欢迎使用。</p>{body}".encode()
    mark = "" if named else "## "
    body = "".join(f"{mark}{question}{asked}\n\n{answer}{told}\n\n" for asked, told in PAIRS)
    return f"# 用车手册\n\n欢迎使用。\n\n{body}".encode()


@pytest.mark.parametrize("kind", ["docx", "html", "md"])
@pytest.mark.parametrize("named", [False, True])
def test_headings_that_ask_and_named_questions_are_entries(kind: str, named: bool) -> None:
    parsed = parse(f"a.{kind}", written(kind, named=named))
    assert entries(parsed) == PAIRS
    assert texts(parsed) == ["欢迎使用。"]
    assert all(pair.heading_path == ("用车手册",) and pair.after == 1 for pair in parsed.faqs)


@pytest.mark.parametrize(
    "form", ["{n}. {q}\n答：{a}\n", "Q{n}：{q}\nA{n}：{a}\n", "（{n}）{q}\n{a}\n", "问题{n}：{q}\n答案：{a}\n"]
)
def test_numbers_and_names_are_no_part_of_a_question(form: str) -> None:
    content = "\n".join(form.format(n=number, q=q, a=a) for number, (q, a) in enumerate(PAIRS, start=1))
    assert entries(parse("a.txt", content.encode())) == PAIRS


def test_several_ways_to_ask_are_variants() -> None:
    parsed = parse("a.txt", "问：能试骑吗？\n问：可以先骑一下吗？\n答：可以。\n".encode())
    (pair,) = parsed.faqs
    assert (pair.question, pair.variants, pair.answer) == ("能试骑吗？", ("可以先骑一下吗？",), "可以。")


def test_bold_lines_that_ask_are_entries_and_other_bold_lines_are_not() -> None:
    bold = [
        Block("如何充电", markdown="**如何充电**"),
        Block("插上即可。"),
        Block("怎么存放", markdown="**怎么存放**"),
        Block("放在干燥处。"),
    ]
    blocks, faqs = extract_entries([Block("前言。"), *bold], [])
    assert [(pair.question, pair.answer, pair.after) for pair in faqs] == [
        ("如何充电", "插上即可。", 1),
        ("怎么存放", "放在干燥处。", 1),
    ]
    assert blocks == (Block("前言。"),)
    titles = [
        Block("注意事项", markdown="**注意事项**"),
        Block("勿进水。"),
        Block("保修", markdown="**保修**"),
        Block("两年。"),
    ]
    assert extract_entries(titles, []) == (tuple(titles), ())


def test_bold_question_and_its_answer_in_one_paragraph() -> None:
    found = find_opening(Block("能改色吗？可以，到店办理。", markdown="**能改色吗？**可以，到店办理。"))
    assert found is not None
    assert (found.question, found.rest, found.mark) == ("能改色吗？", "可以，到店办理。", QuestionMark.BOLD)


def test_answer_keeps_its_lists_and_what_follows_the_last_stays() -> None:
    first = "**能上牌吗？**\n\n能，请带：\n\n- 发票\n- 合格证\n\n"
    content = first + "**保多久？**\n\n两年，但是：\n\n- 人为损坏除外\n\n更多问题请来电。\n"
    parsed = parse("a.md", content.encode())
    assert entries(parsed) == [
        ("能上牌吗？", "能，请带：\n- 发票\n- 合格证"),
        ("保多久？", "两年，但是：\n- 人为损坏除外"),
    ]
    assert [block.kind for block in parsed.faqs[0].blocks] == [BlockKind.PARAGRAPH, BlockKind.ITEM, BlockKind.ITEM]
    assert texts(parsed) == ["更多问题请来电。"]


@pytest.mark.parametrize(
    "content",
    [
        "# 品牌故事\n\n我们为什么造车？\n\n因为想让路上少些拥堵。\n\n后来有了第二款。\n",
        "# 检查\n\n1. 是否通电？\n2. 是否插紧？\n3. 指示灯亮了吗？\n\n都正常请报修。\n",
        "# 用车\n\n## 能上牌吗？\n\n能。\n\n## 规格\n\n重 20 kg。\n",
        "# 用车\n\n## 怎么充电？\n\n### 在家\n\n插墙上。\n\n## 怎么存放？\n\n### 短期\n\n停好。\n",
    ],
)
def test_a_single_question_a_list_of_questions_and_headings_with_headings_below_are_no_entries(content: str) -> None:
    parsed = parse("a.md", content.encode())
    assert parsed.faqs == () and len(parsed.blocks) > 1


def test_long_answer_stays_a_section_under_its_heading() -> None:
    told = "请按说明书逐项检查后再骑行。" * 120
    parsed = parse(
        "a.md", f"# 用车\n\n## 怎么检查？\n\n{told}\n\n## 多久一次？\n\n每周。\n\n## 找谁？\n\n门店。\n".encode()
    )
    assert [pair.question for pair in parsed.faqs] == ["多久一次？", "找谁？"]
    assert parsed.blocks[0].heading_path == ("用车", "怎么检查？")


def test_entries_stand_in_order_among_tables_of_questions() -> None:
    table = FaqPair("表里问", "表里答", after=1)
    blocks = [Block("前。"), Block("问：甲？"), Block("答：乙。"), Block("后。")]
    kept, faqs = extract_entries(blocks, [table])
    assert [(pair.question, pair.after) for pair in faqs] == [("表里问", 1), ("甲？", 1)]
    assert [block.text for block in kept] == ["前。", "后。"]


def test_an_entry_is_a_passage_of_its_own_whatever_its_length() -> None:
    parsed = parse("a.md", written("md"))
    chunks = split_document(
        parsed, DocumentMeta("d", "a.md", parsed.title), "v", ChunkOptions(min_tokens=50, max_tokens=300)
    )
    assert [(chunk.question, chunk.text) for chunk in chunks] == [(None, "欢迎使用。"), *PAIRS]
    assert all(chunk.spans is not None and chunk.spans[-1].end == len(chunk.text) for chunk in chunks)
