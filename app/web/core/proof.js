// Whose conversation this is. On pages of the server itself the proof is a cookie that scripts cannot read; on other
// sites it is the session token, kept in that site's storage and sent as a header, never in an address.

export class Proof {
  // api, channel, userToken; own: whether this page is the server's own; name: of the storage, one for each server and key.
  constructor(given) {
    Object.assign(this, given);
    this.id = "";
    this.token = "";
    this.opening = null;
    this.memory = {};
  }

  headers() {
    const user = this.userToken();
    return { ...(this.token && { "X-Session-Token": this.token }), ...(user && { "X-User-Token": user }) };
  }

  // Whether this site's storage holds a session; a cookie cannot be seen.
  get kept() { return !this.own && Boolean(this.stored(this.name).id); }

  // The session of before a reload, "" for none.
  async resume() {
    if (this.own) this.id = (await this.api.get("/api/v1/sessions")).session_id || "";
    else ({ id: this.id = "", token: this.token = "" } = this.stored(this.name));
    return this.id;
  }

  // The session, opened at the first need.
  async open() {
    if (this.id) return this.id;
    this.opening ??= this.begin().finally(() => { this.opening = null; });
    return this.opening;
  }

  async begin() {
    const opened = await this.api.post("/api/v1/sessions", { cookie: this.own, channel: this.channel });
    this.id = opened.session_id;
    this.keep(opened.session_token);
    return this.id;
  }

  // A token that an answer brought: the conversation became a member's.
  keep(token) {
    if (!token || this.own) return;
    this.token = token;
    this.remember(this.name, { id: this.id, token });
  }

  // Conversations of before in this browser, the latest first; of the server's own pages a cookie knows the last alone.
  past() { return this.own ? [] : [...(this.stored(`${this.name} past`).list || [])]; }

  shelve(title) {
    if (this.own || !this.id || !title) return;
    const others = this.past().filter((one) => one.id !== this.id);
    this.remember(`${this.name} past`, { list: [{ id: this.id, token: this.token, title: title.slice(0, 60), at: new Date().toISOString() }, ...others].slice(0, 10) });
  }

  take({ id, token }) {
    this.id = id;
    this.keep(token);
    this.remember(`${this.name} past`, { list: this.past().filter((one) => one.id !== id) });
  }

  clear() { this.remember(`${this.name} past`, null); }

  forget() {
    this.id = this.token = "";
    if (!this.own) this.remember(this.name, null);
  }

  // A browser may forbid storage to a page, and a server has none; then the conversation lasts as long as this object.
  stored(name) {
    try { return JSON.parse(window.localStorage.getItem(name)) || {}; } catch { return this.memory[name] || {}; }
  }

  remember(name, value) {
    this.memory[name] = value;
    try {
      if (value) window.localStorage.setItem(name, JSON.stringify(value));
      else window.localStorage.removeItem(name);
    } catch { /* kept in memory */ }
  }
}
