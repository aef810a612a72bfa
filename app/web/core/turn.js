// One message on its way: sent, answered as it is written, and sent again under the same id after a lost connection, so
// that nothing is answered or done twice.
import { ApiError, events } from "./api.js";

const SILENCE_MS = 45_000; // the server says something every 15 s
const TRIES = 6;
const AGAIN = new Set([0, 502, 504]);

export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  return [...bytes].map((byte, i) => ([4, 6, 8, 10].includes(i) ? "-" : "") + byte.toString(16).padStart(2, "0")).join("");
}

// body: () => promise of what is sent, the same each time. Yields {event, data} until `done`; {event: "again"} says that the connection was lost and what was shown is void.
// Throws ApiError for what sending again does not help, AbortError when `signal` says so.
export async function* turn(api, body, signal) {
  for (let lost = 1; ; lost += 1) {
    try {
      yield* once(api, body, signal);
      return;
    } catch (error) {
      const busy = error.status === 503 || error.code === "request_in_progress";
      if (error.name === "AbortError" || lost === TRIES || !(busy || AGAIN.has(error.status))) throw error;
      yield { event: "again" };
      await online(signal, (error.retryAfter || 2 ** (lost - 1)) * 1000);
    }
  }
}

async function* once(api, body, signal) {
  const silent = new AbortController();
  const give = () => silent.abort();
  signal.addEventListener("abort", give);
  let timer = setTimeout(give, SILENCE_MS);
  let done = false; // the stream is read to its end, so that the connection can be used again
  try {
    const response = await api.raw("POST", "/api/v1/chat/stream", { body: await body(), signal: silent.signal });
    for await (const item of events(response)) {
      clearTimeout(timer);
      timer = setTimeout(give, SILENCE_MS);
      if (item.event === "error") throw new ApiError(item.data.error.code === "shutting_down" ? 0 : 500, item.data.error, item.data.error.request_id);
      done ||= item.event === "done";
      yield item;
    }
    if (!done) throw new ApiError(0, null, "");
  } catch (error) {
    if (done) return;
    if (error instanceof ApiError || signal.aborted) throw error;
    throw new ApiError(0, null, ""); // the connection broke in the middle, or nothing came for too long
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", give);
  }
}

// After so many milliseconds, with a little chance so that not all come back at once; sooner when the network is back.
function online(signal, milliseconds) {
  return new Promise((resolve, reject) => {
    const end = () => { clearTimeout(timer); globalThis.removeEventListener?.("online", end); signal.removeEventListener("abort", stop); resolve(); };
    const stop = () => { end(); reject(new DOMException("stopped", "AbortError")); };
    const timer = setTimeout(end, milliseconds + Math.random() * 500);
    globalThis.addEventListener?.("online", end);
    signal.addEventListener("abort", stop);
  });
}
