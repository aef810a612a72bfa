// All that the desk knows, and what people do with it; components look at it and are drawn again when it changes.
import { client } from "../core/api.js";
import { toast } from "../shared/ui.js";
import { alerted } from "./alerts.js";
import { NOTHING } from "./filter.js";
import { line } from "./line.js";
import { snoozed } from "./parts.js";
import { t } from "./words.js";

export const api = client();
export const base = (session) => `/api/v1/agent/sessions/${encodeURIComponent(session)}`;
const LIVE_MS = 250; // messages that come together are read together
const STAFF_MS = 30_000;
const TYPING_MS = 6000, TELL_MS = 2500;
const VIEW_MS = 20_000; // how often is said what is looked at; the server believes it for 45 s
const unreached = (error) => error.status === 0 || error.status >= 500;

export class Desk {
  // on: {signedOut, renamed}
  constructor(me, signedIn, on) {
    this.me = me;
    this.admin = signedIn.roles.includes("admin");
    this.console = signedIn.roles.some((role) => ["admin", "lead", "agent"].includes(role));
    this.onSignedOut = on.signedOut;
    this.onRenamed = on.renamed;
    this.state = { name: "connecting" };
    this.online = true;
    this.queue = null;           // null: not known yet
    this.mine = new Map();       // session id -> session, in the order in which they came
    this.recent = [];            // ended or handed on from here, the latest first
    this.staff = [];
    this.teams = [];
    this.canned = [];
    this.open = null;            // id of the session that is shown
    this.shownContact = null;    // id of a session of the customer whose page is shown instead
    this.past = false;           // whether the list is that of conversations of before
    this.history = { filter: NOTHING };
    this.labels = [];            // all that are in use
    this.contacts = new Map();   // session id -> {data, error}
    this.viewers = [];           // who else has the open session open
    this.details = new Map();    // session id -> {session, notes, entries, turns, live, error, botOnly}
    this.pending = new Map();    // session id -> [{id, content, created_at, error}]
    this.flushing = new Set();
    this.advice = new Map();     // session id -> {data, error, loading}
    this.seen = new Map();       // session id -> number of the last message that came over the line
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
    this.readRecent();
    this.repeating = setInterval(() => this.readStaff(), STAFF_MS);
    this.viewing = setInterval(() => this.view(), VIEW_MS);
    this.changed();
  }

  end() {
    this.line?.end();
    clearInterval(this.repeating);
    clearInterval(this.viewing);
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
      this.readRecent();
      for (const session of this.pending.keys()) this.#flush(session);
    }
    if (state.name === "online" && before !== "online") this.view();
    this.changed();
  }

  #frame(frame) {
    switch (frame.type) {
      case "queue": this.#queued(frame.sessions); break;
      case "session": this.#moved(frame); break;
      case "message": this.#said(frame); break;
      case "typing": this.#typed(frame.session_id); break;
      case "seen": this.customerSeen.set(frame.session_id, frame.seq); break;
      case "unread": this.#counted(frame); break;
      case "viewers": if (frame.session_id === this.open) this.viewers = frame.viewers; break;
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
      if (this.mine.delete(session.session_id)) this.readRecent();
    }
    if (this.recent.some((session) => sessions.some((one) => one.session_id === session.session_id))) this.readRecent();
    const shown = this.details.get(this.open)?.session;
    const now = sessions.find((session) => session.session_id === this.open);
    if (now ? now.version !== shown?.version : known.has(this.open)) this.#soon(this.open);
  }

  #moved(session) {
    const id = session.session_id;
    const mine = session.state === "assigned" && session.agent_id === this.me.agent_id;
    if (mine && !this.mine.has(id)) {
      this.#take(session);
      const from = this.staff.find((member) => member.agent_id !== this.me.agent_id && member.agent_id === this.details.get(id)?.session?.agent_id);
      toast(t("transferred", { name: from?.name || "" }).trim());
      alerted("transfer", id, () => this.show(id));
    } else if (mine) {
      this.mine.set(id, session);
    } else if (this.mine.has(id)) {
      this.#left(session);
    } else if (this.recent.some((one) => one.session_id === id)) this.readRecent();
    const detail = this.details.get(id);
    if (detail?.session && detail.session.version !== session.version) id === this.open ? this.#soon(id) : this.details.delete(id);
  }

  #said(frame) {
    const id = frame.session_id;
    if (frame.seq <= (this.seen.get(id) || 0)) return;
    this.seen.set(id, frame.seq);
    const mine = this.mine.get(id);
    if (mine) {
      mine.messages = frame.seq;
      if (frame.sender !== "system") mine.last_message = frame;
      if (frame.sender === "customer") mine.snoozed_until = null;
    }
    const detail = this.details.get(id);
    if (detail) detail.live.push(frame);
    if (frame.sender === "customer") {
      if (this.open !== id || document.hidden) alerted("message", id, () => this.show(id));
      if (this.open === id) this.#later(`advice ${id}`, 900, () => this.advise(id));
    }
    if (frame.sender === "customer") this.typers.delete(id);
    if (this.open === id) { this.#soon(id); this.view(); this.#read(id); }
    else this.details.delete(id);
  }

  #counted({ session_id: id, unread }) {
    const mine = this.mine.get(id);
    if (mine) mine.unread = unread;
  }

  #take(session) {
    this.mine.set(session.session_id, session);
    this.seen.set(session.session_id, Math.max(session.messages, this.seen.get(session.session_id) || 0));
    this.recent = this.recent.filter((one) => one.session_id !== session.session_id);
  }

  #left(session) {
    this.mine.delete(session.session_id);
    this.recent = [session, ...this.recent.filter((one) => one.session_id !== session.session_id)];
    this.readRecent();
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
      const [session, whole] = await Promise.all([this.#session(id), api.get(`/api/v1/conversations/${encodeURIComponent(id)}`)]);
      const live = (this.details.get(id)?.live || []).slice(known);
      if (!session.at_desk) Object.assign(session, { state: whole.state, user_id: whole.user_id, verified: whole.verified, channel: whole.channel });
      else if (this.open === id) this.viewers = session.viewers;
      this.details.set(id, { session, botOnly: !session.at_desk, notes: session.notes, entries: whole.entries, turns: new Map(whole.turns.map((turn) => [turn.message_id, turn])), live });
    } catch (error) {
      if (error.status === 401) return this.onSignedOut();
      if (before?.session) toast(error);
      else this.details.set(id, { error, live: [] });
    }
    this.changed();
    if (this.open === id) this.view();
  }

  // One that never was at the desk has no session there; what is known of its customer is known all the same.
  async #session(id) {
    try {
      return { ...(await api.get(base(id), { agent_id: this.me.agent_id })), at_desk: true };
    } catch (error) {
      if (error.code !== "desk_session_not_found") throw error;
      return { session_id: id, at_desk: false, card: {}, notes: [], labels: [], priority: 0, customer: (await api.get(`${base(id)}/contact`)).customer };
    }
  }

  async readRecent() {
    const asked = (this.recentAsked = Symbol());
    try {
      const { sessions } = await api.get("/api/v1/agent/sessions/recent", { agent_id: this.me.agent_id });
      if (asked === this.recentAsked) this.recent = sessions; // else a later question is under way
    } catch (error) {
      if (error.status === 401) this.onSignedOut(); // otherwise the line tells that the server is away
    }
    this.changed();
  }

  async readLabels() {
    try { this.labels = (await api.get("/api/v1/agent/labels")).labels; } catch (error) { this.failed(error); }
    this.changed();
  }

  async readContact(id) {
    try { this.contacts.set(id, { data: await api.get(`${base(id)}/contact`) }); } catch (error) {
      if (error.status === 401) return this.onSignedOut();
      this.contacts.set(id, { error });
    }
    this.changed();
  }

  async readStaff() {
    try {
      const [known, teams] = await Promise.all([api.get("/api/v1/agent/staff"), api.get("/api/v1/agent/teams")]);
      this.staff = known.staff;
      this.teams = teams.teams;
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
  teamName(id) { return this.teams.find((team) => team.id === id)?.name || id; }
  holds(id) { return this.mine.has(id); }
  get session() { return this.mine.get(this.open) || this.queue?.find((one) => one.session_id === this.open) || this.recent.find((one) => one.session_id === this.open) || this.details.get(this.open)?.session; }
  contact(id) { return this.contacts.get(id)?.data || null; }
  // What is on the screen is being read: the server learns of it at once.
  unreadOf(session) { return !this.holds(session.session_id) || (this.open === session.session_id && !this.shownContact && !document.hidden) ? 0 : session.unread; }
  get calling() { return (this.queue?.length || 0) + [...this.mine.values()].reduce((sum, session) => sum + (snoozed(session) ? 0 : this.unreadOf(session)), 0); }
  // A session that waits again, or came back, is in its own list at once, the other list as soon as it was read anew.
  get ended() { return this.recent.filter((one) => !this.mine.has(one.session_id) && !this.queue?.some((waits) => waits.session_id === one.session_id)); }
  // In the order of the list on the page.
  get listed() { return [...this.mine.keys(), ...(this.queue || []).map((one) => one.session_id), ...this.ended.map((one) => one.session_id)]; }

  // ---- what people do

  show(id) {
    if (this.open !== id) this.viewers = [];
    this.open = id;
    this.shownContact = null;
    if (id) {
      this.#read(id);
      this.load(id).then(() => this.#first(id));
      this.readContact(id);
    }
    this.changed();
  }

  showContact(id) { this.shownContact = id; this.changed(); }

  // Tells how far I have read and what I look at; nothing while nobody looks at the page.
  view() {
    const session = this.mine.get(this.open) || this.details.get(this.open)?.session;
    const id = !document.hidden && !this.shownContact && session?.at_desk !== false && session ? this.open : "";
    if (!id && !this.viewed) return;
    const seq = Math.max(session?.messages || 0, this.seen.get(id) || 0);
    if (this.line?.send({ type: "view", session_id: id, seq })) this.viewed = id;
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

  read() { if (this.open) this.#read(this.open); this.view(); this.changed(); }

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

  async transfer(id, { to = "", team = "", skill = "", note = "" }) {
    const session = await api.post(`${base(id)}/transfer`, { agent_id: to, team, skill, note, by: this.me.agent_id });
    this.#over(session);
  }

  async resolve(id, note) { this.#over(await api.post(`${base(id)}/resolve`, { note, agent_id: this.me.agent_id })); }

  // One that nobody accepted may be closed as well.
  async close(id, note) {
    this.#over(await api.post(`${base(id)}/close`, { note, agent_id: this.me.agent_id }));
    this.queue = (this.queue || []).filter((one) => one.session_id !== id);
  }

  // values: {priority} or {snoozed_until}.
  async change(id, values) {
    const session = await api.patch(base(id), { ...values, agent_id: this.me.agent_id });
    if (this.mine.has(id)) this.mine.set(id, session);
    await this.load(id);
  }

  async label(id, labels) {
    await api.put(`${base(id)}/labels`, { labels });
    const mine = this.mine.get(id);
    if (mine) mine.labels = labels;
    await Promise.all([this.load(id), this.readLabels(), this.readRecent()]);
  }

  async nameContact(id, values) {
    const customer = await api.put(`${base(id)}/contact`, values);
    for (const session of [...this.mine.values(), ...(this.queue || [])]) if (session.session_id === id) session.customer = customer;
    await Promise.all([this.load(this.open || id), this.readContact(id), this.readLabels(), this.readRecent()]);
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
