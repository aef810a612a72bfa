// Where replies and notes are written; what is not sent yet is kept for each conversation.
import { useEffect, useRef, useState } from "../vendor/preact-htm.js";
import { attempt, html, toast } from "../shared/ui.js";
import { Emoji } from "./emoji.js";
import { ACCEPT, useWaiting, Waiting } from "./files.js";
import { draft, enterSends, keepDraft } from "./keeping.js";
import { filled, open as unfilled } from "./variables.js";
import { t } from "./words.js";

const LONGEST = { reply: 4000, note: 2000 };
const SHOWN = 8;

const matching = (replies, query) => {
  const wanted = query.toLowerCase();
  const first = replies.filter((reply) => reply.shortcut.toLowerCase().startsWith(wanted));
  return [...first, ...replies.filter((reply) => !first.includes(reply) && (reply.shortcut + reply.text).toLowerCase().includes(wanted))].slice(0, SHOWN);
};

// How the conversation ended and by whom, as far as that is known; empty while it goes on.
function ending(desk, id) {
  const state = desk.session?.state;
  if (state !== "resolved" && state !== "closed") return "";
  const last = desk.details.get(id)?.entries?.findLast((entry) => entry.event);
  const name = last && (last.name || (last.agent_id && desk.name(last.agent_id)));
  if (last?.event === "expire") return t("event_expire");
  return name && (last.event === "resolve" || last.event === "close") ? t(`ended_${last.event}`, { name }) : t(`ended_${state}`);
}

// handle: gets {insert, focus, toggle}, for buttons and keys elsewhere.
export function Composer({ desk, id, mine, waits, handle, act }) {
  const [texts, setTexts] = useState(() => draft(desk.me.agent_id, id));
  const [mode, setMode] = useState(mine ? "reply" : "note");
  const [chosen, choose] = useState(0);
  const [shut, setShut] = useState(false);
  const [busy, setBusy] = useState(false);
  const field = useRef(), picker = useRef();
  const files = useWaiting((file) => desk.upload(id, file), toast);
  const now = mine ? mode : "note", ended = ending(desk, id);
  const text = texts[now];
  const asked = now === "reply" && !shut && /^\/\S*$/.test(text);
  const found = asked ? matching(desk.canned, text.slice(1)) : [];

  const write = (value, where = now) => setTexts((before) => {
    const after = { ...before, [where]: value };
    keepDraft(desk.me.agent_id, id, after);
    return after;
  });
  const focus = () => field.current?.focus();
  useEffect(() => { if (mine) setMode("reply"); }, [mine]);
  useEffect(() => {
    if (!field.current) return;
    field.current.style.height = "auto";
    field.current.style.height = `${Math.min(field.current.scrollHeight + 2, 200)}px`;
  }, [text, now]);
  useEffect(() => {
    if (desk.focus !== id) return;
    desk.focus = null;
    focus();
  });
  useEffect(() => {
    handle.current = {
      focus,
      toggle: () => { if (mine) setMode(now === "reply" ? "note" : "reply"); focus(); },
      insert: (piece) => {
        if (!mine) return;
        setMode("reply");
        const before = texts.reply.startsWith("/") ? "" : texts.reply;
        write(before.trim() ? `${before.trimEnd()}\n${piece}` : piece, "reply");
        focus();
      },
    };
    return () => { handle.current = null; };
  });

  // The first thing that is left to be written is selected.
  function select(value) {
    const place = unfilled(value), at = value.indexOf(place);
    if (place) requestAnimationFrame(() => field.current?.setSelectionRange(at, at + place.length));
  }

  function insert(reply) {
    const value = filled(reply.text, { session: desk.session, contact: desk.contact(id), agent: desk.me.name });
    write(value);
    select(value);
    choose(0);
    focus();
  }

  function put(sign) {
    const { selectionStart: from, selectionEnd: to } = field.current;
    write(text.slice(0, from) + sign + text.slice(to));
    focus();
    requestAnimationFrame(() => field.current?.setSelectionRange(from + sign.length, from + sign.length));
  }

  async function send() {
    const value = text.trim();
    if (!(value || (now === "reply" && files.waiting.length)) || busy || files.busy || value.length > LONGEST[now]) return;
    if (now === "reply" && unfilled(value)) {
      toast(t("unfilled", { place: unfilled(value) }), "bad");
      focus();
      select(text);
      return;
    }
    if (now === "reply") {
      write("");
      const sent = files.waiting.map(({ key, ...one }) => one);
      files.clear();
      await desk.say(id, value, sent);
      return;
    }
    setBusy(true);
    if (await attempt(() => desk.note(id, value), t("noted"))) write("", "note");
    setBusy(false);
  }

  function key(event) {
    if (event.isComposing) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      send();
    } else if (event.key === "Enter" && !event.shiftKey && !event.altKey && !found.length && enterSends.on) {
      event.preventDefault();
      send();
    } else if (asked && event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      setShut(true);
    } else if (event.key === "Escape") {
      field.current.blur();
    } else if (found.length && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      choose((chosen + (event.key === "ArrowDown" ? 1 : found.length - 1)) % found.length);
    } else if (found.length && (event.key === "Enter" || event.key === "Tab")) {
      event.preventDefault();
      insert(found[Math.min(chosen, found.length - 1)]);
    }
  }

  const given = (event, { files: list }) => { if (!list.length || now !== "reply") return; event.preventDefault(); files.take(list); };
  const left = LONGEST[now] - text.length;
  return html`<form class="desk-composer" data-mode=${now} onDragOver=${(event) => event.preventDefault()} onDrop=${(event) => given(event, event.dataTransfer)} onPaste=${(event) => given(event, event.clipboardData)} onSubmit=${(event) => { event.preventDefault(); send(); }}>
    ${asked && html`<div class="desk-canned"><ul id="desk-canned" role="listbox" aria-label=${t("canned")}>${found.map((reply, n) => html`<li key=${reply.id} id=${`canned-${n}`} role="option" aria-selected=${n === Math.min(chosen, found.length - 1)} onMouseDown=${(event) => event.preventDefault()} onClick=${() => insert(reply)}>
        <strong>/${reply.shortcut}</strong><span class="yd-clip">${reply.text}</span></li>`)}</ul>
      ${!found.length && html`<p class="desk-none">${desk.canned.length ? t("cannedNone") : t("cannedEmpty")}</p>`}
      <button type="button" class="yd-btn yd-btn-quiet yd-btn-small" onClick=${() => act("canned")}>${t("cannedManage")}</button></div>`}
    ${mine ? html`<div class="desk-modes" role="group" aria-label=${t("mode")}>${["reply", "note"].map((one) => html`<button type="button" aria-pressed=${now === one} onClick=${() => { setMode(one); focus(); }}>${t(one === "reply" ? "reply" : "note")}</button>`)}</div>` : html`<p class="yd-small yd-muted">${waits ? t("readOnlyWaiting") : ended ? t("readOnlyEnded", { what: ended }) : t("readOnlyOther")}</p>`}
    <textarea ref=${field} class="yd-input" rows="2" value=${text} aria-label=${t(now === "reply" ? "reply" : "noteOnly")} placeholder=${t(now === "reply" ? "replyPlaceholder" : "notePlaceholder")}
      aria-autocomplete=${now === "reply" ? "list" : undefined} aria-controls=${asked ? "desk-canned" : undefined} aria-activedescendant=${found.length ? `canned-${Math.min(chosen, found.length - 1)}` : undefined}
      onInput=${(event) => { if (now === "reply") desk.typing(id); write(event.target.value); setShut(false); choose(0); }} onKeyDown=${key} onFocus=${() => desk.read()}></textarea>
    <${Waiting} files=${files} />
    <div class="yd-row">${now === "reply" && html`<input ref=${picker} type="file" multiple hidden accept=${ACCEPT} onChange=${({ target }) => { files.take(target.files); target.value = ""; }} /><button type="button" class="yd-btn yd-btn-quiet" title=${t("attach")} aria-label=${t("attach")} onClick=${() => picker.current.click()}><svg viewBox="0 0 24 24" width="18" height="18" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" aria-hidden="true"><path d="m20 11-8.5 8.5a5 5 0 0 1-7-7L13 4a3.3 3.3 0 0 1 4.7 4.7l-8.5 8.4a1.7 1.7 0 0 1-2.4-2.3L14.5 7" /></svg></button>`}<span class=${`yd-tiny yd-grow ${left < 0 ? "yd-error" : "yd-muted"}`}>${left < 200 ? t("characters", { n: left }) : html`<span class="desk-hint">${t(`${now === "reply" ? "sendHint" : "noteHint"}${enterSends.on ? "Enter" : ""}`)}</span>`}</span><${Emoji} onPick=${put} />
      <button class=${`yd-btn ${now === "reply" ? "yd-btn-primary" : ""}`} disabled=${!(text.trim() || (now === "reply" && files.waiting.length)) || left < 0 || busy || files.busy}>${t(now === "reply" ? "send" : "saveNote")}</button></div>
  </form>`;
}
