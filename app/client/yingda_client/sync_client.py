"""The client that waits, made of `async_client.py`. Made by scripts/client_package.py."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any, Self, TypeVar, Unpack, cast

import httpx

from .builders import (
    CONVERSATIONS,
    DOCUMENTS,
    FAQS,
    GAPS,
    TICKETS,
    add_given,
    build_chat,
    build_ticket,
    build_upload,
    join_path,
)
from .calls import Call, build_headers, compute_delay, read_error, read_event_error
from .errors import ApiError, ConnectionFailed
from .events import EventReader
from .options import (
    ChatOptions,
    DocumentQuery,
    FaqQuery,
    GapQuery,
    Page,
    Proved,
    SearchOptions,
    TicketOptions,
    TicketQuery,
    Upload,
    UploadOptions,
)
from .types import (
    ChatEvent,
    ChatResponse,
    ChunkPage,
    ConversationSeen,
    DocumentDetail,
    DocumentPage,
    FaqIn,
    FaqOut,
    FaqPage,
    GapDetailOut,
    GapDraftIn,
    GapPage,
    HandoffOut,
    HandoffStarted,
    JobDetail,
    MessageList,
    SearchResponse,
    SignedIn,
    TicketDetail,
    TicketOut,
    TicketPage,
    TicketState,
)

T = TypeVar("T")


class Client:
    """Calls a Yingda server. Every method raises YingdaError, see `yingda_client.errors`.

    Responses are dictionaries as the server sends them, typed by its OpenAPI document. What may be sent again is,
    `retries` times, with growing pauses or that of the server's Retry-After.

    key: of the server; user_token: of the member for whom all is asked; timeout: seconds for each step of a request;
    transport: of httpx, for tests and proxies; headers: sent with every request.
    """

    def __init__(
        self,
        base_url: str = "http://127.0.0.1:8000",
        key: str = "",
        *,
        user_token: str = "",
        timeout: float = 60.0,
        retries: int = 2,
        transport: httpx.BaseTransport | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        self._retries = retries
        self._http = httpx.Client(
            base_url=base_url,
            headers=build_headers(key, user_token) | (headers or {}),
            timeout=timeout,
            transport=transport,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    # Customers

    def chat(self, message: str, **options: Unpack[ChatOptions]) -> ChatResponse:
        """One message, one answer."""
        return self._send(build_chat("/api/v1/chat", message, options), ChatResponse)

    def stream_chat(self, message: str, **options: Unpack[ChatOptions]) -> Iterator[ChatEvent]:
        """The events of one answer as they come, the last one `done` with the whole response.

        A stream that breaks before its first event is asked for again; one that breaks later raises ConnectionFailed:
        `chat` with the same `idempotency_key` then gives the answer. An `error` event is raised as an ApiError.
        """
        call = build_chat("/api/v1/chat/stream", message, options)
        for attempt in range(self._retries + 1):
            begun = False
            try:
                with self._http.stream(call.method, call.path, **call.options()) as response:
                    if response.is_error:
                        response.read()
                        raise read_error(response)
                    reader = EventReader()
                    for line in response.iter_lines():
                        event = reader.read_line(line)
                        if event is None:
                            continue
                        if event["type"] == "error":
                            raise read_event_error(event)
                        begun = True
                        yield event
                    return
            except (ApiError, httpx.TransportError) as error:
                if begun or getattr(error, "status", None) == 0:
                    self._wait_or_raise(call, self._retries, error)
                self._wait_or_raise(call, attempt, error)

    def conversation(self, **options: Unpack[ChatOptions]) -> Conversation:
        """A conversation that keeps its id and its token. options: of every message."""
        return Conversation(self, options)

    def read_history(self, session_id: str, **proved: Unpack[Proved]) -> ConversationSeen:
        """What a customer has seen of a conversation."""
        call = Call("GET", join_path(CONVERSATIONS, session_id, "history"))
        return self._send(call.add_proof(proved), ConversationSeen)

    def rate_message(
        self, session_id: str, message_id: str, rating: str, *, reason: str = "", **proved: Unpack[Proved]
    ) -> None:
        """rating: `up` or `down`."""
        path = join_path(CONVERSATIONS, session_id, "messages", message_id, "feedback")
        self._answer(Call("PUT", path, body=add_given({"rating": rating}, reason=reason)).add_proof(proved))

    def request_handoff(
        self, session_id: str, *, skill: str = "", user_id: str = "", **proved: Unpack[Proved]
    ) -> HandoffStarted:
        """Calls a person for a conversation, which may begin with it."""
        body = add_given({}, skill=skill, user_id=user_id)
        call = Call("POST", join_path(CONVERSATIONS, session_id, "handoff"), body)
        return self._send(call.add_proof(proved), HandoffStarted)

    def read_handoff(self, session_id: str, **proved: Unpack[Proved]) -> HandoffOut:
        """Where the conversation stands with people."""
        call = Call("GET", join_path(CONVERSATIONS, session_id, "handoff"))
        return self._send(call.add_proof(proved), HandoffOut)

    def leave_handoff(self, session_id: str, **proved: Unpack[Proved]) -> HandoffOut:
        """Gives up the place in the queue."""
        call = Call("DELETE", join_path(CONVERSATIONS, session_id, "handoff"))
        return self._send(call.add_proof(proved), HandoffOut)

    def read_messages(self, session_id: str, *, after: int = 0, **proved: Unpack[Proved]) -> MessageList:
        """What was said with staff, beyond the number of the last message that is known."""
        call = Call("GET", join_path(CONVERSATIONS, session_id, "messages"), query={"after": after})
        return self._send(call.add_proof(proved), MessageList)

    # Knowledge

    def search(self, query: str, **options: Unpack[SearchOptions]) -> SearchResponse:
        """The hit test: what a question finds, as the chat would find it."""
        body = {"query": query, **options}
        return self._send(Call("POST", "/api/v1/knowledge/search", body=body), SearchResponse)

    def upload_documents(
        self,
        files: Sequence[Upload],
        *,
        wait: float | None = None,
        idempotency_key: str = "",
        **options: Unpack[UploadOptions],
    ) -> JobDetail:
        """wait: seconds until they answer, at most; a file that is not done by then is read by `read_upload`."""
        return self._send(build_upload(files, wait, idempotency_key, options), JobDetail)

    def read_upload(self, job_id: str) -> JobDetail:
        """How far an upload is."""
        return self._send(Call("GET", join_path("/api/v1/knowledge/jobs", job_id)), JobDetail)

    def list_documents(self, **query: Unpack[DocumentQuery]) -> DocumentPage:
        """One page of them."""
        return self._send(Call("GET", DOCUMENTS, query=query), DocumentPage)

    def get_document(self, document_id: str) -> DocumentDetail:
        """A document with its versions."""
        return self._send(Call("GET", join_path(DOCUMENTS, document_id)), DocumentDetail)

    def list_chunks(self, document_id: str, *, q: str = "", **page: Unpack[Page]) -> ChunkPage:
        """The text of a document, in pieces."""
        call = Call("GET", join_path(DOCUMENTS, document_id, "chunks"), query={"q": q or None, **page})
        return self._send(call, ChunkPage)

    def get_original(self, document_id: str) -> bytes:
        """The file as it was uploaded."""
        return (self._answer(Call("GET", join_path(DOCUMENTS, document_id, "original")))).content

    def delete_document(self, document_id: str) -> None:
        """Puts it into the bin."""
        self._answer(Call("DELETE", join_path(DOCUMENTS, document_id)))

    def list_faqs(self, **query: Unpack[FaqQuery]) -> FaqPage:
        """Curated answers."""
        return self._send(Call("GET", FAQS, query=query), FaqPage)

    def add_faq(self, faq: FaqIn) -> FaqOut:
        """Published at once unless it is a draft."""
        return self._send(Call("POST", FAQS, body=faq), FaqOut)

    def change_faq(self, faq_id: str, faq: FaqIn) -> FaqOut:
        """Writes it anew."""
        return self._send(Call("PUT", join_path(FAQS, faq_id), body=faq), FaqOut)

    def delete_faq(self, faq_id: str) -> None:
        """It answers nobody any more."""
        self._answer(Call("DELETE", join_path(FAQS, faq_id)))

    def list_gaps(self, **query: Unpack[GapQuery]) -> GapPage:
        """Questions that customers were not helped with."""
        return self._send(Call("GET", GAPS, query=query), GapPage)

    def get_gap(self, gap_id: str) -> GapDetailOut:
        """A gap with its questions and its draft."""
        return self._send(Call("GET", join_path(GAPS, gap_id)), GapDetailOut)

    def draft_gap(self, gap_id: str) -> GapDetailOut:
        """Has a draft of an answer written from what there is."""
        return self._send(Call("POST", join_path(GAPS, gap_id, "draft")), GapDetailOut)

    def edit_gap(self, gap_id: str, draft: GapDraftIn) -> GapDetailOut:
        """Writes the draft."""
        return self._send(Call("PUT", join_path(GAPS, gap_id, "draft"), body=draft), GapDetailOut)

    def submit_gap(self, gap_id: str, *, note: str = "") -> GapDetailOut:
        """Hands the draft in for review."""
        return self._move_gap(gap_id, "submit", note)

    def approve_gap(self, gap_id: str, *, note: str = "") -> GapDetailOut:
        """Publishes the draft as a curated answer."""
        return self._move_gap(gap_id, "approve", note)

    def reject_gap(self, gap_id: str, *, note: str = "") -> GapDetailOut:
        """Sends the draft back."""
        return self._move_gap(gap_id, "reject", note)

    def dismiss_gap(self, gap_id: str, *, note: str = "") -> GapDetailOut:
        """Nothing will be written for it."""
        return self._move_gap(gap_id, "dismiss", note)

    def _move_gap(self, gap_id: str, step: str, note: str) -> GapDetailOut:
        call = Call("POST", join_path(GAPS, gap_id, step), body=add_given({}, note=note))
        return self._send(call, GapDetailOut)

    # Tickets

    def open_ticket(self, subject: str, **options: Unpack[TicketOptions]) -> TicketOut:
        """subject: what it is about, in a sentence."""
        return self._send(build_ticket(subject, options), TicketOut)

    def list_tickets(self, **query: Unpack[TicketQuery]) -> TicketPage:
        """One page of them."""
        return self._send(Call("GET", TICKETS, query=query), TicketPage)

    def get_ticket(self, number: str) -> TicketDetail:
        """A ticket with all that happened to it."""
        return self._send(Call("GET", join_path(TICKETS, number)), TicketDetail)

    def comment_on_ticket(self, number: str, text: str, *, public: bool = False, author: str = "staff") -> TicketOut:
        """public: the customer reads it, too."""
        body = {"text": text, "public": public, "author": author}
        return self._send(Call("POST", join_path(TICKETS, number, "comments"), body=body), TicketOut)

    def move_ticket(self, number: str, to: TicketState, *, note: str = "", author: str = "staff") -> TicketOut:
        """To another state."""
        body = add_given({"to": to, "author": author}, note=note)
        return self._send(Call("POST", join_path(TICKETS, number, "transitions"), body=body), TicketOut)

    # Any

    def read_sign_in(self) -> SignedIn:
        """Whose the key is: tenant and roles; a wrong key is no error here."""
        return self._send(Call("GET", "/api/v1/signin"), SignedIn)

    def request(self, call: Call) -> Any:
        """Anything else of the interface: the JSON of the response, None where it has no body."""
        response = self._answer(call)
        return response.json() if response.content else None

    def _send(self, call: Call, response_type: type[T]) -> T:
        return cast(T, (self._answer(call)).json())

    def _answer(self, call: Call) -> httpx.Response:
        for attempt in range(self._retries + 1):
            try:
                response = self._http.request(call.method, call.path, **call.options())
                if response.is_error:
                    raise read_error(response)
                return response
            except (ApiError, httpx.TransportError) as error:
                self._wait_or_raise(call, attempt, error)
        raise AssertionError("the last attempt returns or raises")

    def _wait_or_raise(self, call: Call, attempt: int, error: ApiError | httpx.TransportError) -> None:
        """Waits until the call may be sent again. attempt: from 0; the last one raises the error."""
        seconds = compute_delay(call, attempt, error) if attempt < self._retries else None
        if seconds is not None:
            time.sleep(seconds)
        elif isinstance(error, ApiError):
            raise error
        else:
            raise ConnectionFailed(f"{type(error).__name__}: {error}") from error


class Conversation:
    """One customer's conversation: keeps the id and the token that the first response brings."""

    def __init__(self, client: Client, options: ChatOptions) -> None:
        self._client = client
        self._options = options

    @property
    def session_id(self) -> str:
        """Empty before the first answer."""
        return self._options.get("session_id", "")

    def ask(self, message: str) -> ChatResponse:
        """The next message."""
        answer = self._client.chat(message, **self._options)
        self._keep(answer["session_id"], answer.get("session_token"))
        return answer

    def stream(self, message: str) -> Iterator[ChatEvent]:
        """The next message; see `stream_chat`."""
        for event in self._client.stream_chat(message, **self._options):
            if event["type"] == "meta":
                self._keep(event["session_id"], event.get("session_token"))
            yield event

    def request_handoff(self, *, skill: str = "") -> HandoffStarted:
        """Calls a person. Raises ValueError before the first answer."""
        if not self.session_id:
            raise ValueError("a conversation begins with a message")
        return self._client.request_handoff(self.session_id, skill=skill, **self._get_proof())

    def read_messages(self, *, after: int = 0) -> MessageList:
        """What was said with staff."""
        return self._client.read_messages(self.session_id, after=after, **self._get_proof())

    def _keep(self, session_id: str, session_token: str | None) -> None:
        self._options = {**self._options, "session_id": session_id}
        if session_token:
            self._options["session_token"] = session_token

    def _get_proof(self) -> Proved:
        known = self._options
        return {"session_token": known.get("session_token", ""), "user_token": known.get("user_token", "")}
