"""What sort of thing a question asks for, and whether a text holds one."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache

from knowledge.text import fold


class AnswerType(StrEnum):
    """What an answer has to hold. A question may ask for several, or for none that its words give away."""

    AMOUNT = "amount"
    """Of money."""
    QUANTITY = "quantity"
    DURATION = "duration"
    DATE = "date"
    """A day or a time of day."""
    PLACE = "place"
    CONTACT = "contact"
    STEPS = "steps"
    LIST = "list"
    REASON = "reason"
    YES_NO = "yes_no"


_MONEY_ASKED = (
    r"多少钱|好多钱|几块钱?|几毛|(?:怎么|如何|咋)(?:收|算|计)?(?:费|钱|价)|(?:价格|价钱|价位|单价|费用|收费|运费|月租)"
    r"|(?:[费价钱金款贵]|押金)[^,。?]{0,10}(?:多少|怎么(?:收|算|计)|如何(?:收|算|计)|是几)"
    r"|(?:多少|几)[^,。?]{0,4}(?:[费价钱元块]|押金|保证金)|要钱|收钱|免费|贵不贵|赔(?:多少|偿)|补偿|how much|price|cost|fee"
)
_ASKED = {
    AnswerType.AMOUNT: _MONEY_ASKED,
    AnswerType.DURATION: r"多久|多长时间|多长|几[个]?(?:天|日|小时|钟头|分钟|周|星期|月|年|工作日)|时效|期限|有效期|保修期|"
    r"(?:什么时候|啥时候|何时|几时)[^,。?]{0,6}(?:到|退|好|给|发)|来得及|过期|how long|warranty",
    AnswerType.DATE: r"什么时候|什么时间|啥时候?|何时|几时|几点|几号|哪[一几]?[天日年月]|截止|最晚|最迟|开放时间|营业时间|"
    r"上班|下班|周末|节假日|\bwhen\b|what time",
    AnswerType.PLACE: r"哪里|哪儿|在哪|哪个(?:地方|位置|入口|页面)|地址|位置|路径|入口|\bwhere\b",
    AnswerType.CONTACT: r"电话|联系|热线|邮箱|打给?谁|找谁|号码是|phone|contact|e-?mail|hotline",
    AnswerType.REASON: r"为什么|为啥|为何|怎么回事|咋回事|什么原因|是何原因|怎么会|凭什么|\bwhy\b",
    AnswerType.STEPS: r"怎么(?!回事|会|收|算|计|卖)|怎样|如何(?!收|算|计)|咋(?!回事)|步骤|流程|方法|手续|\bhow (?:to|do|can)\b",
    AnswerType.LIST: r"哪些|有(?:什么|啥)(?!区别|不同|不一样|差)|什么材料|什么证件|(?:带|准备|包括|包含|提供|填|交|办)(?:什么|啥)|什么情况|哪种情况|分别|都有|几种|哪几|which",
    AnswerType.YES_NO: r"(?:吗|么|嘛|不|没有?)\s*[?。!]*$|是否|是不是|能不能|可不可以|行不行|会不会|有没有|要不要|用不用|"
    r"需不需要|支不支持|算不算|可否|能否|[能可要会算]不[能可要会算]|^(?:can|is|are|do|does|may|will)\b",
    AnswerType.QUANTITY: r"多少|几(?!乎)|多大|多高|多重|多宽|多远|上限|最多|最少|尺寸|容量|how (?:many|big|far|heavy)",
}
_NUMERAL = r"(?:\d[\d,.]*|[一二两三四五六七八九十百半]+)"
_TIME_UNIT = r"(?:个?工作日|个?自然日|天|日内|日后|个?小时|个?钟头|分钟|秒|周|个?星期|个月|年|个?季度|days?|hours?|months?|years?)"
_HELD = {
    AnswerType.AMOUNT: r"\d\s*(?:元|块|港币|美元|欧元|折)|[收减免扣退付按赔费价][^,;。]{0,8}\d%|[¥$]\s*\d|免费|免收|不收|不另收|全额|(?:万|千|百)分之"
    r"|(?:价|费|金)[^:;]{0,12}:\s*\d|单位[^;。]{0,9}元",
    AnswerType.DURATION: rf"{_NUMERAL}\s*{_TIME_UNIT}|当[天日]|即时|实时|立即|次日|隔天|长期|终身|永久|不过期",
    AnswerType.DATE: rf"\d\s*(?:月|日|号|点)|\d:\d\d|次日|次月|当[天日月]|即时|周[一二三四五六日末]|每[月年周天日季]|节假日"
    rf"|{_NUMERAL}\s*{_TIME_UNIT}",
    AnswerType.PLACE: r"→|「|\d\s*号|[楼层栋座]|位于|地址|设置|底部|顶部|侧面|背面|右上角|左上角|[城省市区]",
    AnswerType.CONTACT: r"\d{3,4}-\d{3,}|1\d{10}|\w@\w|管家|前台|在线客服",
    AnswerType.REASON: r"因为|由于|因此|所以|原因|导致|造成|为了|可能是|取决于|多为|不影响",
    AnswerType.STEPS: r"→|「|点击|打开|选择|按住|长按|提交|拨打|联系|先.{1,30}(?:再|然后)|重新|请",
    AnswerType.LIST: r"、.+[、和及]|;.+;|包括|包含|如下|以下",
    AnswerType.YES_NO: r"可以|不可|[不只]?能(?![量效源])|[不未]?支持|禁止|不得|[无不]?须|[无不]?需|不会|[不未]?提供|不收|免|除外|不(?:影响|算|办理"
    r"|参加|接受|适用|限)|没有|均|一律|允许|仅限",
    AnswerType.QUANTITY: rf"\d|{_NUMERAL}\s*(?:个|次|张|件|台|位|人|户|倍|级|只|份|项|把)|不限|没有限制|半",
}
_QUESTIONS = {kind: re.compile(pattern) for kind, pattern in _ASKED.items()}
_ANSWERS = {kind: re.compile(pattern, re.DOTALL) for kind, pattern in _HELD.items()}
_INCLUDED = {AnswerType.QUANTITY: frozenset({AnswerType.AMOUNT, AnswerType.DURATION})}
"""A type that says no more where one of the others is asked for: 几天 is not also a number of things."""


@lru_cache(maxsize=4096)
def answer_types(question: str) -> tuple[AnswerType, ...]:
    """What a question asks for, in the order of AnswerType; empty where its words do not tell."""
    folded = fold(question).strip()
    found = [kind for kind in AnswerType if _QUESTIONS[kind].search(folded)]
    return tuple(kind for kind in found if _INCLUDED.get(kind, frozenset()).isdisjoint(found))


def holds(kind: AnswerType, text: str) -> bool:
    """Whether a text has what a question of this type asks for."""
    return _ANSWERS[kind].search(fold(text)) is not None
