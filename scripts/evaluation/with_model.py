"""Conversations with the configured language model and without any, side by side: `--dialogues … --model`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import SecretStr

from agents.types import Page
from app.evaluation.dialogues import Dialogue
from app.evaluation.product import Product
from app.evaluation.results import PlayedTurn, build_turn_row, compute_figures
from app.evaluation.types import ProductReply
from app.settings import Settings
from app.spending.types import Spending
from app.wiring.models import LanguageModels
from knowledge.errors import InvalidConfiguration
from knowledge.evaluation.metrics import group_by
from scripts.evaluation.product import Setup, open_container_for, play_with_progress

_HEADINGS = (
    "标签",
    "轮次",
    "正确（无 → 有）",
    "误答（无 → 有）",
    "请求",
    "token 收/发",
    "秒（无 → 有）",
    "首字秒（无 → 有）",
)
_ALL = "全部"


@dataclass(frozen=True, slots=True)
class ModelTurn:
    """A turn as it went without a model and with one, and what the latter cost."""

    without: PlayedTurn
    with_model: PlayedTurn
    spent: Spending

    @property
    def id(self) -> str:
        return self.with_model.labelled.id


class MeteredProduct:
    """The product, with what every message cost at language models; see `EvaluatedProduct`."""

    def __init__(self, product: Product, spent: Callable[[], Awaitable[Spending]]) -> None:
        """spent: by everybody until now."""
        self.spending: list[Spending] = []
        self._product, self._spent = product, spent
        self.chunks = product.chunks
        self.leave_queue = product.leave_queue

    async def ask(self, session: str, text: str, *, user_id: str = "", page: Page | None = None) -> ProductReply:
        """See `EvaluatedProduct`."""
        before = await self._spent()
        response = await self._product.ask(session, text, user_id=user_id, page=page)
        self.spending.append(_subtract_spending(await self._spent(), before))
        return response


async def play_both(dialogues: Sequence[Dialogue], setup: Setup) -> tuple[str, list[ModelTurn]]:
    """The model's name, and every turn played twice. Raises InvalidConfiguration where no model is configured."""
    async with open_container_for(setup) as (container, product):
        name = _find_model_name(container.models)
        metered = MeteredProduct(product, lambda: container.accounts.load_today(product.tenant))
        with_model = await play_with_progress(metered, dialogues, setup.today, f"有 {name}")
    async with open_container_for(replace(setup, settings=remove_models(setup.settings))) as (_, product):
        without = await play_with_progress(product, dialogues, setup.today, "没有大模型")
    return name, list(map(ModelTurn, without, with_model, metered.spending))


def remove_models(settings: Settings) -> Settings:
    """The same product, with nobody to ask."""
    nobody: dict[str, Any] = {"llm_provider": "openai", "llm_api_key": SecretStr(""), "llm_providers": ()}
    return settings.model_copy(update=nobody | {"small_llm_api_key": SecretStr(""), "reader_model": ""})


def build_both_report(name: str, turns: Sequence[ModelTurn]) -> dict[str, Any]:
    """The figures with the model; beside them those without it, and both by tag."""
    by_tag = {tag: _compare_turns(some) for tag, some in _group_by_tag(turns).items()}
    return compute_figures([turn.with_model.result for turn in turns]) | {
        "model": {"name": name} | _compare_turns(turns) | {"by_tag": by_tag},
        "gained": [turn.id for turn in turns if turn.with_model.result.correct > turn.without.result.correct],
        "lost": [turn.id for turn in turns if turn.with_model.result.correct < turn.without.result.correct],
        "without_model": compute_figures([turn.without.result for turn in turns]),
    }


def build_both_table(turns: Sequence[ModelTurn]) -> str:
    """What a person reads: a line a tag, all of them last; columns are divided by tabs."""
    rows = [*_group_by_tag(turns).items(), (_ALL, list(turns))]
    return "\n".join(
        "\t".join(cells) for cells in (_HEADINGS, *(_build_cells(tag, _compare_turns(some)) for tag, some in rows))
    )


def build_both_row(turn: ModelTurn) -> dict[str, Any]:
    """A line of `--run`: the turn with the model, what it cost, and how it went without."""
    without, spent = build_turn_row(turn.without), turn.spent
    cost = {"calls": spent.calls, "prompt_tokens": spent.prompt_tokens, "completion_tokens": spent.completion_tokens}
    beside = {key: without[key] for key in ("verdict", "outcome", "reply")}
    took = {"seconds": turn.with_model.result.seconds, "first_token": _get_first_token(turn.with_model)}
    return build_turn_row(turn.with_model) | cost | took | {"without_model": beside}


def _compare_turns(turns: Sequence[ModelTurn]) -> dict[str, Any]:
    """Shares of the turns, and means of one."""
    sides = [turn.without for turn in turns], [turn.with_model for turn in turns]
    spent = sum((turn.spent for turn in turns), Spending())

    def mean(total: float) -> float:
        return round(total / len(turns), 3)

    return {
        "turns": len(turns),
        "right": [mean(sum(turn.result.correct for turn in side)) for side in sides],
        "false": [mean(sum(turn.result.false_answer for turn in side)) for side in sides],
        "calls": mean(spent.calls),
        "prompt_tokens": mean(spent.prompt_tokens),
        "completion_tokens": mean(spent.completion_tokens),
        "seconds": [mean(sum(turn.result.seconds for turn in side)) for side in sides],
        "first_token": [mean(sum(map(_get_first_token, side))) for side in sides],
    }


def _build_cells(tag: str, figures: dict[str, Any]) -> tuple[str, ...]:
    def change(name: str) -> str:
        before, after = figures[name]
        return f"{before:.2f} → {after:.2f}"

    tokens = f"{figures['prompt_tokens']:.0f}/{figures['completion_tokens']:.0f}"
    calls = f"{figures['calls']:.1f}"
    waited = change("seconds"), change("first_token")
    return tag or "-", str(figures["turns"]), change("right"), change("false"), calls, tokens, *waited


def _group_by_tag(turns: Sequence[ModelTurn]) -> dict[str, list[ModelTurn]]:
    return group_by(turns, lambda turn: turn.with_model.labelled.tag)


def _get_first_token(turn: PlayedTurn) -> float:
    """Seconds; a reply that came at once took as long as the turn."""
    return turn.result.seconds if turn.response.first_token is None else turn.response.first_token


def _subtract_spending(after: Spending, before: Spending) -> Spending:
    calls, asked = after.calls - before.calls, after.prompt_tokens - before.prompt_tokens
    return Spending(calls, asked, after.completion_tokens - before.completion_tokens, after.cost - before.cost)


def _find_model_name(models: LanguageModels) -> str:
    asked = models.main or models.small or models.judge
    if asked is None:
        raise InvalidConfiguration("--model 要配置大模型：请设置 LLM_API_KEY，或 LLM_PROVIDER=gguf，或 READER_MODEL")
    return asked.name
