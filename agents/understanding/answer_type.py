"""What type of answer a question asks for, and whether a text has an answer of that type."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache

from knowledge.text import fold


class AnswerType(StrEnum):
    """What an answer has to hold. A question may ask for several, or for none that its words give away."""

    # Of money.
    AMOUNT = "amount"
    QUANTITY = "quantity"
    DURATION = "duration"
    # A day or a time of day.
    DATE = "date"
    PLACE = "place"
    CONTACT = "contact"
    STEPS = "steps"
    LIST = "list"
    REASON = "reason"
    YES_NO = "yes_no"


_ASKED: dict[AnswerType, tuple[str, ...]] = {
    AnswerType.AMOUNT: (
        r"好多钱|几毛|要钱|收钱|贵不贵|赔多少|赔偿|补偿",
        r"(?:怎么|如何|咋)(?:收|算|计)?(?:费|钱|价)|价格|价钱|价位|单价|费用|收费|运费|月租",
        r"(?:[费价钱金款]|押金)[^,。?]{0,10}(?:多少|怎么(?:收|算|计)|如何(?:收|算|计)|是几)",
        r"(?:多少|几)[钱元块]|多少[^,。?]{0,4}(?:[费价]|押金|保证金)",
        r"how much(?! time)|\b(?:prices?|costs?|fees?|rent|expensive|cheap)\b|do you charge",
        r"what(?:'s| is| are) the [^,.?]{0,30}\b(?:deposit|rate|fine|penalty|charge|discount)s?\b",
    ),
    AnswerType.DURATION: (
        r"多久|多长时间|多长|几个?(?:天|日|小时|钟头|分钟|周|星期|月|年|工作日)",
        r"时效|期限|有效期|保修期|来得及|过期",
        r"(?:什么时候|啥时候|何时|几时)[^,。?]{0,6}[到退好给发]",
        r"how (?:long|soon|quickly|fast|many (?:days|hours|minutes|weeks|months|years))|warranty|\bvalid\b|expires?\b",
    ),
    AnswerType.DATE: (
        r"什么时候|什么时间|啥时候?|何时|几时|几点|几号|哪[一几]?[天日年月]|截止|最晚|最迟",
        r"开放时间|营业时间|上班|下班|周末|节假日",
        r"(?:^|[,.?!] *|\b(?:and|so|but) )when\b|\bwhen (?:do|does|did|is|are|can|will|should)\b",
        r"(?:what|which) (?:time|days?|date|hours)|(?:opening|business|office) hours|deadline",
    ),
    AnswerType.PLACE: (r"哪里|哪儿|在哪|哪个(?:地方|位置|入口|页面)|地址|位置|路径|入口|\bwhere\b|\baddress\b",),
    AnswerType.CONTACT: (
        r"电话|联系|热线|邮箱|打给?谁|找谁|号码是",
        r"phone|contact|e-?mail|hotline|(?:what|which) number|who[^,.?]{0,20} call",
    ),
    AnswerType.STEPS: (
        r"怎么(?!回事|会|收|算|计|卖)|怎样|如何(?!收|算|计)|咋(?!回事)|步骤|流程|方法|手续",
        r"\bhow (?:to|do|can|should)\b(?! you charge)|what (?:should|do|can|must) (?:i|we) do\b|\bsteps\b|what now",
    ),
    AnswerType.LIST: (
        r"哪些|有(?:什么|啥)(?!区别|不同|不一样|差)|什么材料|什么证件|什么情况|哪种情况",
        r"(?:带|准备|包括|包含|提供|填|交|办)(?:什么|啥)|分别|都有|几种|哪几|which",
        r"what (?:documents|papers|kinds?|types?|benefits)|what (?:do|must|should) (?:i|we) (?:need|bring|submit)",
    ),
    AnswerType.REASON: (r"为什么|为啥|为何|怎么回事|咋回事|什么原因|是何原因|怎么会|凭什么|\bwhy\b",),
    AnswerType.YES_NO: (
        r"(?:吗|(?<![什怎那])么|嘛|不|没有?)\s*[?。!]*$|是否|可否|能否|[能可要会算]不[能可要会算]",
        r"是不是|行不行|有没有|用不用|需不需要|支不支持",
        r"(?:^|[,.?!] *)(?:(?:and|so|but|ok|also) )?(?:can|could|is|are|am|do|does|did|may|must|should|will|would)\b",
    ),
    AnswerType.QUANTITY: (
        r"多少|几(?!乎)|多大|多高|多重|多宽|多远|上限|最多|最少|尺寸|容量",
        r"how (?:many|big|far|heavy|old|large|tall|high|wide|deep)|maximum|at most|\blimit|capacity",
    ),
}
_NUMERAL = r"(?:\d[\d,.]*|[一二两三四五六七八九十百半]+)"
_SPAN = (
    rf"{_NUMERAL}\s*(?:个?工作日|个?自然日|天|日内|日后|个?小时|个?钟头|分钟|秒|周|个?星期|个月|年|个?季度"
    r"|days?|hours?|months?|years?)"
)
_HELD: dict[AnswerType, tuple[str, ...]] = {
    AnswerType.AMOUNT: (
        rf"{_NUMERAL}\s*[百千万亿]?(?:元|块|港币|美元|欧元|折)",
        r"[¥$]\s*\d|(?:万|千|百)分之|[收减免扣退付按赔费价][^,;。]{0,8}\d%",
        r"免费|免收|不收|不另收|全额",
        r"(?:价|费|金)[^:;]{0,12}:\s*\d|单位[^;。]{0,9}元",
    ),
    AnswerType.DURATION: (_SPAN, r"当[天日]|即时|实时|立即|次日|隔天|长期|终身|永久|不过期"),
    AnswerType.DATE: (
        _SPAN,
        rf"{_NUMERAL}\s*(?:月|日|号|点)",
        r"\d:\d\d|周[一二三四五六日末]",
        r"次日|次月|当[天日月]|即时|每[月年周天日季]|节假日",
    ),
    AnswerType.PLACE: (r"→|「|\d\s*号|[楼层栋座]|位于|地址|设置|[底顶]部|[侧背]面|[左右]上角|[城省市区]",),
    AnswerType.CONTACT: (r"\d{3,4}-\d{3,}|1\d{10}|\w@\w|管家|前台|在线客服",),
    AnswerType.REASON: (r"因为|由于|因此|所以|原因|导致|造成|为了|可能是|取决于|多为|不影响",),
    AnswerType.STEPS: (r"→|「|点击|打开|选择|按住|长按|提交|拨打|联系|先.{1,30}(?:再|然后)|重新|请",),
    AnswerType.LIST: (r"、.+[、和及]|;.+;|包括|包含|如下|以下",),
    AnswerType.YES_NO: (
        r"可以|不可|不?只?能(?![量效源])|[不未]?支持|禁止|不得|[无不]?[须需]|不会|[不未]?提供|一律|允许|仅限",
        r"不收|免|除外|没有|均|不(?:影响|算|办理|参加|接受|适用|限)",
    ),
    AnswerType.QUANTITY: (rf"\d|{_NUMERAL}\s*[个次张件台位人户倍级只份项把]|不限|没有限制|半",),
}
_QUESTIONS = {kind: re.compile("|".join(patterns)) for kind, patterns in _ASKED.items()}
_ANSWERS = {kind: re.compile("|".join(patterns), re.DOTALL) for kind, patterns in _HELD.items()}
# A type that says no more where one of the others is asked for: 几天 is not also a number of things.
_INCLUDED = {AnswerType.QUANTITY: frozenset({AnswerType.AMOUNT, AnswerType.DURATION, AnswerType.DATE})}


@lru_cache(maxsize=4096)
def detect_answer_types(question: str) -> tuple[AnswerType, ...]:
    """Returns the types that a question asks for, in the order of AnswerType; empty where its words do not tell."""
    folded = fold(question).strip()
    found = [kind for kind in AnswerType if _QUESTIONS[kind].search(folded)]
    return tuple(kind for kind in found if _INCLUDED.get(kind, frozenset()).isdisjoint(found))


def has_answer_type(kind: AnswerType, text: str) -> bool:
    """Whether a text has what a question of this type asks for."""
    return _ANSWERS[kind].search(fold(text)) is not None


_HOW_MUCH = re.compile(
    r"多少|几(?!乎)|多久|多长|(?:什么|啥)时[候间]|何时|how (?:much|many|long|soon)|\bwhen\b|(?:what|which) time"
)
# Types that are an amount or a time.
MEASURES = frozenset({AnswerType.AMOUNT, AnswerType.DURATION, AnswerType.DATE})
_WAYS = frozenset({AnswerType.STEPS, AnswerType.LIST, AnswerType.REASON})


def has_measure(question: str, texts: Sequence[str]) -> bool:
    """Whether a text has the amount of money, time or day that the question asks for.

    True as well where the question does not ask how much (运费谁出) or asks for a way or a reason too, and where a text
    is itself a question of that kind with its answer. Of 90 questions by customers of three products whose documents do
    not answer them, 8 ask for a measure that nothing found has; of 90 that they do answer, none.
    """
    kinds = frozenset(detect_answer_types(question))
    if kinds & _WAYS or not kinds & MEASURES or not _HOW_MUCH.search(fold(question)):
        return True
    if any(_HOW_MUCH.search(fold(text)) for text in texts):
        return True
    return any(has_answer_type(kind, text) for kind in kinds & MEASURES for text in texts)
