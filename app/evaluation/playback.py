"""Plays labelled conversations through the product, one message after the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from app.evaluation.dialogues import Dialogue, LabelledTurn
from app.evaluation.grounding import find_unfounded
from app.evaluation.judgement import FACTS, JudgedReply, Judgement, judge_reply
from app.evaluation.types import EvaluatedProduct, ProductReply


@dataclass(frozen=True, slots=True)
class PlayedTurn:
    """A labelled turn and what came of it. `said` is the message as it was sent; `unfounded` what the answer made up,
    None where it was none; `seconds` until the whole reply was there.
    """

    dialogue: str
    labelled: LabelledTurn
    said: str
    told: ProductReply
    heard: JudgedReply
    judgement: Judgement
    unfounded: tuple[str, ...] | None = None
    seconds: float = 0.0


async def play_dialogues(
    product: EvaluatedProduct,
    dialogues: Sequence[Dialogue],
    today: date,
    progress: Callable[[int], object] = lambda _: None,
) -> list[PlayedTurn]:
    """All turns in order; progress is told of every one. The queue for a person is left after a turn that it took
    without being asked, and at the end of a conversation.
    """
    played = []
    for dialogue in dialogues:
        for turn in dialogue.turns:
            done = await _play_turn(product, dialogue, turn, today)
            played.append(done)
            if done.judgement.swallowed or (done.heard.queued and turn is dialogue.turns[-1]):
                await product.leave_queue(dialogue.id)
            progress(1)
    return played


async def _play_turn(product: EvaluatedProduct, dialogue: Dialogue, turn: LabelledTurn, today: date) -> PlayedTurn:
    said = turn.fill_dates(today)
    began = time.perf_counter()
    told = await product.ask(dialogue.id, said, user_id=dialogue.user_id, page=turn.page)
    seconds = time.perf_counter() - began
    heard = JudgedReply.from_response(told.body)
    invented = find_unfounded(heard.text, told.grounds, rows=heard.rows) if heard.kinds & FACTS else None
    return PlayedTurn(dialogue.id, turn, said, told, heard, judge_reply(turn.expect, heard), invented, seconds)
