"""The vocabulary of the agents: a question comes in, answer events go out, the last one carries the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar

from agents.understanding.reading import Reading, read
from agents.understanding.state import NOTHING_SAID, DialogueState
from knowledge.filters import Filter
from knowledge.types import Retrieval, Vector

if TYPE_CHECKING:  # the router's own vocabulary builds on this one
    from agents.curated.types import CuratedMatch
    from agents.decision import Decision
    from agents.places import RelatedPlace
    from agents.routing.types import Route

NOTHING_READ = read("")
MAX_CALLS = 3
"""Requests to models of one turn, to understand it, to answer and to read the answer again; repeated after a failure,
one may cost more.
"""


class Outcome(StrEnum):
    """How a turn ended. Typed where it is decided, never inferred from text."""

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


CITING = frozenset({Outcome.ANSWERED, Outcome.PARTIALLY_ANSWERED})
"""The outcomes of an answer that is sure of itself."""
GIVEN = CITING | {Outcome.LOW_CONFIDENCE}
"""The outcomes of an answer, however sure of it."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier exchange of the session. `standalone` is the question as it was understood, `proposed` the action of
    what the reply proposed, empty for nothing. `rows`: the reply held rows of the business database, and is left out;
    models are not shown the turn at all.
    """

    question: str
    complete_text: str
    reply: str
    suggestions: tuple[str, ...] = ()
    proposed: str = ""
    rows: bool = False


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
    """What a turn cost at language models: requests made, tokens as the provider counts them. cached_tokens: those of
    the prompts that it had computed before.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
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
    """A model is at work on its reply, none of which may be said yet: it is not silent."""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One conversation with a model, tries after a failure included.

    prompts: name -> version of those that it was written from, first the one that says what was to be done, none where
    it was not; cost: by the model's price; milliseconds: till the last word; error: the kind of one that ended it.
    """

    model: str
    prompts: Mapping[str, str]
    usage: Usage
    cost: float
    milliseconds: float
    error: str = ""


@dataclass(frozen=True, slots=True)
class Button:
    """A button below an answer: it opens `url`, or sends `message` as if the customer had typed it; one of the two."""

    label: str
    url: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What an agent would do once the customer confirms it: kept with the turn, so any process can go on from it.

    `action` names it, `fields` are what it takes as plain text, `expires` is in seconds since the epoch.
    """

    action: str
    fields: dict[str, str]
    expires: float


@dataclass(frozen=True, slots=True)
class SubQuestion:
    """One of several questions of a message. `vector` is its embedding, `told` that of it behind what comes before it
    in the message and the conversation; None while the embedder is out of reach, or where nothing comes before.
    """

    text: str
    vector: Vector | None = field(default=None, compare=False)
    context_vector: Vector | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Question:
    """What the customer asks now.

    `rewrite` is the message as it is understood by itself, by what it picks, without a typo, or by a model; `parts` are
    the questions of it, where a model reads several, `spoken` those that its structure shows, where no model read it;
    `follow_up` is what rules make of it; `history` is oldest first, and `summary` says what was talked about before it;
    `reading` is what `text` says; `vector` is the embedding of `searched`, made
    once a turn for all that need it, None while the embedder is out of reach; `told` that of the message behind what
    was talked about, None where nothing was.
    `caller` is the member who asks, proved by a signed token or a trusted key, never read from a text; empty unknown.
    `state` is what the conversation is about; `found` what the knowledge base holds for it, where it was searched;
    `curated` the curated answer that comes nearest, if any does.
    `session` is the conversation, empty where the answer may be shared by several; `proposal` is what its last turn
    proposed.
    `slots` are kinds and words of what a model finds named in it, `language` the one that a model says it is in, zh or
    en; both empty without.
    `max_calls` are the requests to models that the answer may still cost; `where`: the documents that it may rest on.
    `pictured` is what is written in pictures that the customer sent: the message is searched behind it, too; it is
    data, so nothing is asked for, ordered or confirmed by it.
    """

    text: str
    rewrite: str | None = None
    history: tuple[Turn, ...] = ()
    summary: str = ""
    vector: Vector | None = None
    context_vector: Vector | None = None
    page: Page | None = None
    follow_up: str | None = None
    state: DialogueState = NOTHING_SAID
    retrieval: Retrieval | None = None
    curated: CuratedMatch | None = None
    caller: str = ""
    session: str = ""
    proposal: Proposal | None = None
    model_questions: tuple[str, ...] = ()
    sub_questions: tuple[SubQuestion, ...] = ()
    slots: tuple[tuple[str, str], ...] = ()
    language: str = ""
    max_calls: int = MAX_CALLS
    where: Filter = Filter()  # noqa: RUF009 - frozen
    reading: Reading = NOTHING_READ
    pictured: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.reading.text != self.text:
            object.__setattr__(self, "reading", read(self.text))

    @property
    def normalized_text(self) -> str:
        """What is embedded, searched and routed; `text` is what is shown and kept."""
        return self.reading.normalized_text

    @property
    def sub_question_texts(self) -> tuple[str, ...]:
        """The questions of the message, by a model or by its structure; empty where it is one."""
        return self.model_questions or tuple(part.text for part in self.sub_questions)

    @property
    def complete_text(self) -> str:
        return self.rewrite or self.text

    @property
    def complete_reading(self) -> Reading:
        """The reading of `standalone`."""
        return read(self.rewrite) if self.rewrite else self.reading

    @property
    def expanded_text(self) -> str:
        """As the customer's own data is asked about: rows are read by the last word, so that rules fill in what is
        left out.
        """
        return self.rewrite or self.follow_up or self.text

    @property
    def expanded_reading(self) -> Reading:
        """The reading of `resolved`."""
        return self.reading if self.expanded_text == self.text else read(self.expanded_text)


@dataclass(frozen=True, slots=True)
class Source:
    """A fragment that the reply cites as `[index]`; `score` is its calibrated probability in [0, 1]. curated: of a FAQ
    entry, whose document is a list of many things. `line`: the headings within the fragment under which the quoted
    sentences stand, empty where it has none. `quoted_blocks`: which of its blocks are quoted; `left…`: of the rest.
    """

    index: int
    document_id: str
    title: str
    heading: str
    page: int | None
    snippet: str
    score: float
    curated: bool = False
    line: str = ""
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
    """The signal that a session should go to a person. `priority`: 0 as usual, more is sooner; `emotion` in [0, 1]."""

    reason: HandoffReason
    priority: int = 0
    emotion: float = 0.0


class ReplyVerdict(StrEnum):
    """Whether a reply that a model wrote stands by itself, a person had better look, or its critique failed."""

    AUTO = "auto"
    HUMAN = "human"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Verified:
    """What checking a reply found. `factuality` is the share of its claims that hold, 0 to 100, None when nothing was
    checked; `quality`, 0 to 100, and `relevance`, 0 to 1, are None without a critique.
    """

    verdict: ReplyVerdict
    factuality: int | None = None
    quality: int | None = None
    relevance: float | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The whole result of a turn.

    `confidence` is the highest calibrated probability among the fragments used, 0.0 without any. `degraded` names what
    was out of order while answering. `timings_ms` has a key per stage. `handoff` asks for a person; what comes of it is
    decided where sessions are kept. `proposal` waits for the customer's next message. `verified` tells of a reply that
    a model wrote. `computed` is the sentence about dates that stands in no source and holds only today, empty without.
    `related` is near where nothing says what was asked; `suggestions` asks for it. `buttons` stand below it, as staff
    wrote them. `decision` is why these agents answered, None where nobody was to choose. `instructs`: the reply says by
    itself what to do first, as of a danger. `model`: the name of the one that was asked to write, empty for none.
    `origin`: the turn that it was computed for, which may have been another one's; for whoever traces a turn, empty
    where it was for none.
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
        """The answer with what was spent and what was out of order before it."""
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
    """What was searched and found, for whoever traces a turn; customers do not see it."""

    question: Question
    retrieval: Retrieval


@dataclass(frozen=True, slots=True)
class Routed:
    """Where the question went and why. `text` is the question as it was understood, `rewrite` that of a model;
    `found`: what the knowledge base holds for it, None while that is out of order. `basis`: of what configuration and
    parameters, for whoever has to make the answer again.
    """

    text: str
    route: Route
    decision: Decision
    rewrite: str | None = None
    retrieval: Retrieval | None = None
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
    """The reply so far is checked and stays, unless the model fails midway: for channels that cannot withdraw text."""


@dataclass(frozen=True, slots=True)
class Done:
    """Last event."""

    answer: Answer


AnswerEvent = Meta | Routed | Evidence | Token | Replace | Settled | Done
