"""Words that make a sentence a question and say nothing of what it is about."""

from __future__ import annotations

import re

_ASKING = re.compile(
    r"请问|麻烦|您好|你好|我想(?:问|了解|知道)(?:一下)?|能不能|可不可以|是不是|有没有|怎么办|怎么样|怎么|怎样|如何|为什么|为何|"
    r"什么时候|什么意思|多长时间|多少钱|多少|多久|几天|几个?|哪里|哪些?|什么|是否|可以|能够?|吗|呢|吧|啊|[？?！!。，,]|"
    r"需要|要(?!求)|申请|办理"
)


def without_asking(text: str) -> str:
    """What a question is about: 怎么申请退货？ -> 退货; may be empty."""
    return re.sub(r"\s+", " ", _ASKING.sub(" ", text)).strip(" 的了是")
