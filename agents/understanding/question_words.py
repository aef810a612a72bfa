"""Words that only ask, and what is left of a question without them."""

from __future__ import annotations

import re

from knowledge.codes import is_code

_ASKING = re.compile(
    r"请问|麻烦|您好|你好|我想(?:问|了解|知道)(?:一下)?|能不能|可不可以|是不是|有没有|怎么办|怎么样|怎么|怎样|如何|为什么|为何|"
    r"什么时候|什么意思|多长时间|多少钱|多少|多久|几天|几个?|哪里|哪些?|什么|是否|可以|能够?|吗|呢|吧|啊|[？?！!。，,]|"
    r"需要|要(?!求)|申请|办理"
)

_QUESTION = re.compile(
    r"[?？]|[吗么呢](?=[\s。.!！,，]|$)|怎么|怎样|如何|多少|多久|什么|为啥|为何|几(?!乎)|哪[里个些儿种]|谁|([^不])[不没]\1|"
    r"请问|想问|咨询|\b(?:how|what|when|where|why|who|which|can|could|do|does|is|are)\b",
)

_COMPARISON = re.compile(
    r"区别|差别|差异|不同|不一样|对比|比较|相比|哪个|哪款|哪种|怎么选|选哪|还是|谁更|\bvs\b|difference|compare|better"
)


def is_comparison(text: str) -> bool:
    """Whether a folded text compares things."""
    return _COMPARISON.search(text) is not None


def is_question(text: str) -> bool:
    """Whether a folded text has a word or sign of a question."""
    return _QUESTION.search(text) is not None


def strip_question_words(text: str) -> str:
    """Returns what a question is about: 怎么申请退货？ -> 退货; may be empty."""
    return re.sub(r"\s+", " ", _ASKING.sub(" ", text)).strip(" 的了是")


def extract_bare_name(text: str) -> str | None:
    """Returns the model name or code of a question that says nothing else: E03 是什么意思 -> E03; None for any
    other.
    """
    rest = strip_question_words(text)
    return rest if is_code(rest) else None
