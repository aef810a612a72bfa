from __future__ import annotations

import pytest

from agents.profile import TenantProfile
from agents.prompt_library import UNANSWERED, Prompts, load_shipped_prompts


def test_a_line_with_an_empty_slot_is_left_out() -> None:
    prompt = load_shipped_prompts().fill(
        "question", tag="t", fragments="[1] 甲", question="问题", asked="", summary="", computed="", pictured=""
    )
    assert prompt == "<资料 t>\n[1] 甲\n</资料 t>\n\n顾客的问题：问题"


def test_a_slot_within_a_value_stays_text() -> None:
    assert "{{tag}}" in load_shipped_prompts().fill(
        "question", tag="t", fragments="{{tag}}", question="问题", asked="", summary="", computed="", pictured=""
    )


def test_a_missing_value_is_an_error() -> None:
    with pytest.raises(KeyError):
        load_shipped_prompts().fill("question", tag="t")


def test_the_rules_define_the_words_for_no_answer() -> None:
    assert UNANSWERED in load_shipped_prompts().build_instructions(TenantProfile(), 3)


@pytest.mark.parametrize("name", ["answer", "profile", "question", "understanding", "turn"])
def test_every_prompt_is_there(name: str) -> None:
    assert load_shipped_prompts().get_template(name)


def test_the_version_is_that_of_the_words() -> None:
    before = {name: load_shipped_prompts().get_template(name) for name in load_shipped_prompts()}
    after = Prompts(before | {"turn": before["turn"] + "！"})
    assert Prompts(before).version == load_shipped_prompts().version != after.version
    assert [name for name in before if after.versions[name] != load_shipped_prompts().versions[name]] == ["turn"]
