// The WebSocket of staff: says hello with what was received last, comes back after a break, and tells its state.

const FIRST_MS = 500, LONGEST_MS = 15_000;
const SILENT_MS = 50_000; // the server pings every 20 s

// after: () => {session: last number}. on: {frame, state, signedOut}. state: {name: "connecting" | "online" | "lost", at?: time of the next try}
export function line({ agent, after, online, on }) {
  let socket, timer, silence, tries = 0, ended = false;

  function open() {
    clearTimeout(timer);
    on.state({ name: tries ? "reconnecting" : "connecting" });
    const address = new URL("/api/v1/agent/ws", location.href);
    address.protocol = address.protocol.replace("http", "ws");
    address.searchParams.set("agent_id", agent);
    const mine = (socket = new WebSocket(address, ["yingda"]));
    mine.onopen = () => {
      mine.send(JSON.stringify({ type: "hello", agent_id: agent, after: after(), online: online() }));
      alive();
    };
    mine.onmessage = ({ data }) => {
      if (mine !== socket) return;
      alive();
      const frame = JSON.parse(data);
      if (frame.type === "queue") { // the first thing that is sent: it is let in
        tries = 0;
        on.state({ name: "online" });
      }
      on.frame(frame);
    };
    mine.onclose = ({ code }) => mine === socket && lost(code);
  }

  function alive() {
    clearTimeout(silence);
    silence = setTimeout(() => { const quiet = socket; socket = null; quiet.close(); lost(); }, SILENT_MS);
  }

  function lost(code) {
    clearTimeout(silence);
    clearTimeout(timer);
    if (ended) return;
    if (code === 4401 || code === 4403) { ended = true; on.signedOut(); return; }
    const wait = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(tries, 10)) * (0.75 + Math.random() / 2);
    tries += 1;
    on.state({ name: "lost", at: Date.now() + wait });
    timer = setTimeout(open, wait);
  }

  function again() {
    if (ended || socket?.readyState === WebSocket.OPEN || socket?.readyState === WebSocket.CONNECTING) return;
    open();
  }
  const seen = () => document.hidden || again();
  window.addEventListener("online", again);
  document.addEventListener("visibilitychange", seen);
  open();
  return {
    again,
    send: (frame) => { const open = socket?.readyState === WebSocket.OPEN; if (open) socket.send(JSON.stringify(frame)); return open; },
    end() {
      ended = true;
      clearTimeout(timer);
      clearTimeout(silence);
      window.removeEventListener("online", again);
      document.removeEventListener("visibilitychange", seen);
      socket?.close();
    },
  };
}
