"""One turn, step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from agents.base import Emit
from agents.dialogue import ATTACHMENT, add_turn
from agents.llm.calls import record_calls
from agents.screening.types import Reason
from agents.types import Answer, Done, Evidence, Meta, ModelCall, Outcome, Question, Replace, Routed, Token, Usage
from agents.understanding.reading import Reading
from agents.understanding.utterance import RewriteKind, Utterance
from app.attachments.service import AttachmentService
from app.attachments.types import PICTURE_SENT, build_display_text
from app.chat.account import Account
from app.chat.computation import ComputationPool
from app.chat.flight import Flight
from app.chat.guard import Guard, Rejected
from app.chat.history import History
from app.chat.hot_cache import CacheResult, Compute, HotCache, build_events, start_flight
from app.chat.running_answers import RunningAnswers
from app.chat.session import Sessions
from app.chat.types import ChatEvent, SendEvent, TurnDone, TurnHandoff, TurnStarted
from app.contacts.places import read_place
from app.conversations.access import Access
from app.conversations.rows import find_rows_owner
from app.conversations.turn_log import TurnLog
from app.desk.gate import DeskGate, DeskReply
from app.desk.types import QueueState
from app.ids import create_id
from app.limits.service import RateLimits
from app.metrics import Metrics
from app.privacy import find_personal_data
from app.telemetry.service import Turns, begin_nothing
from app.turns.types import Claim, Message, NewTurn, Opening, TurnTrace
from app.types import SessionKey, Side
from knowledge.text import clean
from knowledge.types import Retrieval


class ChatService:
    """The only way from a message to an answer, for every channel. attachments: None where nobody sends any."""

    def __init__(
        self,
        guard: Guard,
        sessions: Sessions,
        hot_cache: HotCache,
        history: History,
        computing: ComputationPool,
        turn_log: TurnLog[Any],
        metrics: Metrics,
        desk: DeskGate,
        access: Access,
        limits: RateLimits,
        running_answers: RunningAnswers,
        spans: Turns = begin_nothing,
        attachments: AttachmentService | None = None,
    ) -> None:
        self._guard = guard
        self._sessions = sessions
        self._hot_cache = hot_cache
        self._history = history
        self._computing = computing
        self._turn_log = turn_log
        self._metrics = metrics
        self._desk = desk
        self._access = access
        self._limits = limits
        self._running_answers = running_answers
        self._spans = spans
        self._attachments = attachments

    async def answer_message(self, message: Message) -> TurnDone:
        """Runs a whole turn and returns its last event."""
        turn = _Turn(message, self._metrics, self._spans, unseen=message.new_session)
        await self._run_turn(message, turn, _send_nowhere)
        if turn.done is None:
            raise RuntimeError("a turn ended without its final event")
        return turn.done

    async def run_turn(self, message: Message, send: SendEvent) -> None:
        """Runs a turn and sends its events: TurnStarted, tokens, TurnDone. Raises KnowledgeError and AgentError, since
        an outage is no answer, and Forbidden where the conversation is somebody else's.
        """
        await self._run_turn(message, _Turn(message, self._metrics, self._spans), send)

    async def _run_turn(self, message: Message, turn: _Turn, send: SendEvent) -> None:
        async with self._limits.open_turn(message.tenant, message.sender, message.text) as turn.within_limits:
            with self._metrics.track_turn(message.tenant), turn.record_span():
                with turn.span.start_child("guard"):
                    checked = self._check_message(message)
                turn.account.record_step("guard")
                if not checked.utterance.original:
                    assert checked.rejected is not None
                    told = await self._reply_to_rejected(message, checked.rejected)
                    for notice in turn.reject(checked.rejected, told):
                        await send(notice)
                    return
                async with self._sessions.lock_session(message):
                    message = await self._claim_session(message, turn)
                    message = await self._load_attachments(message)
                    checked = checked.fill_text(message)
                    utterance = checked.utterance
                    again = False
                    while turn.done is None:  # once more when the session changed hands before the end
                        held = await self._desk.decide_before_answer(message, utterance, again=again)
                        again = True
                        if held is not None:
                            await self._forward_to_desk(message, utterance, held, turn, send)
                        elif checked.rejected is not None:
                            waiting = await self._desk.get_waiting_state(message, utterance)
                            if self._desk.is_silent(message):  # somebody accepted meanwhile, and reads it
                                continue
                            told = await self._reply_to_rejected(message, checked.rejected)
                            for notice in turn.reject(checked.rejected, told, waiting):
                                await send(notice)
                        else:
                            await self._answer_with_agents(message, utterance, turn, send)

    async def _claim_session(self, message: Message, turn: _Turn) -> Message:
        """Checks the claim on the session while no other turn of it runs: of two turns that begin it, one wins. Raises
        Forbidden.
        """
        key = SessionKey(message.tenant, message.session_id)
        turn.claim = claim = await self._access.claim(key, message.proof, new=message.new_session)
        if claim.exists:
            self._sessions.remember_session(message)
        if claim.first and not message.new_session:
            message = replace(message, new_session=True)
        return message

    async def _load_attachments(self, message: Message) -> Message:
        """Looks up the attachments, after the conversation proved to be the customer's. Raises NotFound."""
        if not message.attachments or self._attachments is None:
            return message
        key = SessionKey(message.tenant, message.session_id)
        return replace(
            message, attached=await self._attachments.attach_to_message(key, message.attachments, Side.CUSTOMER)
        )

    def _check_message(self, message: Message) -> _CheckedMessage:
        """Checks what the customer wrote. The guard's patterns protect models, so a message for a person is only
        checked for being empty or too long.
        """
        if message.attachments and not message.text.strip():
            return _CheckedMessage(Utterance(PICTURE_SENT))
        text = self._guard.check(message.text)
        if not isinstance(text, Rejected):
            return _CheckedMessage(Utterance(text))
        readable = text.reason not in (Reason.EMPTY, Reason.TOO_LONG) and self._desk.is_at_desk(message)
        return _CheckedMessage(Utterance(clean(message.text).strip() if readable else ""), text)

    async def _reply_to_rejected(self, message: Message, rejected: Rejected) -> str:
        return await self._guard.build_reply(message.tenant, Question(Utterance(message.text)), rejected)

    async def _answer_with_agents(self, message: Message, utterance: Utterance, turn: _Turn, send: SendEvent) -> None:
        """Answers by the agents, unless a person takes the session meanwhile."""
        with self._running_answers.track_answer(SessionKey(message.tenant, message.session_id), turn.claim) as running:
            question, served = await self._get_answer(message, utterance, turn)
            with served.flight.follow() as follower:
                running.follow(follower, whole=served.whole)
                if turn.spoken:
                    await send(Replace(""))
                while (event := await follower.read_event()) is not None:
                    running.record_event(event)
                    if self._desk.is_silent(message):
                        return
                    if isinstance(event, Meta):
                        if not turn.begun:
                            await send(turn.build_started(event))
                    elif isinstance(event, Routed):
                        turn.routed = event
                        # Kept is what a model read; typos and this page's subject are of no use to later turns.
                        model = event.utterance.get_rewrite(RewriteKind.MODEL)
                        understood = question.utterance.add_rewrite(model, RewriteKind.MODEL)
                        question = replace(question, utterance=understood)
                        await send(event)
                    elif isinstance(event, Done):
                        decided = await self._desk.decide_after_answer(message, question, event.answer)
                        done = turn.build_done(decided.answer, cached=served.cached, handoff=decided.queue)
                        if await self._persist_turn(message, question, turn, done, decided.opening):
                            if decided.added:
                                await send(Token(decided.added))
                            if decided.queue is not None:
                                await send(TurnHandoff(decided.queue))
                            await send(done)
                    else:
                        turn.note_event(event)
                        await send(event)

    async def _forward_to_desk(
        self, message: Message, utterance: Utterance, held: DeskReply, turn: _Turn, send: SendEvent
    ) -> None:
        """Forwards the message to the person who has the session, or will have it. What the bot began to say is
        withdrawn.
        """
        done = turn.build_done(held.answer, cached=False, handoff=held.queue)
        question = Question(utterance, caller=message.caller)
        if await self._persist_turn(message, question, turn, done, for_desk=held.forward):
            if not turn.begun:
                await send(turn.build_started(Meta(held.answer.agent, held.answer.intent)))
            await send(Replace(held.answer.reply) if turn.spoken else Token(held.answer.reply))
            await send(TurnHandoff(held.queue))
            await send(done)

    async def _get_answer(self, message: Message, utterance: Utterance, turn: _Turn) -> tuple[Question, CacheResult]:
        """Gets the answer from the cache where everybody may be told the same, else computes it for this customer.
        Beyond the limits only urgent messages are answered, by rules.
        """
        if not turn.within_limits:
            question = Question(utterance, caller=message.caller, sender=message.sender, session=message.session_id)
            return question, CacheResult(start_flight(partial(self._limits.urgent.run, question)), cached=False)
        if message.attached and not message.text.strip():
            return await self._confirm_attachment(message, utterance)
        if await self._can_share_answer(message, utterance.reading):
            question = Question(
                utterance, page=message.page, caller=message.caller, sender=message.sender, where=message.where
            )
            with turn.span.start_child("cache"):
                served = await self._hot_cache.serve_answer(
                    message.tenant, question, turn.record_computation(partial(self._computing.run, message, question))
                )
            turn.account.record_step("cache")
            return question, served
        with turn.span.start_child("history"):
            question = await self._history.build_question(message, utterance)
        turn.account.record_step("history")
        compute = turn.record_computation(partial(self._computing.run, message, question))
        return question, CacheResult(start_flight(compute), cached=False)

    async def _confirm_attachment(self, message: Message, utterance: Utterance) -> tuple[Question, CacheResult]:
        """Confirms an attachment that came without a question; the next message may ask about it."""
        question = await self._history.build_question(message, Utterance(""))
        key = "picture_received" if message.attached[0].is_picture else "file_received"
        reply = await self._guard.say(message.tenant, question, key)
        answer = Answer(reply, Outcome.ANSWERED, ATTACHMENT, ATTACHMENT)
        return replace(question, utterance=utterance), CacheResult(Flight(None, build_events(answer)), cached=False)

    async def _can_share_answer(self, message: Message, reading: Reading) -> bool:
        """Whether everybody may be told the same answer: nothing was said before, no page is in view, and the
        customer's own data is not asked about.
        """
        if (
            message.attached
            or message.history
            or message.page is not None
            or find_personal_data(reading.text)
            or reading.has_ticket_reference
        ):
            return False
        return message.new_session or not await self._sessions.has_started(message)

    async def _persist_turn(
        self,
        message: Message,
        question: Question,
        turn: _Turn,
        done: TurnDone,
        opening: Opening | None = None,
        *,
        for_desk: bool = False,
    ) -> bool:
        """Stores the turn before its final event is sent, so that nothing acknowledged is lost. False when the session
        changed hands meanwhile.
        """
        answer = done.answer
        # What was answered without its conversation belongs to one all the same.
        before = question.state or await self._history.load_state(message)
        with turn.span.start_child("persist"):
            kept = await self._turn_log.append_turn(
                NewTurn(
                    tenant=message.tenant,
                    session_id=message.session_id,
                    user_id=message.user_id,
                    channel=message.channel,
                    id=done.message_id,
                    utterance=question.utterance,
                    reply=answer.reply,
                    outcome=answer.outcome.value,
                    response=done.body,
                    created_at=datetime.now(UTC),
                    agent=answer.agent,
                    cited=tuple(source.document_id for source in answer.fragments),
                    new_session=turn.unseen,
                    cached=done.cached,
                    degraded=answer.degraded,
                    usage=Usage() if done.cached else answer.usage,
                    for_desk=for_desk,
                    client_id=message.client_id,
                    opening=opening,
                    waiting=done.handoff is not None,
                    claim=turn.claim,
                    receipt=message.attempt.build_receipt(done.reply) if message.attempt else None,
                    rows_of=(holder := find_rows_owner(answer, message.caller)),
                    trace_id=message.trace_id,
                    trace=None if for_desk else turn.build_trace(done),
                    attachments=[one.build_brief() for one in message.attached],
                    state=add_turn(before, question.utterance.original, answer, holder).to_json(),
                    page=read_place(message.page) if message.page else None,
                )
            )
        if kept:
            self._sessions.remember_session(message)
            turn.record_persisted(done)
        return kept


@dataclass(frozen=True, slots=True)
class _CheckedMessage:
    """What a message says as it was taken, empty where nobody is to read it."""

    utterance: Utterance
    # No agent is.
    rejected: Rejected | None = None

    def fill_text(self, message: Message) -> _CheckedMessage:
        """Returns the message with a description of its attachments in place of the missing text."""
        if message.text.strip() or not message.attached:
            return self
        return _CheckedMessage(Utterance(build_display_text("", [one.build_brief() for one in message.attached])))


class _Turn:
    """Ids and timings of one turn. unseen: nobody but this turn knows of the session before its end."""

    def __init__(self, message: Message, metrics: Metrics, spans: Turns, *, unseen: bool = False) -> None:
        self.unseen = unseen
        self.account = Account()
        self._message = message
        self._message_id = create_id()
        self._metrics = metrics
        self.span = spans(message.tenant, message.session_id, self._message_id, message.traceparent)
        self.within_limits = True
        self.begun = False
        self.claim = Claim()
        # Whether a piece of a reply was given out.
        self.spoken = False
        # The last event, once the turn was kept or rejected.
        self.done: TurnDone | None = None
        self.routed: Routed | None = None
        self._searched: Retrieval | None = None
        self._calls: list[ModelCall] = []

    def build_started(self, meta: Meta) -> TurnStarted:
        self.begun = True
        ids = self._message.session_id, self._message_id, self._message.trace_id
        return TurnStarted(*ids, meta.agent, meta.intent, self.claim.issued)

    def note_event(self, event: object) -> None:
        """Records what was searched, and when the first piece of the reply came."""
        if isinstance(event, Evidence):
            self._searched = event.retrieval
        if not self.spoken and isinstance(event, Token):
            self.spoken = True
            self._metrics.get_tenant(self._message.tenant).first_token.add(self.account.total_ms)

    def build_done(self, answer: Answer, *, cached: bool, handoff: QueueState | None = None) -> TurnDone:
        """Builds the last event of the turn. cached: the timings of the answer are those of another turn."""
        self._metrics.add_stages(self._message.tenant, self.account.ms)
        timings = ({} if cached else answer.timings_ms) | self.account.ms | {"total": self.account.total_ms}
        ids = self._message.session_id, self._message_id, self._message.trace_id
        inside = self._message.proof.trusted
        return TurnDone(*ids, answer, timings, cached, handoff, self.claim.issued, inside)

    def record_computation(self, compute: Compute) -> Compute:
        """Returns the computation of an answer for this turn, perhaps also kept for others, with its calls to models
        recorded.
        """

        async def compute_recorded(emit: Emit) -> Answer:
            with self.span.enter(), record_calls(self._record_call):
                return replace(await compute(emit), origin=self._message_id)

        return compute_recorded

    @contextmanager
    def record_span(self) -> Iterator[None]:
        """Ends the turn's span when the block is left, by an error too."""
        try:
            yield
        except BaseException as error:
            self.span.end(error)
            raise
        self.span.end()

    def _record_call(self, call: ModelCall) -> None:
        self._calls.append(call)
        self._metrics.add_model_call(self._message.tenant, call)

    def build_trace(self, done: TurnDone) -> TurnTrace | None:
        """Builds the trace of the answer, or a link to the turn that computed it; None where no agent was asked."""
        answer, routed = done.answer, self.routed
        if done.cached:
            return TurnTrace(origin=answer.origin) if answer.origin else None
        if routed is None:
            return None
        searched, calls = self._searched or routed.retrieval, tuple(self._calls)
        return TurnTrace(routed.route, searched, answer.model, answer.usage, routed.basis, calls)

    def record_persisted(self, done: TurnDone) -> None:
        self.done = done
        tenant, total = self._message.tenant, self.account.total_ms
        self._metrics.add_stages(tenant, {"persist": round(total - done.timings_ms["total"], 3)})
        self._metrics.add_turn(tenant, done.answer, cached=done.cached, total_ms=total)
        self._set_span_attributes(done.answer, cached=done.cached)

    def _set_span_attributes(self, answer: Answer, *, cached: bool) -> None:
        self.span.set_attributes(
            {
                "yingda.outcome": answer.outcome.value,
                "yingda.agent": answer.agent,
                "yingda.intent": answer.intent,
                "yingda.confidence": answer.confidence,
                "yingda.degraded": ",".join(answer.degraded),
                "yingda.cached": cached,
            }
        )

    def reject(self, rejected: Rejected, reply: str, waiting: QueueState | None = None) -> Sequence[ChatEvent]:
        """Ends the turn of a rejected message, and returns its events. It is not stored and begins no session. waiting:
        the place in the queue of a customer who waits for a person.
        """
        self.claim = Claim()
        answer = Answer(reply=reply, outcome=Outcome.REJECTED, intent="rejected", agent="guard")
        self.done = self.build_done(answer, cached=False, handoff=waiting)
        self._metrics.add_rejection(self._message.tenant, rejected.reason)
        self._metrics.add_turn(self._message.tenant, answer, cached=False, total_ms=self.account.total_ms)
        self._set_span_attributes(answer, cached=False)
        queued = [TurnHandoff(waiting)] if waiting is not None else []
        return [self.build_started(Meta("guard", "rejected")), Token(reply), *queued, self.done]


async def _send_nowhere(_: ChatEvent) -> None:
    """Drops an event, for callers who want the last event alone."""
