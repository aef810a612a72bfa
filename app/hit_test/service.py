"""A question tried as the chat would take it: by the same guard, reading, search and decision, without an answer."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from agents.question_search import Searcher, search_question
from agents.search_context import build_search_context
from agents.types import Findings, Question, Usage
from agents.understanding.state import Turn
from agents.understanding.utterance import Utterance
from app.chat.account import Account
from app.chat.answer_pipeline import AnswerPipeline, PreparedMessage
from app.chat.guard import Guard, Rejected
from app.chat.history import History
from app.db.engine import Database
from app.errors import Conflict, InvalidRequest
from app.hit_test.canaries import TrialSearch
from app.hit_test.drop_reason import Search, find_drop_reason
from app.hit_test.repository import find_stored
from app.hit_test.trial import Dropped, Stored, Trial, TrialResult
from app.tenants import TenantParts, Tenants
from app.turns.types import Message
from knowledge.index import Snapshot
from knowledge.text import clean
from knowledge.types import Retrieval


class HitTest:
    """Nothing of it is kept or counted."""

    def __init__(
        self,
        guard: Guard,
        history: History,
        answering: AnswerPipeline,
        tenants: Tenants,
        database: Database,
    ) -> None:
        self._guard = guard
        self._history = history
        self._answering = answering
        self._tenants = tenants
        self._database = database

    async def run(self, tenant: str, trial: Trial, trial_search: TrialSearch | None = None) -> TrialResult:
        """Searches, and decides if wanted: then a model reads the message too, where the chat has one read it. What the
        chat would not take is searched all the same. trial_search: drafts that are to be seen. Raises InvalidRequest,
        Conflict, KnowledgeError.
        """
        async with self._tenants.use_parts(tenant) as parts:
            if trial_search is not None and trial_search.search.generation is not parts.retriever.generation:
                raise Conflict("知识库刚换了索引，请再试一次。", code="index_changed")
            account = Account()
            prepared = await self._read_message(tenant, parts, trial, account)
            if trial_search is not None:
                prepared = replace(prepared, team=replace(prepared.team, searcher=trial_search.search))
            question, findings, turn, decision = prepared.question, prepared.findings, None, None
            if trial.decide and prepared.rejected is None:
                turn, decision = await self._answering.decide(prepared, account)
                account.add_usage(Usage(), turn.route.degraded)
                question, findings = turn.question, turn.findings
            searcher = prepared.team.searcher
            if trial.explain or trial.expected is not None:
                searcher = _ExplainedSearch(searcher)
            found = await search_question(searcher, question, findings)
            snapshot = trial_search.snapshot if trial_search else parts.retriever.index.get_snapshot()
            dropped = None
            if trial.expected is not None:
                stored = trial_search.find_stored(trial.expected) if trial_search else None
                stored = stored or await find_stored(self._database, tenant, trial.expected)
                dropped = await _explain_drop(stored, parts, snapshot, question, findings, found)
            return TrialResult(
                text=question.utterance.original,
                found=found,
                timings_ms=found.timings_ms | {"embed": account.ms["embed"]},
                degraded=tuple(dict.fromkeys((*found.degraded, *account.degraded))),
                rejected=prepared.rejected,
                turn=turn,
                decision=decision,
                dropped=dropped,
            )

    async def _read_message(self, tenant: str, parts: TenantParts, trial: Trial, account: Account) -> PreparedMessage:
        """As the chat reads a message behind others that its client tells."""
        checked = self._guard.check(trial.text)
        rejected = checked.reason if isinstance(checked, Rejected) else None
        text = clean(trial.text).strip() if isinstance(checked, Rejected) else checked
        if not text:
            raise InvalidRequest("query 不能为空")
        earlier = (clean(each).strip() for each in trial.history)
        before = tuple(Turn(Utterance(each), "") for each in earlier if each)
        message = Message(tenant, "", text, new_session=True, history=before)
        question = await self._history.build_question(message, Utterance(text))
        prepared = await self._answering.read(parts.team, question, account)
        limited = replace(prepared.question, where=trial.where)
        return replace(prepared, question=limited, rejected=rejected or prepared.rejected)


async def _explain_drop(
    stored: Stored | None,
    parts: TenantParts,
    snapshot: Snapshot,
    question: Question,
    findings: Findings,
    found: Retrieval,
) -> Dropped:
    query = question.utterance.normalized, question.utterance.rewrite, question.where, build_search_context(question)
    choice = await parts.retriever.choose_versions(*query)
    own = parts.tuned.settings
    search = Search(
        snapshot, findings.vectors, question.where, found, own.vector_top_k, own.bm25_top_k, choice.excluded
    )
    return await find_drop_reason(stored, search)


class _ExplainedSearch:
    """The tenant's search, which tells of all that it recalled."""

    def __init__(self, searcher: Searcher) -> None:
        self.search = partial(searcher.search, explain=True)
