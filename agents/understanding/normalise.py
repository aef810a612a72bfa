"""Normalises messages: they are embedded, searched and routed in one spelling; the original is shown and kept.

No document says 咋退啊亲, and polite words only disturb an embedding. Numbers, codes, negations and models stay the
same, and nothing is summarised.
"""

from __future__ import annotations

import re

from knowledge.text import simplify, split_variants

# Of a clause, how much may be thanks at its end.
EDGE_CHARS = 24
# Letters, digits and signs; the punctuation of Chinese stays. NFKC would turn 10² into 102.
_HALF_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F) if chr(code) not in "！（），：；？"} | {
    0x3000: " "
}
# Pictures, what joins and colours them, not the numbers in circles.
_EMOJI = re.compile(
    "[\u200d\u20e3\u2600-\u26ff\u2700-\u2775\u2794-\u27bf\u2b50\u2b55\u3030\ufe0e\ufe0f"
    "\U0001f000-\U0001f0ff\U0001f1e6-\U0001faff\U000e0020-\U000e007f]+"
)
_SPACE = re.compile(r"[^\S\n]+")
# A code of one or two letters is written in capitals: ys-h30 pro -> YS-H30 Pro.
_MODEL = re.compile(
    r"(?<![a-z0-9@._/])[a-z]{1,2}(?:-[a-z]{1,2})?[0-9]{1,4}(?:\s(?:pro|max|plus|lite|mini|ultra|se|air)\b)*"
    r"(?![a-z0-9@]|[._/][a-z0-9])",
    re.IGNORECASE | re.ASCII,
)
_PRINTED = {"se": "SE"}
# Dialect and chat spelling -> the standard one. Only what means nothing else inside other words.
_SPELT = {
    "咋": "怎么",
    "啥子": "什么",
    "啥": "什么",
    "肿么": "怎么",
    "神马": "什么",
    "灰常": "非常",
    "酱紫": "这样",
    "有木有": "有没有",
    "有米有": "有没有",
    "莫得": "没有",
    "冇": "没有",
    "乜嘢": "什么",
    "边度": "哪里",
    "唔该": "谢谢",
    "唔": "不",
    "嘅": "的",
    "咗": "了",
    "喺": "在",
}
_NOT_BEFORE = {"咋": "(?![舌呼])", "唔": "(?=[知得系可能想会使识见明])"}
_WORD = re.compile("|".join(word + _NOT_BEFORE.get(word, "") for word in _SPELT))
# 没有, but not in 实木有味道吗 or 小米有货吗.
_NONE = re.compile(r"(?<![^,，。.!！?？\s我你您他她它们还就都也这那里])木有|(?<=[我你您他她们还就都也])米有")
# 不, but not in iPhone 8能用吗 or 要8会员卡.
_NOT = re.compile(r"([能会可是要行好])8(?=\1)|(?:(?<=[我你您还就都也])|(?<![^,，。!！?？]))8(?=能)")
_GOOD = re.compile(r"(?<=好)滴(?=[吧呢啊呀哦,，。.!！~～\s]|$)")
_POLITE = (
    r"(?:你好|您好)(?![像几多奇不久看用坏])[呀啊哈]?|哈喽|(?:hi|hello|hey|那个|是这样的?)(?=$|请问|麻烦|我?想问)"
    r"|(?:喂|嗨|亲亲?)(?=\W|$|[你您]好|在吗|请问|麻烦|我?想问)|亲爱的|不好意思|在吗|在不在|打扰(?:一?下|了)|劳驾|话说|有个(?:事儿?|问题)(?=$|想|问|请教|咨询)|我?跟你们?说(?=\W|$)|客服(?=[你您]好|\W|$)"
    r"|麻烦(?:您|你|大家)?(?=[帮给查看问请告说发把]|\W|$)|请问(?:一?下)?(?!题)|(?:问|咨询|请教|打听)一?下(?!题)"
    r"|我?(?:就|还|再|也|是)?想要?(?:请问|咨询|请教|了解|知道|问问|问)(?:一?下)?(?:的是)?(?!题)"
)
_OPENING = re.compile(rf"\s*(?:(?:{_POLITE})\s*)+", re.IGNORECASE)
_THANKS = (
    r"(?:谢谢|多谢|谢了|感谢|拜托|辛苦)(?:你们?|您|了|啦|哈|啊|哦|大家)*|(?<=[吗呢吧啊哦呀了么嘛])亲|亲亲?$"
    r"|麻烦(?:你|您)?了|在线等"
)
_CLOSING = re.compile(rf"(?:^|(?<![么样何不用声封母父]))(?:\s*(?:{_THANKS}))+\s*$")
_CLAUSE = re.compile(r"([,，。!！?？;；:：~～…\n]+)")
_LOOSE = ",，、;；:：~～… \n\t"


def compile_whole_word(name: str) -> re.Pattern[str]:
    """Compiles a pattern that finds a name or number as a whole: 5号 is no part of 15号. Folded texts need a
    folded name.
    """
    return re.compile(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])")


def normalise_text(text: str) -> str:
    """Returns the text in one spelling, without greetings and thanks; a text of nothing else stays. Linear in
    its length.
    """
    plain = _EMOJI.sub(" ", simplify(text.translate(_HALF_WIDTH)))
    plain = _SPACE.sub(" ", plain).strip()
    if not plain:
        return text
    plain = _MODEL.sub(_format_model, split_variants(plain))
    return _strip_politeness(_convert_to_standard(plain)) or plain


def _convert_to_standard(text: str) -> str:
    """Returns dialect and chat spellings as standard Chinese."""
    if text.isascii():
        return text
    text = _WORD.sub(lambda match: _SPELT[match.group()], text)
    return _GOOD.sub("的", _NOT.sub(lambda match: (match[1] or "") + "不", _NONE.sub("没有", text)))


def _format_model(match: re.Match[str]) -> str:
    model, *variants = match.group().split()
    return " ".join((model.upper(), *(_PRINTED.get(variant.lower(), variant.capitalize()) for variant in variants)))


def _strip_politeness(text: str) -> str:
    """Removes polite clauses with the sign behind them, and polite words at the edges of other clauses."""
    pieces = _CLAUSE.split(text)
    kept = []
    for clause, sign in zip(pieces[::2], [*pieces[1::2], ""], strict=True):
        if rest := _strip_polite_edges(clause):
            kept.append(rest + sign)
        elif not clause.strip():
            kept.append(sign)
    return "".join(kept).strip(_LOOSE)


def _strip_polite_edges(clause: str) -> str:
    """Removes the polite words at the edges of a clause."""
    if opening := _OPENING.match(clause):
        clause = clause[opening.end() :]
    edge = clause[-EDGE_CHARS:]
    return clause[: len(clause) - len(edge)] + _CLOSING.sub("", edge)
