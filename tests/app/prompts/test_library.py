"""Prompts are read anew; an edit that would break an answer is refused, and the last good text stays."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from loguru import logger

from agents.prompt_library import load_shipped_prompts
from app.prompts.library import PromptLibrary, find_problem
from knowledge.errors import InvalidConfiguration


class Clock:
    """Moves when told."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def logged() -> Iterator[list[str]]:
    lines: list[str] = []
    number = logger.add(lambda message: lines.append(str(message)), level="ERROR")
    yield lines
    logger.remove(number)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def edited(folder: Path, name: str, text: str) -> None:
    """Written at another moment than before, however coarse the file system's clock is."""
    path = folder / f"{name}.md"
    before = path.stat().st_mtime_ns if path.exists() else 0
    path.write_text(text, "utf-8")
    os.utime(path, ns=(before + 1_000_000_000, before + 1_000_000_000))


def library(folder: Path, clock: Clock) -> PromptLibrary:
    return PromptLibrary(folder, 5.0, clock)


QUESTION = load_shipped_prompts().get_template("question")
POLITE = QUESTION + "\n请用敬语。"


def test_an_edit_is_in_force_once_the_time_is_over_and_not_before(tmp_path: Path, clock: Clock) -> None:
    prompts = library(tmp_path, clock)
    before = prompts.get_current()
    assert before.version == load_shipped_prompts().version
    edited(tmp_path, "question", POLITE)
    clock.now = 4.9
    assert prompts.get_current() is before
    clock.now = 5.0
    after = prompts.get_current()
    assert after.get_template("question") == POLITE and after.version != before.version
    assert before.get_template("question") == QUESTION, "who has the old ones keeps them to the end"
    clock.now = 50.0
    assert prompts.get_current() is after, "nothing changed, so nothing that depends on it is made anew"
    assert prompts.get_text("question", before.versions["question"]) == QUESTION
    assert prompts.get_text("question", after.versions["question"]) == POLITE


def test_the_shipped_prompt_comes_back_when_the_own_one_goes(tmp_path: Path, clock: Clock) -> None:
    edited(tmp_path, "question", POLITE)
    prompts = library(tmp_path, clock)
    assert prompts.get_current().get_template("question") == POLITE
    assert [state.name for state in prompts.list_states() if state.own] == ["question"]
    (tmp_path / "question.md").unlink()
    clock.now = 5.0
    assert prompts.get_current().version == load_shipped_prompts().version
    assert not any(state.own for state in prompts.list_states())


def test_a_bad_edit_is_refused_marked_and_logged_once_while_the_last_good_one_stays(
    tmp_path: Path, clock: Clock, logged: list[str]
) -> None:
    edited(tmp_path, "question", POLITE)
    prompts = library(tmp_path, clock)
    good = prompts.get_current()
    edited(tmp_path, "question", POLITE.replace("{{fragments}}", ""))
    for clock.now in (5.0, 10.0, 15.0):
        assert prompts.get_current() is good
    state = next(state for state in prompts.list_states() if state.name == "question")
    assert (state.text, state.problem, state.own) == (POLITE, "缺少 {{fragments}}", True)
    assert sum("refused" in line for line in logged) == 1
    edited(tmp_path, "question", POLITE + "！")
    clock.now = 20.0
    assert prompts.get_current().get_template("question") == POLITE + "！"
    assert not any(state.problem for state in prompts.list_states())


def test_what_is_no_prompt_or_no_text_is_told(tmp_path: Path, clock: Clock) -> None:
    edited(tmp_path, "anwser", "错字")
    (tmp_path / "verify.md").write_bytes(b"\xff\xfe\xff")
    prompts = library(tmp_path, clock)
    assert prompts.get_current().version == load_shipped_prompts().version
    problems = {state.name: state.problem for state in prompts.list_states() if state.problem}
    assert problems.keys() == {"anwser", "verify"} and "没有叫 anwser 的提示词" in problems["anwser"]
    (tmp_path / "anwser.md").unlink()
    clock.now = 5.0
    prompts.get_current()
    assert [state.name for state in prompts.list_states() if state.problem] == ["verify"]


def test_a_folder_that_goes_away_takes_nothing_with_it_and_one_that_never_was_is_an_error(
    tmp_path: Path, clock: Clock, logged: list[str]
) -> None:
    folder = tmp_path / "prompts"
    with pytest.raises(InvalidConfiguration, match="PROMPTS_DIR"):
        library(folder, clock)
    folder.mkdir()
    edited(folder, "question", POLITE)
    prompts = library(folder, clock)
    good = prompts.get_current()
    folder.rename(tmp_path / "elsewhere")
    for clock.now in (5.0, 10.0):
        assert prompts.get_current() is good
    assert sum("is gone" in line for line in logged) == 1


def test_the_prompts_of_the_code_may_be_edited_too(tmp_path: Path, clock: Clock) -> None:
    for name in load_shipped_prompts():
        edited(tmp_path, name, load_shipped_prompts().get_template(name))
    prompts = PromptLibrary(None, 5.0, clock, own=tmp_path)
    assert prompts.get_current().version == load_shipped_prompts().version
    edited(tmp_path, "verify", "只评判。")
    clock.now = 5.0
    assert prompts.get_current().get_template("verify") == "只评判。"


@pytest.mark.parametrize(
    "text, problem",
    [
        (POLITE, ""),
        (QUESTION.replace("顾客的问题：", "Question: "), ""),
        (" \n", "是空的"),
        (QUESTION + "字" * 20_000, "太长"),
        (QUESTION.replace("{{question}}", "{{ question }}"), "缺少 {{question}}"),
        (QUESTION + "\n{{secret}}", "多了 {{secret}}"),
        (QUESTION.replace("\n顾客的原话：", "，原话："), "不能在同一行"),
        (QUESTION.replace("<资料 {{tag}}>", "资料 {{tag}}"), "须原样保留"),
        (QUESTION.replace("</资料 {{tag}}>\n", "") + "\n</资料 {{tag}}>", "不能挪动"),
    ],
)
def test_what_an_edit_may_change(text: str, problem: str) -> None:
    told = find_problem(text, QUESTION)
    assert (problem in told) if problem else told == ""


@pytest.mark.parametrize("name", list(load_shipped_prompts()))
def test_every_shipped_prompt_is_as_it_has_to_be(name: str) -> None:
    assert find_problem(load_shipped_prompts().get_template(name), load_shipped_prompts().get_template(name)) == ""
