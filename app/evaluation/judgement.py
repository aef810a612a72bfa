"""Judges the reply to a labelled turn by rule. Pure: a response of the chat contract goes in, a judgement comes out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from agents.types import GIVEN, Outcome
from app.evaluation.dialogues import Expectation, TurnKind
from app.evaluation.text_match import contains_text, fold_text

# The index of a source that is a row of the business database.
ROWS = "SQL"
_SIGN_IN = re.compile("登录|登入|登錄|sign in|log in", re.IGNORECASE)


KIND_OF: Mapping[str, TurnKind] = {
    Outcome.NO_EVIDENCE: TurnKind.REFUSE,
    Outcome.OUT_OF_SCOPE: TurnKind.REFUSE,
    Outcome.CANNOT_ANSWER: TurnKind.REFUSE,
    Outcome.IRRELEVANT: TurnKind.REFUSE,
    Outcome.CLARIFY: TurnKind.CLARIFY,
    Outcome.NONSENSE: TurnKind.CLARIFY,
    Outcome.HIGH_STAKES: TurnKind.CARE,
    Outcome.HANDOFF: TurnKind.HANDOFF,
    Outcome.REJECTED: TurnKind.REJECT,
}
FACTS = frozenset({TurnKind.ANSWER, TurnKind.BUSINESS})
PERSON = frozenset({TurnKind.CARE, TurnKind.HANDOFF})
# Where only these are right, an answer is a false one.
SILENT = frozenset({TurnKind.REFUSE, TurnKind.CLARIFY, TurnKind.CHAT, TurnKind.REJECT, TurnKind.LOGIN})
BRUSH_OFFS = frozenset({Outcome.IRRELEVANT, Outcome.NONSENSE, Outcome.OUT_OF_SCOPE})


class TurnVerdict(StrEnum):
    """PARTLY: of the right kind, with some of what it had to say; not counted as correct."""

    CORRECT = "correct"
    PARTLY = "partly"
    WRONG = "wrong"


class CitedDocument(NamedTuple):
    """A document that a reply cites; place: its title and heading, document_id: "" for the customer's page."""

    place: str
    document_id: str


@dataclass(frozen=True, slots=True)
class JudgedReply:
    """A response as far as it is judged."""

    text: str
    outcome: str
    agent: str = ""
    # That it cites, the page included.
    documents: tuple[CitedDocument, ...] = ()
    # It cites the business database.
    rows: bool = False
    proposes: bool = False
    # The session waits for a person.
    queued: bool = False

    @classmethod
    def from_response(cls, response: Mapping[str, Any]) -> JudgedReply:
        """Reads the body of a chat response."""
        text, data = response.get("reply") or "", response.get("data") or {}
        sources = data.get("sources") or []
        cited = (item for item in sources if item["index"] != ROWS)
        return cls(
            text,
            response["outcome"],
            data.get("agent") or "",
            tuple(CitedDocument(f"{one['title']} {one['heading']}", one.get("document_id") or "") for one in cited),
            any(item["index"] == ROWS for item in sources) or f"[{ROWS}]" in text,
            bool(data.get("proposal")),
            (data.get("handoff") or {}).get("state") == "queued",
        )

    @property
    def kinds(self) -> frozenset[str]:
        """One, or several for a merged reply; an unknown outcome is its own kind, which no label names."""
        if self.outcome not in GIVEN:
            kind = KIND_OF.get(self.outcome, self.outcome)
            return frozenset({TurnKind.LOGIN if kind is TurnKind.CLARIFY and self._asks_to_sign_in else kind})
        answers = self.agent == "knowledge" or bool(self.documents)
        given = {
            TurnKind.ANSWER: answers,
            TurnKind.BUSINESS: self.rows or (self.agent == "business" and not answers),
            TurnKind.TICKET: self.proposes or self.agent == "ticket",
        }
        return frozenset(kind for kind, holds_so in given.items() if holds_so) or frozenset({TurnKind.CHAT})

    @property
    def brushes_off(self) -> bool:
        """Whether it talks past a customer who wants something."""
        return self.agent == "chitchat" or self.outcome in BRUSH_OFFS

    @property
    def _asks_to_sign_in(self) -> bool:
        return self.outcome == Outcome.CLARIFY and _SIGN_IN.search(self.text) is not None


@dataclass(frozen=True, slots=True)
class Judgement:
    """`why` is empty for what is correct."""

    verdict: TurnVerdict
    why: str = ""
    # The queue for a person took a turn that asked for none.
    swallowed: bool = False
    # Facts where there are none to tell, or those of a neighbour.
    false_answer: bool = False
    # Wrong, and it talks past.
    brush_off: bool = False

    @property
    def correct(self) -> bool:
        return self.verdict is TurnVerdict.CORRECT


def judge_reply(expect: Expectation, reply: JudgedReply) -> Judgement:
    """Returns the verdict on one turn, and which of the known ways of being wrong it is."""
    if reply.outcome == Outcome.HANDOFF and not PERSON & expect.kinds:
        return Judgement(TurnVerdict.WRONG, "swallowed by the queue", swallowed=True, brush_off=reply.brushes_off)
    folded_reply = fold_text(reply.text)
    banned = [text for text in expect.must_not if contains_text(folded_reply, text)]
    verdict, why = (TurnVerdict.WRONG, f"holds {banned}") if banned else _find_verdict(expect, reply, folded_reply)
    brush_off = verdict is not TurnVerdict.CORRECT and reply.brushes_off
    invented = expect.kinds <= SILENT and bool(reply.kinds & FACTS)
    return Judgement(verdict, why, false_answer=invented or (bool(banned) and not brush_off), brush_off=brush_off)


def _find_verdict(expect: Expectation, reply: JudgedReply, folded_reply: str) -> tuple[TurnVerdict, str]:
    fit = reply.kinds & expect.kinds
    if not fit:
        return TurnVerdict.WRONG, f"{'+'.join(sorted(reply.kinds))}, not {'|'.join(sorted(expect.kinds))}"
    if expect.kinds & FACTS and not fit & FACTS:  # a refusal that is right too owes no facts
        return TurnVerdict.CORRECT, ""
    missing = [group for group in expect.must_any if not any(contains_text(folded_reply, text) for text in group)]
    if _is_astray(expect, reply):
        return TurnVerdict.WRONG, f"lacks {missing}" if missing else f"cites none of {list(expect.sources)}"
    if not missing:
        return TurnVerdict.CORRECT, ""
    return TurnVerdict.PARTLY if len(missing) < len(expect.must_any) else TurnVerdict.WRONG, f"lacks {missing}"


def _is_astray(expect: Expectation, reply: JudgedReply) -> bool:
    """Whether documents are cited, and none of those that hold the answer."""
    return bool(reply.documents and (expect.sources or expect.documents)) and not any(find_right_sources(expect, reply))


def find_right_sources(expect: Expectation, reply: JudgedReply) -> list[bool]:
    """Returns, for every cited document, whether it is one of those that contain the answer."""
    wanted = [fold_text(place) for place in expect.sources]
    return [
        cited.document_id in expect.documents or any(part in fold_text(cited.place) for part in wanted)
        for cited in reply.documents
    ]
