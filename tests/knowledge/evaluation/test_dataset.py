from __future__ import annotations

from pathlib import Path

import pytest

from knowledge.calibration.calibrator import LabelledQuestion
from knowledge.chunking import ChunkOptions
from knowledge.errors import InvalidConfiguration, InvalidDocument
from knowledge.evaluation.dataset import load_set
from knowledge.evaluation.rows import read_rows
from tests.knowledge.evaluation.files import OUT_OF_DOMAIN, UNANSWERABLE, corpus_set, document_set, write_rows


def test_a_folder_of_rows_gives_chunks_that_count_for_their_row(tmp_path: Path) -> None:
    data = load_set(corpus_set(tmp_path / "set"))
    assert data.name == "set"
    assert [data.source_of(chunk) for chunk in data.chunks][:2] == ["freight", "refund"]
    assert data.chunks[0].indexed_text.startswith("退货运费\n质量问题")
    assert data.answerable[0] == LabelledQuestion("退货运费由谁承担", True, ("freight",), "q1")
    assert data.unanswerable == data.out_of_domain == ()


def test_a_long_row_is_several_chunks_of_one_source(tmp_path: Path) -> None:
    write_rows(tmp_path / "queries.jsonl", [])
    write_rows(tmp_path / "corpus.jsonl", [{"id": "long", "text": "退货运费由您承担。" * 20}])
    data = load_set(tmp_path, options=ChunkOptions(1, 30, 0))
    assert len(data.chunks) > 3
    assert {data.source_of(chunk) for chunk in data.chunks} == {"long"}
    assert len({chunk.id for chunk in data.chunks}) == len(data.chunks)


def test_unanswerable_and_out_of_domain_questions_come_from_files_of_their_own(tmp_path: Path) -> None:
    folder = corpus_set(tmp_path / "set")
    write_rows(folder / "queries_unanswerable.jsonl", UNANSWERABLE)
    data = load_set(folder, write_rows(tmp_path / "other.jsonl", OUT_OF_DOMAIN))
    assert [q.id for q in data.unanswerable] == ["u1"]
    assert [q.id for q in data.out_of_domain] == ["o1", "o2"]


def test_a_folder_of_documents_gives_what_ingestion_makes_of_them(tmp_path: Path) -> None:
    folder = document_set(tmp_path)
    (folder / "documents" / ".DS_Store").write_bytes(b"\0")
    (folder / "documents" / "图.png").write_bytes(b"\0")
    data = load_set(folder, write_rows(tmp_path / "other.jsonl", OUT_OF_DOMAIN))
    categories = {chunk.document.name: chunk.document.category for chunk in data.chunks}
    assert categories == {"退货.md": "售后", "保修.md": "售后", "总则.md": "", "常见问题.csv": ""}
    asked = {chunk.question: data.source_of(chunk) for chunk in data.chunks if chunk.question}
    assert asked == {
        "怎么修改收货地址": "常见问题.csv#1",
        "收货地址填错了怎么办": "常见问题.csv#1",
        "能换个地址收货吗": "常见问题.csv#1",
        "怎么开发票": "常见问题.csv#2",
    }
    assert [q.id for q in data.answerable] == ["s1", "s2", "s3"]
    assert [q.id for q in data.unanswerable] == ["s4"]
    assert [q.id for q in data.out_of_domain] == ["s5", "o1", "o2"]


def test_a_question_without_a_source_is_unanswerable_whatever_its_category(tmp_path: Path) -> None:
    folder = document_set(tmp_path)
    write_rows(folder / "eval.jsonl", [{"id": "x", "text": "有实体店吗", "category": "faq"}])
    assert [q.id for q in load_set(folder).unanswerable] == ["x"]


def test_two_documents_of_one_name_are_refused(tmp_path: Path) -> None:
    folder = document_set(tmp_path)
    (folder / "documents" / "保修.md").write_text("# 保修\n\n另一份。", "utf-8")
    with pytest.raises(InvalidConfiguration, match="同名"):
        load_set(folder)


def test_a_document_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    folder = document_set(tmp_path)
    (folder / "documents" / "空.md").touch()
    with pytest.raises(InvalidDocument, match=r"空\.md"):
        load_set(folder)


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfiguration, match=r"没有文件夹 .*无此"):
        load_set(tmp_path / "无此")
    with pytest.raises(InvalidConfiguration, match=r"没有 corpus\.jsonl，也没有 eval\.jsonl"):
        load_set(tmp_path)
    write_rows(tmp_path / "corpus.jsonl", [{"id": "a", "text": "退货"}])
    with pytest.raises(InvalidConfiguration, match=r"找不到文件 .*queries\.jsonl"):
        load_set(tmp_path)


@pytest.mark.parametrize("layout", ["corpus", "documents"])
def test_a_set_without_text_is_refused(tmp_path: Path, layout: str) -> None:
    write_rows(tmp_path / ("corpus.jsonl" if layout == "corpus" else "eval.jsonl"), [])
    write_rows(tmp_path / "queries.jsonl", [])
    with pytest.raises(InvalidConfiguration, match="没有可以检索的文字"):
        load_set(tmp_path)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": "b", "text": ', "不是 JSON"),
        ('["b"]', "不是 JSON 对象"),
        ('{"id": "b"}', "缺少 text"),
        ('{"id": 1, "text": "退货"}', "缺少 id，或其类型不是 str"),
    ],
)
def test_a_wrong_row_is_named_by_file_and_line(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "行.jsonl"
    path.write_text(f'{{"id": "a", "text": "退货"}}\n\n{line}\n', "utf-8")
    with pytest.raises(InvalidConfiguration, match=rf"行\.jsonl 第 3 行.*{message}"):
        read_rows(path, id=str, text=str)


def test_rows_may_hold_line_separators_and_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "行.jsonl"
    path.write_text('\ufeff{"text": "一\u2028二\x85三"}\r\n', "utf-8", newline="")
    assert read_rows(path, text=str) == [{"text": "一\u2028二\x85三"}]


def test_a_file_that_is_not_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "行.jsonl"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidConfiguration, match=r"行\.jsonl 读不了"):
        read_rows(path)
    with pytest.raises(InvalidConfiguration, match="读不了"):
        read_rows(tmp_path)
