"""Plays labelled conversations through the product, one message after the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import date

from app.evaluation.dialogues import Dialogue, LabelledTurn
from app.evaluation.judgement import JudgedReply
from app.evaluation.results import PlayedTurn, build_result
from app.evaluation.types import EvaluatedProduct


async def play_dialogues(
    product: EvaluatedProduct,
    dialogues: Sequence[Dialogue],
    today: date,
    progress: Callable[[int], object] = lambda _: None,
) -> list[PlayedTurn]:
    """Plays all turns in order, and reports the progress of each.

    The queue for a person is left after a turn that joined it unasked, and at the end of a conversation.
    """
    played = []
    for dialogue in dialogues:
        for turn in dialogue.turns:
            done = await _play_turn(product, dialogue, turn, today)
            played.append(done)
            if done.result.swallowed or (done.reply.queued and turn is dialogue.turns[-1]):
                await product.leave_queue(dialogue.id)
            progress(1)
    return played


async def _play_turn(product: EvaluatedProduct, dialogue: Dialogue, turn: LabelledTurn, today: date) -> PlayedTurn:
    message = turn.fill_dates(today)
    began = time.perf_counter()
    response = await product.ask(dialogue.id, message, user_id=dialogue.user_id, page=turn.page)
    seconds = time.perf_counter() - began
    reply = JudgedReply.from_response(response.body)
    return PlayedTurn(turn, response, reply, build_result(dialogue.id, turn, message, response, reply, seconds))
