"""Spoils answers on purpose, by a seeded generator, and rewords them harmlessly, for whoever has to tell the two apart.

Nothing here knows how answers are checked: the words that are changed come from the answers and the documents.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

KINDS = ("number", "name", "negation", "foreign")

_NUMBER = re.compile(r"(?<![A-Za-z0-9.\-\[【/])\d+(?:\.\d+)?(?![A-Za-z0-9\-\]】./])")
_CODE = re.compile(r"(?<![A-Za-z0-9])(?=[A-Za-z-]*\d)(?=\d*[A-Z])[A-Z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*(?![A-Za-z0-9])")
_MARK = re.compile(r"\[\d+\]")
_SENTENCE = re.compile(r"[^。！？\n]+[。！？]?")
_FLIPS = (
    ("不支持", "支持"),
    ("支持", "不支持"),
    ("无需", "需要"),
    ("不需要", "需要"),
    ("需要", "无需"),
    ("不能", "可以"),
    ("不可以", "可以"),
    ("可以", "不可以"),
    ("不会", "会"),
    ("免费", "收费"),
    ("免运费", "收运费"),
    ("没有", "有"),
    ("未", "已"),
    ("已", "未"),
    ("必须", "不必"),
    ("不影响", "影响"),
    ("不含", "含"),
    ("不算", "算"),
    ("请勿", "请"),
    ("只能", "不能"),
    ("不超过", "超过"),
    ("无法", "可以"),
    ("以上", "以下"),
    ("打开", "关闭"),
    ("之前", "之后"),
)
_UNRELATED = (
    "本店所有商品均由火星分仓发出。",
    "春节期间全场商品半价，并赠送旅行箱。",
    "公司总部设有员工食堂和健身房。",
    "本次活动由某某银行独家赞助。",
    "黄山位于安徽省南部，以奇松和云海闻名。",
    "患者应当在医生指导下服用该药物。",
    "比赛将于周六晚上在体育场举行。",
    "您的包裹已由海关扣留，请缴纳保证金。",
)
_DIGITS = "零一二三四五六七八九"


@dataclass(frozen=True, slots=True)
class Pool:
    """What wrong names and foreign sentences are taken from: the same documents, other places."""

    codes: tuple[str, ...]
    nouns: tuple[str, ...]
    sentences: tuple[str, ...]

    @classmethod
    def from_texts(cls, texts: Sequence[str]) -> Pool:
        codes = {code for text in texts for code in _CODE.findall(text)}
        nouns = {noun for text in texts for noun in _find_nouns(text)}
        sentences = {found.strip() for text in texts for found in _SENTENCE.findall(text) if 12 <= len(found) <= 60}
        return cls(tuple(sorted(codes)), tuple(sorted(nouns)), tuple(sorted(sentences)))


def corrupt_answer(kind: str, answer: str, evidence: str, pool: Pool, chance: random.Random) -> str | None:
    """The answer with one fault of a kind, or None where it offers no place for one.

    evidence: the text of the fragments; a wrong name and a foreign sentence are not in it.
    """
    spoil: dict[str, Callable[[], str | None]] = {
        "number": lambda: _change_number(answer, chance),
        "name": lambda: _change_name(answer, evidence, pool, chance),
        "negation": lambda: _flip_negation(answer, chance),
        "foreign": lambda: _add_foreign_sentence(answer, evidence, pool, chance),
    }
    return spoil[kind]()


def reword_answer(answer: str, chance: random.Random) -> str:
    """The same in other words: numerals, other characters, politeness, order, small synonyms."""
    changes: tuple[Callable[[str], str], ...] = (
        _write_numerals,
        _write_traditional,
        _add_politeness,
        _replace_synonyms,
        _widen_digits,
        _reverse_lines,
    )
    for change in chance.sample(changes, 2):
        answer = change(answer)
    return answer


def _change_number(answer: str, chance: random.Random) -> str | None:
    places = [match for match in _NUMBER.finditer(answer) if not re.match(r"[.、)）]", answer[match.end() :][:1])]
    if not places:
        return None
    place = chance.choice(places)
    old = place.group()
    said = set(re.findall(r"\d+(?:\.\d+)?", answer))
    whole = int(float(old))
    options = [str(value) for value in range(1, max(20, whole * 3)) if str(value) not in said and value != whole]
    return answer[: place.start()] + chance.choice(options) + answer[place.end() :]


def _change_name(answer: str, evidence: str, pool: Pool, chance: random.Random) -> str | None:
    plain = _MARK.sub("", answer)
    codes, nouns = sorted(set(_CODE.findall(plain))), sorted(_find_nouns(plain))
    for olds, news in ((codes, pool.codes), (nouns, pool.nouns)):
        others = [name for name in news if name not in evidence and name not in answer]
        if olds and others:
            return answer.replace(chance.choice(olds), chance.choice(others))
    return None


def _flip_negation(answer: str, chance: random.Random) -> str | None:
    places = [
        (match.start(), old, new)
        for old, new in _FLIPS
        for match in re.finditer(old, answer)
        if not re.search(r"[不无未没]$", answer[: match.start()]) and not answer[match.end() :].startswith("不")
    ]
    if not places:
        return None
    start, old, new = chance.choice(places)
    return answer[:start] + new + answer[start + len(old) :]


def _add_foreign_sentence(answer: str, evidence: str, pool: Pool, chance: random.Random) -> str | None:
    others = [sentence for sentence in pool.sentences if sentence not in evidence]
    sentence = chance.choice(others if others and chance.random() < 0.5 else _UNRELATED)
    sentences = _SENTENCE.findall(answer)
    at = chance.randrange(len(sentences) + 1)
    head = "".join(sentences[:at])
    return (
        head
        + ("\n" if at and not head.endswith(("。", "！", "？", "\n")) else "")
        + sentence
        + "\n"
        + answer[len(head) :].lstrip()
    )


def _find_nouns(text: str) -> set[str]:
    """Nouns of two characters and more, as jieba tags them."""
    import jieba.posseg

    return {
        pair.word
        for pair in jieba.posseg.lcut(text)
        if pair.flag.startswith("n") and re.fullmatch(r"[\u4e00-\u9fff]{2,}", pair.word)
    }


def _write_numerals(answer: str) -> str:
    return re.sub(
        r"(?<![\d.\[A-Za-z-])([1-9])(?= ?(?:天|个月|小时|年|次|元))", lambda match: _DIGITS[int(match.group(1))], answer
    )


def _write_traditional(answer: str) -> str:
    from opencc import OpenCC

    return str(OpenCC("s2t").convert(answer))


def _add_politeness(answer: str) -> str:
    return f"您好！{answer}\n希望对您有帮助。"


def _replace_synonyms(answer: str) -> str:
    pairs = (
        ("如果", "若"),
        ("可以", "能"),
        ("无需", "不需要"),
        ("不支持", "不能"),
        ("并且", "而且"),
        ("以及", "和"),
        ("需要", "要"),
    )
    for old, new in pairs:
        answer = answer.replace(old, new)
    return answer


def _widen_digits(answer: str) -> str:
    parts = re.split(r"(\[\d+\])", answer)
    wide = str.maketrans("0123456789%", "０１２３４５６７８９％")
    return "".join(part if _MARK.fullmatch(part) else part.translate(wide) for part in parts)


def _reverse_lines(answer: str) -> str:
    return "\n".join(reversed([line for line in answer.split("\n") if line.strip()]))
