"""A question tried as the chat would take it: by the same guard, reading, search and decision, without an answer."""

from __future__ import annotations

from agents.recall import Searcher, recall
from agents.types import Question, Turn, Usage
from agents.understanding.reading import read
from app.chat.account import Account
from app.chat.answering import Answering, HeardMessage
from app.chat.guard import Guard, Rejected
from app.chat.history import History
from app.chat.session import Message
from app.errors import InvalidRequest
from app.hit_test.dropping import Search, Widths, dropped
from app.hit_test.repository import ExpectedRepository
from app.hit_test.trial import EVERYTHING, Dropped, Expected, Trial, Tried
from app.tenants import Tenants
from knowledge.text import clean
from knowledge.types import Context, Filter, PageText, Retrieval, Vector

_NOTHING_SAID = Context()


class HitTest:
    """Nothing of it is kept or counted."""

    def __init__(
        self,
        guard: Guard,
        history: History,
        answering: Answering,
        tenants: Tenants,
        expected: ExpectedRepository,
        widths: Widths,
    ) -> None:
        self._guard = guard
        self._history = history
        self._answering = answering
        self._tenants = tenants
        self._expected = expected
        self._widths = widths

    async def run(self, tenant: str, trial: Trial) -> Tried:
        """Searches, and decides if wanted: then a model reads the message too, where the chat has one read it. What the
        chat would not take is searched all the same. Raises InvalidRequest, KnowledgeError.
        """
        account = Account()
        checked = self._guard.check(trial.text)
        rejected = checked.reason if isinstance(checked, Rejected) else None
        text = clean(trial.text).strip() if isinstance(checked, Rejected) else checked
        if not text:
            raise InvalidRequest("query 不能为空")
        heard = await self._answering.read(tenant, await self._question(tenant, text, trial.history), account)
        rejected = rejected or heard.rejected
        question, turn, decision = heard.question, None, None
        if trial.decide and rejected is None:
            turn, decision = await self._answering.decide(heard, account)
            account.spent(Usage(), turn.route.degraded)
            question = turn.question
        found = await self._found(heard, question, trial)
        return Tried(
            text=text,
            found=found,
            timings_ms=found.timings_ms | {"embed": account.ms["embed"]},
            degraded=tuple(dict.fromkeys((*found.degraded, *account.degraded))),
            rejected=rejected,
            turn=turn,
            decision=decision,
            dropped=await self._dropped(tenant, trial.expected, question, trial.where, found),
        )

    async def _question(self, tenant: str, text: str, history: tuple[str, ...]) -> Question:
        """As the chat reads a message behind others that its client tells."""
        before = tuple(Turn(asked, asked, "") for asked in (clean(each).strip() for each in history) if asked)
        return await self._history.question(Message(tenant, "", text, new_session=True, history=before), read(text))

    async def _found(self, heard: HeardMessage, question: Question, trial: Trial) -> Retrieval:
        searcher = heard.team.searcher
        if trial.explain or trial.expected is not None:
            searcher = _Explained(searcher)
        return await recall(searcher, question, trial.where)

    async def _dropped(
        self, tenant: str, expected: Expected | None, question: Question, where: Filter, found: Retrieval
    ) -> Dropped | None:
        if expected is None:
            return None
        snapshot = (await self._tenants.of(tenant)).retriever.index.snapshot()
        stored = await self._expected.find(tenant, expected)
        return await dropped(stored, Search(snapshot, question, where, found), self._widths)


class _Explained:
    """The tenant's search, which tells of all that it recalled."""

    def __init__(self, searcher: Searcher) -> None:
        self._searcher = searcher

    async def search(
        self,
        question: str,
        *,
        rewrite: str | None = None,
        vector: Vector | None = None,
        where: Filter = EVERYTHING,
        explain: bool = True,
        context: Context = _NOTHING_SAID,
        page: PageText | None = None,
    ) -> Retrieval:
        return await self._searcher.search(
            question, rewrite=rewrite, vector=vector, where=where, explain=True, context=context, page=page
        )
