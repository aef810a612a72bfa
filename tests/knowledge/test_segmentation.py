from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jieba
import pytest

from knowledge.segmentation import WordFile, build_tokenizer

DICTIONARY = Path(jieba.__file__).with_name("dict.txt")


@pytest.fixture(scope="module")
def whole() -> tuple[dict[str, int], int]:
    """As jieba reads it."""
    frequencies, total = jieba.Tokenizer.gen_pfdict(DICTIONARY.open("rb"))
    return frequencies, total


def test_a_dictionary_that_is_read_by_characters_is_that_of_jieba(whole: tuple[dict[str, int], int]) -> None:
    words = WordFile(DICTIONARY)
    assert (words.frequencies, words.total) == ({}, whole[1])
    words.read_words_of("".join(whole[0]))
    assert words.frequencies == whole[0]


def test_only_words_of_the_characters_of_a_text_are_read(whole: tuple[dict[str, int], int]) -> None:
    words = WordFile(DICTIONARY)
    words.read_words_of("退货龘a")
    assert words.frequencies == {word: count for word, count in whole[0].items() if word[0] in "退货龘a"}


def test_threads_that_read_the_same_characters_find_all_their_words(whole: tuple[dict[str, int], int]) -> None:
    words, characters = WordFile(DICTIONARY), "一大王三中不小马李十"
    expected = {word: count for word, count in whole[0].items() if word[0] in characters}

    def look(_: int) -> bool:
        words.read_words_of(characters)
        return words.frequencies == expected

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(look, range(32)))


def test_a_frequency_is_looked_up_without_reading_others(whole: tuple[dict[str, int], int]) -> None:
    words = WordFile(DICTIONARY)
    asked = [*list(whole[0])[::50], *random.Random(3).sample([word for word, count in whole[0].items() if count], 500)]
    asked += ["", "龘龘", "T", "退货退", "一 3", "a b", "\n", "\ud800"]
    assert [words.look_up(word) for word in asked] == [whole[0].get(word) or 0 for word in asked]
    assert words.frequencies == {}
    words.read_words_of("".join(asked[:-1]))
    assert [words.look_up(word) for word in asked] == [whole[0].get(word) or 0 for word in asked]


def test_texts_are_cut_as_jieba_cuts_them(whole: tuple[dict[str, int], int]) -> None:
    plain: Any = jieba.Tokenizer()
    plain.FREQ, plain.total, plain.initialized = *whole, True
    ours, picked = build_tokenizer(()), random.Random(5)
    known = [word for word, count in whole[0].items() if count]
    for _ in range(300):
        text = "".join(picked.choices(known, k=6)) + picked.choice(["", "，iPhone 15", "㐀龘𠀀", "卜拉巴"])
        assert ours.lcut_for_search(text) == plain.lcut_for_search(text)
        assert ours.lcut(text, HMM=False) == plain.lcut(text, HMM=False)
        assert ours.frequency(text[:2]) == (whole[0].get(text[:2]) or 0)


def test_words_of_a_tenant_are_beside_all_others() -> None:
    own = build_tokenizer(["飞天面"])
    assert own.lcut("飞天面多少钱") == ["飞天面", "多少", "钱"]
    assert own.frequency("飞天面") > 0
    assert build_tokenizer(()).frequency("飞天面") == 0


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "dict.txt"
    path.write_text("退货 3 n\n换货\n", "utf-8")
    with pytest.raises(ValueError, match="no dictionary"):
        WordFile(path)
