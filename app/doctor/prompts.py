"""Prompts of the company's own."""

from __future__ import annotations

from collections.abc import Sequence

from app.doctor.types import Diagnosis, report_error, report_fine
from app.prompts.library import PromptLibrary
from app.settings import Settings
from knowledge.errors import InvalidConfiguration

_PROMPTS = "提示词"


async def check_prompts(settings: Settings) -> Sequence[Diagnosis]:
    """Whether each file of PROMPTS_DIR may stand in the place of the one that comes with the code."""
    if settings.prompts_dir is None:
        return [report_fine(_PROMPTS, "自带的")]
    try:
        states = PromptLibrary(settings.prompts_dir).list_states()
    except InvalidConfiguration as problem:
        told, _, fix = str(problem).partition("：")
        return [report_error(_PROMPTS, told, fix)]
    wrong = [
        report_error(_PROMPTS, f"{state.name}.md {state.problem}", f"改正 {settings.prompts_dir / state.name}.md")
        for state in states
        if state.problem
    ]
    own = [state.name for state in states if state.own]
    return wrong or [
        report_fine(_PROMPTS, f"自己的：{'、'.join(own)}，其余用自带的" if own else "PROMPTS_DIR 里还没有文件")
    ]
