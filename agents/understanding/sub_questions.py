"""Splits a message into its questions by its structure: numbered items, sentences that ask, A 和 B 分别. Pure."""

from __future__ import annotations

import re

from agents.understanding.answer_type import AnswerType, detect_answer_types
from agents.understanding.question_words import strip_question_words

# A message with more is no list of questions that one reply serves.
MAX_PARTS = 5
# A longer message is a story, whatever it asks on the way.
MAX_STRUCTURED_CHARS = 400
# Of a message's characters, how many have to be in sentences that ask: else it tells a story.
ASKING_SHARE = 0.4
_NUMERALS = "一二三四五六七八九"
_CIRCLED = "①②③④⑤⑥⑦⑧⑨"
_MARKER = re.compile(
    rf"(?<![\dA-Za-z.])[(（]?(\d{{1,2}})(?:[)）、．]|\.(?!\d))|([{_CIRCLED}])"
    rf"|(?<![\u4e00-\u9fff])([{_NUMERALS}])、|第([{_NUMERALS}])[，,、：:]"
)
_SENTENCE = re.compile(r"[^?？!！。;；\n]+[?？!！。;；\n\s]*")
_SIGNS = re.compile(r"[\s？?！!。，,]+")
_GOES_ON = re.compile(r"\s*(?:还是|或者|要不|不然|难道|or\b)", re.IGNORECASE)
# What says nothing by itself: 真的吗, 怎么回事 and 是不是坏了 ask nothing that stands for itself.
_EMPTY = re.compile(
    r"[的了是我你您他她它咱们这那个些就还也都呢吧啊呀么嘛不没有会再又去来给把被在行对好真错坏等样回事管]|\W|_"
)
# 多少钱 and 在哪 name no subject, which the conversation may have, but say what they want.
_TELLING = frozenset({AnswerType.AMOUNT, AnswerType.DURATION, AnswerType.DATE, AnswerType.PLACE, AnswerType.CONTACT})
_LATIN = re.compile(r"[a-z0-9]+", re.IGNORECASE)
# Is it? and how come? are no question by themselves.
_ENGLISH_WORDS = 3
_AND = re.compile(r"(?:和|跟|与|以及|还有|、)")
_EACH = re.compile(
    rf"(?P<one>[^,，。?？!！;；]{{2,16}}?){_AND.pattern}(?P<other>[^,，。?？!！;；、]{{1,16}}?)"
    r"(?:的(?P<of>[^,，。的]{1,16}))?(?:都|各自)?分别(?P<asked>[^,，。?？!！;；]{2,20})[?？。\s]*"
)


def split_questions(text: str) -> tuple[str, ...]:
    """Returns the questions of a message, in order, each with the statements before it; empty where it asks
    one thing.
    """
    if len(text) > MAX_STRUCTURED_CHARS:
        return ()
    parts = _split_numbered(text) or _split_sentences(text) or _split_each(text)
    return parts if 1 < len(parts) <= MAX_PARTS else ()


def _split_numbered(text: str) -> tuple[str, ...]:
    """Splits 1.… 2.…; the text before the first item goes with it. Numbered steps of a story do not ask."""
    marks: list[re.Match[str]] = []
    for match in _MARKER.finditer(text):
        if _parse_marker(match) == len(marks) + 1:
            marks.append(match)
    if len(marks) < 2:
        return ()
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    items = [text[mark.end() : end].strip(" ,，;；、\n") for mark, end in zip(marks, ends, strict=True)]
    if sum(_is_asking(item) or bool(detect_answer_types(item)) for item in items) < 2 or not all(
        map(_has_content, items)
    ):
        return ()
    lead = text[: marks[0].start()].strip()
    return (f"{lead}{items[0]}", *items[1:])


def _parse_marker(match: re.Match[str]) -> int:
    digits, circled, before, ordinal = match.groups()
    if digits:
        return int(digits)
    return _CIRCLED.index(circled) + 1 if circled else _NUMERALS.index(before or ordinal) + 1


def _split_sentences(text: str) -> tuple[str, ...]:
    """Splits at sentences that ask, each with the statements before it; the last statements go with the last
    question.
    """
    sentences = _SENTENCE.findall(text)
    last = len(sentences) - 1
    parts: list[str] = []
    statements = ""
    asking = 0
    for index, sentence in enumerate(sentences):
        asks = _is_marked_question(sentence) or (
            index == last and _is_asking(sentence) and bool(detect_answer_types(sentence))
        )
        asking += len(sentence) * asks
        if asks and _has_content(sentence) and not (parts and _GOES_ON.match(sentence)):
            parts.append((statements + sentence).strip())
            statements = ""
        elif asks and parts:
            parts[-1] += sentence.strip()
        else:
            statements += sentence
    if len(parts) < 2 or asking < ASKING_SHARE * len(text):
        return ()
    parts[-1] += statements.strip()
    return tuple(dict.fromkeys(parts))


def _split_each(text: str) -> tuple[str, ...]:
    """Splits A 和 B 的 C 分别 D into two questions."""
    match = _EACH.fullmatch(text.strip())
    if match is None or _AND.search(match["one"] + match["other"]):
        return ()
    question = f"的{match['of']}{match['asked']}" if match["of"] else match["asked"]
    return match["one"] + question, match["other"] + question


def _is_marked_question(sentence: str) -> bool:
    return sentence.rstrip("!！ \n").endswith(("?", "？"))


def _is_asking(text: str) -> bool:
    """Whether a text is marked as a question, or asks by its words."""
    plain = _SIGNS.sub(" ", text).strip(" 的了是")
    return _is_marked_question(text) or strip_question_words(plain) != plain


def _has_content(sentence: str) -> bool:
    """Whether a sentence says what it asks about, or at least which type of answer it wants."""
    if not _TELLING.isdisjoint(detect_answer_types(sentence)):
        return True
    words = _LATIN.findall(sentence)
    chinese = _LATIN.sub("", _EMPTY.sub("", strip_question_words(sentence)))
    return bool(chinese) or len(words) >= _ENGLISH_WORDS or any(any(c.isdigit() for c in word) for word in words)
