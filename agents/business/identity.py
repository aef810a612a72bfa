"""Refuses questions about somebody else's data, before any language model is asked, and finds for the router what is
the caller's own.

The words of the question and the caller's own rows decide, never those of others: refusal and route are the same
whether or not another member, phone or order exists.
"""

from __future__ import annotations

from collections.abc import Sequence

from agents.business.database import BusinessDatabase
from agents.business.identity_mentions import Mention, MentionKind, find_mentions, is_about_others
from agents.business.schema import Mask, Schema
from agents.types import Question
from agents.understanding.entities import Entity
from agents.wording.catalogue import say

_MASKS: dict[MentionKind, Mask] = {MentionKind.PHONE: "phone", MentionKind.EMAIL: "email"}
_ENTITIES = {"phone": MentionKind.PHONE, "order_number": MentionKind.NUMBER, "member_name": MentionKind.NAME}


class IdentityCheck:
    """Stateless; serves many questions at once."""

    def __init__(self, database: BusinessDatabase) -> None:
        self._database = database
        self._places = _list_places(database.schema, None)
        self._masked = {about: _list_places(database.schema, mask) for about, mask in _MASKS.items()}
        self._words = _join_words(database.schema)

    async def find_refusal(self, question: Question, english: bool) -> str | None:
        """Returns the refusal, None for a question about one's own data. Raises BusinessUnavailable."""
        private = say("rows_private", english)
        texts = {question.utterance.original, question.utterance.expanded_text}
        if any(is_about_others(text) for text in texts):
            return private
        named = {mention for text in texts for mention in find_mentions(text, question.caller)}
        for mention in sorted(named, key=lambda mention: (mention.about is MentionKind.NUMBER, mention.value)):
            if not (self._is_known_word(mention) or await self.is_own(mention, question.caller)):
                number = mention.about is MentionKind.NUMBER
                return say("rows_not_yours", english, value=mention.value) if number else private
        return None

    async def resolve(self, entities: Sequence[Entity], caller: str) -> Sequence[Entity]:
        """See `BusinessResolver.resolve`."""
        if not caller:
            return ()
        return [
            entity
            for entity in entities
            if (about := _ENTITIES.get(entity.kind)) and await self.is_own(Mention(about, entity.value), caller)
        ]

    async def is_own(self, mention: Mention, caller: str) -> bool:
        """Whether the mention stands in the caller's own rows. Raises BusinessUnavailable."""
        value = mention.value
        if value.upper() == caller.upper():
            return True
        if mention.about is MentionKind.PHONE:
            return await self._database.has_value(caller, value, self._masked[MentionKind.PHONE], at_end=True)
        places = self._masked.get(mention.about, self._places)
        return await self._database.has_value(caller, value, places)

    def _is_known_word(self, mention: Mention) -> bool:
        return mention.about is MentionKind.NAME and mention.value in self._words


def _list_places(schema: Schema, mask: Mask | None) -> dict[str, tuple[str, ...]]:
    """Returns the columns with a mask, or all, of the tables whose rows belong to somebody."""
    places = {
        table.name: tuple(column.name for column in table.columns.values() if mask in (None, column.mask))
        for table in schema.tables.values()
        if table.owner is not None
    }
    return {name: columns for name, columns in places.items() if columns}


def _join_words(schema: Schema) -> str:
    """Returns all words of the YAML: each of them is a level or a product, and no person."""
    columns = [column for table in schema.tables.values() for column in table.columns.values()]
    texts = [table.description for table in schema.tables.values()]
    texts += [column.description for column in columns]
    return "\n".join([*texts, *(meaning for column in columns for meaning in column.values.values())])
