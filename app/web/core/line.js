// The live line to a person: a WebSocket that comes back by itself and goes on after the last number it saw.

const QUIET_MS = 50_000; // the server sends something every 20 s
const LONGEST_MS = 30_000;
const FOR_GOOD = [4401, 4403];

export class Line {
  // hello: () => fields of the first frame. onFrame(frame); onState(connected).
  constructor({ base, key, hello, onFrame, onState }) {
    Object.assign(this, { base, key, hello, onFrame, onState });
    this.session = "";
    this.tries = 0;
    globalThis.addEventListener?.("online", () => this.session && !this.socket && this.connect());
  }

  open(session) {
    if (this.session === session) return;
    this.close();
    this.session = session;
    this.connect();
  }

  close() {
    this.session = "";
    this.tries = 0;
    clearTimeout(this.again);
    this.drop();
  }

  send(frame) {
    if (this.socket?.readyState === 1) this.socket.send(JSON.stringify(frame));
  }

  drop() {
    clearTimeout(this.silence);
    const socket = this.socket;
    this.socket = null;
    socket?.close();
  }

  connect() {
    clearTimeout(this.again);
    if (!globalThis.WebSocket) return this.onState(false);
    const address = `${this.base.replace(/^http/, "ws")}/api/v1/conversations/${encodeURIComponent(this.session)}/ws`;
    const socket = new WebSocket(address, this.key ? ["yingda", `key.${this.key}`] : ["yingda"]);
    this.socket = socket;
    this.listen();
    socket.onopen = () => {
      socket.send(JSON.stringify({ type: "hello", ...this.hello() }));
      this.onState(true);
    };
    socket.onmessage = ({ data }) => {
      if (this.socket !== socket) return;
      this.tries = 0;
      this.listen();
      this.onFrame(JSON.parse(data));
    };
    socket.onclose = ({ code }) => {
      if (this.socket !== socket) return;
      this.drop();
      this.onState(false);
      if (FOR_GOOD.includes(code)) this.session = "";
      else this.again = setTimeout(() => this.connect(), this.delay());
    };
  }

  delay() {
    const longest = Math.min(1000 * 2 ** this.tries++, LONGEST_MS);
    return longest / 2 + Math.random() * longest / 2;
  }

  // A connection that says nothing for too long is gone, even where the browser does not know it yet.
  listen() {
    clearTimeout(this.silence);
    this.silence = setTimeout(() => this.socket?.onclose({ code: 0 }), QUIET_MS);
  }
}
