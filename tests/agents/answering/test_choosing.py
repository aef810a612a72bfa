from __future__ import annotations

from tests.agents.support import written

FILTER = (
    "滤芯可以过滤灰尘。滤芯不可水洗，用吸尘器清理。新滤芯装好后长按滤芯键。新滤芯每只 199 元。滤芯请放在干燥处。\n\n"
    "有轻微气味是正常现象，开窗运行两小时即可消除，不影响使用。塑料袋须在使用前取出，否则没有净化效果。\n\n"
    "寿命与空气质量有关，装修后的房子请提前更换，以免净化能力下降。"
)


async def reply(question: str, *texts: str) -> str:
    return "".join(await written(question, *texts))


async def test_what_is_asked_for_is_quoted_and_little_else() -> None:
    said = await reply("新滤芯多少钱", FILTER)
    assert said == FILTER.split("\n\n")[0]


async def test_another_fragment_that_has_the_price_goes_before_one_that_has_not() -> None:
    assert (await reply("新滤芯多少钱", "新滤芯装好后长按滤芯键。", "新滤芯 199 元。")) == "新滤芯 199 元。"


async def test_a_line_that_heads_others_counts_for_them_and_is_not_quoted() -> None:
    text = (
        "有效期\n自激活日起 36 个月，到期可以延长一次。\n"
        "发票\n购卡时可以开具不征税发票，用卡消费时不再重复开具。请在购卡后三十天内提出，逾期不再办理。\n"
        "退卡\n未绑定的卡购买后可以退回，已经绑定的卡一律不退，运费由顾客承担，到账以银行为准。"
    )
    said = await reply("卡的有效期", text)
    assert said.startswith("自激活日起 36 个月，到期可以延长一次。")
    assert "退卡" not in said.split("\n")


async def test_the_question_in_a_text_is_answered_without_being_repeated() -> None:
    text = "老人没有手机怎么进门？ 可以办门禁卡。\n装修工人能用访客码吗？ 不能，凭出入证进出。"
    assert (await reply("老人怎么进门", text)).startswith("可以办门禁卡。")


async def test_an_item_stands_under_the_line_that_heads_it() -> None:
    text = "不支持退货的商品\n- 已拆封的滤芯；\n- 已激活的订阅；\n退货方式\n在订单里申请。"
    assert (await reply("已拆封的滤芯", text)).startswith("不支持退货的商品：")


async def test_a_parallel_sentence_about_something_else_stays_out() -> None:
    text = (
        "住宅的宽限期为 30 天，从第 31 天起按欠费金额每日万分之三计收违约金。\n"
        "商务楼的宽限期为 10 天，从第 11 天起按欠费金额每日千分之一计收违约金。"
    )
    said = await reply("商务楼的违约金怎么算", text)
    assert "千分之一" in said
    assert "万分之三" not in said


async def test_of_clauses_about_models_the_one_that_is_asked_for_is_shown() -> None:
    text = "DC7 可以预约，保留 15 分钟；DC60 不能预约。"
    assert await reply("DC60 能预约吗", text) == "DC60 不能预约。"


async def test_a_clause_that_may_be_a_condition_stays() -> None:
    text = "按住警铃键 3 秒接通中控室；没有反应的拨打应急专线。"
    assert await reply("警铃键按多久", text) == text


PASSES = (
    "游泳馆的月卡每张 320 元，办理以后三天内没有使用的可以全额退还，其余的一律不退也不能转让给别人。\n"
    "停车的月卡每月 380 元，按自然月计费，一车一卡，到期以前系统会发短信提醒车主及时续费。\n"
    "宠物的登记不收费，入户以后十五天以内带上犬证和免疫证明到服务中心办理，遗失的可以补办。"
)


async def test_for_an_english_question_its_words_in_chinese_choose() -> None:
    said = await reply("How much is parking per month?", PASSES)
    assert "停车的月卡每月 380 元" in said
    assert "宠物" not in said


async def test_of_an_english_question_without_a_known_word_its_type_chooses() -> None:
    price = "每次 45 元，凭票入场。"
    assert (await reply("how much is the zamboni", "本品由专人看管，离开的时候请带好随身的东西。", price)) == price


async def test_two_documents_that_say_different_things_are_both_told() -> None:
    said = await reply("退款多久到账", "退款 3 天到账，取决于支付方式。", "借记卡退款多久到账：5 天到账。")
    assert "3 天" in said and "5 天" in said


async def test_a_second_document_that_says_the_same_is_not_quoted() -> None:
    assert "\n" not in await reply("退款多久到账", "退款 3 天到账。", "到账要 3 天。")
