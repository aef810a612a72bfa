"""Whether a sentence that a model wrote is held up by the fragments it was given.

No model judges a model here: facts have to be found in a fragment, and enough of the other words too. Fragments are
looked at without the sentences that address a model, so an order that was obeyed has nothing to stand on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, lru_cache

from agents.llm.units import quotable_sentences
from knowledge.text import fold
from knowledge.types import Chunk

MIN_COVERAGE = 0.4
"""Share of a sentence's pairs of characters that the fragment has to hold. Of 26 natural paraphrases of service texts
the lowest reaches .50, of 18 inventions about the same topics the highest without a wrong number .25."""
MIN_FOREIGN = 0.5
MIN_FOREIGN_WORDS = 4
"""Share of Latin letters, and different words, from which a sentence is in another language than a Chinese fragment."""

_NAME = re.compile(r"[a-z0-9]+(?:[-_./@+][a-z0-9]+)+|[a-z]+\d[a-z0-9]*|\d+[a-z]+\d[a-z0-9]*")
"""Model names, codes, addresses: must be the same to the letter."""
_UNITS = {
    "天": r"工作日|自然日|天|日(?!期)|(?:business |working )?days?",
    "小时": r"小时|钟头|hours?",
    "分钟": r"分钟|minutes?|mins?",
    "秒": r"秒|seconds?",
    "周": r"周|星期|weeks?",
    "月": r"月|months?",
    "年": r"周?年|years?",
    "元": r"元|块|圆|yuan|rmb",
    "次": r"次|times",
    "折": r"折",
    "%": r"%",
}
"""15 天 is not said by 15 元."""
_ANY_UNIT = "|".join(f"(?P<u{number}>{pattern})" for number, pattern in enumerate(_UNITS.values()))
_NUMBER = re.compile(rf"(?P<value>\d+(?:[.,]\d+)*)(?:\s*个?\s*(?:{_ANY_UNIT}))?")
_WORD = re.compile(r"[a-z]{2,}")
_HAN = re.compile(r"[\u3400-\u9fff]+")
_NUMERAL = re.compile(
    r"[零一二两三四五六七八九十百千]+(?=个?(?:工作日|自然日|小时|分钟|秒|月|周?年|天|日|星期|元|块|次|折))"
)
_ITEM = re.compile(r"^\s*(?:\d{1,2}[.、)）．]|[（(]\d{1,2}[)）]|[-*•·])\s*")
_FUNCTION = re.compile(
    r"您好|你好|感谢|谢谢|抱歉|请问|如果|如需|需要|可以|能够|应该|应当|或者|以及|并且|而且|但是|不过|因此|所以|因为|"
    r"由于|其中|此外|另外|同时|然后|接着|首先|其次|最后|之后|以后|之前|以下|如下|上述|下列|下面|具体|一般|通常|"
    r"情况|方式|方法|步骤|操作|进行|即可|就是|还是|这个|那个|这些|那些|我们|您的|你的|他们|它们|自己|关于|对于|"
    r"根据|按照|通过|使用|包括|包含|属于|表示|出现|必须|放置|已经|可能|希望|帮助|有帮助|咨询|随时|联系|告诉|[的了着过是在有和与及或也都就"
    r"还又再才而但若请您你我他她它把被将对从到于为以其之这那个些呢吗吧啊呀哦嗯会能要可让给向等各每时先里由]"
)
_NEGATED = re.compile(r"(?:不能|不可以?|不会|不得|不|没有?|未|无法|禁止|请勿|勿)([\u3400-\u9fff]{2})")
_COMMON = frozenset({"app", "ok"})
_NUMERALS = {"零": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_SCALES = {"十": 10, "百": 100, "千": 1000}

_Number = tuple[str, str]
"""Digits, and a key of `_UNITS` or nothing."""


class Support(Enum):
    """What the fragments say of a sentence."""

    SUPPORTED = "supported"
    NEUTRAL = "neutral"
    """It states nothing: 步骤如下："""
    UNSUPPORTED = "unsupported"


@dataclass(frozen=True, slots=True)
class Finding:
    """`fragments` hold the sentence up: those it cites, where they do; none unless supported."""

    support: Support
    fragments: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class _Evidence:
    """One fragment, or several, as looked at."""

    joined: str
    numbers: frozenset[_Number]
    pairs: frozenset[str]
    sentences: tuple[tuple[str, frozenset[str]], ...]
    chinese: bool


class SupportChecker:
    """chunks: what the model was given, by fragment number; question: numbers and names in it may be repeated;
    english: the reply may be a translation.
    """

    def __init__(self, chunks: Mapping[int, Chunk], question: str, *, english: bool = False) -> None:
        self._chunks = chunks
        self._question = question
        self._english = english

    @cached_property
    def _evidence(self) -> dict[int, _Evidence]:
        """Made at the first check: by then the first tokens are on their way."""
        return {number: _evidence(chunk.text, _named(chunk)) for number, chunk in self._chunks.items()}

    @cached_property
    def _asked(self) -> _Evidence:
        return _evidence("", fold(self._question))

    def check(self, sentence: str, cited: Iterable[int] = ()) -> Finding:
        """cited: fragments that the model names for the sentence; any that were not given are ignored."""
        claim = _Claim.of(sentence)
        if claim.empty:
            return Finding(Support.NEUTRAL)
        given = tuple(dict.fromkeys(number for number in cited if number in self._evidence))
        if given and self._holds(claim, given, cited=True):
            telling = [number for number in given if self._holds(claim, (number,), cited=True)]
            return Finding(Support.SUPPORTED, tuple(telling) or given)
        nearest = sorted(self._evidence, key=lambda number: -claim.coverage(self._evidence[number].pairs))
        for number in nearest:
            if self._holds(claim, (number,), cited=False):
                return Finding(Support.SUPPORTED, (number,))
        return Finding(Support.UNSUPPORTED)

    def quote(self, sentence: str, fragment: int) -> str:
        """The sentence of a fragment that holds this one up most."""
        claim = _Claim.of(sentence)
        sentences = self._evidence[fragment].sentences
        return max(sentences, key=lambda pair: claim.coverage(pair[1]), default=("", frozenset()))[0].strip()

    def _holds(self, claim: _Claim, numbers: tuple[int, ...], *, cited: bool) -> bool:
        evidence = [self._evidence[number] for number in numbers]
        known = frozenset().union(self._asked.numbers, *(item.numbers for item in evidence))
        joined = "\n".join([self._asked.joined, *(item.joined for item in evidence)])
        if not all(_known(number, known) for number in claim.numbers):
            return False
        if not all(name in joined for name in claim.names):
            return False
        if self._english and claim.foreign and any(item.chinese for item in evidence):
            return cited  # a translation shares no words: its facts and its own citation have to do
        if not all(word in joined for word in claim.words):
            return False
        if claim.coverage(frozenset().union(*(item.pairs for item in evidence))) < MIN_COVERAGE:
            return False
        return not any(claim.contradicts(item) for item in evidence)


@dataclass(frozen=True, slots=True)
class _Claim:
    """What a sentence says."""

    text: str
    names: frozenset[str]
    numbers: frozenset[_Number]
    words: frozenset[str]
    pairs: frozenset[str]
    foreign: bool

    @classmethod
    def of(cls, sentence: str) -> _Claim:
        text = fold(_ITEM.sub("", sentence))
        names = frozenset(_joined(name) for name in _NAME.findall(text))
        plain = _NAME.sub(" ", text)
        words = frozenset(_WORD.findall(plain)) - _COMMON
        letters = sum(map(len, _WORD.findall(text)))
        foreign = letters > MIN_FOREIGN * (letters + sum(map(len, _HAN.findall(text))))
        foreign = foreign and len(set(_WORD.findall(text))) >= MIN_FOREIGN_WORDS
        return cls(text, names, _numbers(plain), words, _pairs(plain), foreign)

    @property
    def empty(self) -> bool:
        return not (self.names or self.numbers or self.words or self.pairs)

    def coverage(self, pairs: frozenset[str]) -> float:
        """Share of this sentence's pairs among `pairs`; 1.0 when it consists of facts only."""
        return len(self.pairs & pairs) / len(self.pairs) if self.pairs else 1.0

    def contradicts(self, evidence: _Evidence) -> bool:
        """The sentence of the evidence that is nearest says the opposite: 不支持 for 支持, or the other way round."""
        if not evidence.sentences:
            return False
        nearest, pairs = max(evidence.sentences, key=lambda pair: self.coverage(pair[1]))
        if not self.pairs & pairs:
            return False
        mine, theirs = _negated(self.text), _negated(fold(nearest))
        return any(_affirmed(word, self.text) for word in theirs - mine) or any(
            _affirmed(word, fold(nearest)) for word in mine - theirs
        )


@lru_cache(maxsize=4096)
def _evidence(text: str, named: str) -> _Evidence:
    """named: what the fragment is called, which counts as said in it."""
    sentences = tuple((sentence.text, _pairs(fold(sentence.text))) for sentence in quotable_sentences(text)[0])
    folded = fold("\n".join([named, *(sentence for sentence, _ in sentences)]))
    pairs = frozenset().union(_pairs(fold(named)), *(pairs for _, pairs in sentences))
    chinese = sum(map(len, _HAN.findall(folded))) > len(folded) / 4
    return _Evidence(_joined(folded), _numbers(folded), pairs, sentences, chinese)


def _named(chunk: Chunk) -> str:
    return chunk.context if chunk.question is None else f"{chunk.context}\n{chunk.question}"


def _joined(text: str) -> str:
    return re.sub(r"[-_\s]", "", text)


def _numbers(text: str) -> frozenset[_Number]:
    """Numbers in one form: 1,000 and 1000, 2.50 and 2.5, 七天 and 7 天."""
    text = _NUMERAL.sub(lambda match: _arabic(match.group()), text)
    return frozenset((_plain(match["value"]), _unit(match)) for match in _NUMBER.finditer(text))


def _unit(match: re.Match[str]) -> str:
    return next((unit for number, unit in enumerate(_UNITS) if match[f"u{number}"]), "")


def _known(number: _Number, known: frozenset[_Number]) -> bool:
    """A number without a unit (the 1 of 1～5 天) may be one of any."""
    value, unit = number
    return number in known or (value, "") in known or (not unit and any(value == other for other, _ in known))


def _plain(number: str) -> str:
    number = number.replace(",", "")
    return number.rstrip("0").rstrip(".") if number.count(".") == 1 else number.lstrip("0") or "0"


def _arabic(numeral: str) -> str:
    total, digit = 0, 0
    for character in numeral:
        if character in _SCALES:
            total, digit = total + (digit or 1) * _SCALES[character], 0
        else:
            digit = _NUMERALS[character]
    return str(total + digit)


def _pairs(folded: str) -> frozenset[str]:
    """Pairs of neighbouring Chinese characters, words of function left out."""
    runs = _HAN.findall(_FUNCTION.sub(" ", folded))
    return frozenset(run[at : at + 2] for run in runs for at in range(len(run) - 1))


def _negated(text: str) -> frozenset[str]:
    return frozenset(_NEGATED.findall(text))


def _affirmed(word: str, text: str) -> bool:
    """Whether a word stands in a text without a negation, and never with one."""
    return word in text and word not in _negated(text)
