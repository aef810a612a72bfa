from __future__ import annotations

from agents.answering.curated import cut_curated_answer
from agents.generator import Request
from agents.passages.units import MAX_PROCEDURE_CHARS
from tests.agents.support import candidate, retrieval

LONG = (
    "可以。\n\n"
    "签收后七天内可以申请退货。商品要保持完好，配件、赠品和说明书要齐全，并已从 App 中解绑。"
    "拆封后影响二次销售的滤芯、尘袋一类耗材不在此列，定制刻字的商品也不在此列。\n\n"
    "无理由退货的运费由您承担，首重 12 元，续重每公斤 2 元。质量问题的运费由我们承担，"
    "由快递员上门取件。\n\n"
    "退款在验货后一到五个工作日内原路退回，节假日顺延。用优惠券抵扣的部分退回券包，券过期的不再补发；"
    "用积分抵扣的部分退回积分账户。\n\n"
    "大件商品请先预约上门拆机，拆机费按服务价目表收取。嵌入式的洗碗机和烤箱要由师傅断水断电以后取出，"
    "橱柜的复原由您自己安排。\n\n"
    "换货与退货的条件相同。换同一款的，新机在收到旧机的次日寄出；换另一款的，差价多退少补，"
    "要等旧机验完才能寄出。换货只能换一次，换来的新机按它自己的签收日另算七天。\n\n"
    "赠品单独损坏的不影响主机退货，但要按赠品页标的价格折抵。套装里只退其中一件的，"
    "其余各件按单买的价格结算，退款按差额计算。\n\n"
    "发票已经开出的，电子发票由系统自动冲红，不用您做什么；纸质发票请随商品一起寄回，"
    "丢了的要补一份盖章的说明。企业客户抵扣过的专用发票，请先在税务系统里开红字信息表。\n\n"
    "海外仓发出的商品退回国内仓，运费按国际件计算，到仓要十五天左右，期间订单页会显示退货运输中。\n\n"
    "门店买的商品请带小票到原来的店办理，别的店只能代寄。以旧换新的订单退货以后，"
    "旧机已经拆解的按回收时的估价折算，没有拆解的可以取回。\n\n"
)


def shown(question: str, text: str) -> tuple[str, str]:
    found = retrieval(question, candidate(text, question="能退货吗", entry="q1"))
    return cut_curated_answer(Request(question, found.passing_candidates, found.terms, found.idf))


def test_a_short_answer_is_given_as_it_stands() -> None:
    assert shown("能退货吗", "可以。\n请在 7 天内申请。") == ("可以。\n请在 7 天内申请。",) * 2


def test_a_long_one_is_cut_to_what_was_asked_with_its_verdict() -> None:
    text, quote = shown("退货的运费要多少钱", LONG)
    assert text == quote
    assert text.startswith("可以。")
    assert "首重 12 元" in text
    assert "发票" not in text and len(text) < 200


def test_one_up_to_the_length_of_a_procedure_is_given_whole() -> None:
    short = LONG[: LONG.index("换货与退货")]
    assert len(short) <= MAX_PROCEDURE_CHARS < len(LONG)
    assert shown("退货的运费要多少钱", short) == (short, short)
