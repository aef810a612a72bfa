"""Tickets in a conversation: proposed, created once confirmed, looked up, urged, extended, withdrawn."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from zoneinfo import ZoneInfo

from agents.base import Emit, emit_answer
from agents.bids import SURE, SURE_CLAIM, Bid, Rank
from agents.language import is_reply_english
from agents.profile import TenantProfile
from agents.routing.types import Intent
from agents.ticketing.draft import describe_ticket, draft_ticket
from agents.ticketing.proposals import CREATE, DESCRIBE, WITHDRAW, read_decision
from agents.ticketing.replies import TicketReplies
from agents.ticketing.types import DONE, CustomerTicket, NewTicket, TicketOwner, Tickets, TicketState
from agents.turn_evidence import TurnEvidence
from agents.types import Answer, Findings, Outcome, Proposal, Question
from agents.understanding.consent import Consent, Reply
from agents.understanding.tickets import Category, Priority, Wish

# How long a proposal waits; a 好的 of the next day means something else.
PROPOSAL_SECONDS = 3600.0


class TicketAgent:
    """Creates and withdraws nothing before the customer said yes.

    `profile`: only language and zone are used; `clock`: seconds since the epoch.
    """

    name = "ticket"

    def __init__(
        self, tickets: Tickets, profile: TenantProfile | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self._tickets = tickets
        self._profile = profile or TenantProfile()
        self._zone = ZoneInfo(self._profile.timezone)
        self._clock = clock

    def bid(self, turn: TurnEvidence) -> Bid | None:
        """See `Agent.bid`. No ticket is proposed where a person takes over; 报 E05 looks like a report, but is
        looked up.
        """
        if turn.is_decided_by_rules and turn.is_routed_to(Intent.TICKET):
            return Bid(Intent.TICKET, SURE, "asks for one, or answers a proposal", Rank.CLAIMS)
        if turn.is_urgent or turn.is_routed_to(Intent.HUMAN_REQUEST):
            return None
        if turn.question.utterance.reading.words_beside_request is not None:
            return Bid(Intent.TICKET, SURE, "asks for one", Rank.CLAIMS)
        claim = turn.compute_claim(Intent.TICKET)
        if turn.is_documented or (turn.is_answerable and claim < SURE_CLAIM):  # who asks how is told how
            return None
        return Bid(Intent.TICKET, claim, "is like a request to act", Rank.CLAIMS)

    async def run(self, question: Question, findings: Findings, emit: Emit) -> Answer:
        """See `Agent.run`."""
        return emit_answer(await self._answer_question(question), emit)

    async def _answer_question(self, question: Question) -> Answer:
        reply = read_decision(question, self._clock())
        if reply is not None and question.proposal is not None:
            return await self._apply_decision(question, question.proposal, reply)
        wish = question.utterance.reading.wish
        if wish is Wish.CREATE:
            return await self.propose_ticket(question)
        found = await self._tickets.find_tickets(_get_owner(question), question.utterance.reading.ticket_number)
        if wish is Wish.LOOK_UP:
            return self._list_tickets(question, found)
        return await self._handle_wish(question, wish, found)

    async def propose_ticket(self, question: Question, category: Category | None = None) -> Answer:
        """Proposes a ticket in the customer's own words; asks for details where there are none.

        category: None takes it from the words.
        """
        replies = self._build_replies(question)
        draft = draft_ticket(question.utterance.original, question.history, replies.english)
        if draft is None:
            return self._build_answer(question, replies.say("ticket_ask_details"), DESCRIBE, {})
        return await self._propose_unless_open(
            question, draft if category is None else replace(draft, category=category)
        )

    async def _apply_decision(self, question: Question, proposal: Proposal, reply: Reply) -> Answer:
        replies = self._build_replies(question)
        if reply.consent is Consent.CANCEL:
            return self._build_answer(
                question, replies.say("ticket_kept" if proposal.action == WITHDRAW else "ticket_dropped")
            )
        if proposal.action == WITHDRAW:
            ticket = await self._tickets.close(_get_owner(question), proposal.fields["number"])
            return self._build_answer(question, replies.say_about("ticket_withdrawn", ticket))
        if proposal.action == DESCRIBE:
            supplement = reply.text if reply.consent is Consent.SUPPLEMENT else ""
            if not supplement:
                return self._build_answer(question, replies.say("ticket_ask_details"), DESCRIBE, {})
            return await self._propose_unless_open(question, describe_ticket(supplement))
        draft = _add_text(_restore_draft(proposal), reply.text)
        if reply.consent is Consent.SUPPLEMENT:
            return self._build_proposal(question, draft)
        opened = await self._tickets.open(_get_owner(question), draft)
        if opened is None:  # it may be confirmed once more, later
            return self._build_answer(question, replies.say("ticket_too_many"), CREATE, dict(proposal.fields))
        ticket, new = opened
        return self._build_answer(question, replies.say_about("ticket_created" if new else "ticket_existing", ticket))

    async def _propose_unless_open(self, question: Question, draft: NewTicket) -> Answer:
        """Proposes the ticket, unless the conversation has the same one already."""
        owner = _get_owner(question)
        same = [
            ticket
            for ticket in (await self._tickets.find_tickets(owner) if owner.session or owner.caller else ())
            if ticket.subject == draft.subject and ticket.state not in DONE
        ]
        if same:
            return self._build_answer(question, self._build_replies(question).say_about("ticket_existing", same[0]))
        return self._build_proposal(question, draft)

    def _build_proposal(self, question: Question, draft: NewTicket) -> Answer:
        fields = {
            "subject": draft.subject,
            "description": draft.description,
            "category": draft.category.value,
            "priority": draft.priority.value,
        }
        return self._build_answer(question, self._build_replies(question).write_proposal(draft), CREATE, fields)

    async def _handle_wish(self, question: Question, wish: Wish, found: Sequence[CustomerTicket]) -> Answer:
        """Serves a wish about existing tickets: the one that is named, or the only one that is not done."""
        meant = list(found)
        if not question.utterance.reading.ticket_number:
            meant = [ticket for ticket in found if ticket.state not in DONE]
        replies = self._build_replies(question)
        if not meant:
            return self._list_tickets(question, found)
        if len(meant) > 1:
            return self._build_answer(question, replies.ask_which(meant))
        (ticket,) = meant
        if ticket.state is TicketState.CLOSED:
            return self._build_answer(question, replies.list_tickets([ticket]))
        if wish is Wish.WITHDRAW:
            return self._build_answer(
                question, replies.say_about("ticket_withdraw", ticket), WITHDRAW, {"number": ticket.number}
            )
        owner, number = _get_owner(question), ticket.number
        if wish is Wish.URGE:
            changed = await self._tickets.urge(owner, number)
            return self._build_answer(question, replies.write_urged(changed))
        changed = await self._tickets.add(owner, number, question.utterance.original)
        return self._build_answer(question, replies.say_about("ticket_added", changed))

    def _list_tickets(self, question: Question, found: Sequence[CustomerTicket]) -> Answer:
        """Tells the state of the tickets, or that there are none."""
        replies = self._build_replies(question)
        if found:
            return self._build_answer(question, replies.list_tickets(found))
        return self._build_answer(
            question, replies.say("ticket_not_found" if question.utterance.reading.ticket_number else "ticket_none_yet")
        )

    def _build_replies(self, question: Question) -> TicketReplies:
        return TicketReplies(is_reply_english(question, self._profile), self._zone)

    def _build_answer(
        self, question: Question, reply: str, action: str = "", fields: dict[str, str] | None = None
    ) -> Answer:
        say = self._build_replies(question).say
        proposal = Proposal(action, fields or {}, self._clock() + PROPOSAL_SECONDS) if action else None
        return Answer(
            reply=reply,
            outcome=Outcome.ANSWERED,
            intent="ticket",
            agent=self.name,
            suggestions=(say("ticket_yes"), say("ticket_no")) if action in (CREATE, WITHDRAW) else (),
            proposal=proposal,
        )


def _get_owner(question: Question) -> TicketOwner:
    return TicketOwner(question.session, question.caller, question.sender)


def _restore_draft(proposal: Proposal) -> NewTicket:
    fields = proposal.fields
    category, priority = Category(fields["category"]), Priority(fields["priority"])
    return NewTicket(fields["subject"], fields["description"], category, priority)


def _add_text(draft: NewTicket, text: str) -> NewTicket:
    """Adds the customer's text to a draft. It may raise the priority, never lower it."""
    if not text:
        return draft
    more = describe_ticket(text)
    urgency = list(Priority)
    priority = max(draft.priority, more.priority, key=urgency.index)
    category = more.category if draft.category is Category.OTHER else draft.category
    return NewTicket(draft.subject, f"{draft.description}\n{text}", category, priority)
