"""Requests for a person."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

from agents.types import Answer, AnswerEvent, Done, Meta, Outcome, Question, Token
from knowledge.text import fold

_PERSON = r"(?:人工|真人|活人|专员)(?:客服|服务|坐席|座席)?"
_REQUEST = re.compile(
    rf"(?:转|接|找|要|换|叫|呼叫|联系|接入|切换?到?|需要?|请|帮我?[转接找叫])(?:一下|一?个|你们?的?|到|至|成|求|给)*{_PERSON}"
    rf"|^{_PERSON}$|(?:我|想|要)(?:要|想|跟|和|找|与)+(?:你们的?)?(?:{_PERSON}|真?人)(?:说|聊|谈|讲|沟通)?"
    r"|(?:不要|不想(?:和|跟)?|别用?)(?:机器人|智能客服|ai客服)|talk to (?:a |an )?(?:human|person|agent)|human agent"
)
_ASKS_ABOUT = re.compile(r"电话|号码|几点|时间|怎么|如何|多少|哪里|在哪|是否|有没有|吗")
"""人工客服电话是多少: a question that the knowledge base may answer."""
_REPLY = (
    "明白，您希望由人工客服处理。当前还没有接通在线转人工，暂时无法把会话直接转给客服人员，"
    "请通过商家公布的客服电话或其他官方渠道联系人工。您也可以把问题告诉我，我先帮您查资料。"
)


class EscalationAgent:
    """Takes explicit requests for a person, and says honestly how far it can help."""

    name = "escalation"

    def accepts(self, question: Question) -> bool:
        text = re.sub(r"[\s,.!?;:。，！？~]", "", fold(question.text))
        return _REQUEST.search(text) is not None and _ASKS_ABOUT.search(text) is None

    async def run(self, question: Question) -> AsyncIterator[AnswerEvent]:
        """See `Agent.run`."""
        yield Meta(self.name, "human_handoff")
        yield Token(_REPLY)
        yield Done(
            Answer(
                reply=_REPLY,
                outcome=Outcome.HANDOFF,
                intent="human_handoff",
                agent=self.name,
                escalate_to_human=True,
                degraded=question.degraded,
                usage=question.usage,
            )
        )
