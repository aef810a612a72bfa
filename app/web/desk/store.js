// All that the desk knows, and what people do with it; components look at it and are drawn again when it changes.
import { client } from "../shared/api.js";
import { toast } from "../shared/ui.js";
import { alerted } from "./alerts.js";
import { line } from "./line.js";
import { t } from "./words.js";

export const api = client();
export const base = (session) => `/api/v1/agent/sessions/${encodeURIComponent(session)}`;
const LIVE_MS = 250; // messages that come together are read together
const STAFF_MS = 30_000;
const RECENT = 10;
const TYPING_MS = 6000, TELL_MS = 2500;
const unreached = (error) => error.status === 0 || error.status >= 500;

export class Desk {
  // on: {signedOut, renamed}
  constructor(me, signedIn, on) {
    this.me = me;
    this.admin = signedIn.roles.includes("admin");
    this.onSignedOut = on.signedOut;
    this.onRenamed = on.renamed;
    this.state = { name: "connecting" };
    this.online = true;
    this.queue = null;           // null: not known yet
    this.mine = new Map();       // session id -> session, in the order in which they came
    this.recent = [];            // ended or handed on from here, the latest first
    this.staff = [];
    this.canned = [];
    this.open = null;            // id of the session that is shown
    this.details = new Map();    // session id -> {session, notes, entries, turns, live, error}
    this.unread = new Map();
    this.pending = new Map();    // session id -> [{id, content, created_at, error}]
    this.flushing = new Set();
    this.advice = new Map();     // session id -> {data, error, loading}
    this.last = new Map();       // session id -> what was said last
    this.seen = new Map();       // session id -> number of the last message
    this.timers = new Map();
    this.focus = null;           // id of the session whose composer should have the focus as soon as it is there
    this.watchers = new Set();
    this.typers = new Set();     // ids of sessions whose customers are typing
    this.customerSeen = new Map(); // session id -> number of the last message that the customer has read
  }

  async start() {
    try {
      const { sessions } = await api.get("/api/v1/agent/sessions", { agent_id: this.me.agent_id });
      for (const session of sessions) this.#take(session);
    } catch (error) { this.failed(error); } // the socket brings them as well
    this.line = line({
      agent: this.me.agent_id, online: () => this.online, after: () => Object.fromEntries([...this.mine.keys()].map((id) => [id, this.seen.get(id) || 0])),
      on: { frame: (frame) => this.#frame(frame), state: (state) => this.#standing(state), signedOut: () => this.onSignedOut() },
    });
    this.readStaff();
    this.readCanned();
    this.repeating = setInterval(() => this.readStaff(), STAFF_MS);
    this.changed();
  }

  end() {
    this.line?.end();
    clearInterval(this.repeating);
    for (const timer of this.timers.values()) clearTimeout(timer);
    this.watchers.clear();
  }

  watch(look) { this.watchers.add(look); return () => this.watchers.delete(look); }
  changed() { for (const look of [...this.watchers]) look(); }

  // What the page shows of a failure; a key that counts no more leads back to the sign-in.
  failed(error) { error.status === 401 ? this.onSignedOut() : toast(error); }

  // ---- what the server says

  #standing(state) {
    const before = this.state.name;
    this.state = state;
    if (state.name === "online" && before === "reconnecting") {
      toast(t("again"), "good");
      if (this.open) this.load(this.open);
      for (const session of this.pending.keys()) this.#flush(session);
    }
    this.changed();
  }

  #frame(frame) {
    switch (frame.type) {
      case "queue": this.#queued(frame.sessions); break;
      case "session": this.#moved(frame); break;
      case "message": this.#said(frame); break;
      case "typing": this.#typed(frame.session_id); break;
      case "seen": this.customerSeen.set(frame.session_id, frame.seq); break;
      case "error": if (frame.error.code !== "unauthorized") toast(`${frame.error.message}（${frame.error.request_id}）`, "bad"); break;
      default: return;
    }
    this.changed();
  }

  #typed(id) {
    this.typers.add(id);
    this.#later(`typing ${id}`, TYPING_MS, () => { this.typers.delete(id); this.changed(); });
  }

  isTyping(id) { return this.typers.has(id); }

  // Number of the last message of staff that the customer has read.
  seenUpTo(id) {
    const { entries = [], live = [], session } = this.details.get(id) || {};
    const upTo = Math.max(this.customerSeen.get(id) || 0, session?.customer_seen || 0);
    const staff = [...entries.filter((entry) => entry.who === "staff"), ...live.filter((frame) => frame.sender === "agent")];
    return Math.max(0, ...staff.map(({ seq }) => seq).filter((seq) => seq && seq <= upTo));
  }

  // Tells the customer that somebody types, now and then.
  typing(id) {
    if (Date.now() - (this.told || 0) < TELL_MS) return;
    this.told = Date.now();
    this.line?.send({ type: "typing", session_id: id });
  }

  async upload(id, file) {
    const form = new FormData();
    form.append("file", file, file.name || "picture.png");
    return api.upload(`${base(id)}/attachments`, form);
  }

  #read(id) {
    if (this.holds(id) && !document.hidden) this.line?.send({ type: "seen", session_id: id, seq: this.seen.get(id) || 0 });
  }

  #queued(sessions) {
    const known = new Set((this.queue || []).map((session) => session.session_id));
    const before = this.queue;
    this.queue = sessions;
    for (const session of sessions) {
      if (before && !known.has(session.session_id) && !this.mine.has(session.session_id)) alerted("queue", session.session_id, () => this.show(session.session_id));
      if (this.mine.delete(session.session_id)) this.unread.delete(session.session_id);
    }
    const waits = new Set(sessions.map((session) => session.session_id));
    this.recent = this.recent.filter((session) => !waits.has(session.session_id));
    const shown = this.details.get(this.open)?.session;
    const now = sessions.find((session) => session.session_id === this.open);
    if (now ? now.version !== shown?.version : known.has(this.open)) this.#soon(this.open);
  }

  #moved(session) {
    const id = session.session_id;
    const mine = session.state === "assigned" && session.agent_id === this.me.agent_id;
    if (mine && !this.mine.has(id)) {
      this.#take(session);
      if (this.open !== id) this.unread.set(id, 1);
      const from = this.staff.find((member) => member.agent_id !== this.me.agent_id && member.agent_id === this.details.get(id)?.session?.agent_id);
      toast(t("transferred", { name: from?.name || "" }).trim());
      alerted("transfer", id, () => this.show(id));
    } else if (mine) {
      this.mine.set(id, session);
    } else if (this.mine.has(id)) {
      this.#left(session);
    }
    this.recent = this.recent.map((one) => (one.session_id === id ? session : one));
    const detail = this.details.get(id);
    if (detail?.session && detail.session.version !== session.version) id === this.open ? this.#soon(id) : this.details.delete(id);
  }

  #said(frame) {
    const id = frame.session_id;
    if (frame.seq <= (this.seen.get(id) || 0)) return;
    this.seen.set(id, frame.seq);
    const mine = this.mine.get(id);
    if (mine) mine.messages = frame.seq;
    if (frame.sender !== "system") this.last.set(id, frame.content);
    const detail = this.details.get(id);
    if (detail) detail.live.push(frame);
    if (frame.sender === "customer") {
      if (this.open !== id || document.hidden) this.unread.set(id, (this.unread.get(id) || 0) + 1);
      if (this.open !== id || document.hidden) alerted("message", id, () => this.show(id));
      if (this.open === id) this.#later(`advice ${id}`, 900, () => this.advise(id));
    }
    this.typers.delete(frame.sender === "customer" && id);
    if (this.open === id) { this.#soon(id); this.#read(id); } else this.details.delete(id);
  }

  #take(session) {
    this.mine.set(session.session_id, session);
    this.seen.set(session.session_id, Math.max(session.messages, this.seen.get(session.session_id) || 0));
    this.recent = this.recent.filter((one) => one.session_id !== session.session_id);
  }

  #left(session) {
    this.mine.delete(session.session_id);
    this.unread.delete(session.session_id);
    this.recent = [session, ...this.recent.filter((one) => one.session_id !== session.session_id)].slice(0, RECENT);
  }

  #later(name, after, work) {
    clearTimeout(this.timers.get(name));
    this.timers.set(name, setTimeout(work, after));
  }
  #soon(id) { this.#later(`load ${id}`, LIVE_MS, () => this.load(id)); }

  // ---- what is read

  // The whole conversation with its card and notes.
  async load(id) {
    const before = this.details.get(id);
    const known = before?.live.length || 0;
    try {
      const [session, whole] = await Promise.all([api.get(base(id)), api.get(`/api/v1/conversations/${encodeURIComponent(id)}`)]);
      const live = (this.details.get(id)?.live || []).slice(known);
      this.details.set(id, { session, notes: session.notes, entries: whole.entries, turns: new Map(whole.turns.map((turn) => [turn.message_id, turn])), live });
    } catch (error) {
      if (error.status === 401) return this.onSignedOut();
      if (before?.session) toast(error);
      else this.details.set(id, { error, live: [] });
    }
    this.changed();
  }

  async readStaff() {
    try {
      this.staff = (await api.get("/api/v1/agent/staff")).staff;
      if (this.self && this.self.name !== this.me.name) this.onRenamed(this.self.name);
    } catch (error) {
      if (error.status === 401) this.onSignedOut(); // otherwise the line tells that the server is away
    }
    this.changed();
  }

  async readCanned() {
    try { this.canned = (await api.get("/api/v1/agent/canned")).replies; } catch (error) { this.failed(error); }
    this.changed();
  }

  async readQueue() {
    try { this.queue = (await api.get("/api/v1/agent/sessions/pending")).sessions; } catch (error) { this.failed(error); }
    this.changed();
  }

  // What the bot would say; question: another one than the customer's last.
  async advise(id, question = "") {
    this.advice.set(id, { ...this.advice.get(id), loading: true });
    this.changed();
    try {
      const data = await api.get(`${base(id)}/knowledge-recommend`, { question });
      this.advice.set(id, { data });
    } catch (error) { this.advice.set(id, { error }); }
    this.changed();
  }

  // ---- who is who

  name(agent) { return agent === this.me.agent_id ? this.me.name : this.staff.find((member) => member.agent_id === agent)?.name || agent; }
  get self() { return this.staff.find((member) => member.agent_id === this.me.agent_id); }
  holds(id) { return this.mine.has(id); }
  get session() { return this.mine.get(this.open) || this.queue?.find((one) => one.session_id === this.open) || this.recent.find((one) => one.session_id === this.open) || this.details.get(this.open)?.session; }
  get calling() { return (this.queue?.length || 0) + [...this.unread.values()].reduce((sum, n) => sum + n, 0); }
  // In the order of the list on the page.
  get listed() { return [...this.mine.keys(), ...(this.queue || []).map((one) => one.session_id), ...this.recent.map((one) => one.session_id)]; }

  // ---- what people do

  show(id) {
    this.open = id;
    if (id) this.#read(id);
    this.unread.delete(id);
    if (id) this.load(id).then(() => this.#first(id));
    this.changed();
  }

  // 转人工 is no question: then it is the one of the card, if there is one.
  #first(id) {
    const { session, turns } = this.details.get(id) || {};
    if (!session || !this.holds(id) || this.advice.has(id)) return;
    const open = [...turns.values()].at(-1)?.data.agent === "escalation";
    if (open && !session.card.question) this.advice.set(id, { none: true });
    else this.advise(id, open ? session.card.question : "");
    this.changed();
  }

  wantFocus(id) { this.focus = id; this.changed(); }

  read() {
    if (!this.open) return;
    this.#read(this.open);
    if (this.unread.delete(this.open)) this.changed();
  }

  async accept(id) {
    const waiting = this.queue?.find((one) => one.session_id === id);
    if (waiting) this.seen.set(id, waiting.messages);
    try {
      const session = await api.post(`${base(id)}/accept`, { agent_id: this.me.agent_id });
      this.queue = (this.queue || []).filter((one) => one.session_id !== id);
      this.#take(session);
      this.show(id);
      this.readStaff();
      return true;
    } catch (error) {
      const other = error.code === "desk_state_conflict" && error.details.state === "assigned";
      if (other) error.message = t("taken", { name: this.name(error.details.agent_id) });
      this.failed(error);
      this.readQueue();
      if (this.open === id) this.load(id);
      return false;
    }
  }

  say(id, content, attachments = []) {
    const mark = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    this.pending.set(id, [...(this.pending.get(id) || []), { id: mark, content, attachments, created_at: new Date().toISOString() }]);
    this.changed();
    return this.#flush(id);
  }

  again(id, message) { message.error = undefined; this.changed(); return this.#flush(id); }
  drop(id, message) { this.pending.set(id, this.pending.get(id).filter((one) => one !== message)); this.changed(); }

  // One after the other, each under its own id: one that arrived although its answer was lost is kept once.
  async #flush(id) {
    if (this.flushing.has(id)) return;
    this.flushing.add(id);
    for (let message; (message = this.pending.get(id)?.find((one) => !one.error || unreached(one.error))); ) {
      message.error = undefined;
      try {
        const sent = await api.post(`${base(id)}/messages`, { content: message.content, attachments: message.attachments.map(({ id }) => id), agent_id: this.me.agent_id, id: message.id });
        this.drop(id, message);
        if (sent.seq > (this.seen.get(id) || 0)) this.#said({ ...sent, session_id: id });
      } catch (error) {
        message.error = error;
        if (error.status === 401) this.onSignedOut();
        if (error.status === 409) this.load(id);
        if (error.status === 0) this.line?.again();
        if (unreached(error)) break;
      }
      this.changed();
    }
    this.flushing.delete(id);
    this.changed();
  }

  async note(id, content) {
    await api.post(`${base(id)}/notes`, { content, agent_id: this.me.agent_id });
    await this.load(id);
  }

  async transfer(id, { to = "", skill = "", note = "" }) {
    const session = await api.post(`${base(id)}/transfer`, { agent_id: to, skill, note, by: this.me.agent_id });
    this.#over(session);
  }

  async resolve(id, note) { this.#over(await api.post(`${base(id)}/resolve`, { note, agent_id: this.me.agent_id })); }

  // One that nobody accepted may be closed as well.
  async close(id, note) {
    this.#over(await api.post(`${base(id)}/close`, { note, agent_id: this.me.agent_id }));
    this.queue = (this.queue || []).filter((one) => one.session_id !== id);
  }

  solution(id, question, answer) { return api.post(`${base(id)}/solution`, { question, answer, agent_id: this.me.agent_id }); }

  #over(session) {
    this.#left(session);
    this.load(session.session_id);
    this.readStaff();
    this.changed();
  }

  setOnline(online) {
    this.online = online;
    this.line.send({ type: "presence", online });
    this.changed();
    setTimeout(() => this.readStaff(), 300);
  }
}
