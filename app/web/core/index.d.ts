import type { components } from "./schemas.js";

export type { components };
type Schemas = components["schemas"];
export type Attachment = Schemas["AttachmentOut"];
export type Greeting = Schemas["Greeting"];
export type Handoff = Partial<Schemas["HandoffOut"]> & { state: Schemas["State"] };
export type Source = Schemas["SourceOut"] | Schemas["RowSourceOut"];

/** Something that was said, or with `event` something that happened at the human desk. Replaced when it changes, never changed in place. */
export interface Entry {
  /** Within this object. */
  key: string;
  who: Schemas["Who"];
  text: string;
  /** ISO time. */
  at: string;
  /** The message id of its turn; empty for what was said with staff. */
  id?: string;
  /** More of a reply is to come. */
  streaming?: boolean;
  outcome?: Schemas["Outcome"] | null;
  sources?: Source[];
  suggestions?: string[];
  related?: Schemas["RelatedOut"][];
  buttons?: Schemas["ButtonOut"][];
  proposal?: Schemas["ProposalOut"] | null;
  /** A person should be offered. */
  escalate?: boolean;
  degraded?: string[];
  /** The customer stopped it. */
  stopped?: boolean;
  /** It holds a member's own data, shown with that member's `userToken` alone. */
  withheld?: boolean;
  rating?: "up" | "down" | null;
  reason?: string;
  /** Of a member of staff. */
  name?: string;
  /** `expired`: the session ran out and another one began. */
  event?: Schemas["Event"] | "expired" | null;
  attachments?: Attachment[];
  /** Where a message of the customer stands; "" once it is answered. */
  delivery?: "" | "sending" | "reconnecting" | "delivered" | "seen" | "limited" | "failed";
  /** Why it failed. */
  error?: ApiError | null;
  /** Of a limited one: when it may be sent again, in milliseconds since 1970. */
  until?: number;
}

/** All that is to be drawn. A new object with each change. */
export interface State {
  phase: "idle" | "loading" | "ready";
  entries: Entry[];
  handoff: Handoff;
  /** A message is on its way. */
  busy: boolean;
  /** The line to a person stands. */
  connected: boolean;
  /** The browser has no network. */
  offline?: boolean;
  greeting: Greeting | null;
  /** Why `start` failed. */
  problem?: ApiError | null;
  /** Messages of staff since `set({ unread: 0 })`. */
  unread: number;
  /** There is more before the first entry: see `loadEarlier`. */
  previous: string | null;
  /** Staff is writing. */
  typing?: boolean;
  /** A person's part has ended and is not rated yet: see `rateService`. */
  asked?: boolean | null;
  thanked?: boolean;
}

export interface ConversationOptions {
  /** Origin (and path) of the server. */
  base: string;
  /** Of the role `client`. */
  key?: string;
  /** Where it takes place, for the desk and reports; `web` unless given. */
  channel?: string;
  /** The JWT of a customer who is signed in, asked for with each request. */
  userToken?: () => string;
  /** What is sent of the page that the customer looks at. */
  page?: () => Schemas["PageIn"] | null;
  /** The documents that answers may rest on; undefined for all. */
  filter?: () => Schemas["FilterIn"] | undefined;
}

/** A customer's conversation. In a browser it goes on after a reload; elsewhere it lasts as long as the object. */
export class Conversation {
  constructor(options: ConversationOptions);
  readonly state: State;
  /** Calls the listener after each change; the result ends that. */
  subscribe(listener: () => void): () => void;
  set(change: Partial<State>): void;
  /** Fetches greeting and what was said before. A failure is `state.problem`. */
  start(language: "zh" | "en"): Promise<void>;
  /** The greeting in another language. */
  greet(language: "zh" | "en"): Promise<void>;
  loadEarlier(): Promise<void>;
  /** Sends a message; the answer grows in `state.entries`. A failure is `error` of the message's entry. */
  send(text: string, attachments?: Attachment[]): Promise<void>;
  /** Sends an entry that failed again, under the same id: nothing is answered or done twice. */
  deliver(key: string): Promise<void>;
  /** Stops the answer that is being written. */
  stop(): Promise<void>;
  /** Uploads a file, which goes out with the next message. */
  uploadFile(file: File): Promise<Attachment>;
  readFile(attachment: Attachment): Promise<Blob>;
  /** The whole passage that a source of an entry quotes. */
  readPassage(entry: Entry, source: Source): Promise<Schemas["PassageOut"]>;
  rateAnswer(key: string, rating: "up" | "down", reason?: string): Promise<void>;
  requestPerson(): Promise<void>;
  leaveQueue(): Promise<void>;
  endService(): Promise<void>;
  /** score: 1 to 5. */
  rateService(score: number, comment: string): Promise<void>;
  /** Tells staff that the customer writes, or has read everything. */
  tell(what: "typing" | "seen"): void;
  /** Leaves the conversation for a new one. */
  startOver(): Promise<string> | null;
  /** Ends requests and the line, as when a component goes away. */
  close(): void;
}

export class ApiError extends Error {
  /** 0: no response. */
  status: number;
  code: string;
  details: Record<string, unknown>;
  requestId: string;
  /** Seconds. */
  retryAfter?: number;
}

export interface ClientOptions {
  base?: string;
  headers?: () => Record<string, string>;
  credentials?: RequestCredentials;
  failed?: (error: ApiError) => void;
}
export interface RequestOptions {
  signal?: AbortSignal;
  /** More headers. */
  extra?: Record<string, string>;
}
type Query = Record<string, string | number | boolean | null | undefined>;

/** Any other call of the interface. Rejects with ApiError. */
export interface Client {
  raw(method: string, path: string, options?: RequestOptions & { body?: unknown; query?: Query; form?: FormData }): Promise<Response>;
  get<T = unknown>(path: string, query?: Query, options?: RequestOptions): Promise<T>;
  post<T = unknown>(path: string, body?: unknown, options?: RequestOptions): Promise<T>;
  put<T = unknown>(path: string, body?: unknown, options?: RequestOptions): Promise<T>;
  patch<T = unknown>(path: string, body?: unknown, options?: RequestOptions): Promise<T>;
  delete<T = unknown>(path: string, query?: Query, options?: RequestOptions): Promise<T>;
  upload<T = unknown>(path: string, form: FormData, options?: RequestOptions): Promise<T>;
}
export function client(options?: ClientOptions): Client;

/** The events of a `text/event-stream` response, one after another. */
export function events(response: Response): AsyncGenerator<{ event: string; data: Schemas["ChatEvent"] }>;
