// What the browser keeps: who I am and how I like it (for good), what is not sent yet (until it is sent, or somebody signs out).

export function kept(name) {
  try { return localStorage.getItem(name); } catch { return null; }
}

export function keep(name, value) {
  try { value === null ? localStorage.removeItem(name) : localStorage.setItem(name, value); } catch { /* without storage it lasts as long as the page */ }
}

// Whether Enter sends and Shift+Enter begins a line, or Ctrl+Enter sends.
export const enterSends = { on: kept("yd-desk-enter") !== "ctrl" };
export function setEnterSends(on) {
  enterSends.on = on;
  keep("yd-desk-enter", on ? "enter" : "ctrl");
}

const memory = new Map();

// What was written in a conversation and not sent: {reply, note}.
export function draft(agent, session) {
  const name = `yd-desk-draft:${agent}:${session}`;
  if (!memory.has(name)) {
    let found;
    try { found = JSON.parse(localStorage.getItem(name)); } catch { found = null; }
    memory.set(name, { reply: "", note: "", ...found });
  }
  return memory.get(name);
}

export function keepDraft(agent, session, texts) {
  const name = `yd-desk-draft:${agent}:${session}`;
  memory.set(name, texts);
  try {
    texts.reply || texts.note ? localStorage.setItem(name, JSON.stringify(texts)) : localStorage.removeItem(name);
  } catch { /* as above */ }
}

export function forgetDrafts() {
  memory.clear();
  try {
    for (const name of Object.keys(localStorage)) if (name.startsWith("yd-desk-draft:")) localStorage.removeItem(name);
  } catch { /* as above */ }
}
