"""What the diagrams say in each language; a name of the code that is not here stands for itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agents.bids import Rank
from agents.curated.agent import CURATED
from agents.routing.types import Intent, Tier
from app.desk.types import Actor, Event, State


@dataclass(frozen=True, slots=True)
class AgentWords:
    """Of the way through the agents. `steps`: name -> what it is, what it does; `exits`: step -> where to; `beside`:
    name -> what is looked at while a message is routed.
    """

    language: str
    title: str
    start: str
    steps: Mapping[str, tuple[str, str]]
    exits: Mapping[str, str]
    evidence: tuple[str, str]
    tiers: Mapping[Tier, str]
    beside: Mapping[str, str]
    decision: tuple[str, str]
    ranks: Mapping[Rank, str]
    on_topic: str
    off_topic: str
    intents: Mapping[str, str]
    agents: Mapping[str, str]
    merge: tuple[str, str]
    ends: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class DeskWords:
    """Of the states of a session. `brackets`: what stands before, between and after the names of actors."""

    language: str
    title: str
    states: Mapping[State, str]
    events: Mapping[Event, str]
    actors: Mapping[Actor, str]
    brackets: tuple[str, str, str]
    silent: str
    fresh: str
    table: tuple[str, str, str, str]


AGENTS_CHINESE = AgentWords(
    "zh-CN",
    "一条消息怎样经过各个智能体",
    "顾客的一条消息",
    {
        "guard": ("硬规则", "空消息、超长、攻击句式"),
        "desk": ("人工席", "会话由客服接待？"),
        "cache": ("热缓存", "只管一段对话的第一句话"),
        "history": ("对话状态", "取出上一轮留下的状态"),
        "embed": ("统一写法", "换成一种写法，算向量，更正错字"),
        "screen": ("筛查", "分类器凭向量认出攻击"),
    },
    {
        "guard": "拒答，答复平和",
        "desk": "转给客服，智能客服不说话",
        "cache": "命中：给出已有的回答",
        "screen": "拒答，答复平和",
    },
    ("取证", "意图路由四层，拿得准就不再往后问；同时检索知识库，请大模型读懂这句话，看情绪与险情"),
    {Tier.RULES: "规则", Tier.ENTITIES: "实体", Tier.HEAD: "线性头", Tier.LLM: "大模型"},
    {"search": "两种读法一起检索", "feeling": "情绪", "danger": "险情与骗局"},
    ("出价与决定", "智能体各自出价；级别在前的先说，愿意附上的跟在后面"),
    {Rank.URGENT: "要紧", Rank.CLAIMS: "点名", Rank.ASIDE: "题外", Rank.LOOKS_UP: "查资料"},
    "可以同时作答",
    "只会单独作答",
    {
        Intent.HUMAN_REQUEST: "要求人工",
        Intent.HIGH_STAKES: "投诉、退订、账单争议",
        CURATED: "精选问答",
        Intent.TICKET: "工单",
        Intent.BUSINESS_QUERY: "本人的业务数据",
        Intent.KNOWLEDGE_QA: "规则与产品知识",
        Intent.CHITCHAT: "寒暄",
        Intent.IRRELEVANT: "无关",
        Intent.OUT_OF_SCOPE: "超出范围",
        Intent.NONSENSE: "看不懂",
    },
    {
        "escalation": "转人工",
        "care": "安抚与挽留",
        "curated": "原样给出",
        "ticket": "登记、查询",
        "business": "查业务库",
        "knowledge": "检索、作答",
        "chitchat": "一句短话",
        "deflection": "婉拒",
    },
    ("合成一份回答", "几个智能体同时工作：要紧的先说，其余补上各自查到的"),
    {"desk": "要人工就排队", "persist": "落库", "done": "最后一个事件"},
)
AGENTS_ENGLISH = AgentWords(
    "en",
    "The way of a message through the agents",
    "A customer's message",
    {
        "guard": ("Hard rules", "empty, too long, patterns of attacks"),
        "desk": ("Human desk", "does a person have the session?"),
        "cache": ("Hot cache", "first messages only"),
        "history": ("State", "what the turn before left"),
        "embed": ("Embedding", "of one spelling; typos are fixed"),
        "screen": ("Screening", "a classifier over the vector"),
    },
    {
        "guard": "rejected, calmly",
        "desk": "staff alone answer",
        "cache": "hit: the answer is there",
        "screen": "rejected, calmly",
    },
    ("Evidence", "the router, cheapest tier first; search, a model, feeling and danger at the same time"),
    {Tier.RULES: "rules", Tier.ENTITIES: "entities", Tier.HEAD: "linear", Tier.LLM: "model"},
    {"search": "search, in both readings", "feeling": "feeling", "danger": "danger, fraud"},
    ("Decision", "every agent bids; the first rank speaks, others join in"),
    {Rank.URGENT: "urgent", Rank.CLAIMS: "claims", Rank.ASIDE: "aside", Rank.LOOKS_UP: "looks up"},
    "may answer at once",
    "answer alone",
    {
        Intent.HUMAN_REQUEST: "wants a person",
        Intent.HIGH_STAKES: "complaint, leaving",
        CURATED: "curated answers",
        Intent.TICKET: "tickets",
        Intent.BUSINESS_QUERY: "one's own data",
        Intent.KNOWLEDGE_QA: "rules, products",
        Intent.CHITCHAT: "small talk",
        Intent.IRRELEVANT: "something else",
        Intent.OUT_OF_SCOPE: "not ours to say",
        Intent.NONSENSE: "not understood",
    },
    {
        "escalation": "calls a person",
        "care": "calms, retains",
        "curated": "word for word",
        "ticket": "files, looks up",
        "business": "reads rows",
        "knowledge": "searches, answers",
        "chitchat": "a short word",
        "deflection": "declines",
    },
    ("One answer", "agents run at once: what matters most first, the others add what they found"),
    {"desk": "a person is due?", "persist": "written down", "done": "the last event"},
)
DESK_CHINESE = DeskWords(
    "zh-CN",
    "一个会话在智能客服与人工之间的状态",
    {
        State.BOT: "智能客服",
        State.QUEUED: "排队中",
        State.OUT_OF_HOURS: "非服务时间",
        State.ASSIGNED: "客服接待",
        State.RESOLVED: "已解决",
        State.CLOSED: "已结束",
    },
    {
        Event.REQUEST: "请求人工",
        Event.REQUEST_AFTER_HOURS: "非服务时间请求人工",
        Event.OPEN: "服务时间开始",
        Event.ACCEPT: "接入",
        Event.TRANSFER: "转给同事",
        Event.REQUEUE: "退回队列",
        Event.RELEASE: "客服失联",
        Event.RESOLVE: "解决",
        Event.LEAVE: "退出排队",
        Event.CLOSE: "结束会话",
        Event.EXPIRE: "长时间无消息",
        Event.RETURN: "顾客再次发言",
    },
    {Actor.BOT: "智能客服", Actor.CUSTOMER: "顾客", Actor.STAFF: "客服", Actor.SYSTEM: "系统"},
    ("（", "、", "）"),
    "智能客服不说话",
    "此前的失败不再计数",
    ("事件", "从", "到", "由谁"),
)
DESK_ENGLISH = DeskWords(
    "en",
    "The states of a session between the bot and people",
    {
        State.BOT: "answers",
        State.QUEUED: "waiting",
        State.OUT_OF_HOURS: "bot meanwhile",
        State.ASSIGNED: "with staff",
        State.RESOLVED: "solved",
        State.CLOSED: "over",
    },
    {event: event.value for event in Event},
    {actor: actor.value for actor in Actor},
    (" (", ", ", ")"),
    "the bot is silent",
    "failures before it count no more",
    ("event", "from", "to", "by"),
)
