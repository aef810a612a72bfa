"""Before any language model is asked: a question about somebody else's data is refused.

What decides are the words of the question and the caller's own rows, never anybody else's: the refusal is the same
whether or not another member, phone or order exists.
"""

from __future__ import annotations

from agents.business.database import BusinessDatabase
from agents.business.schema import Mask, Schema
from agents.business.strangers import About, Mention, asks_for_others, mentions
from agents.types import Question
from agents.wording.catalogue import say

_MASKS: dict[About, Mask] = {About.PHONE: "phone", About.EMAIL: "email"}


class IdentityCheck:
    """Stateless; serves many questions at once."""

    def __init__(self, database: BusinessDatabase) -> None:
        self._database = database
        self._places = _places(database.schema, None)
        self._masked = {about: _places(database.schema, mask) for about, mask in _MASKS.items()}
        self._words = _words(database.schema)

    async def refusal(self, question: Question, english: bool) -> str | None:
        """What to reply instead, None for a question about one's own data. Raises BusinessUnavailable."""
        private = say("rows_private", english)
        texts = {question.text, question.resolved}
        if any(asks_for_others(text) for text in texts):
            return private
        named = {mention for text in texts for mention in mentions(text, question.caller)}
        for mention in sorted(named, key=lambda mention: (mention.about is About.NUMBER, mention.value)):
            if not (self._known_word(mention) or await self.owns(mention, question.caller)):
                number = mention.about is About.NUMBER
                return say("rows_not_yours", english, value=mention.value) if number else private
        return None

    async def owns(self, mention: Mention, caller: str) -> bool:
        """Whether it stands in the caller's own rows. Raises BusinessUnavailable."""
        value = mention.value
        if value.upper() == caller.upper():
            return True
        if mention.about is About.PHONE:
            return await self._database.holds(caller, value, self._masked[About.PHONE], at_end=True)
        places = self._masked.get(mention.about, self._places)
        return await self._database.holds(caller, value, places)

    def _known_word(self, mention: Mention) -> bool:
        return mention.about is About.NAME and mention.value in self._words


def _places(schema: Schema, mask: Mask | None) -> dict[str, tuple[str, ...]]:
    """Columns with a mask, or all, of the tables whose rows belong to somebody."""
    places = {
        table.name: tuple(column.name for column in table.columns.values() if mask in (None, column.mask))
        for table in schema.tables.values()
        if table.owner is not None
    }
    return {name: columns for name, columns in places.items() if columns}


def _words(schema: Schema) -> str:
    """All that the YAML says: a word of it is a level or a product, and no person."""
    columns = [column for table in schema.tables.values() for column in table.columns.values()]
    texts = [table.description for table in schema.tables.values()]
    texts += [column.description for column in columns]
    return "\n".join([*texts, *(meaning for column in columns for meaning in column.values.values())])
