"""High stakes, anger and despair: the customer is heard first, gets what the company offers, and a person.

Nothing is promised but what an offer says; whoever speaks of ending their life gets help and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from datetime import date

from agents.base import said
from agents.bids import SURE, Bid, Rank, TurnEvidence
from agents.emotion import Emotion, emotion
from agents.emotion_head import EmotionHead
from agents.errors import BusinessUnavailable
from agents.language import in_english
from agents.offers import Cause, MemberFacts, Offers
from agents.profile import TenantProfile
from agents.routing.types import Intent
from agents.types import Answer, AnswerEvent, HandoffReason, HandoffRequest, Outcome, Question
from agents.understanding.safety import ENDANGERED, Danger, Safety, SafetyHead, read_safety
from agents.wording.catalogue import say
from knowledge.text import fold

HIGH_STAKES_PRIORITY, EMOTION_PRIORITY, FURY_PRIORITY, CRISIS_PRIORITY = 1, 2, 3, 9
FURY = 0.9
_INJURY = re.compile(
    r"受伤|烫伤|烧伤|划伤|摔伤|流血|中毒|拉肚子|腹泻|呕吐|过敏|住院|医院|异物|虫子|injur|hospital|poison|allerg"
)
_CAUSES: tuple[tuple[Cause, re.Pattern[str]], ...] = (
    (
        Cause.PRIVACY,
        re.compile(
            r"(?:信息|隐私|资料|号码?|电话|地址|身份证|照片)[^,，。]{0,8}(?:泄[露漏]|外泄|倒?卖给|被卖|卖了)"
            r"|泄[露漏](?:了)?[^,，。]{0,8}(?:信息|隐私|资料|号|电话|地址|身份证)"
            r"|(?:data|information|number|address) (?:was |has been |were )?(?:leak|breach)"
            r"|leak(?:ed|ing)?[^.]{0,12}(?:data|information|number|address)"
        ),
    ),
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
_OF_DANGER: Mapping[Danger, Cause] = {Danger.HARM: Cause.SAFETY, Danger.FRAUD: Cause.FRAUD}
_HEARD: Mapping[Cause, str] = {
    Cause.SAFETY: "care_hazard",
    Cause.FRAUD: "care_fraud",
    Cause.PRIVACY: "care_privacy",
    Cause.BILLING: "care_charge",
    Cause.CANCELLATION: "care_leaving",
    Cause.COMPLAINT: "care_complaint",
}
"""What is said first: it names the matter, and what the customer had better do now."""


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

    def __init__(
        self,
        policy: CarePolicy | None = None,
        today: Callable[[], date] = date.today,
        profile: TenantProfile | None = None,
    ) -> None:
        """profile: only its language."""
        self._policy = policy or CarePolicy()
        self._today = today
        self._profile = profile or TenantProfile()

    def bid(self, turn: TurnEvidence) -> Bid | None:
        """See `Agent.bid`."""
        if turn.feeling.crisis:
            return Bid(Intent.HIGH_STAKES, 1.0, "speaks of ending their life", Rank.URGENT, alone=True)
        if turn.urgent:
            return Bid(Intent.HIGH_STAKES, max(turn.feeling.score, 0.5), "in danger, or beside themselves", Rank.URGENT)
        if (turn.worded or turn.named) and turn.wants(Intent.HIGH_STAKES):
            return Bid(Intent.HIGH_STAKES, SURE, "high stakes", Rank.URGENT)
        if turn.danger is not None and not turn.answerable:
            return Bid(Intent.HIGH_STAKES, turn.danger.chance, "like a danger, and nothing is found", Rank.CLAIMS)
        if turn.answerable:
            return None
        return Bid(
            Intent.HIGH_STAKES, turn.claim(Intent.HIGH_STAKES), "like a complaint, and nothing is found", Rank.CLAIMS
        )

    async def run(self, question: Question) -> AsyncGenerator[AnswerEvent]:
        """See `Agent.run`."""
        feeling = felt(question, self._policy.head)
        english = in_english(question, self._profile)
        parts, degraded = [say("care_crisis", english)], tuple[str, ...]()
        if not feeling.crisis:
            cause = cause_of(question.resolved, endangered(question, self._policy))
            offer, degraded = await self._offer(question, cause)
            heard = say(_matter(cause, question.standalone), english, seed=question.text)
            parts = [heard, *([offer] if offer else []), say("care_person", english)]
        answer = Answer(
            reply="\n".join(parts),
            outcome=Outcome.HIGH_STAKES,
            intent="high_stakes",
            agent=self.name,
            handoff=requested(feeling, self._policy.threshold, HandoffReason.HIGH_STAKES),
            escalate_to_human=True,
            degraded=degraded,
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


def outcry(question: Question) -> Emotion:
    """The emotion of the customer's own words, in the light of what was said before."""
    return emotion(question.text, [turn.question for turn in question.history])


def felt(question: Question, head: EmotionHead | None, words: Emotion | None = None) -> Emotion:
    """That of what they mean as well. words: their outcry, where it was read already."""
    feeling = words or outcry(question)
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


def told_danger(text: str) -> Safety | None:
    """The danger that words alone tell of."""
    return endangered(Question(text), CarePolicy())


def cause_of(text: str, danger: Safety | None = None) -> Cause:
    """What it is about: the danger that was read, else by its words; a complaint where nothing else is said."""
    danger = danger or told_danger(text)
    if danger is not None:
        return _OF_DANGER[danger.kind]
    words = fold(text)
    return next((cause for cause, pattern in _CAUSES if pattern.search(words)), Cause.COMPLAINT)


def _matter(cause: Cause, text: str) -> str:
    """The key of what is said first: whoever is hurt needs a doctor, whoever stands by a fire has to leave."""
    return "care_injury" if cause is Cause.SAFETY and _INJURY.search(fold(text)) else _HEARD[cause]
