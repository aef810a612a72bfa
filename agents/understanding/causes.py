"""The cause of a complaint, by its words."""

from __future__ import annotations

import re
from enum import StrEnum

from knowledge.text import fold


class Cause(StrEnum):
    """What a customer with high stakes complains about."""

    CANCELLATION = "cancellation"
    BILLING = "billing"
    SAFETY = "safety"
    FRAUD = "fraud"
    PRIVACY = "privacy"
    COMPLAINT = "complaint"


_INJURY = re.compile(
    r"受伤|烫伤|烧伤|划伤|摔伤|流血|中毒|拉肚子|腹泻|呕吐|过敏|住院|医院|异物|虫子|injur|hospital|poison|allerg"
)
_CAUSES = {
    Cause.PRIVACY: re.compile(
        r"(?:信息|隐私|资料|号码?|电话|地址|身份证|照片)[^,，。]{0,8}(?:泄[露漏]|外泄|倒?卖给|被卖|卖了)"
        r"|泄[露漏](?:了)?[^,，。]{0,8}(?:信息|隐私|资料|号|电话|地址|身份证)"
        r"|(?:data|information|number|address) (?:was |has been |were )?(?:leak|breach)"
        r"|leak(?:ed|ing)?[^.]{0,12}(?:data|information|number|address)"
    ),
    Cause.BILLING: re.compile(
        r"(?:多|重复|乱|误|错|连|被|自动|莫名|偷偷|擅自|私自)[^,，。]{0,6}(?:扣|收|刷)|[就还又]扣了?|扣费|扣款|扣钱|盗刷|偷刷|账单|不认这笔|没(?:有)?买过|(?:不是|非)我?本人|冒用"
        r"|overcharg|charged (?:me )?(?:twice|again)|double charge|billing|unauthori[sz]ed"
    ),
    Cause.CANCELLATION: re.compile(
        r"注销|销户|退订|解约|解除合同|退会|退(?:掉)?会员|取消(?:我的|全部|所有|自动)?(?:会员|套餐|服务|续费|订阅|账号|账户|合同)|不(?:再)?续(?:费|约|订)|关闭账|换(?:别家|一家|其他家)|停止服务|再也不(?:用|来|买)|不用了|走人|删掉"
        r"|(?:cancel|close|terminate|delete)[^.]{0,16}(?:account|membership|subscription|service|plan|everything)|unsubscribe"
    ),
}


def detect_cause(text: str) -> Cause:
    """Returns the cause; COMPLAINT where the words name no other."""
    words = fold(text)
    return next((cause for cause, pattern in _CAUSES.items() if pattern.search(words)), Cause.COMPLAINT)


def has_injury(text: str) -> bool:
    """Whether somebody is hurt, or was."""
    return _INJURY.search(fold(text)) is not None
