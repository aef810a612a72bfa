"""Recognises follow-ups and completes them by rules: 那运费呢, 它多少钱, 第二个呢.

A rewrite only adds what the conversation was about. One that loses a number, a model name, an order id or a negation is
discarded, and the original question is searched in any case.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agents.understanding.consent import Consent, Reply
from agents.understanding.facts import has_all_facts
from agents.understanding.question_words import strip_question_words
from agents.understanding.reading import Reading
from agents.understanding.state import Turn
from knowledge.codes import find_first_code, replace_codes

# A longer question says itself what it is about, unless a pronoun stands for it.
MAX_FOLLOW_UP_CHARS = 20

_PRONOUN = re.compile(
    r"它们?|这(?:个|款|种|台|件|项|样)(?!月|星期|周|年|时)|那(?:个|款|种|台|件|项)|该(?:产品|商品|型号|功能|服务|设备)|上(?:面|述)(?:的|说的)?那?个?|刚才(?:说|提到)的|前面(?:说|提到)的"
)
_ORDINAL = re.compile(r"第?\s*([一二三四五六七八九1-9])\s*(?:个|项|条|种|点)")
_ORDINAL_ONLY = re.compile(
    r"(?:那|就|选|要|是|看|说|讲|我?(?:想|要)(?:问|看|了解)|请问)*第\s*[一二三四五六七八九1-9]\s*(?:个|项|条|种|点)?(?:呢|吧|的|是什么|怎么样|怎么说|怎么办|怎么弄|说说)*"
)
_OPENING = re.compile(r"^(?:那么?|还有|另外|然后|以及|再问一下|而)[，,\s]*")
_ENDING = re.compile(r"(?:又?呢|怎么样|如何)?(?<![？?！!。.\s])[？?！!。.\s]*$")
_MARKER = re.compile(r"\[\d+\]")
_NUMERALS = {numeral: value for value, numeral in enumerate("一二三四五六七八九", start=1)}


def rewrite_by_rules(text: str, history: Sequence[Turn]) -> str | None:
    """Returns a follow-up completed with its topic; None for any other message."""
    text = text.strip()
    rewritten = _rewrite_follow_up(text, history[-1]) if text and history else None
    return rewritten if rewritten and rewritten != text and has_all_facts(text, rewritten) else None


def find_choice(reading: Reading, history: Sequence[Turn]) -> str | None:
    """Returns what a message chooses of the options in the last reply: 第二个, or a yes to the only one; else None."""
    if not history or not _is_clarification(history[-1]):
        return None
    if _ORDINAL_ONLY.fullmatch(_strip_marks(reading.text)):
        return _find_option(reading.text, history[-1])
    only = len(history[-1].suggestions) == 1
    return history[-1].suggestions[0] if only and reading.reply == Reply(Consent.CONFIRM) else None


def fill_subject(text: str, subject: str) -> str | None:
    """Returns the text with a subject in the place of a pronoun: 这个怎么充电; None where no pronoun stands for it."""
    rewritten = _PRONOUN.sub(lambda _: subject, text, count=1)
    return rewritten if subject and rewritten != text and has_all_facts(text, rewritten) else None


def _rewrite_follow_up(text: str, last: Turn) -> str | None:
    if _ORDINAL_ONLY.fullmatch(_strip_marks(text)):
        return _find_option(text, last)
    topic = strip_question_words(last.utterance.expanded_text)
    if not topic:
        return None
    if _is_completion(text, last):
        return f"{topic} {text}"
    if _PRONOUN.search(text):
        return _PRONOUN.sub(lambda _: _extract_subject(last.utterance.expanded_text, topic), text, count=1)
    core = _strip_edges(text)
    short = _is_elliptical(text, core) and 0 < len(core) <= MAX_FOLLOW_UP_CHARS
    return _fill_topic(core, last.utterance.expanded_text, topic) if short else None


def _is_completion(text: str, last: Turn) -> bool:
    """Whether the message is a word or two after the assistant asked back."""
    return (
        _is_clarification(last)
        and len(text) <= MAX_FOLLOW_UP_CHARS
        and strip_question_words(text) == text.rstrip("的了")
    )


def _strip_edges(text: str) -> str:
    return _ENDING.sub("", _OPENING.sub("", text))


def _is_elliptical(text: str, core: str) -> bool:
    return text != core and (_OPENING.search(text) or re.search(r"呢[？?。!！]*$", text)) is not None


def _fill_topic(core: str, previous: str, topic: str) -> str:
    """Completes an elliptical follow-up: 那运费呢 with the topic, 那 YS-W5 呢 with the question before it."""
    named, earlier = find_first_code(core), find_first_code(previous)
    if named and earlier:
        rest = replace_codes(core, "").strip()
        question = previous[: earlier.start] + named.text + previous[earlier.end :]
        return f"{question} {rest}" if rest else question
    if named:
        return f"{core} {topic}"
    subject = _extract_subject(previous, topic)
    return core if subject in core else f"{subject} {core}"


def _find_option(text: str, last: Turn) -> str | None:
    """Returns the option at the place that is named: 第二个呢."""
    match = _ORDINAL.search(text) or re.search(r"第\s*([一二三四五六七八九1-9])", text)
    if match is None:
        return None
    number = _NUMERALS.get(match.group(1)) or int(match.group(1))
    offered = list(last.suggestions) or re.findall(r"^\s*\d+[.、)）]\s*(.+)$", last.reply, re.MULTILINE)
    if number > len(offered):
        return None
    chosen = f"{text.rstrip('？?呢吧')} {_MARKER.sub('', offered[number - 1])}"
    return f"{strip_question_words(last.utterance.expanded_text)} {chosen}" if _is_clarification(last) else chosen


def _is_clarification(last: Turn) -> bool:
    """Whether the reply listed what the customer may have meant, so that a word or two complete the question."""
    return bool(last.suggestions) and all(suggestion in last.reply for suggestion in last.suggestions)


def _extract_subject(question: str, topic: str) -> str:
    """Returns the thing asked about: a model name, else the whole topic."""
    named = find_first_code(question)
    return named.text if named else topic


def _strip_marks(text: str) -> str:
    return re.sub(r"[？?！!。，,\s]", "", text)
