"""Knowledge bases of many trades with known flaws among clean documents, another one for every seed.

The sentences were written before any check was run on them. What could be taken for a flaw is there on purpose: the
same sentence for another model, branch, kind of customer, part, season or attribute, the same fact said twice with one
value, past dates that end nothing, long notices that differ by a name and a number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

import yaml

from knowledge.types import Chunk, DocumentMeta

TODAY = date(2026, 6, 15)
# A heading, the values, and ways to say it; {e} is what it is about.
Fact = tuple[str, Sequence[str], Sequence[str]]
CONTRADICTED, COPIED, EXPIRED, CLEAN = 30, 30, 30, 200


@dataclass(frozen=True, slots=True)
class Trade:
    """names: what its documents are about; facts: what is said; conditions: the same under conditions."""

    names: str
    titles: Sequence[str]
    facts: Sequence[Fact]
    conditions: Sequence[Fact]
    prose: Sequence[str]


def _trade(told: dict[str, Any]) -> Trade:
    facts, conditions = (
        [(fact["heading"], fact["values"], fact["ways"]) for fact in told.get(name, ())]
        for name in ("facts", "conditions")
    )
    return Trade(told["names"], told["titles"], facts, conditions, told["prose"])


TRADES = tuple(_trade(told) for told in yaml.safe_load(Path(__file__).with_name("trades.yaml").read_text("utf-8")))
_PLACES = (
    "青松翠湖南岭东篱白鹭云帆星野晨曦海棠石桥望江银杏听雨红枫长风玉泉"
    "碧波紫藤金沙鹤鸣飞瀑静安柏林竹溪龙井凤栖桃源月湾雁门松涛"
)
SPELLED = tuple(_PLACES[at : at + 2] for at in range(0, len(_PLACES), 2))
MODEL = "ABCDEFGHKLMNPRSTVWX"
OPENINGS = (
    "欢迎选择{e}。以下内容请仔细阅读。",
    "本文介绍{e}的主要规定。",
    "关于{e}，顾客问得最多的是下面几件事。",
    "这份说明适用于{e}，由客服中心整理。",
)
NOTICES = (
    "各位顾客：因{c}进行系统升级，{e}的线上服务将暂停受理，期间请改用线下窗口。给您带来的不便敬请谅解，恢复之后我们会在公告栏通知，已经提交的申请不受影响，无需重复办理。",
    "为了保护您的信息安全，办理{e}的相关业务时，工作人员不会向您索要短信验证码，也不会要求您转账到个人账户。遇到可疑的来电，请先挂断，再拨打官方客服热线核实对方身份。",
    "{e}的发票为电子普通发票，完成付款之后可以在订单详情里申请，填写抬头和税号并核对无误再提交。开具成功后会发送到您预留的邮箱，如需换开，请先申请作废原来的发票再重新填写。",
    "投诉与建议：对{e}的服务不满意时，您可以拨打热线、发送邮件或者填写意见卡。我们收到以后由专人登记、核实和处理，并把结果告诉您；对处理结果仍有异议的，可以申请由上一级部门复核。",
    "特别提示：请妥善保管{e}的凭证原件，遗失补办时需要本人携带有效证件到现场办理，代办的还要出示委托书。凭证经涂改、转让或者超出使用范围的，本单位有权拒绝受理并收回。",
)
COPIES: tuple[Callable[[str], str], ...] = (
    lambda text: text.replace("，", "、", 1).replace("请", "敬请", 1),
    lambda text: f"【转发】{text}",
    lambda text: text.replace("您", "你"),
    lambda text: f"{text}如有疑问请咨询前台。",
    lambda text: text.replace("可以", "可").replace("以后", "后").replace("之后", "后"),
    lambda text: _turned(text.split("。")),
)
ENDED = (
    "{e}优惠活动时间：{a}至{b}。",
    "本规定的有效期至{b}。",
    "凡在{b}之前报名{e}的顾客，均可领取礼品一份。",
    "{e}的特惠价格截止到{b}。",
    "此价目表自{a}起执行，{b}止。",
    "{e}体验券请于{b}前使用，逾期作废。",
)
STANDING = (
    "{e}于{b}获得了行业协会颁发的服务奖。",
    "本说明最近一次修订于{b}。",
    "{e}自{b}起投入使用，一直受到欢迎。",
    "{e}的新规定从{b}开始执行。",
    "{b}之后购买{e}的顾客适用本规定。",
    "{e}优惠活动时间：{b}至{z}。",
    "本规定的有效期至{z}。",
)


def _turned(sentences: list[str]) -> str:
    """The second sentence before the first."""
    if len(sentences) < 3:
        return "；".join(sentences)
    return "。".join((sentences[1], sentences[0], *sentences[2:]))


@dataclass
class GeneratedBase:
    """flawed: by kind, the pairs of documents, or the documents, that a check has to name."""

    chunks: list[Chunk] = field(default_factory=list)
    pairs: dict[str, set[frozenset[str]]] = field(default_factory=dict)
    expired: set[str] = field(default_factory=set)
    documents: int = 0

    def add(self, title: str, sections: Sequence[tuple[str, str]]) -> str:
        """A document of a chunk a section; returns its id."""
        self.documents += 1
        meta = DocumentMeta(f"d{self.documents}", f"{title}.md", title)
        for number, (heading, text) in enumerate(sections):
            key = f"{meta.id}-{number}"
            self.chunks.append(Chunk(key, meta, number, text, (title, heading) if heading else (title,), entry=key))
        return meta.id


def generated(seed: int) -> GeneratedBase:
    """The base of this seed."""
    random, base = Random(seed), GeneratedBase()
    base.pairs = {"duplicate": set(), "contradiction": set()}
    names = iter(_names(random))
    for number in range(CLEAN):
        _clean(base, random, TRADES[number % len(TRADES)], next(names))
    for number in range(CONTRADICTED):
        _contradicted(base, random, TRADES[number % len(TRADES)], next(names))
    for number in range(COPIED):
        _copied(base, random, TRADES[number % len(TRADES)], next(names), next(names), number)
    for number in range(EXPIRED):
        _dated(base, random, TRADES[number % len(TRADES)], next(names), ENDED[number % len(ENDED)], ended=True)
        _dated(base, random, TRADES[number % len(TRADES)], next(names), STANDING[number % len(STANDING)], ended=False)
    return base


def _names(random: Random) -> list[str]:
    """Place names, and models that differ by a character."""
    made = [f"{one}{two}" for one in SPELLED for two in SPELLED if one != two]
    made += [f"{letter}{number}" for letter in MODEL for number in range(10, 40)]
    random.shuffle(made)
    return made


def _said(random: Random, fact: Fact, subject: str, value: str, but: int = -1) -> tuple[str, int]:
    way = random.choice([number for number in range(len(fact[2])) if number != but])
    return fact[2][way].format(e=subject, v=value), way


def _sections(random: Random, trade: Trade, subject: str, facts: Sequence[Fact]) -> list[tuple[str, str]]:
    made = [("", random.choice(OPENINGS).format(e=subject))]
    for fact in facts:
        text, _ = _said(random, fact, subject, random.choice(fact[1]))
        made.append((fact[0], f"{text}{random.choice(trade.prose)}" if random.random() < 0.4 else text))
    return made


def _clean(base: GeneratedBase, random: Random, trade: Trade, name: str) -> None:
    """Now and then the same fact is said again elsewhere, with its value."""
    subject = trade.names.format(n=name)
    facts = random.sample(list(trade.facts), 3) + list(trade.conditions)
    title = random.choice(trade.titles).format(e=subject)
    again, (heading, ways, _) = facts[0], facts[0]
    value = random.choice(ways)
    sections = _sections(random, trade, subject, facts[1:])
    text, way = _said(random, again, subject, value)
    base.add(title, [*sections, (heading, text)])
    if random.random() < 0.15:
        other = [one for one in trade.titles if one.format(e=subject) != title]
        base.add(random.choice(other).format(e=subject), [(heading, _said(random, again, subject, value, way)[0])])


def _contradicted(base: GeneratedBase, random: Random, trade: Trade, name: str) -> None:
    subject = trade.names.format(n=name)
    facts = random.sample(list(trade.facts), 3)
    heading, values, _ = facts[0]
    one, other = random.sample(list(values), 2)
    text, way = _said(random, facts[0], subject, one)
    titles = random.sample(list(trade.titles), 2)
    first = base.add(titles[0].format(e=subject), [*_sections(random, trade, subject, facts[1:2]), (heading, text)])
    again, _ = _said(random, facts[0], subject, other, way)
    sections = [*_sections(random, trade, subject, facts[2:]), (random.choice((heading, "补充说明")), again)]
    second = base.add(titles[1].format(e=subject), sections)
    base.pairs["contradiction"].add(frozenset((first, second)))


def _copied(base: GeneratedBase, random: Random, trade: Trade, name: str, other: str, number: int) -> None:
    """Once word for word but for small changes, and once for something else, which is no copy."""
    subject, unlike = trade.names.format(n=name), trade.names.format(n=other)
    notice = NOTICES[number % len(NOTICES)].format(e=subject, c=random.choice(("机房", "网络", "收银", "预约")))
    titles = random.sample(list(trade.titles), 2)
    facts = random.sample(list(trade.facts), 2)
    first = base.add(titles[0].format(e=subject), [*_sections(random, trade, subject, facts[:1]), ("提示", notice)])
    copy = COPIES[random.randrange(len(COPIES))](notice)
    sections = [*_sections(random, trade, subject, facts[1:]), ("其他", copy)]
    second = base.add(titles[1].format(e=subject), sections)
    base.pairs["duplicate"].add(frozenset((first, second)))
    if number % 2:
        base.add(titles[0].format(e=unlike), [("提示", notice.replace(subject, unlike))])


def _dated(base: GeneratedBase, random: Random, trade: Trade, name: str, sentence: str, *, ended: bool) -> None:
    subject = trade.names.format(n=name)
    end = TODAY - timedelta(days=random.randrange(5, 900))
    start, later = end - timedelta(days=random.randrange(10, 60)), TODAY + timedelta(days=random.randrange(5, 500))
    text = sentence.format(e=subject, a=_day(random, start), b=_day(random, end), z=_day(random, later))
    document = base.add(f"{subject}通知", [("", random.choice(OPENINGS).format(e=subject)), ("说明", text)])
    if ended:
        base.expired.add(document)


def _day(random: Random, day: date) -> str:
    return random.choice(
        (f"{day.year} 年 {day.month} 月 {day.day} 日", f"{day.year}年{day.month}月{day.day}日", day.isoformat())
    )
