from __future__ import annotations

from agents.understanding.utterance import RewriteKind, Utterance

FOLLOW_UP = Utterance("那运废呢").add_rewrite("退货 运废", RewriteKind.RULES, searched=False)


def test_what_rules_guess_helps_to_read_and_is_not_searched() -> None:
    assert FOLLOW_UP.rewrite is None and FOLLOW_UP.complete_text == "那运废呢"
    assert FOLLOW_UP.expanded.text == "退货 运废"


def test_the_last_rewrite_counts_and_the_original_stays() -> None:
    corrected = FOLLOW_UP.add_rewrite("那运费呢", RewriteKind.SPELLING)
    understood = corrected.add_rewrite("退货运费谁出", RewriteKind.MODEL)
    assert (corrected.rewrite, understood.rewrite) == ("那运费呢", "退货运费谁出")
    assert understood.expanded.text == understood.complete_text == understood.searched_text == "退货运费谁出"
    assert understood.get_rewrite(RewriteKind.SPELLING) == "那运费呢"
    assert (understood.original, understood.get_rewrite(RewriteKind.CHOICE)) == ("那运废呢", None)


def test_without_a_rewrite_the_original_is_searched_in_one_spelling() -> None:
    asked = Utterance("亲，咋退货").add_rewrite(None, RewriteKind.MODEL)
    assert asked.rewrites == () and asked.expanded is asked.reading
    assert asked.searched_text == asked.normalized == "怎么退货"
    assert asked.complete_text == "亲，咋退货"


def test_all_wordings_are_cut_alike() -> None:
    cut = FOLLOW_UP.convert(lambda text: text[:2])
    assert (cut.original, cut.expanded.text) == ("那运", "退货")


def test_a_model_tells_the_language_where_the_words_do_not() -> None:
    assert Utterance("12").is_english is None and Utterance("12", language="en").is_english
    assert Utterance("怎么退货", language="en").is_english is False
