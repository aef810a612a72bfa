"""Counts the visible parts of a file that are not read, and reports them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum

from knowledge.types import Notice, NoticeCode

_PAGES_SHOWN = 20


class OmittedPart(StrEnum):
    """Parts of a file, by the names that people have for them. why: the reason why they are left out."""

    why: str

    def __new__(cls, name: str, why: str) -> OmittedPart:
        part = str.__new__(cls, name)
        part._value_, part.why = name, why
        return part

    HEADER = "页眉", "每页重复，不是正文"
    FOOTER = "页脚", "每页重复，不是正文"
    RUNNING = "页眉页脚", "每页重复，不是正文"
    PAGE_NUMBER = "页码", "不是正文"
    CONTENTS = "目录", "与正文的标题重复"
    NAVIGATION = "导航和页脚", "不是正文"
    COMMENT = "批注", "是审阅意见，不是正文"
    DELETED = "修订中删除的文字", "已被删除，等待接受修订"
    PRONUNCIATION = "注音", "只标读音"
    CHART = "图表和 SmartArt", "是图形，无法按文字读取"
    EMBEDDED = "嵌入的对象", "是图形或其他程序的内容，无法读取"
    NOTES = "演讲者备注", "只给演讲者看"
    HIDDEN_SLIDE = "隐藏的幻灯片", "放映时不显示"
    MASTER = "母版上的文字", "每页重复，不是正文"


class Omissions:
    """The omissions of one file. Hidden text does not count: nobody sees it."""

    def __init__(self) -> None:
        self._characters: Counter[OmittedPart] = Counter()
        self._pages: dict[OmittedPart, dict[int, None]] = {}

    def add(self, part: OmittedPart, text: str, page: int | None = None) -> None:
        """Counts omitted text.

        Args:
            part: The part of the file.
            text: The text; empty if it is unknown.
            page: The page, from 1.
        """
        self.count(part, count_visible(text), page)

    def count(self, part: OmittedPart, characters: int, page: int | None = None) -> None:
        """Counts omitted text that is already gone, given its `count_visible` characters."""
        self._characters[part] += characters
        pages = self._pages.setdefault(part, {})
        if page is not None:
            pages[page] = None

    def build_notices(self) -> Iterator[Notice]:
        """Yields one notice for each part."""
        for part, characters in self._characters.items():
            pages = tuple(sorted(self._pages[part]))
            where = f"（第 {format_pages(pages)} 页）" if pages else ""
            many = f"，共 {characters} 字" if characters else ""
            message = f"{part}没有入库{where}：{part.why}{many}"
            yield Notice(NoticeCode.LEFT_OUT, message, pages, part, characters)


def count_visible(text: str) -> int:
    """Counts characters without white space."""
    return len("".join(text.split()))


def format_pages(pages: Sequence[int]) -> str:
    """Formats page numbers for people: 2、4-6."""
    runs: list[list[int]] = []
    for page in pages:
        if runs and page == runs[-1][-1] + 1:
            runs[-1].append(page)
        else:
            runs.append([page])
    names = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    return "、".join(names[:_PAGES_SHOWN]) + (" 等" if len(names) > _PAGES_SHOWN else "")
