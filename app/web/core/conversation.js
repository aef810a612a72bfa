// A conversation, and all that can be done with it. Views subscribe; nothing here touches the page, nor needs one.
import { client } from "./api.js";
import { Line } from "./line.js";
import { Proof } from "./proof.js";
import { newId, turn } from "./turn.js";

const WITH_DESK = ["queued", "out_of_hours", "assigned"];
const LOST = ["session_token_required", "session_forbidden", "session_token_expired"];
const EVENTS = { "bot>queued": "request", "bot>out_of_hours": "request_after_hours", "out_of_hours>queued": "open", "assigned>queued": "requeue", "assigned>assigned": "transfer", "assigned>resolved": "resolve", "queued>bot": "leave", "out_of_hours>bot": "leave" };
const TYPING_MS = 6000;
const TELL_MS = 2500; // how often typing is told of

export class Conversation {
  // See index.d.ts.
  constructor({ base, key = "", channel = "web", userToken = () => "", page = () => null, filter = () => undefined }) {
    const own = new URL(base).origin === globalThis.location?.origin;
    this.channel = channel;
    this.page = page;
    this.filter = filter;
    this.key = key;
    this.api = client({ base, headers: () => ({ ...(key && { "X-API-Key": key }), ...this.proof.headers() }), credentials: own ? "same-origin" : "omit" });
    this.proof = new Proof({ api: this.api, own, channel, name: `yingda ${base} ${key.slice(0, 12)}`, userToken });
    this.line = new Line({ base, key, hello: () => this.hello(userToken()), onFrame: (frame) => this.onFrame(frame), onState: (connected) => this.set({ connected }) });
    this.last = this.own = this.told = 0;
    this.listeners = new Set();
    this.state = { phase: "idle", entries: [], handoff: { state: "bot" }, busy: false, connected: true, greeting: null, unread: 0, previous: null };
    globalThis.addEventListener?.("online", () => this.set({ offline: false }));
    globalThis.addEventListener?.("offline", () => this.set({ offline: true }));
  }

  subscribe(listener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  set(change) {
    this.state = { ...this.state, ...change };
    this.listeners.forEach((listener) => listener());
  }

  add(entry) {
    const made = { key: newId(), at: new Date().toISOString(), text: "", ...entry };
    this.set({ entries: [...this.state.entries, made] });
    return made;
  }

  // Entries are replaced, never changed, so that a view sees which did.
  update(key, change) {
    this.set({ entries: this.state.entries.map((entry) => (entry.key === key ? { ...entry, ...change } : entry)) });
  }

  entry(key) {
    return this.state.entries.find((entry) => entry.key === key);
  }

  hello(userToken) {
    return { after: this.last, ...(this.proof.token && { session_token: this.proof.token }), ...(userToken && { user_token: userToken }) };
  }

  // How the company wants the widget to look; as by default where nobody can say.
  look() {
    return this.api.get("/api/v1/widget").catch(() => ({}));
  }

  // Greeting and, after a reload, what was said before.
  async start(language) {
    if (this.state.phase !== "idle") return;
    this.set({ phase: "loading", problem: null });
    try {
      const [greeting] = await Promise.all([this.api.get("/api/v1/profile/greeting", { language }), this.restore()]);
      this.set({ greeting, phase: "ready" });
    } catch (error) {
      this.set({ phase: "idle", problem: error });
    }
  }

  // On a site where there was a conversation before: news of it are shown without being asked for.
  async revive(language) {
    if (this.proof.kept) await this.start(language);
  }

  async greet(language) {
    if (this.state.phase === "ready") this.set({ greeting: await this.api.get("/api/v1/profile/greeting", { language }) });
  }

  async restore() {
    const session = await this.proof.resume();
    if (!session) return;
    try {
      const history = await this.history();
      this.last = history.last_seq;
      this.set({ entries: history.entries.map(shown), previous: history.previous });
      this.stand(history.handoff);
      this.visit();
    } catch (error) {
      if (![403, 404].includes(error.status)) throw error;
      this.proof.forget(); // it ran out, or was deleted
    }
  }

  // Staff see on which page the customer is. That this cannot be told is nothing to the customer, who goes on.
  visit() {
    const { url, title } = this.page() || {};
    if (url) this.api.post(`/api/v1/conversations/${this.proof.id}/visits`, { url, title }).catch(() => {});
  }

  history(before) {
    return this.api.get(`/api/v1/conversations/${this.proof.id}/history`, { before, limit: 50 });
  }

  async loadEarlier() {
    const history = await this.history(this.state.previous);
    this.set({ entries: [...history.entries.map(shown), ...this.state.entries], previous: history.previous });
  }

  // Uploads a picture or file, which goes out with the next message.
  async uploadFile(file) {
    const form = new FormData();
    form.append("file", file, file.name || "picture.png");
    return this.api.upload(`/api/v1/conversations/${await this.proof.open()}/attachments`, form);
  }

  // The bytes of one, as a Blob: on other sites no address alone opens it.
  async readFile({ id }) {
    return (await this.api.raw("GET", `/api/v1/conversations/${this.proof.id}/attachments/${id}`)).blob();
  }

  async send(text, attachments = []) {
    const body = { message: text, ...(attachments.length && { attachments: attachments.map(({ id }) => id) }), client_id: newId(), channel: this.channel, page: this.page() || undefined, filter: this.filter() };
    const { key } = this.add({ who: "customer", text, body, attachments });
    await this.deliver(key);
  }

  // Sends an entry, for the first time or again; what comes of it is told by the entry.
  async deliver(key) {
    this.aborting = new AbortController();
    this.update(key, { delivery: "sending", error: null });
    this.set({ busy: true });
    const { text, attachments } = this.entry(key);
    try {
      await this.answered(key);
    } catch (error) {
      if (error.name === "AbortError") this.update(key, { delivery: "" });
      else if (LOST.includes(error.code)) return await this.anew(key, text, attachments);
      else this.update(key, { delivery: error.retryAfter ? "limited" : "failed", error, until: Date.now() + (error.retryAfter || 0) * 1000 });
    } finally {
      this.set({ busy: false });
    }
  }

  async answered(key) {
    const body = async () => ({ ...this.entry(key).body, session_id: await this.proof.open() });
    let reply = null;
    for await (const { event, data } of turn(this.api, body, this.aborting.signal)) {
      this.proof.keep(data?.session_token);
      if (event === "again") {
        this.update(key, { delivery: "reconnecting" });
        if (reply) this.update(reply.key, { text: "" });
      } else if (event === "meta") {
        this.update(key, { delivery: "", id: data.message_id });
        if (!reply && data.agent !== "desk") reply = this.add({ who: "bot", streaming: true, id: data.message_id });
      } else if (event === "token" && reply) this.update(reply.key, { text: this.entry(reply.key).text + data.text });
      else if (event === "replace" && reply) this.update(reply.key, { text: data.text });
      else if (event === "handoff") this.stand(data);
      else if (event === "done") this.done(key, reply, data);
    }
  }

  done(key, reply, response) {
    const { data } = response;
    if (response.outcome === "handoff" && data.handoff?.state === "assigned") {
      this.update(key, { delivery: "delivered" });
      if (reply) this.set({ entries: this.state.entries.filter((entry) => entry.key !== reply.key) });
    } else {
      const about = { ...data, text: response.reply, id: response.message_id, streaming: false, outcome: response.outcome, escalate: data.escalate_to_human };
      if (reply) this.update(reply.key, about);
      else this.add({ who: "bot", ...about });
    }
    this.stand(data.handoff || { state: "bot" });
  }

  // The session ran out: the message starts another one.
  async anew(key, text, attachments) {
    this.proof.forget();
    this.line.close();
    this.last = 0;
    this.set({ entries: this.state.entries.filter((entry) => entry.key !== key), handoff: { state: "bot" }, previous: null, busy: false });
    this.add({ who: "system", event: "expired" });
    if (!attachments.length) await this.send(text); // files belong to the conversation that is over
  }

  async stop() {
    const open = this.state.entries.findLast((entry) => entry.streaming);
    const told = await this.api.post(`/api/v1/chat/${this.proof.id}/stop`).catch(() => ({ stopped: false }));
    if (told.stopped || !this.state.busy) return;
    this.aborting?.abort(); // another process writes it: at least nothing more of it is shown
    if (open && this.entry(open.key)?.streaming) this.update(open.key, { streaming: false, stopped: true, outcome: "partially_answered" });
  }

  async requestPerson() {
    await this.proof.open();
    const told = await this.api.post(`/api/v1/conversations/${this.proof.id}/handoff`, { channel: this.channel });
    this.proof.keep(told.session_token);
    this.stand(told);
  }

  async leaveQueue() {
    this.stand(await this.api.delete(`/api/v1/conversations/${this.proof.id}/handoff`));
  }

  async endService() {
    this.stand(await this.api.post(`/api/v1/conversations/${this.proof.id}/close`));
  }

  async rateAnswer(key, rating, reason = "") {
    const { id } = this.entry(key);
    await this.api.put(`/api/v1/conversations/${this.proof.id}/messages/${id}/feedback`, { rating, ...(reason && { reason }) });
    this.update(key, { rating, reason });
  }

  readPassage(entry, source) {
    return this.api.get(`/api/v1/conversations/${this.proof.id}/messages/${entry.id}/sources/${source.index}`);
  }

  // silent: the conversation before is not kept among the past ones.
  startOver(silent) {
    if (!silent) this.proof.shelve(this.state.entries.find((entry) => entry.who === "customer")?.text);
    this.leaveBehind();
    this.proof.forget();
    if (this.proof.own) this.proof.opening = this.proof.begin().finally(() => { this.proof.opening = null; });
    return this.proof.opening;
  }

  // Ends what is under way; the conversation itself goes on with `start` of another object.
  close() {
    this.aborting?.abort();
    this.line.close();
  }

  leaveBehind() {
    this.close();
    this.last = 0;
    this.set({ entries: [], handoff: { state: "bot" }, previous: null, busy: false, unread: 0, asked: false, thanked: false });
  }

  // Back to one of the past conversations of this browser.
  async goBack(past) {
    this.proof.shelve(this.state.entries.find((entry) => entry.who === "customer")?.text);
    this.leaveBehind();
    this.proof.take(past);
    this.set({ phase: "loading" });
    await this.restore();
    this.set({ phase: "ready" });
  }

  // Where the session stands at the human desk; what changed is a line of the conversation.
  stand(handoff) {
    const before = this.state.handoff;
    const told = handoff.state === "assigned" && before.state !== "assigned" ? "accept" : EVENTS[`${["resolved", "closed"].includes(before.state) ? "bot" : before.state}>${handoff.state}`] || (handoff.state === "closed" && WITH_DESK.includes(before.state) && "close");
    this.set({ handoff });
    if (told && this.state.phase === "ready" && !(told === "transfer" && before.agent === handoff.agent)) this.add({ who: "system", event: told, name: handoff.agent });
    if (WITH_DESK.includes(handoff.state) && this.proof.id) this.line.open(this.proof.id);
    else this.line.close();
    if (["resolved", "closed"].includes(handoff.state) && handoff.state !== before.state && this.proof.id) this.askRating();
  }

  // Whether a person's part ended and was not rated yet; not worth a failure in sight.
  askRating() {
    this.api.get(`/api/v1/conversations/${this.proof.id}/rating`).then(({ asked }) => this.set({ asked }), () => {});
  }

  async rateService(score, comment) {
    await this.api.post(`/api/v1/conversations/${this.proof.id}/rating`, { score, comment });
    this.set({ asked: false, thanked: true });
  }

  onFrame(frame) {
    if (frame.session_token) this.proof.keep(frame.session_token);
    if (frame.type === "handoff") this.stand(frame);
    else if (frame.type === "typing") this.typed();
    else if (frame.type === "seen" && frame.seq >= this.own) this.set({ entries: this.state.entries.map((entry) => (entry.delivery === "delivered" ? { ...entry, delivery: "seen" } : entry)) });
    else if (frame.type === "message" && frame.seq > this.last) {
      this.last = frame.seq;
      if (frame.sender === "customer") this.own = frame.seq;
      if (frame.sender !== "agent") return; // what the customer and the bot said is here already
      this.add({ who: "staff", text: frame.content, attachments: frame.attachments, name: this.state.handoff.agent, at: frame.created_at });
      this.set({ unread: this.state.unread + 1, typing: false });
    }
  }

  // Tells staff that the customer is typing, or has read all that they wrote.
  tell(type) {
    const now = Date.now();
    if (this.state.handoff.state !== "assigned" || (type === "typing" && now - this.told < TELL_MS)) return;
    if (type === "typing") this.told = now;
    this.line.send({ type, seq: this.last });
  }

  typed() {
    clearTimeout(this.typing);
    this.set({ typing: true });
    this.typing = setTimeout(() => this.set({ typing: false }), TYPING_MS);
  }
}

// What was said before, and what an answer brings, as an entry.
const shown = ({ created_at: at, message_id: id, escalate_to_human: escalate, ...entry }) => ({ ...entry, key: newId(), at, id, escalate });
