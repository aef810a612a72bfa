"""High stakes, anger and despair: the customer is heard first, gets what the company offers, and a person.

Nothing is promised but what an offer says; whoever speaks of ending their life gets help and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from datetime import date

from agents.base import said
from agents.emotion import Emotion, emotion
from agents.emotion_head import EmotionHead
from agents.errors import BusinessUnavailable
from agents.offers import Cause, MemberFacts, Offers
from agents.types import Answer, AnswerEvent, HandoffReason, HandoffRequest, Outcome, Question
from agents.understanding.safety import ENDANGERED, Danger, Safety, SafetyHead, read_safety
from knowledge.text import fold

HIGH_STAKES_PRIORITY, EMOTION_PRIORITY, FURY_PRIORITY, CRISIS_PRIORITY = 1, 2, 3, 9
FURY = 0.9
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_CAUSES: tuple[tuple[Cause, re.Pattern[str]], ...] = (
    (
        Cause.BILLING,
        re.compile(
            r"(?:多|重复|乱|误|错|连|被|自动|莫名|偷偷|擅自|私自)[^,，。]{0,6}(?:扣|收|刷)|[就还又]扣了?|扣费|扣款|扣钱|盗刷|偷刷|账单|乱收费|多收|不认这笔|没(?:有)?买过|(?:不是|非)我?本人|冒用"
            r"|overcharg|charged (?:me )?(?:twice|again)|double charge|billing|unauthori[sz]ed"
        ),
    ),
    (
        Cause.CANCELLATION,
        re.compile(
            r"注销|销户|退订|解约|解除合同|退会|退(?:掉)?会员|取消(?:我的|全部|所有|自动)?(?:会员|套餐|服务|续费|订阅|账号|账户|合同)|不(?:再)?续(?:费|约|订)|关闭账|换(?:别家|一家|其他家)|停止服务|再也不(?:用|来|买)|不用了|走人|删掉"
            r"|(?:cancel|close|terminate|delete)[^.]{0,16}(?:account|membership|subscription|service|plan|everything)|unsubscribe"
        ),
    ),
)
_OF_DANGER: Mapping[Danger, Cause] = {Danger.HARM: Cause.SAFETY, Danger.FRAUD: Cause.BILLING}
_HEARD: Mapping[Cause, tuple[str, str]] = {
    Cause.CANCELLATION: (
        "很遗憾听到您想离开，一定是我们有做得不够好的地方。您的决定我们尊重，也想先弄清楚是什么让您不满意。",
        "We are sorry to hear that you want to leave. We respect your decision and would like to know what went wrong.",
    ),
    Cause.BILLING: (
        "钱的事情必须弄清楚，非常理解您的着急。这笔费用会由专人核对；在此之前请保留好账单或扣款截图。"
        "如果怀疑被盗刷，请先联系银行或支付平台冻结账户。",
        "We understand how worrying this charge is. A colleague will check it with you; please keep the statement or a "
        "screenshot. If you suspect fraud, ask your bank to block the card first.",
    ),
    Cause.SAFETY: (
        "您和家人的安全最重要。请先停止使用，身体不适请及时就医，并保留好商品、包装和照片；我们会马上安排专人跟进。",
        "Your safety comes first. Please stop using the product, see a doctor if you feel unwell, and keep the product "
        "and photos. A colleague will follow up at once.",
    ),
    Cause.COMPLAINT: (
        "非常抱歉给您带来不好的体验，您的感受我们完全理解，这件事我们会认真对待。",
        "We are very sorry for this experience. We understand how you feel and take it seriously.",
    ),
}
_PERSON = ("我会请人工客服为您跟进处理。", "I am asking a colleague to take care of this for you.")
_CRISIS = (
    "听到您这样说，我很担心您。无论发生了什么，您的生命比任何事情都重要，也有人愿意听您说。"
    "请先到安全的地方，联系一位信任的家人或朋友陪在身边；"
    "在中国大陆可以随时拨打 12356（全国统一心理援助热线），紧急情况请立即拨打 110 或 120。"
    "我正在请同事马上来和您沟通，您的事情我们会一起想办法。",
    "I am worried about you. Whatever happened, your life matters more than anything else, and you do not have to face "
    "this alone. Please go somewhere safe, reach someone you trust, and call your local emergency number right away if "
    "you are in danger. I am asking a colleague to talk with you now.",
)


@dataclass(frozen=True, slots=True)
class CarePolicy:
    """threshold: of emotion, from which a person comes with priority. Without offers or facts nothing is offered."""

    threshold: float = 0.7
    offers: Offers | None = None
    facts: MemberFacts | None = None
    head: EmotionHead | None = None
    safety_head: SafetyHead | None = None


class CareAgent:
    """Acknowledges, offers what the rules allow, and asks for a person."""

    name = "care"

    def __init__(self, policy: CarePolicy | None = None, today: Callable[[], date] = date.today) -> None:
        self._policy = policy or CarePolicy()
        self._today = today

    async def run(self, question: Question) -> AsyncGenerator[AnswerEvent]:
        """See `Agent.run`."""
        feeling = felt(question, self._policy.head)
        language = 0 if _CHINESE.search(question.text) else 1
        parts, degraded = [_CRISIS[language]], question.degraded
        if not feeling.crisis:
            cause = cause_of(question.resolved, endangered(question, self._policy))
            offer, unavailable = await self._offer(question, cause)
            parts = [_HEARD[cause][language], *([offer] if offer else []), _PERSON[language]]
            degraded += unavailable
        answer = Answer(
            reply="\n".join(parts),
            outcome=Outcome.HIGH_STAKES,
            intent="high_stakes",
            agent=self.name,
            handoff=requested(feeling, self._policy.threshold, HandoffReason.HIGH_STAKES),
            escalate_to_human=True,
            degraded=degraded,
            usage=question.usage,
        )
        async for event in said(answer):
            yield event

    async def _offer(self, question: Question, cause: Cause) -> tuple[str | None, tuple[str, ...]]:
        """The offer, if any, and what was out of order: an outage must not keep the customer from being heard."""
        offers, facts = self._policy.offers, self._policy.facts
        if offers is None or facts is None or not question.caller:
            return None, ()
        try:
            known = await facts.of(question.caller)
        except BusinessUnavailable:
            return None, ("business",)
        return offers.choose(cause, known, self._today()), ()


def felt(question: Question, head: EmotionHead | None) -> Emotion:
    """The emotion of the customer's own words, in the light of what was said before, and of what they mean."""
    feeling = emotion(question.text, [turn.question for turn in question.history])
    if head is None or question.vector is None:
        return feeling
    return feeling.heard(head.chance(question.vector))


def requested(feeling: Emotion, threshold: float, reason: HandoffReason) -> HandoffRequest:
    """The request for a person: emotion over the threshold is the reason, and makes it sooner.

    Whoever asked for a person is asked no other reason.
    """
    if feeling.crisis:
        return HandoffRequest(HandoffReason.EMOTION, CRISIS_PRIORITY, feeling.score)
    if feeling.score < threshold:
        return HandoffRequest(reason, HIGH_STAKES_PRIORITY * (reason is HandoffReason.HIGH_STAKES), feeling.score)
    priority = FURY_PRIORITY if feeling.score >= FURY else EMOTION_PRIORITY
    kept = reason if reason is HandoffReason.ASKED else HandoffReason.EMOTION
    return HandoffRequest(kept, priority, feeling.score)


def endangered(question: Question, policy: CarePolicy) -> Safety | None:
    """The danger that the customer's own words tell of, by their meaning where there is a vector and a head."""
    found = read_safety(question.text, question.vector, policy.safety_head)
    return found if found is not None and found.chance >= ENDANGERED else None


def cause_of(text: str, danger: Safety | None = None) -> Cause:
    """What it is about: the danger that was read, else by its words; a complaint where nothing else is said."""
    danger = danger or endangered(Question(text), CarePolicy())
    if danger is not None:
        return _OF_DANGER[danger.kind]
    words = fold(text)
    return next((cause for cause, pattern in _CAUSES if pattern.search(words)), Cause.COMPLAINT)
