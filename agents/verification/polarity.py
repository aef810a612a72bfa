"""Whether two sentences that share their words say the opposite of each other: 支持 and 不支持, 免费 and 收费."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

# Characters between a negation and the word that both sentences have: 不支持退货, 不能退货.
REACH = 3
# Characters between that word and a negation that ends its clause: 需要的材料：无。
AFTER = 6

_NO_NEGATION = (
    r"不仅|不但|不过|不论|不管|不同(?!意)|不断|不少(?!于)|不久|不止|不锈|不良|不如|不满(?!\d)|差不多|无论|无线|"
    r"无理由|无忧|无障碍|无限|无缝|无痕|无人机|非常|除非|未来|未成年|特别|分别|别的|别人|级别|类别|识别|区别|性别|个别|"
    r"鉴别|没收(?!到)|莫名|免得|以免|拒收|要不|是不是|能不能|可不可以|会不会|有没有|是否|能否|可否|有无"
)
_NEGATION = re.compile(
    rf"(?P<other>{_NO_NEGATION})|不得不|不能不|无不|非[^,。;]{{1,8}}不可|"
    r"(?P<negation>没有|没|未曾|尚未|并未|未|无需|无须|无法|无权|无|并非|非|请勿|切勿|勿|严禁|禁止|谢绝|避免|"
    r"不需要|不需|不必|不用|不得|不许|不准|不予|不再|不可以|不可|不能够|不能|不会|不|别)"
)
_ANSWER = re.compile(
    r"(?:(?P<no>不(?:是|能|行|会|可以|支持|需要|用|必|包括)?|没有?|无需|无法|否)|是的?|对|能|行|会|可以|支持|需要|有|包括)(?:的|了)?[,。!;]"
)
_EITHER_WAY = re.compile(r"[,，。;；!！?？:：\s()（）、]")
_CONCEPTS: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (re.compile(one), re.compile(other))
    for one, other in (
        (
            r"免费|包邮|免邮|免(?:收|除|付)?[\u4e00-\u9fff]{0,4}费",
            r"收费|付费|自费|有偿|(?<!免)(?:收取?|支?付|另收)[\u4e00-\u9fff]{0,4}费",
        ),
        (r"打开|开启|启用|开通|接通", r"关闭|停用|禁用|关掉|断开"),
        (r"成功", r"失败"),
        (r"有效|生效", r"无效|失效|作废"),
        (r"正常", r"异常"),
        (r"在线", r"离线"),
        (r"增加|提高|提升|上升|升高|调高|上调|增长", r"减少|降低|下降|调低|下调|缩短"),
        (r"以上|超过|高于|大于|至少|最少|起码|多于", r"以下|低于|小于|至多|最多|不足|不到|未满|少于"),
        (r"最大|最高", r"最小|最低"),
        (r"最长", r"最短"),
        (r"最早", r"最晚|最迟"),
        (r"(?<=[天日时月年周钟])(?:之|以)?前", r"(?<=[天日时月年周钟])(?:之|以)?后"),
        (r"(?<=[天日时月年周钟])(?:之|以)?内", r"(?<=[天日时月年周钟])(?:之|以)?外"),
        (
            r"(?:使用|购买|退货|付款|签收|安装|清洗|充电)(?:之|以)?前",
            r"(?:使用|购买|退货|付款|签收|安装|清洗|充电)(?:之|以)?后",
        ),
        (r"提前", r"延后|推迟|延迟"),
        (r"通过", r"驳回|拒绝"),
        (r"允许|准许", r"禁止|严禁|拒绝"),
        (r"相同|一致", r"不同(?!意)|不一"),
        (r"全额|全部", r"部分"),
        (r"左", r"右"),
        (r"顺时针", r"逆时针"),
        (
            r"(?:由|向)?(?:顾客|客户|您|买家|用户|消费者|个人|自行|自己)(?:来|自行)?(?:承担|负担|支付)|自理",
            r"(?:由)?(?:商家|我们|平台|卖家|公司|商城|仓库|厂家|官方|门店)(?:来)?(?:承担|负担|支付)",
        ),
    )
)

_CONCEPT = re.compile("|".join(pattern.pattern for pair in _CONCEPTS for pattern in pair))


@dataclass(frozen=True, slots=True)
class Polarity:
    """A clause or sentence without its negations, and where in `text` each of them stood, in order."""

    text: str
    negations: tuple[int, ...]
    # Concepts that it affirms (True) or denies.
    concepts: frozenset[tuple[int, bool]]
    # Where in `text` a concept stands that was negated: 超过 of 不超过.
    turned: frozenset[int]
    # Whether it begins with a yes or with a no: 可以，在订单页修改。
    answers: bool | None

    def is_end(self, at: int) -> bool:
        """Whether a clause ends there."""
        return at >= len(self.text) or _EITHER_WAY.match(self.text, at) is not None

    @classmethod
    def from_text(cls, folded: str) -> Polarity:
        """Reads the polarity of a folded text."""
        found = [match for match in _NEGATION.finditer(folded) if match["negation"]]
        text, start = "", 0
        negations: list[int] = []
        turned: list[int] = []
        for match in found:
            text += folded[start : match.start()]
            start = match.end()
            (negations if _CONCEPT.match(folded, start) is None else turned).append(len(text))
        concepts = _find_concepts(folded, frozenset(match.end() for match in found))
        return cls(text + folded[start:], tuple(negations), concepts, frozenset(turned), _find_answer(folded))


def is_contradiction(claim: Polarity, statement: Polarity) -> bool:
    """Whether a statement about the same subject says the opposite of a claim.

    Negations are compared where the two texts run in parallel; one that stands by words which the other does not have
    decides nothing. A concept that the other side only names with the opposite sign decides.
    """
    for concept, sign in claim.concepts:
        if (concept, not sign) in statement.concepts and (concept, sign) not in statement.concepts:
            return True
    if claim.answers is not None and statement.answers is not None and claim.answers != statement.answers:
        return True
    matcher = SequenceMatcher(None, claim.text, statement.text, autojunk=False)
    for tag, start, end, other_start, other_end in matcher.get_opcodes():
        if start in claim.turned or other_start in statement.turned:
            continue
        if tag == "replace" and _is_opposite(claim.text[start:end], statement.text[other_start:other_end]):
            return True
    blocks = matcher.get_matching_blocks()
    there = {block.a + step: block.b + step for block in blocks for step in range(block.size)}
    back = {other: own for own, other in there.items()}
    return _has_unmatched_negation(claim, statement, there) or _has_unmatched_negation(statement, claim, back)


def _has_unmatched_negation(one: Polarity, other: Polarity, there: dict[int, int]) -> bool:
    """Whether a negation of `one` has no counterpart of its own beside the words that stand behind it in `other`."""
    free = list(other.negations)
    for at in one.negations:
        behind = one.text[at : at + REACH + 1]
        cut = _EITHER_WAY.search(behind)
        ahead = range(at, at + (cut.start() if cut else len(behind)))
        mapped = next((there[index] for index in ahead if index in there), None)
        if mapped is None and not ahead and at - 1 in there:  # the clause ends with it: 控制设备：不可以；
            mapped = there[at - 1] + 1
        if mapped is None:
            continue
        nearby = [negation for negation in free if mapped - REACH <= negation <= mapped + 1]
        nearby = nearby or [
            negation for negation in free if mapped < negation <= mapped + AFTER and other.is_end(negation)
        ]
        if not nearby:
            return True
        free.remove(min(nearby, key=lambda negation: abs(negation - mapped)))
    return False


def _is_opposite(one: str, other: str) -> bool:
    """Whether one word stands in the place of its opposite."""
    pairs = (pair for concept in _CONCEPTS for pair in (concept, concept[::-1]))
    return any(first.fullmatch(one) and second.fullmatch(other) for first, second in pairs)


def _find_answer(folded: str) -> bool | None:
    match = _ANSWER.match(folded)
    return None if match is None else match["no"] is None


def _find_concepts(folded: str, negated: frozenset[int]) -> frozenset[tuple[int, bool]]:
    """Finds concepts with their sign, reversed where a negation stands before them."""
    return frozenset(
        (number, sign is (match.start() not in negated))
        for number, patterns in enumerate(_CONCEPTS)
        for sign, pattern in zip((True, False), patterns, strict=True)
        for match in pattern.finditer(folded)
    )
