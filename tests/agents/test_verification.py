"""The parts of the support check: numbers, names, negations, and whole claims over the sample documents."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from agents.verification.claims import split_clauses
from agents.verification.names import find_chinese_names, find_latin_names
from agents.verification.polarity import Polarity, is_contradiction
from agents.verification.quantities import find_quantities, is_known
from agents.verification.support import Support, SupportChecker
from knowledge.evaluation.dataset import load_set
from knowledge.text import fold
from knowledge.types import Chunk
from tests.agents.support import candidate

SAMPLES = Path(__file__).resolve().parents[2] / "knowledge" / "samples"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("七天", "7 天"),
        ("7日内", "7 个自然日内"),
        ("24 小时", "二十四个小时"),
        ("两个半小时", "2.5 小时"),
        ("半年", "6 个月"),
        ("1,000 元", "¥1000"),
        ("1.5 万元", "15000 元"),
        ("百分之五", "5%"),
        ("下午三点半", "15:30"),
        ("2021年2月12日", "2021-02-12"),
        ("2 月 12 日", "2021年2月12日"),
        ("Feb 12, 2021", "2021 年 2 月 12 日"),
        ("5 天", "3～5 天"),
        ("3 天", "3 至 5 天"),
        ("15 寸", "15"),
        ("第三代", "第 3 代"),
    ],
)
def test_a_quantity_is_the_same_however_it_is_written(one: str, other: str) -> None:
    said = find_quantities(fold(one)).stated
    assert said
    assert all(is_known(quantity, find_quantities(fold(other)).known) for quantity in said)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("7 天", "7 个月"),
        ("3 天", "3 个工作日"),
        ("5 元", "5%"),
        ("5 元", "5 美元"),
        ("4 天", "3～5 天"),
        ("2012年2月12日", "2021年2月12日"),
        ("10 国", "10 月"),
        ("1.0 级", "7.0 级"),
    ],
)
def test_another_value_or_unit_is_another_quantity(one: str, other: str) -> None:
    assert not all(
        is_known(quantity, find_quantities(fold(other)).known) for quantity in find_quantities(fold(one)).stated
    )


@pytest.mark.parametrize("text", ["一般十分满意", "万一坏了", "千万不要", "一个手机号", "统一处理", "YS-V8"])
def test_numerals_in_words_and_names_are_no_quantities(text: str) -> None:
    assert "YS" in text or not find_quantities(fold(text)).stated
    assert find_latin_names(fold("YS-V8 的 60W/100W 充电，2021-02-12，8-20 位")) == {"ysv8"}


def test_names_of_people_places_and_works_are_found() -> None:
    text = "《头号玩家》由史蒂文·斯皮尔伯格执导，梁振英在哈尔滨出席"
    assert {"头号玩家", "蒂文斯皮", "梁振英", "哈尔滨"} <= find_chinese_names(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("这款耳机支持无线充电", "这款耳机不支持无线充电"),
        ("退货可以寄到门店", "退货不可以寄到门店"),
        ("移机免费", "移机收费"),
        ("设备未被他人绑定", "设备已被他人绑定"),
        ("运费由您承担", "运费由商家承担"),
        ("满 7 天之前提交", "满 7 天之后提交"),
        ("可以，在订单页修改", "不可以，在订单页修改"),
        ("控制设备：可以；添加设备：可以", "控制设备：不可以；添加设备：可以"),
        ("没拆封可以换，拆封了就不能换颜色", "没拆封可以换，拆封了就可以换颜色"),
        ("在 App 打开双设备连接", "在 App 关闭双设备连接"),
    ],
)
def test_opposites_contradict_each_other(one: str, other: str) -> None:
    assert is_contradiction(Polarity.from_text(fold(one)), Polarity.from_text(fold(other)))
    assert is_contradiction(Polarity.from_text(fold(other)), Polarity.from_text(fold(one)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("不支持退货", "不能退货"),
        ("秒杀商品都不支持使用优惠券", "秒杀商品、礼品卡不能用券"),
        ("无需解绑", "不需要解绑"),
        ("包邮", "免运费"),
        ("显示签收但没收到，不需要提供材料", "显示签收但没有收到的；材料：无"),
        ("不仅支持蓝牙，还支持 Wi-Fi", "支持蓝牙和 Wi-Fi"),
        ("7 天无理由退货", "支持 7 天无理由退货"),
        ("不超过 5 次", "最多 5 次"),
    ],
)
def test_the_same_in_other_words_is_no_contradiction(one: str, other: str) -> None:
    assert not is_contradiction(Polarity.from_text(fold(one)), Polarity.from_text(fold(other)))
    assert not is_contradiction(Polarity.from_text(fold(other)), Polarity.from_text(fold(one)))


def test_short_clauses_go_with_the_one_before() -> None:
    assert split_clauses("满 1,000 元可以分期，免息，最长可以分 12 期") == [
        "满 1,000 元可以分期，免息",
        "最长可以分 12 期",
    ]


PARAPHRASES = (
    ("优惠券", "一个订单最多只能用一张满减券或者品类券，另外还可以再叠加一张运费券。"),
    ("优惠券", "优惠券能和会员折扣一起用，系统会先按会员折扣打折，然后再减去优惠券金额。"),
    ("优惠券", "秒杀商品、礼品卡以及订阅服务都不支持使用优惠券。"),
    ("优惠券", "兑换码是 12 位，输入时不区分大小写，连续输错 5 次会被锁定 1 小时。"),
    ("优惠券", "售后补偿券由客服发放，没有使用门槛，有效期为 90 天。"),
    ("智能手表", "手表的防水等级是 5 ATM，可以戴着游泳，但不能用于潜水、蒸桑拿或洗热水澡。"),
    ("智能手表", "换手机时，先在手表的“设置 → 系统 → 断开手机”中操作，这样不会清除数据。"),
    ("大件配送", "YS-D1 智能门锁首次上门安装免费，包含开孔。"),
    ("大件配送", "安装质保期为 12 个月，期间因安装不当引起的松动或漏水可免费上门处理。"),
    ("签收", "包裹显示已签收但您没有收到的，请在 72 小时内反馈，不需要提供材料，由客服查证。"),
    ("签收", "拒收之后包裹会退回仓库，通常 3 到 7 天内完成入库和退款。"),
    ("退款时效", "分期付款的退款 5 到 10 个工作日到账，未还的期数会自动取消，但已支付的手续费不退。"),
    ("退款时效", "质检通过后，系统会在一个工作日内发起退款，原则上按原路退回。"),
    ("退款时效", "订单获得的笙豆会被扣回，余额不够时按 100 笙豆抵 1 元从退款里扣。"),
)
DISTORTED = (
    ("优惠券", "每单最多可以用 2 张满减券。"),
    ("优惠券", "秒杀商品可以使用优惠券。"),
    ("优惠券", "部分退货时优惠券会全额退还。"),
    ("优惠券", "售后补偿券满 50 元可用，有效期 90 天。"),
    ("智能手表", "手表可以戴着潜水。"),
    ("智能手表", "换手机需要清除手表上的数据。"),
    ("大件配送", "7 层及以上每层加收 20 元。"),
    ("大件配送", "YS-C3 摄像头可以免费上门安装。"),
    ("签收", "任何商品都可以由他人代签。"),
    ("签收", "签收后 7 天内反馈商品破损即可。"),
    ("退款时效", "借记卡退款 3～7 个工作日到账。"),
    ("退款时效", "分期手续费会一并退还。"),
)


@cache
def _chunks() -> tuple[Chunk, ...]:
    return load_set(SAMPLES).chunks


def _check(title: str, sentence: str) -> Support:
    chunks = [chunk for chunk in _chunks() if title in chunk.document.title]
    return SupportChecker(dict(enumerate(chunks, start=1)), "").check_sentence(sentence).support


@pytest.mark.parametrize(("title", "sentence"), PARAPHRASES)
def test_a_paraphrase_of_a_document_is_supported(title: str, sentence: str) -> None:
    assert _check(title, sentence) is Support.SUPPORTED


@pytest.mark.parametrize(("title", "sentence"), DISTORTED)
def test_a_distortion_of_a_document_is_not_supported(title: str, sentence: str) -> None:
    assert _check(title, sentence) is Support.UNSUPPORTED


@pytest.mark.parametrize(
    ("question", "text", "answer", "support"),
    [
        ("他是哪里人", "他出生在大阪，后来搬到广州。", "大阪", Support.SUPPORTED),
        ("他是哪里人", "他出生在大阪，后来搬到广州。", "东京", Support.UNSUPPORTED),
        ("冠军是谁", "2015 赛季的冠军是江苏苏宁，广州富力第二。", "广州恒大", Support.UNSUPPORTED),
        ("何时发射", "Oct 17, 2016 ... 飞船于 2006 年 1 月 17 日发射。", "2016年10月17日", Support.UNSUPPORTED),
        ("何时发射", "Oct 17, 2016 ... 飞船于 2006 年 1 月 17 日发射。", "2006年1月17日", Support.SUPPORTED),
    ],
)
def test_a_bare_answer_is_read_with_its_question(question: str, text: str, answer: str, support: Support) -> None:
    checker = SupportChecker({1: candidate(text, title="").chunk}, question)
    assert checker.check_sentence(answer).support is support


def test_a_number_that_the_fragments_contradict_nearer_to_the_question_is_not_supported() -> None:
    texts = ("2013 年芦山地震为 1.0 级。", "芦山地震震级 1.0 级，2013 年发生。", "2013 年震级为 7 级。")
    checker = SupportChecker(
        {n: candidate(text, title="").chunk for n, text in enumerate(texts)}, "2013年芦山地震的震级"
    )
    assert checker.check_sentence("1.0级").support is Support.SUPPORTED
    assert checker.check_sentence("7.0级").support is Support.UNSUPPORTED
