"""Phrases a question that a customer would ask, from a title and a heading."""

from __future__ import annotations

import re

from agents.passages.sentences import split_sentences
from agents.understanding.answer_type import AnswerType, has_answer_type
from knowledge.codes import find_first_code, is_code

MAX_SUBJECT_CHARS = 12
MAX_QUESTION_CHARS = 30
RULED = "{}有什么规定？"
SHORT_HEADING_CHARS = 3
# A heading from here on is understood without its document's subject, when it does not lean on it.
LONG_HEADING_CHARS = 5

HEADING_NUMBER = re.compile(r"^\s*(?:第?[一二三四五六七八九十]+[、.．章节]|[（(]?\d+(?:\.\d+)*[)）、.．]?\s)\s*")
_BRACKETS = re.compile(r"[（(][^）)]*[）)]")
_KIND_OF_DOCUMENT = re.compile(
    r"(?:产品|使用|安装|收费|管理|选购|组网|操作)?(?:说明书?|手册|指南|规则|规定|标准|办法|一览表?|价目表|选购表|须知)$"
)
_UNNAMED = re.compile(r"概述|简介|其他|其它|附则|总则|前言|常见|说明|须知|问题|备注|提示$|一览|对比|情形$|情况$")
_ASKS = re.compile(r"怎么|如何|怎样|多久|多少|什么|哪|谁|为何|[吗？?]|能不能|可不可以|退不退|要不要|是否")
_PARTS = re.compile(r"[、与和及/]")
_HOW_MANY = re.compile(r"^[一二两三四五六七八九十\d]+种")
_LABEL = re.compile(r"^[^：]{1,6}：")
_TROUBLE = re.compile(r"[不没未][^一-]|失败|故障|异常|丢失|遗失|泄漏|漏水|被困|困人|损坏|报错|只有")
_PRICED = re.compile(r"\d\s*元")
# What a heading ends with tells what is asked of it.
_BY_HEADING = (
    (re.compile(r"^联系(?!方式)"), "怎么{}？"),
    (re.compile(r"[^的]的[^的]{1,3}[^的数]$"), "{}有哪些？"),
    (re.compile(r"(?:流程|步骤|手续)$"), "{}是怎样的？"),
    (re.compile(r"(?:时效|时限|期限|周期|保修期|有效期|(?:到账|处理|审核|发货|配送)时间)$"), "{}是多久？"),
    (re.compile(r"(?:时间|截止日)$"), "{}是什么时候？"),
    (re.compile(r"(?:电话|热线|邮箱|联系方式|单价|票价|价格)$"), "{}是多少？"),
    (re.compile(r"(?<![续缴免收])费$|(?<![五资])金$|费用$"), "{}怎么算？"),
    (re.compile(r"(?:入口|地址|位置)$"), "{}在哪里？"),
    (re.compile(r"(?:渠道|方式|种类|权益|功能|业务|事项|行为|模式|规格|参数|代码|[误障示]码)$"), "{}有哪些？"),
)
_DOING = re.compile(r"(.{2,}?)(更换|清洁|重置|安装|绑定|升级|办理|转让|查询|注销|导出|取消|修改|替换)")
# Fits a heading that names two things.
_OF_ALL = frozenset({"{}是怎样的？", "{}有哪些？"})


def write_question(title: str, heading: str, text: str) -> str | None:
    """Returns a question about a section, from its heading, its document's title and its text; None where none can be
    phrased.
    """
    subject, heading = _extract_subject(title), _strip_labels(heading)
    if not heading or heading == _strip_labels(title):
        heading, subject, text = subject, "", ""
    if not heading or is_code(heading):
        return None
    if _ASKS.search(heading):
        return _fill_pattern(_add_subject(subject, heading.rstrip("？?"), ""), "{}？")
    if _UNNAMED.search(heading):
        return None
    for ending, pattern in _BY_HEADING:
        if ending.search(heading) and (pattern in _OF_ALL or not _PARTS.search(heading)):
            return _fill_pattern(_add_subject(subject, heading, "的"), pattern)
        if ending.search(first := _PARTS.split(heading)[0]):
            return _fill_pattern(_add_subject(subject, first, "的"), pattern)
    doing = _DOING.fullmatch(heading)
    if doing and not _PARTS.search(heading):
        return _fill_pattern(_add_subject(subject, doing.group(1), "的"), f"{{}}怎么{doing.group(2)}？")
    ruled = "" if find_first_code(title) else RULED
    return _fill_pattern(
        _add_subject(subject, heading, ""), _choose_pattern(heading, text) or (ruled if _has_rules(text) else "")
    )


def _has_rules(text: str) -> bool:
    """Whether most of a section says what is allowed and what is not."""
    sentences = [sentence.text for sentence in split_sentences(text)]
    return 2 * sum(has_answer_type(AnswerType.YES_NO, each) for each in sentences) > len(sentences)


def strip_heading(heading: str) -> str:
    """Returns a heading without its number, label and brackets; unchanged where nothing else is left."""
    return _strip_labels(heading) or heading


def _strip_labels(heading: str) -> str:
    plain = _LABEL.sub("", _BRACKETS.sub("", HEADING_NUMBER.sub("", heading))).strip()
    return _HOW_MANY.sub("", plain).replace("我们", "你们")


def _extract_subject(title: str) -> str:
    """Returns what a document is about: its title without the word for its kind; of a product its model."""
    found = find_first_code(title)
    name = _KIND_OF_DOCUMENT.sub("", _strip_labels(title)).strip()
    if found:
        return found.text if len(name) > MAX_SUBJECT_CHARS else name
    return name if len(name) <= MAX_SUBJECT_CHARS else ""


def _add_subject(subject: str, heading: str, link: str) -> str:
    """Returns a heading with its subject, unless it has it or is long enough to be understood; empty where
    neither helps.
    """
    shared = any(subject[start : start + 2] in heading for start in range(len(subject) - 1))
    of_model = find_first_code(subject) is not None
    of_two = not of_model and _PARTS.search(subject) is not None
    if of_two and len(heading) < SHORT_HEADING_CHARS:
        return ""  # of which of the two?
    if not subject or shared or (len(heading) >= LONG_HEADING_CHARS and not of_model):
        return heading
    if of_two:
        return ""
    link = "" if "的" in heading else link
    space = " " if subject[-1].isascii() and not link else ""
    return f"{subject}{link}{space}{heading[1:] if heading[0] == subject[-1] else heading}"


def _choose_pattern(heading: str, text: str) -> str:
    """Returns the pattern for what a section holds, steps or a table of prices; empty for neither."""
    sentences = split_sentences(text)
    if sum(sentence.is_step for sentence in sentences) > 1:
        return "{}怎么办？" if _TROUBLE.search(heading) else "{}怎么操作？"
    rows = [sentence for sentence in sentences if sentence.is_row]
    priced = sum(_PRICED.search(row.text) is not None for row in rows)
    return "{}怎么收费？" if priced > 1 and priced > len(rows) / 2 else ""


def _fill_pattern(name: str, pattern: str) -> str | None:
    question = pattern.format(name)
    return question if name and pattern and len(question) <= MAX_QUESTION_CHARS else None
