"""A question tried as the chat would take it: by the same guard, reading, search and decision, without an answer."""

from __future__ import annotations

from dataclasses import replace

from agents.question_search import Searcher, search_question
from agents.search_context import build_search_context
from agents.types import Findings, Question, Usage
from agents.understanding.state import Turn
from agents.understanding.utterance import Utterance
from app.chat.account import Account
from app.chat.answer_pipeline import AnswerPipeline, PreparedMessage
from app.chat.guard import Guard, Rejected
from app.chat.history import History
from app.errors import Conflict, InvalidRequest
from app.hit_test.canaries import TrialSearch
from app.hit_test.drop_reason import Search, Widths, find_drop_reason
from app.hit_test.repository import ExpectedRepository
from app.hit_test.trial import Dropped, Trial, TrialResult
from app.tenants import TenantParts, Tenants
from app.turns.types import Message
from knowledge.filters import EVERYTHING, Filter
from knowledge.index import Snapshot
from knowledge.text import clean
from knowledge.types import NOT_EMBEDDED, Context, PageText, QuestionVectors, Retrieval

_NOTHING_SAID = Context()


class HitTest:
    """Nothing of it is kept or counted."""

    def __init__(
        self,
        guard: Guard,
        history: History,
        answering: AnswerPipeline,
        tenants: Tenants,
        expected: ExpectedRepository,
    ) -> None:
        self._guard = guard
        self._history = history
        self._answering = answering
        self._tenants = tenants
        self._expected = expected

    async def run(self, tenant: str, trial: Trial, trying: TrialSearch | None = None) -> TrialResult:
        """Searches, and decides if wanted: then a model reads the message too, where the chat has one read it. What the
        chat would not take is searched all the same. trying: drafts that are to be seen. Raises InvalidRequest,
        KnowledgeError.
        """
        async with self._tenants.use_parts(tenant) as parts:
            account = Account()
            heard = await self._prepare_message(tenant, parts, trial, account, trying)
            return await self._run_trial(tenant, parts, trial, heard, account, trying)

    async def _prepare_message(
        self, tenant: str, parts: TenantParts, trial: Trial, account: Account, trying: TrialSearch | None
    ) -> PreparedMessage:
        if trying is not None and trying.search.generation is not parts.retriever.generation:
            raise Conflict("知识库刚换了索引，请再试一次。", code="index_changed")
        checked = self._guard.check(trial.text)
        rejected = checked.reason if isinstance(checked, Rejected) else None
        text = clean(trial.text).strip() if isinstance(checked, Rejected) else checked
        if not text:
            raise InvalidRequest("query 不能为空")
        heard = await self._answering.read(parts.team, await self._build_question(tenant, text, trial.history), account)
        question = replace(heard.question, where=trial.where)
        return replace(heard, question=question, rejected=rejected or heard.rejected)

    async def _run_trial(
        self,
        tenant: str,
        parts: TenantParts,
        trial: Trial,
        heard: PreparedMessage,
        account: Account,
        trying: TrialSearch | None,
    ) -> TrialResult:
        question, findings, turn, decision = heard.question, heard.findings, None, None
        if trying is not None:
            heard = replace(heard, team=replace(heard.team, searcher=trying.search))
        if trial.decide and heard.rejected is None:
            turn, decision = await self._answering.decide(heard, account)
            account.add_usage(Usage(), turn.route.degraded)
            question, findings = turn.question, turn.findings
        found = await self._search_passages(heard.team.searcher, question, findings, trial)
        snapshot = trying.snapshot if trying else parts.retriever.index.get_snapshot()
        return TrialResult(
            text=question.utterance.original,
            found=found,
            timings_ms=found.timings_ms | {"embed": account.ms["embed"]},
            degraded=tuple(dict.fromkeys((*found.degraded, *account.degraded))),
            rejected=heard.rejected,
            turn=turn,
            decision=decision,
            dropped=await self._explain_drop(tenant, parts, trial, question, findings, found, snapshot, trying),
        )

    async def _build_question(self, tenant: str, text: str, history: tuple[str, ...]) -> Question:
        """As the chat reads a message behind others that its client tells."""
        before = tuple(Turn(Utterance(asked), "") for asked in (clean(each).strip() for each in history) if asked)
        return await self._history.build_question(
            Message(tenant, "", text, new_session=True, history=before), Utterance(text)
        )

    async def _search_passages(
        self, searcher: Searcher, question: Question, findings: Findings, trial: Trial
    ) -> Retrieval:
        if trial.explain or trial.expected is not None:
            searcher = _ExplainedSearch(searcher)
        return await search_question(searcher, question, findings)

    async def _explain_drop(
        self,
        tenant: str,
        parts: TenantParts,
        trial: Trial,
        question: Question,
        findings: Findings,
        found: Retrieval,
        snapshot: Snapshot,
        trying: TrialSearch | None,
    ) -> Dropped | None:
        expected = trial.expected
        if expected is None:
            return None
        stored = trying.find_stored(expected) if trying else None
        own = parts.tuned.settings
        widths = Widths(own.vector_top_k, own.bm25_top_k)
        stored = stored or await self._expected.find(tenant, expected)
        meant = question.utterance.normalized, question.utterance.rewrite, trial.where, build_search_context(question)
        choice = await parts.retriever.choose_versions(*meant)
        search = Search(snapshot, findings.vectors, trial.where, found, choice.excluded)
        return await find_drop_reason(stored, search, widths)


class _ExplainedSearch:
    """The tenant's search, which tells of all that it recalled."""

    def __init__(self, searcher: Searcher) -> None:
        self._searcher = searcher

    async def search(
        self,
        question: str,
        *,
        rewrite: str | None = None,
        vectors: QuestionVectors = NOT_EMBEDDED,
        where: Filter = EVERYTHING,
        explain: bool = True,
        context: Context = _NOTHING_SAID,
        page: PageText | None = None,
    ) -> Retrieval:
        return await self._searcher.search(
            question, rewrite=rewrite, vectors=vectors, where=where, explain=True, context=context, page=page
        )
