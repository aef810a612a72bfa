// Requests to the product's own interface. Errors carry what people are told, the code, and the request id.

export class ApiError extends Error {
  constructor(status, body, requestId, retryAfter) {
    super(body?.message || `HTTP ${status}`);
    this.status = status;             // 0: no answer at all
    this.code = body?.code || "";
    this.details = body?.details || {};
    this.requestId = requestId || "";
    this.retryAfter = retryAfter;     // seconds, where the server said them
  }
}

// base: "" for pages of this server, an origin for the widget on another site. headers: a function, asked each time.
// failed: told of every error before it is thrown, for example to show the sign-in again.
export function client({ base = "", headers = () => ({}), credentials = "same-origin", failed = () => {} } = {}) {
  async function send(method, path, { body, query, form, signal, extra } = {}) {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query || {})) {
      if (value !== undefined && value !== null && value !== "") search.append(name, value);
    }
    const address = base + path + (search.size ? `?${search}` : "");
    const all = { ...headers(), ...extra };
    if (body !== undefined) all["Content-Type"] = "application/json";
    let response;
    try {
      response = await fetch(address, { method, headers: all, body: form || (body === undefined ? undefined : JSON.stringify(body)), credentials, signal });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new ApiError(0, null, "");
    }
    if (response.ok) return response;
    const text = await response.text();
    const error = new ApiError(response.status, parsed(text)?.error, response.headers.get("X-Request-ID"), Number(response.headers.get("Retry-After")) || undefined);
    failed(error);
    throw error;
  }
  const json = async (response) => (response.status === 204 ? null : response.json());
  return {
    raw: send,
    get: async (path, query, options) => json(await send("GET", path, { query, ...options })),
    post: async (path, body, options) => json(await send("POST", path, { body, ...options })),
    put: async (path, body, options) => json(await send("PUT", path, { body, ...options })),
    patch: async (path, body, options) => json(await send("PATCH", path, { body, ...options })),
    delete: async (path, query, options) => json(await send("DELETE", path, { query, ...options })),
    upload: async (path, form, options) => json(await send("POST", path, { form, ...options })),
  };
}

// The events of a text/event-stream response, one {event, data} after another.
export async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      buffer += value;
      for (let end; (end = buffer.search(/\r?\n\r?\n/)) >= 0; ) {
        const block = buffer.slice(0, end);
        buffer = buffer.slice(end).replace(/^\r?\n\r?\n/, "");
        let event = "message";
        const data = [];
        for (const line of block.split(/\r?\n/)) {
          if (line.startsWith("event:")) event = line.slice(6).trim();
          else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
        }
        if (data.length) yield { event, data: parsed(data.join("\n")) ?? data.join("\n") };
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function parsed(text) {
  try { return JSON.parse(text); } catch { return null; }
}
