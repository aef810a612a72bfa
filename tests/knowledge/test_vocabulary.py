from __future__ import annotations

from itertools import pairwise

import pytest

from knowledge.spelling import Speller
from knowledge.text import Analyzer
from knowledge.vocabulary import (
    AnalyzerRevisions,
    TenantVocabulary,
    VocabularyEntry,
    VocabularyKind,
    find_affected_texts,
)

WORD = VocabularyKind.WORD
TEXTS = ("笙豆云朵的电池", "快递到哪了", "物流信息", "云一怎么充电", "退货要几天", "YD 300 的说明")


def entry(kind: str, term: str, *others: str, both_ways: bool = True) -> VocabularyEntry:
    return VocabularyEntry(VocabularyKind(kind), term, others, both_ways)


def analyzer(*entries: VocabularyEntry) -> Analyzer:
    return TenantVocabulary(1, entries).build_analyzer()


def test_synonyms_find_each_other_and_one_way_only_their_first() -> None:
    both = analyzer(entry("synonym", "快递", "物流"))
    assert "物流" in both.tokenize("快递") and "快递" in both.tokenize("物流")
    one = analyzer(entry("synonym", "快递", "物流", both_ways=False))
    assert "物流" in one.tokenize("快递") and "快递" not in one.tokenize("物流")


def test_a_short_name_is_searched_in_full_unless_that_stands_there_already() -> None:
    made = analyzer(entry("abbreviation", "云一", "云朵一号"))
    assert made.expand_abbreviations("雲一怎么充电") == "云朵一号怎么充电"
    assert made.expand_abbreviations("云朵一号就是云一吗") == "云朵一号就是云一吗"
    assert {"云朵", "一号"} <= set(made.tokenize("云一怎么充电"))


def test_stop_words_are_ignored_in_questions_alone_and_never_all_of_them() -> None:
    made = analyzer(entry("stop", "请问"))
    assert not {"请问", "请"} & set(made.tokenize_question("请问退货几天"))
    assert "请问" in made.tokenize_question("请问？") and "请问" in made.tokenize("请问退货几天")


def test_what_is_protected_is_never_put_right() -> None:
    counts = {"退款": 9, "发票": 9}
    assert Speller(Analyzer(), counts).correct("退宽多久").text == "退款多久"
    assert Speller(analyzer(entry("protected", "退宽")), counts).correct("退宽多久").text == "退宽多久"
    assert Speller(analyzer(entry("word", "退宽")), counts).correct("退宽多久").text == "退宽多久"


@pytest.mark.parametrize(
    "changed",
    [
        entry("word", "笙豆云朵"),
        entry("synonym", "快递", "物流"),
        entry("abbreviation", "云一", "云朵一号"),
        entry("protected", "YD 300"),
        entry("word", "云朵一号"),
        entry("stop", "退货要"),
    ],
    ids=lambda changed: changed.term,
)
def test_every_text_whose_tokens_differ_is_told(changed: VocabularyEntry) -> None:
    rest = (entry("abbreviation", "云一", "云朵一号"),) if changed.kind is WORD else ()
    old, new = TenantVocabulary(1, rest), TenantVocabulary(2, (*rest, changed))
    differ, (before, after) = find_affected_texts(old, new), (old.build_analyzer(), new.build_analyzer())
    really = {text for text in TEXTS if before.tokenize(text) != after.tokenize(text)}
    assert really and really <= {text for text in TEXTS if differ(text)} != set(TEXTS)


def test_a_question_is_cut_as_the_index_that_it_meets() -> None:
    first, second = Analyzer(), analyzer(entry("word", "笙豆云朵"))
    history = AnalyzerRevisions(first, keep=2)
    history.note(3, first)
    history.note(5, second)
    history.note(9, second)
    assert [history.get_analyzer(revision) for revision in (-1, 3, 4, 5, 12)] == [first, first, first, second, second]


def test_full_forms_that_hold_short_names_of_each_other_do_not_multiply() -> None:
    names = [f"甲{character}" for character in "一二三四五六"]
    entries = [entry("abbreviation", one, " ".join([other] * 20)) for one, other in pairwise(names)]
    assert analyzer(*entries).expand_abbreviations("甲一怎么用") == f"{' '.join(['甲二'] * 20)}怎么用"
    assert len(analyzer(entry("abbreviation", "卡", "花" * 64)).expand_abbreviations("卡" * 2000)) < 4000


def test_a_short_name_is_known_however_its_model_is_written() -> None:
    made = analyzer(entry("abbreviation", "h30pro", "云朵三十专业版"))
    assert {made.expand_abbreviations(text) for text in ("h30pro怎么用", "H30 Pro怎么用")} == {"云朵三十专业版怎么用"}
    assert made.expand_abbreviations("XH30 Pro怎么用") == "XH30 Pro怎么用"


def test_words_that_the_glossary_translates_are_found_as_they_stand_in_texts() -> None:
    made = analyzer(entry("synonym", "APP", "掌上营业厅"), entry("protected", "account"))
    assert "营业厅" in made.tokenize("下载app") and "应用" in made.tokenize("掌上营业厅")
    assert made.find_protected("account 登录")
    short = analyzer(entry("abbreviation", "app", "掌上营业厅客户端"))
    assert short.expand_abbreviations("APP在哪里下载") == "掌上营业厅客户端在哪里下载"


def test_a_stop_word_takes_nothing_out_of_a_model_number() -> None:
    made = analyzer(entry("stop", "ab"), entry("stop", "怎么"))
    assert {"ab-12", "ab"} <= set(made.tokenize_question("ab-12怎么装")) and "怎么" not in made.tokenize_question(
        "ab-12怎么装"
    )
    assert "ab" not in made.tokenize_question("ab怎么装")
