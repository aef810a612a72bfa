from __future__ import annotations

from datetime import UTC, date, datetime
from random import SystemRandom

import pytest

from app.quality.checks.contradictions import find_contradictions
from app.quality.checks.duplicates import find_duplicates
from app.quality.checks.expiry import find_expired
from app.quality.checks.structure import find_unreached, find_untitled
from app.quality.checks.types import DocumentFacts, QualityCheck, QualityCorpus, QualityIssue, Reach
from app.quality.checks.wording import build_sensitive_check, find_other_terms
from knowledge.chunking import ChunkOptions, split_document
from knowledge.parsing.registry import parse
from knowledge.types import Chunk, DocumentMeta
from tests.acceptance import part
from tests.app.quality.measuring import scores

TODAY = date(2026, 6, 15)
Texts = tuple[tuple[str, str], ...]


def chunks(*documents: tuple[str, str]) -> list[Chunk]:
    """A document each: title and text."""
    made = []
    for number, (title, text) in enumerate(documents):
        meta = DocumentMeta(f"d{number}", f"{title}.md", title)
        made.append(Chunk(f"v{number}-0", meta, 0, text, (title,), entry=f"v{number}-0"))
    return made


def found(check: QualityCheck, *documents: tuple[str, str]) -> list[QualityIssue]:
    return [issue for issue in check(QualityCorpus(chunks(*documents), TODAY)) if issue]


@pytest.mark.acceptance
def test_flaws_of_bases_that_nobody_has_seen_are_found_and_nothing_else_is() -> None:
    """On the average .95 and more of everything; of 30 contradictions in one base, four may be missed."""
    seeds = [SystemRandom().randrange(10**9) for _ in range(part(1, 20))]
    found = [scores(seed) for seed in seeds]
    for kind in found[0]:
        recall, precision = [[getattr(one[kind], name) for one in found] for name in ("recall", "precision")]
        worst = 0.86 if kind == "contradiction" else 0.95
        assert min(*recall, 1.0) >= worst and min(*precision, 1.0) >= worst, (kind, seeds, found)
        if len(seeds) > 1:
            assert sum(recall) >= 0.95 * len(seeds) and sum(precision) >= 0.95 * len(seeds), (kind, seeds)


def test_long_lists_of_prices_are_compared_in_steps_and_each_row_with_its_own() -> None:
    def prices(title: str, more: int) -> tuple[str, str]:
        return title, "\n".join(f"青松店第{number}号套餐的价格为 {100 + number + more} 元。" for number in range(60))

    corpus = QualityCorpus(chunks(prices("青松店价目表", 0), prices("青松店新价目表", 500)), TODAY)
    steps = list(find_contradictions(corpus))
    assert len(steps) > 60 * 60, "each pair is a step, however many rows there are"


SHOP = ("青松店指南", "欢迎来到青松店。青松店平日的营业时间为 9:00 至 21:00，周末为 10:00 至 22:00。")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (SHOP, ("怎么去青松店", "青松店平日营业时间：9:30 至 21:30。")),
        (("X10 说明书", "X10 的整机保修期为 1 年。"), ("售后政策", "购买 X10 的顾客，整机保修 2 年。")),
        (("换货规则", "签收后 7 天内可以申请换货。"), ("换货常见问题", "可以在签收后 15 天内申请换货。")),
    ],
)
def test_the_same_with_another_number_is_a_contradiction(one: tuple[str, str], other: tuple[str, str]) -> None:
    (issue,) = found(find_contradictions, one, other)
    assert issue.chunk and issue.other and len(set(issue.values)) == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (SHOP, ("翠湖店指南", "翠湖店平日的营业时间为 8:00 至 20:00，周末为 9:00 至 20:00。")),
        (SHOP, ("怎么去青松店", "青松店周末营业时间：10:00 至 22:00。")),
        (("X10 说明书", "X10 的整机保修期为 1 年。"), ("X20 说明书", "X20 的整机保修期为 2 年。")),
        (
            ("X10 说明书", "X10 的整机保修期为 1 年，X10 的电池保修期为 6 个月。"),
            ("X10 问答", "X10 的电池保修期为半年。"),
        ),
        (("X10 说明书", "X10 充满电需要 3 小时。"), ("X10 问答", "X10 防水深度为 3 米，可以用 20 小时。")),
        (("优惠券说明", "优惠券满 99 元减 10 元。"), ("优惠券问答", "优惠券满 199 元减 30 元。")),
    ],
)
def test_another_thing_or_condition_or_measure_is_none(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert found(find_contradictions, one, other) == []


NOTICE = "取件时请出示订单号和手机尾号，核对无误之后由工作人员取出包裹，当面验货再签字离开。"


def test_a_copy_with_small_changes_is_a_duplicate_and_another_shops_notice_is_none() -> None:
    copied = ("自提须知", NOTICE.replace("之后", "后")), ("取件问答", f"【转发】{NOTICE}")
    (issue,) = found(find_duplicates, *copied)
    assert issue.chunk and issue.other
    told = "{0}提醒您：" + NOTICE + "到{0}取件还可以免费停车。"
    named = tuple((f"{shop}须知", told.format(shop)) for shop in ("青松店", "翠湖店"))
    assert found(find_duplicates, *named) == []
    numbered = ("一号库", f"{NOTICE}保管 3 天。"), ("二号库", f"{NOTICE}保管 5 天。")
    assert found(find_duplicates, *numbered) == []


@pytest.mark.parametrize(
    ("text", "over"),
    [
        ("活动时间：2026年5月1日至5月7日。", True),
        ("本价目表有效期至 2025-12-31。", True),
        ("优惠券请在 2026 年 1 月 1 日前使用。", True),
        ("活动时间：2026年5月1日至2026年7月7日。", False),
        ("本规定自 2024 年 3 月 1 日起施行。", False),
        ("2024 年 1 月 1 日前购买的产品适用旧规定。", False),
        ("公司成立于 2018 年 6 月 1 日。", False),
        ("固件版本 2024.13.45 截止使用。", False),
    ],
)
def test_a_validity_that_the_text_gives_ends(text: str, over: bool) -> None:
    assert bool(found(find_expired, ("说明", text))) is over


def test_words_for_the_house_and_numbers_of_people_are_sensitive() -> None:
    check = build_sensitive_check(["仅供内部"])
    texts = "本表仅供内部参考。", "联系人身份证号 110101199003078515。", "客服热线 400-800-1234。"
    assert [bool(found(check, ("说明", text))) for text in texts] == [True, True, False]


def test_another_word_than_the_vocabularys_is_told() -> None:
    texts = chunks(("一", "请找工程师上门。"), ("二", "工程师就是师傅。"))
    corpus = QualityCorpus(texts, TODAY, terms={"工程师": "师傅"})
    assert [issue.document_id for issue in find_other_terms(corpus) if issue] == ["d0"]


def test_a_latin_word_within_another_one_is_neither_sensitive_nor_another_term() -> None:
    texts = chunks(("一", "请打开 almost 页面。"), ("二", "支持 OS 版本 12。"), ("三", "IOS 版。"))
    corpus = QualityCorpus(texts, TODAY, terms={"os": "操作系统"})
    for check in (find_other_terms, build_sensitive_check(["OS"])):
        assert [issue.document_id for issue in check(corpus) if issue] == ["d1"]


def test_a_title_that_a_program_gave_says_nothing() -> None:
    documents = ("新建文档(2)", "正文"), ("20240101", "正文"), ("退货", "正文")
    assert [one.document_id for one in found(find_untitled, *documents)] == ["d0", "d1"]


def test_what_no_search_found_while_it_was_there_is_told() -> None:
    old, asked, new = (datetime(2026, month, 1, tzinfo=UTC) for month in (1, 3, 6))
    made = chunks(("甲", "一"), ("乙", "二"), ("丙", "三"))
    facts = {f"d{n}": DocumentFacts(f"d{n}", "", "", updated_at=at) for n, at in enumerate((old, old, new))}
    corpus = QualityCorpus(made, TODAY, facts, reach=Reach(frozenset({"d0-0"}), 300, asked))
    assert [issue.document_id for issue in find_unreached(corpus) if issue] == ["d1"]
    assert list(find_unreached(QualityCorpus(made, TODAY, facts))) == []


def test_a_finding_is_the_same_under_other_ids_and_another_one_in_other_texts() -> None:
    texts = ("X10 说明书", "X10 的整机保修期为 1 年。"), ("售后政策", "购买 X10 的顾客，整机保修 2 年。")
    (one,), (again,) = found(find_contradictions, *texts), found(find_contradictions, *reversed(texts))
    (changed,) = found(find_contradictions, texts[0], (texts[1][0], texts[1][1].replace("2", "3")))
    assert one.fingerprint != changed.fingerprint
    assert again.fingerprint != one.fingerprint  # of other documents, which have other ids here


def read(check: QualityCheck, *documents: str) -> list[QualityIssue]:
    """What is found in Markdown as it is read: its passages know their blocks."""
    made: list[Chunk] = []
    for number, text in enumerate(documents):
        parsed = parse("说明.md", text.encode())
        made += split_document(
            parsed, DocumentMeta(f"d{number}", "说明.md", parsed.title), f"v{number}", ChunkOptions()
        )
    assert all(chunk.spans is not None for chunk in made)
    return [issue for issue in check(QualityCorpus(made, TODAY)) if issue]


SAMPLES = [
    (
        "```css\n.box { height: 500px }\n.bar { width: 60px }\n```",
        "```css\n.box { height: 80px }\n.bar { width: 90px }\n```",
    ),
    ("1. 打开卡片页\n2. 3 点确认卡片样式", "1. 打开卡片页\n4. 3 点确认卡片样式"),
    ("![卡片样式](a.png){width=600}", "![卡片样式](b.png){width=480}"),
    ("卡片样式自 4.27版本开始支持。", "卡片样式自 4.34版本开始支持。"),
    ("修复 5.2.1 版本引发的卡片样式异常。", "修复 5.3.1 版本引发的卡片样式异常。"),
    (
        '```json\n{"card": "style", "expires": 7200, "retry": 3}\n```',
        '```json\n{"card": "style", "expires": 600, "retry": 5}\n```',
    ),
]


@pytest.mark.parametrize(("one", "other"), SAMPLES)
def test_steps_attributes_versions_and_samples_contradict_nothing(one: str, other: str) -> None:
    assert read(find_contradictions, f"# 卡片样式\n\n{one}\n", f"# 卡片样式\n\n{other}\n") == []
    plain = [("卡片样式", text.replace("```css\n", "").replace("```json\n", "")) for text in (one, other)]
    if "```" not in one:  # whose passages know no blocks have no code to tell
        assert found(find_contradictions, *plain) == []


def test_what_a_step_says_is_still_compared() -> None:
    guides = [f"# 换货规则\n\n1. 打开订单\n2. 签收后 {days} 天内可以申请换货。\n" for days in (7, 15)]
    (issue,) = read(find_contradictions, *guides)
    assert len(set(issue.values)) == 2


CITIZEN = "110101199003078515"


def luhn(first: str) -> str:
    """With its check digit."""
    digits = [int(digit) for digit in reversed(first)]
    total = sum(digit if at % 2 else sum(divmod(digit * 2, 10)) for at, digit in enumerate(digits))
    return f"{first}{-total % 10}"


@pytest.mark.parametrize(
    "text",
    [
        "请转账到 {card}，户名张三。",
        "卡号：{card}",
        "我的卡号是{spaced}。",
        "| 户名 | 卡号 |\n| --- | --- |\n| 张三 | {card} |",
        "经办人身份证号{citizen}。",
    ],
)
def test_numbers_of_cards_and_people_are_found(text: str) -> None:
    card = luhn("622202100112345678")
    filled = text.format(
        card=card, spaced=" ".join((card[:4], card[4:8], card[8:12], card[12:16], card[16:])), citizen=CITIZEN
    )
    assert len(read(build_sensitive_check([]), f"# 付款\n\n{filled}\n")) == 1


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{{"card": "{card}", "id": "{citizen}"}}\n```',
        "返回 `order_id={card}` 时表示成功。",
        "访问 https://example.com/pay?trade={card}&id={citizen} 查看。",
        "升级到 3.0.0-alpha-{card} 版。",
        '字段 "{card}" 表示订单。',
        "交易号 {other} 可在账单里查到。",
        "编号 110101199013078515 不是身份证号。",
        "时间戳 2026061512304567。",
    ],
)
def test_numbers_of_samples_addresses_and_versions_are_none(text: str) -> None:
    card = luhn("622202100112345678")
    wrong = card[:-1] + str((int(card[-1]) + 1) % 10)
    assert read(build_sensitive_check([]), f"# 接口\n\n{text.format(card=card, citizen=CITIZEN, other=wrong)}\n") == []
