"""The vocabulary of the agents: a question comes in, answer events go out, and the last one carries the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar

from agents.understanding.state import NOTHING_SAID, DialogueState, Turn
from agents.understanding.utterance import Utterance
from knowledge.filters import Filter
from knowledge.types import NOT_EMBEDDED, QuestionVectors, Retrieval

if TYPE_CHECKING:  # the router's own vocabulary builds on this one
    from agents.decision import Decision
    from agents.places import RelatedPlace
    from agents.routing.types import Route

# Requests to models of one turn, to understand it, to answer and to read the answer again; repeated after a failure,
# one may cost more.
MAX_CALLS = 3


class Outcome(StrEnum):
    """How a turn ended. It is set where it is decided, never inferred from text."""

    ANSWERED = "answered"
    PARTIALLY_ANSWERED = "partially_answered"
    LOW_CONFIDENCE = "low_confidence"
    CLARIFY = "clarify"
    NO_EVIDENCE = "no_evidence"
    CANNOT_ANSWER = "cannot_answer"
    HIGH_STAKES = "high_stakes"
    OUT_OF_SCOPE = "out_of_scope"
    IRRELEVANT = "irrelevant"
    NONSENSE = "nonsense"
    HANDOFF = "handoff"
    REJECTED = "rejected"


# The outcomes of an answer that is sure of itself.
CITING = frozenset({Outcome.ANSWERED, Outcome.PARTIALLY_ANSWERED})
# The outcomes of an answer, however sure of it.
GIVEN = CITING | {Outcome.LOW_CONFIDENCE}


@dataclass(frozen=True, slots=True)
class Page:
    """The page that the customer looks at, as the frontend describes it. All text is data, never instructions."""

    url: str = ""
    title: str = ""
    description: str = ""
    headings: tuple[str, ...] = ()
    json_ld: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a turn cost at language models: requests, and tokens as the provider counts them."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    # Those of the prompts that the provider had computed before.
    cached_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
        )


@dataclass(frozen=True, slots=True)
class Thinking:
    """A model works on its reply and is not silent, but nothing of it may be shown yet."""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One conversation with a model, including retries after a failure."""

    model: str
    # Name -> version of the prompts used, the one with the task first.
    prompts: Mapping[str, str]
    usage: Usage
    # By the model's price.
    cost: float
    # Until the last word.
    milliseconds: float
    # Kind of the error that ended it, empty without.
    error: str = ""


@dataclass(frozen=True, slots=True)
class Button:
    """A button below an answer: it opens `url`, or sends `message` as if the customer had typed it; one of the two."""

    label: str
    url: str = ""
    message: str = ""


class MatchStage(StrEnum):
    """How a question matched its entry, the surest first."""

    # The entry's own question.
    EXACT = "exact"
    # One of its other wordings.
    VARIANT = "variant"
    SIMILAR = "similar"


@dataclass(frozen=True, slots=True)
class CuratedEntry:
    """What staff published; the answer is given word for word."""

    id: str
    answer: str
    # All ways to ask, the question first.
    wordings: tuple[str, ...]
    buttons: tuple[Button, ...] = ()

    @property
    def question(self) -> str:
        return self.wordings[0]


@dataclass(frozen=True, slots=True)
class CuratedMatch:
    """An entry for a question."""

    entry: CuratedEntry
    wording: str
    stage: MatchStage
    # Calibrated, that the entry answers it.
    probability: float
    # Distance to the next entry with another answer.
    margin: float = 0.0
    # Of the knowledge base at which the entries were read.
    revision: int = 0


@dataclass(frozen=True, slots=True)
class Proposal:
    """What an agent would do once the customer confirms it. It is kept with the turn, so that any process can continue.

    `action` names it, `fields` are its values as plain text, `expires` is in seconds since the epoch.
    """

    action: str
    fields: dict[str, str]
    expires: float


@dataclass(frozen=True, slots=True)
class SubQuestion:
    """One of several questions of an utterance. `by_model`: a model read it, else the structure of the text shows it.

    What a model wrote is understandable by itself and is searched as a rewrite of the whole; what stands in the text
    may lean on the questions before it.
    """

    text: str
    by_model: bool = False


@dataclass(frozen=True, slots=True)
class SenderId:
    """By what the sender of a message is counted: the id of the key, empty where nothing is counted, and an address."""

    key: str = ""
    address: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What the customer asks now.

    `sub_questions`: those that the utterance holds, empty where it is one. `history` is oldest first; `summary` says
    what was talked about before it. `caller`: the member who asks, proved by a signed token or a trusted key, never
    taken from a text; empty for unknown. `sender`: by whom it is counted. `state`: what the conversation is about.
    `session`: the conversation, empty where several may share the answer. `proposal`: what the last turn proposed.
    `max_calls`: model requests that the answer may still cost. `where`: the documents that it may rest on.
    `pictured`: text in pictures that the customer sent; the message is also searched behind it. It is data, so
    nothing is asked for, ordered or confirmed by it.
    """

    utterance: Utterance
    sub_questions: tuple[SubQuestion, ...] = ()
    history: tuple[Turn, ...] = ()
    summary: str = ""
    pictured: tuple[str, ...] = ()
    page: Page | None = None
    state: DialogueState = NOTHING_SAID
    caller: str = ""
    sender: SenderId = SenderId()
    session: str = ""
    proposal: Proposal | None = None
    max_calls: int = MAX_CALLS
    where: Filter = Filter()  # noqa: RUF009 - frozen


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found for a question before anybody acts on it."""

    # Of the normalized utterance.
    vectors: QuestionVectors = NOT_EMBEDDED
    # Of the sub-questions that its structure shows.
    sub_vectors: Mapping[SubQuestion, QuestionVectors] = field(default_factory=dict)
    # What the knowledge base holds, None while it is out of order or was not searched.
    retrieval: Retrieval | None = None
    # The curated answer that is nearest, if any.
    curated: CuratedMatch | None = None


NOTHING_FOUND = Findings()


@dataclass(frozen=True, slots=True)
class Source:
    """A fragment that the reply cites as `[index]`; `score` is its calibrated probability in [0, 1]."""

    index: int
    document_id: str
    title: str
    heading: str
    page: int | None
    snippet: str
    score: float
    # Of a FAQ entry, whose document is a list of many things.
    curated: bool = False
    # The headings within the fragment above the quoted sentences, empty without.
    line: str = ""
    # Numbers of the blocks that are quoted; `left_…`: what is not quoted.
    quoted_blocks: tuple[int, ...] = ()
    left_blocks: int = 0
    left_chars: int = 0

    @property
    def place(self) -> str:
        """Where the quoted sentences stand, as it is shown."""
        return " > ".join(part for part in (self.heading, self.line) if part)


@dataclass(frozen=True, slots=True)
class RowSource:
    """A row of the business database that the reply cites as `[SQL]`; `fields` are shown values, masked already."""

    table: str
    key: str
    fields: dict[str, str]
    index: ClassVar[str] = "SQL"


class HandoffReason(StrEnum):
    """Why a person should take the session."""

    ASKED = "asked"
    HIGH_STAKES = "high_stakes"
    EMOTION = "emotion"


@dataclass(frozen=True, slots=True)
class HandoffRequest:
    """The request that a person takes the conversation."""

    reason: HandoffReason
    # 0 is usual, more is sooner; `emotion` in [0, 1].
    priority: int = 0
    emotion: float = 0.0


class ReplyVerdict(StrEnum):
    """Whether a reply that a model wrote stands by itself, a person had better look, or its critique failed."""

    AUTO = "auto"
    HUMAN = "human"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Verified:
    """The result of checking a reply."""

    verdict: ReplyVerdict
    # The share of its claims that hold, 0 to 100, None when nothing was checked; `quality`, 0 to 100, and
    # `relevance`, 0 to 1, are None without a critique.
    factuality: int | None = None
    quality: int | None = None
    relevance: float | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The whole result of a turn.

    `confidence`: the highest calibrated probability among the fragments used, 0.0 without any. `degraded`: what was out
    of order. `timings_ms` has a key per stage. `handoff` asks for a person. `proposal` waits for the customer's next
    message. `verified`: the check of a reply that a model wrote. `computed`: a sentence about dates that stands in no
    source and holds only today, empty without. `related`: near places where nothing answers; `suggestions` ask for
    them. `buttons` stand below the reply, as staff wrote them. `decision`: why these agents answered, None where there
    was no choice. `instructs`: the reply itself says what to do first, as in a danger. `model`: the model that was
    asked to write, empty for none. `origin`: the turn that the answer was computed for, which may be another one; for
    traces, empty for none.
    """

    reply: str
    outcome: Outcome
    intent: str
    agent: str
    confidence: float = 0.0
    sources: tuple[Source | RowSource, ...] = ()
    suggestions: tuple[str, ...] = ()
    related: tuple[RelatedPlace, ...] = ()
    buttons: tuple[Button, ...] = ()
    handoff: HandoffRequest | None = None
    proposal: Proposal | None = None
    verified: Verified | None = None
    computed: str = ""
    decision: Decision | None = None
    escalate_to_human: bool = False
    stopped: bool = False
    instructs: bool = False
    degraded: tuple[str, ...] = ()
    timings_ms: dict[str, float] = field(default_factory=dict)
    usage: Usage = Usage()
    model: str = ""
    origin: str = ""

    def add_costs(self, usage: Usage, degraded: tuple[str, ...]) -> Answer:
        """Returns the answer with costs and outages of earlier steps added."""
        return replace(self, usage=usage + self.usage, degraded=tuple(dict.fromkeys((*degraded, *self.degraded))))

    @property
    def fragments(self) -> tuple[Source, ...]:
        """The sources that are fragments of documents or of the page."""
        return tuple(source for source in self.sources if isinstance(source, Source))


@dataclass(frozen=True, slots=True)
class Meta:
    """First event: who answers."""

    agent: str
    intent: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was searched and found; for traces, customers do not see it."""

    question: Question
    retrieval: Retrieval


@dataclass(frozen=True, slots=True)
class Routed:
    """Where the question went and why."""

    # As it was searched.
    utterance: Utterance
    route: Route
    decision: Decision
    # What the knowledge base holds for it, None while that is out of order.
    retrieval: Retrieval | None = None
    # Configuration and parameters, for making the answer again.
    basis: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the reply; the pieces joined are the reply."""

    text: str


@dataclass(frozen=True, slots=True)
class Replace:
    """The reply so far is withdrawn; this text stands in its place."""

    text: str


@dataclass(frozen=True, slots=True)
class Settled:
    """The reply so far is checked and stays, unless the model fails midway; for channels that cannot withdraw text."""


@dataclass(frozen=True, slots=True)
class Done:
    """Last event."""

    answer: Answer


AnswerEvent = Meta | Routed | Evidence | Token | Replace | Settled | Done
