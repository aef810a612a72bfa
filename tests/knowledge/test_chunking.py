"""Chunks: structure first, bounds always, nothing lost."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.blocks import Block
from knowledge.chunking import MAX_ANSWER_CHARS, ChunkOptions, split_document
from knowledge.errors import InvalidConfiguration
from knowledge.tokens import ESTIMATED
from knowledge.types import Chunk, DocumentMeta, FaqPair, ParsedDocument

_META = DocumentMeta("d", "a.md", "标题")
# At most 20 symbols: see `count_tokens`.
_SMALL = ChunkOptions(min_tokens=5, max_tokens=15, overlap_tokens=7)


def count_tokens(text: str) -> int:
    """Three for every four symbols, rounded up."""
    return -(-3 * ESTIMATED.count_units(text) // 4)


def chunks(*blocks: Block, options: ChunkOptions = _SMALL, faqs: tuple[FaqPair, ...] = ()) -> list[Chunk]:
    return split_document(ParsedDocument("标题", blocks, faqs), _META, "v1", options)


def texts(*blocks: Block, options: ChunkOptions = _SMALL) -> list[str]:
    return [chunk.text for chunk in chunks(*blocks, options=options)]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        (" \n", 0),
        ("退货", 2),
        ("退货。", 3),
        ("退货运费", 3),
        ("退货运费由您承担", 6),
        ("abc", 1),
        ("abcdefghijkl", 3),
        ("YS-H10", 3),
        ("App 会", 2),
        ("99.5%", 3),
    ],
)
def test_tokens_are_estimated(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens


@given(st.text(), st.text())
def test_joining_never_adds_tokens(left: str, right: str) -> None:
    assert count_tokens(left + right) <= count_tokens(left) + count_tokens(right)


@pytest.mark.parametrize("values", [(0, 10, 0), (11, 10, 0), (1, 10, 10), (1, 10, -1)])
def test_impossible_options_are_refused(values: tuple[int, int, int]) -> None:
    with pytest.raises(InvalidConfiguration, match="CHUNK"):
        ChunkOptions(*values)


def test_blocks_of_a_section_are_packed_and_sections_are_not_mixed() -> None:
    found = chunks(
        Block("甲甲甲甲甲", ("一",), 1),
        Block("乙乙乙乙乙", ("一",), 1),
        Block("丙丙丙丙丙丙", ("二",), 3),
        Block("丁丁", ("二",), 3),
    )
    assert [(c.text, c.heading_path, c.page) for c in found] == [
        ("甲甲甲甲甲\n乙乙乙乙乙", ("一",), 1),
        ("丙丙丙丙丙丙\n丁丁", ("二",), 3),
    ]


def test_ids_and_ordinals_follow_the_document() -> None:
    found = chunks(
        Block("甲" * 10, ("一",)), Block("乙" * 10, ("二",)), faqs=(FaqPair("问", "答", ("另问",), after=2),)
    )
    assert [c.id for c in found] == ["v1-0", "v1-1", "v1-2", "v1-3"]
    assert [c.ordinal for c in found] == [0, 1, 2, 3]
    assert [c.entry for c in found] == ["v1-0", "v1-1", "v1-q0", "v1-q0"]


def test_block_that_fits_is_not_divided() -> None:
    assert texts(Block("甲" * 15), Block("乙乙乙。乙乙乙。乙乙乙。")) == ["甲" * 15, "乙乙乙。乙乙乙。乙乙乙。"]


def test_long_paragraph_is_divided_at_sentences_and_overlaps_by_whole_ones() -> None:
    assert texts(Block("一一一一一一一一一。二二二二二。三三三三。四四四四四四四。")) == [
        "一一一一一一一一一。二二二二二。",
        "二二二二二。三三三三。四四四四四四四。",
    ]


def test_closing_quotes_stay_with_their_sentence() -> None:
    found = texts(
        Block("客服说：“请您稍等一下。”然后转接了。用户答：「好的！」（完。）"), options=ChunkOptions(1, 10, 0)
    )
    assert found == ["客服说：“请您稍等一下。”", "然后转接了。", "用户答：「好的！」（完。）"]


def test_english_sentences_and_decimals() -> None:
    found = texts(Block("Price is 3.5 now. Is it ok? Yes; v1.2 works fine."), options=ChunkOptions(1, 8, 0))
    assert found == ["Price is 3.5 now.", "Is it ok? Yes;", "v1.2 works fine."]


def test_list_number_is_not_a_sentence() -> None:
    found = texts(Block("甲乙丙。12. 一二三四五六七。"), options=ChunkOptions(1, 8, 0))
    assert found == ["甲乙丙。", "12. 一二三四五六七。"]


def test_over_long_sentence_is_divided_at_clauses_and_at_last_hard() -> None:
    assert texts(Block("一二三四五六，七八九十、甲乙丙丁戊己庚辛壬癸子丑寅卯。"), options=ChunkOptions(1, 6, 3)) == [
        "一二三四五六，",
        "七八九十、",
        "甲乙丙丁戊己庚辛",
        "壬癸子丑寅卯。",
    ]


def test_table_rows_overlap_as_a_whole_or_not_at_all() -> None:
    rows = [Block(f"代码：E0{n}；处理：重启") for n in range(3)]
    assert texts(*rows, options=ChunkOptions(1, 16, 8))[1].startswith("代码：E01；处理：重启\n")
    assert texts(*rows, options=ChunkOptions(1, 16, 7))[1] == "代码：E02；处理：重启"


def test_short_section_is_merged_with_its_next_sibling_and_keeps_both_headings() -> None:
    found = chunks(
        Block("甲甲", ("章", "一节"), 1), Block("乙乙乙乙乙", ("章", "二节"), 1), Block("丙丙丙丙丙", ("章", "三节"), 3)
    )
    assert [(c.text, c.heading_path, c.page) for c in found] == [
        ("一节\n甲甲\n二节\n乙乙乙乙乙", ("章",), 1),
        ("丙丙丙丙丙", ("章", "三节"), 3),
    ]


def test_what_stands_on_another_page_is_a_chunk_with_that_page() -> None:
    sections = chunks(Block("甲甲", ("章", "一节"), 1), Block("乙乙乙乙乙", ("章", "二节"), 2))
    assert [(c.text, c.page) for c in sections] == [("甲甲", 1), ("乙乙乙乙乙", 2)]
    pages = chunks(Block("甲" * 8 + "。", page=1), Block("乙" * 8 + "。", page=2), options=ChunkOptions(4, 60, 0))
    assert [(c.text[0], c.page) for c in pages] == [("甲", 1), ("乙", 2)]


def test_a_few_words_before_the_turn_of_a_page_go_with_what_follows() -> None:
    (found,) = chunks(Block("甲甲。", page=1), Block("乙" * 8 + "。", page=2), options=ChunkOptions(4, 60, 0))
    assert found.page == 2


def test_a_chunk_that_repeats_the_end_of_a_page_is_cited_with_the_next() -> None:
    blocks = [Block("一二三四五六七。八九。", page=1), Block("甲乙丙丁戊己庚辛。", page=2)]
    found = chunks(*blocks, options=ChunkOptions(4, 14, 5))
    assert [(c.text, c.page) for c in found] == [("一二三四五六七。八九。", 1), ("八九。\n甲乙丙丁戊己庚辛。", 2)]


def test_several_short_sections_are_merged_until_they_are_long_enough() -> None:
    found = chunks(*(Block(name * 2, ("章", name)) for name in "甲乙丙丁"), options=ChunkOptions(7, 40, 0))
    assert [c.text for c in found] == ["甲\n甲甲\n乙\n乙乙\n丙\n丙丙", "丁丁"]
    assert [c.heading_path for c in found] == [("章",), ("章", "丁")]


def test_merged_sections_that_fit_are_not_divided_again() -> None:
    sections = [Block("一二。" * 5, ("章", "甲")), Block("三四。" * 5, ("章", "乙"))]
    assert count_tokens("甲" + "一二。" * 5 + "乙" + "三四。" * 5) == 24
    assert texts(*sections, options=ChunkOptions(13, 24, 0)) == ["甲\n" + "一二。" * 5 + "\n乙\n" + "三四。" * 5]


def test_short_section_stays_alone_when_both_do_not_fit_or_are_not_siblings() -> None:
    found = chunks(
        Block("甲甲", ("章", "一")), Block("乙" * 18, ("章", "二")), Block("丙", ("章",)), Block("丁", ("章", "一"))
    )
    assert [c.text for c in found] == ["甲甲", "乙" * 18, "丙", "丁"]


def test_curated_answer_is_one_chunk_for_each_way_to_ask() -> None:
    answer = "可以。" * 600
    found = chunks(faqs=(FaqPair("能退吗", answer, ("可以退吗", "能退吗"), "售后"),))
    assert [(c.question, c.entry, c.heading_path) for c in found] == [
        ("能退吗", "v1-q0", ("售后",)),
        ("可以退吗", "v1-q0", ("售后",)),
    ]
    assert {c.text for c in found} == {answer}


def test_answer_over_the_limit_is_a_section_named_by_its_question() -> None:
    found = chunks(
        faqs=(FaqPair("能退吗", "可以退。" * (MAX_ANSWER_CHARS // 4 + 1), ("可以退吗",)),), options=ChunkOptions()
    )
    assert len(found) > 1
    assert all(c.question is None and c.heading_path == ("能退吗 / 可以退吗",) and c.entry == c.id for c in found)


# --- Properties ------------------------------------------------------------------------------

_WORD = st.text(alphabet="退货运费保修耳机吗请", min_size=1, max_size=12) | st.sampled_from(
    ["YS-H10", "App", "3.5", "7 天"]
)
_SENTENCES = st.builds(
    lambda words, end: "，".join(words) + end, st.lists(_WORD, min_size=1, max_size=3), st.sampled_from("。！？；…")
)
_PARAGRAPHS = st.lists(_SENTENCES, min_size=1, max_size=6)
_PATHS = st.lists(st.sampled_from("甲乙丙"), max_size=3).map(tuple)
_OPTIONS = st.builds(
    lambda low, more, overlap: ChunkOptions(low, low + more, min(overlap, low + more - 1)),
    st.integers(1, 60), st.integers(10, 100), st.integers(0, 60),
)  # fmt: skip


@st.composite
def documents(draw: st.DrawFn) -> tuple[ParsedDocument, list[str]]:
    """A document and its sentences in order, each made unlike all others by a number."""
    sentences: list[str] = []
    blocks: list[Block] = []
    for path, paragraph in draw(st.lists(st.tuples(_PATHS, _PARAGRAPHS), min_size=1, max_size=8)):
        marked = [f"第{len(sentences) + index}号{sentence}" for index, sentence in enumerate(paragraph)]
        sentences.extend(marked)
        blocks.append(Block("".join(marked), path, page=len(blocks) + 1))
    return ParsedDocument("标题", tuple(blocks)), sentences


@settings(deadline=None)
@given(documents(), _OPTIONS)
def test_bounds_are_kept_and_no_sentence_is_lost(made: tuple[ParsedDocument, list[str]], options: ChunkOptions) -> None:
    parsed, sentences = made
    found = split_document(parsed, _META, "v", options)
    assert all(0 < count_tokens(chunk.text) <= options.max_tokens for chunk in found)
    place = 0
    for sentence in sentences:
        if count_tokens(sentence) <= options.max_tokens:
            places = [index for index, chunk in enumerate(found) if sentence in chunk.text]
            assert places
            assert places[-1] >= place
            place = places[-1]
    everything = "".join(chunk.text for chunk in found)
    assert all(
        everything.count(character) >= "".join(sentences).count(character) for character in set("".join(sentences))
    )


@settings(deadline=None)
@given(documents(), _OPTIONS)
def test_overlap_is_bounded_whole_and_inside_a_section(
    made: tuple[ParsedDocument, list[str]], options: ChunkOptions
) -> None:
    parsed, sentences = made
    found = split_document(parsed, _META, "v", options)
    for before, after in pairwise(found):
        shared = [s for s in sentences if s in before.text and s in after.text]
        assert count_tokens("".join(shared)) <= options.overlap_tokens
        if shared:
            assert before.heading_path == after.heading_path
            assert after.text.startswith(shared[0])
            assert before.text.endswith(shared[-1])


@settings(deadline=None)
@given(documents(), _OPTIONS)
def test_splitting_is_deterministic_and_numbered(made: tuple[ParsedDocument, list[str]], options: ChunkOptions) -> None:
    found = split_document(made[0], _META, "v", options)
    assert found == split_document(made[0], _META, "v", options)
    assert [chunk.id for chunk in found] == [f"v-{index}" for index in range(len(found))]
    marks = [int(match.group(1)) for chunk in found if (match := re.search(r"第(\d+)号", chunk.text))]
    assert marks == sorted(marks)


@settings(deadline=None)
@given(st.lists(st.text(max_size=200), max_size=5), _OPTIONS)
def test_any_text_is_split_within_bounds(paragraphs: list[str], options: ChunkOptions) -> None:
    found = split_document(ParsedDocument("题", tuple(Block(text) for text in paragraphs)), _META, "v", options)
    assert all(count_tokens(chunk.text) <= options.max_tokens and chunk.text.strip() for chunk in found)
    kept = "".join("".join(chunk.text.split()) for chunk in found)
    assert all(character in kept for character in set("".join("".join(paragraphs).split())))
