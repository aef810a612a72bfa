"""Answers questions about the customer's own data from the company's database, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from time import perf_counter

from loguru import logger

from agents.base import Emit
from agents.bids import SURE, SURE_CLAIM, Bid, Rank
from agents.business.company_tools import CompanyTools
from agents.business.database import BusinessDatabase
from agents.business.engines.base import StatementFailed, StatementTooSlow
from agents.business.identity import IdentityCheck
from agents.business.replies import DeclaredReplies
from agents.business.scope import UnsafeQuery
from agents.business.sources import build_row_sources
from agents.business.sql_writer import SqlWriter
from agents.business.tools import ToolName, ToolRequest
from agents.business.types import PLAN_DIALECT, OfflineQueries, Plan, Rows
from agents.errors import BusinessUnavailable
from agents.excerpt import cut_excerpt, is_whole
from agents.language import is_reply_english
from agents.profile import TenantProfile
from agents.routing.types import Intent
from agents.ticket import TicketAgent
from agents.turn_evidence import TurnEvidence
from agents.types import Answer, Findings, HandoffReason, HandoffRequest, Meta, Outcome, Question, Token, Usage
from agents.wording.catalogue import say

# Statements of a language model for one question: the second may mend what was wrong with the first.
ATTEMPTS = 2


@dataclass(frozen=True, slots=True)
class BusinessParts:
    """What the agent is built from. Without a `writer` the offline layer answers alone."""

    database: BusinessDatabase
    queries: OfflineQueries
    replies: DeclaredReplies
    writer: SqlWriter | None = None
    # The shop's date.
    today: Callable[[], date] = date.today
    # The company's own tools, which a model may call.
    company: CompanyTools | None = None


# The claim below which words name rows that the question only mentions: 我是分期付的, 过保了换个屏好多钱. Of 160
# questions of customers who were not signed in, written by somebody who had not seen this, rows were named where
# documents answered too in 25: below it lie 5 of the 8 about rules and 3 of the 17 about rows.
MENTIONED_CLAIM = 0.2


class BusinessAgent:
    """Checks who asks before what is asked. A language model only writes SQL or names a tool; replies are written from
    rows.

    `profile`: only its language is used.
    """

    name = "business"
    intent = "business_query"

    def __init__(
        self, parts: BusinessParts, profile: TenantProfile | None = None, tickets: TicketAgent | None = None
    ) -> None:
        """tickets: None where there are none."""
        self._parts = parts
        self._tickets = tickets
        self._profile = profile or TenantProfile()
        self._identity = IdentityCheck(parts.database)

    def bid(self, turn: TurnEvidence) -> Bid | None:
        """See `Agent.bid`."""
        claim = turn.compute_claim(Intent.BUSINESS_QUERY)
        named = turn.is_forced(Intent.BUSINESS_QUERY) or (
            turn.is_named_by_model and turn.is_routed_to(Intent.BUSINESS_QUERY)
        )
        unlike = not turn.is_decided_by_rules and claim < MENTIONED_CLAIM
        mentioned = unlike or (not named and (turn.is_documented or claim < SURE_CLAIM))
        if turn.is_answerable and mentioned and not turn.question.caller:
            return None  # nobody is asked to sign in for what anybody may know
        if named:
            return Bid(Intent.BUSINESS_QUERY, SURE, "names rows of the customer's own", Rank.CLAIMS)
        return Bid(Intent.BUSINESS_QUERY, claim, "is like a question about own data", Rank.CLAIMS)

    async def run(self, question: Question, findings: Findings, emit: Emit) -> Answer:
        """See `Agent.run`. Raises BusinessUnavailable.

        NO_EVIDENCE means that rows cannot answer the question, so that another agent may.
        """
        emit(Meta(self.name, self.intent))
        started = perf_counter()
        whole = is_whole(question.utterance.expanded_text)
        question = replace(question, utterance=question.utterance.convert(cut_excerpt))
        answer = await self._answer_question(question, whole)
        timings = {self.name: round((perf_counter() - started) * 1000, 3)}
        answer = replace(answer, timings_ms=timings)
        emit(Token(answer.reply))
        return answer

    async def _answer_question(self, question: Question, whole: bool) -> Answer:
        """Answers a question. whole: nothing of it was cut off, so that a plan by rules may count as complete."""
        if not question.caller:
            return self._build_answer(say("sign_in", self._is_english(question)), Outcome.CLARIFY)
        if refusal := await self._identity.find_refusal(question, self._is_english(question)):
            return self._build_answer(refusal, Outcome.CANNOT_ANSWER)
        plan = self._parts.queries.plan(question.utterance.expanded_text, self._parts.today()) if whole else None
        if self._parts.writer is None or (plan is not None and plan.certain):
            return await self._answer_by_plan(question, plan)
        return await self._answer_by_model(question, plan, self._parts.writer)

    async def _answer_by_plan(self, question: Question, plan: Plan | None) -> Answer:
        if plan is None:
            return self._build_answer(say("rows_not_understood", self._is_english(question)), Outcome.NO_EVIDENCE)
        try:
            answers = [
                self._build_rows_answer(await self._parts.database.query(part.sql, question.caller, PLAN_DIALECT), part)
                for part in (plan, *plan.also)
            ]
            return replace(
                answers[0],
                reply="\n".join(answer.reply for answer in answers),
                sources=tuple(source for answer in answers for source in answer.sources),
            )
        except UnsafeQuery as error:
            logger.bind(subject=plan.subject, reason=str(error)).info("a planned statement was refused")
            return self._build_answer(say("rows_not_understood", self._is_english(question)), Outcome.NO_EVIDENCE)
        except StatementFailed as error:  # nothing that the customer could ask otherwise
            logger.bind(subject=plan.subject, reason=str(error)).error("a planned statement failed")
            raise BusinessUnavailable(str(error)) from error

    async def _answer_by_model(self, question: Question, plan: Plan | None, writer: SqlWriter) -> Answer:
        """Answers with the rows of a statement that the model writes, or with what the model requests instead of rows.

        A statement that is refused or fails goes back to the model with its error, at most ATTEMPTS times. Where none
        could be executed, the plan answers; without a plan, the reply says that the query was too slow or was refused.

        Args:
            question: The question of a customer who is signed in.
            plan: What the rules read in the question; None where they read nothing.
            writer: Asks the model for a statement.

        Returns:
            The answer with the model's usage; marked as degraded where the model failed.

        Raises:
            BusinessUnavailable: The database or a tool of the company is out of reach.
        """
        usage, refused, failed, slow = Usage(), None, False, False
        for _ in range(min(ATTEMPTS, question.max_calls)):
            written = await writer.write(question, self._parts.today(), refused)
            usage, failed = usage + written.usage, written.failed
            granted = await self._grant_request(question, written.requested) if written.requested else None
            if granted is not None:
                return granted.add_costs(usage, ())
            if written.sql is None:
                break
            try:
                rows = await self._parts.database.query(written.sql, question.caller, facts_only=True)
            except StatementTooSlow:
                logger.info("a generated statement took too long")
                slow = True
                break
            except (UnsafeQuery, StatementFailed) as error:  # what was wrong may hold the customer's words: not logged
                logger.bind(error=type(error).__name__).info("a generated statement was refused")
                refused = (written.sql, str(error))
                continue
            return replace(self._build_rows_answer(rows, None), usage=usage)
        if plan is None and slow:
            answer = self._build_answer(say("rows_too_slow", self._is_english(question)), Outcome.CANNOT_ANSWER)
        elif plan is None and refused is not None:
            answer = self._build_answer(say("rows_refused", self._is_english(question)), Outcome.CANNOT_ANSWER)
        else:
            answer = await self._answer_by_plan(question, plan)
        return replace(answer, usage=usage, degraded=("llm",) if failed else ())

    async def _grant_request(self, question: Question, requested: ToolRequest) -> Answer | None:
        """Serves what a model requests besides rows; None for what is not done here. Raises BusinessUnavailable."""
        if (company := self._parts.company) is not None and requested.tool in company.tools:
            rows = await company.call(requested.tool, requested.arguments, question.caller)
            reply = DeclaredReplies({}, company.schema).write(rows, None, self._parts.today())
            return replace(self._build_answer(reply, Outcome.ANSWERED), sources=build_row_sources(rows, company.schema))
        if requested.tool is ToolName.OPEN_TICKET and self._tickets is not None:
            return await self._tickets.propose_ticket(question, requested.category)
        if requested.tool is ToolName.HAND_OVER:
            english = self._is_english(question)
            called = self._build_answer(say("person_called", english), Outcome.HANDOFF)
            return replace(called, handoff=HandoffRequest(HandoffReason.ASKED), escalate_to_human=True)
        if requested.tool is ToolName.SEARCH_KNOWLEDGE:  # the documents are asked after rows that hold nothing
            return self._build_answer(say("rows_not_understood", self._is_english(question)), Outcome.NO_EVIDENCE)
        return None

    def _build_rows_answer(self, rows: Rows, plan: Plan | None) -> Answer:
        reply = self._parts.replies.write(rows, plan, self._parts.today())
        sources = build_row_sources(rows, self._parts.database.schema)
        return replace(self._build_answer(reply, Outcome.ANSWERED), sources=sources)

    def _is_english(self, question: Question) -> bool:
        return is_reply_english(question, self._profile)

    def _build_answer(self, reply: str, outcome: Outcome) -> Answer:
        return Answer(reply=reply, outcome=outcome, intent=self.intent, agent=self.name)
