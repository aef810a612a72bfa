"""A language model judges what rules cannot: whether a reply says what its passages say, and answers the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from loguru import logger

from agents.errors import GenerationError
from agents.llm.critique import MAX_CLAIMS, Critic, read_critique
from agents.llm.replies import UnreadableReply
from agents.passages.sentences import split_sentences
from agents.types import Source
from app.evaluation.grounding import find_cited_chunks
from app.evaluation.results import PlayedTurn, TurnResult
from app.evaluation.text_match import remove_marks
from knowledge.types import Chunk


class ModelJudge:
    """critic: also the one that reads replies again before customers see them; one request for every answer."""

    def __init__(self, critic: Critic) -> None:
        self._critic = critic

    @property
    def name(self) -> str:
        """Of the model."""
        return str(getattr(self._critic.model, "name", ""))

    async def judge_turn(self, played: PlayedTurn, chunks: Sequence[Chunk]) -> TurnResult:
        """Adds faithfulness and relevance to the result of a turn that cites passages, if the model's reply can be
        read.

        Of a long answer the first MAX_CLAIMS sentences count.
        """
        result, fragments = played.result, _find_cited(played, chunks)
        claims = _split_claims(result.reply)
        if result.unfounded is None or not fragments or not claims:
            return result
        try:
            words, _ = await self._critic.judge(result.say, result.reply, claims, fragments)
            critique = read_critique(words, len(claims), list(fragments))
        except (GenerationError, UnreadableReply) as error:
            logger.opt(exception=error).warning("a reply of an evaluation is not judged by the model")
            return result
        faithfulness = sum(critique.supported) / len(critique.supported)
        return replace(result, faithfulness=round(faithfulness, 4), relevance=round(critique.relevance, 4))


def _split_claims(reply: str) -> list[str]:
    sentences = [one for one in split_sentences(remove_marks(reply)) if not one.is_question]
    return [one.text for one in sentences if any(character.isalnum() for character in one.text)][:MAX_CLAIMS]


def _find_cited(played: PlayedTurn, chunks: Sequence[Chunk]) -> dict[int, Chunk]:
    """Returns the cited chunks by the number that the reply gives them; the customer's page, number 0, is
    no passage.
    """
    sources = played.response.answer.sources if played.response.answer else ()
    found: dict[int, Chunk] = {}
    for source in sources:
        stood_for = find_cited_chunks(source, chunks) if isinstance(source, Source) and source.index else []
        if stood_for:
            found[int(source.index)] = stood_for[0]
    return found
