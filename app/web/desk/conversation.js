// The middle column: all that was said and what happened, and what can be done about it.
import { useEffect, useRef } from "../vendor/preact-htm.js";
import { clock, moment } from "../shared/i18n.js";
import { Prose } from "../shared/markdown.js";
import { Failure, html, Spinner, told } from "../shared/ui.js";
import { Composer } from "./composer.js";
import { Contact } from "./contact.js";
import { Files, said } from "./files.js";
import { called, Face, Linked, linked, OutcomeTag, Since, Urgency, waiting } from "./parts.js";
import { contactLink } from "./route.js";
import { t } from "./words.js";

const SAME_MS = 5000;
const KNOWN_EVENTS = new Set(["request", "request_after_hours", "open", "accept", "transfer", "requeue", "release", "resolve", "leave", "close", "expire", "return"]);

// Everything in the order of time, what came over the socket since it was read included.
function timeline(detail, desk) {
  const rows = [];
  let happened = null;
  for (const entry of detail.entries) {
    if (entry.event) {
      happened = entry;
      rows.push({ kind: "event", ...entry });
    } else if (entry.who === "system") { // the notice of what just happened is for the customer
      if (!happened || Date.parse(entry.created_at) - Date.parse(happened.created_at) > 1000) rows.push({ kind: "event", ...entry });
    } else if (entry.who === "bot") {
      const turn = detail.turns.get(entry.message_id);
      if (turn?.data.agent === "desk" && turn.outcome === "handoff") continue; // tells the customer that the message went to a person
      rows.push({ kind: "bot", turn, ...entry });
    } else rows.push({ kind: entry.who, ...entry });
  }
  const numbers = new Set(detail.entries.map((entry) => entry.seq).filter(Boolean));
  for (const frame of detail.live) {
    const twice = numbers.has(frame.seq) || rows.some((row) => row.kind === frame.sender && row.text === frame.content && Math.abs(Date.parse(row.created_at) - Date.parse(frame.created_at)) < SAME_MS);
    if (!twice && frame.sender !== "system") rows.push({ kind: frame.sender === "agent" ? "staff" : frame.sender, text: frame.content, attachments: frame.attachments, agent_id: frame.agent_id, created_at: frame.created_at, seq: frame.seq });
  }
  for (const note of detail.notes) rows.push({ kind: "note", text: note.content, agent_id: note.agent_id, created_at: note.created_at, id: note.id });
  rows.sort((a, b) => Date.parse(a.created_at) - Date.parse(b.created_at));
  for (const message of desk.pending.get(detail.session.session_id) || []) rows.push({ kind: "pending", message, text: message.content, attachments: message.attachments, created_at: message.created_at });
  return rows;
}

function Source({ source }) {
  const rows = source.index === "SQL";
  return html`<details class="desk-source"><summary>${rows ? source.table : `《${source.title}》`}${source.page ? ` ${t("page", { n: source.page })}` : ""}</summary>
    <div class="yd-small">${source.heading && html`<div class="yd-muted">${source.heading}</div>`}
    ${rows ? html`<dl class="desk-fields">${Object.entries(source.fields).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>` : html`<div class="desk-snippet">${source.snippet}</div>`}</div></details>`;
}

function Bot({ row }) {
  const sources = row.turn?.data.sources || [];
  return html`<div class="desk-words desk-markdown"><${Prose} text=${row.text} mark=${linked} /></div>
    <div class="desk-under">${row.turn && html`<${OutcomeTag} outcome=${row.turn.outcome} />`}
      ${row.turn?.rating && html`<span class="yd-tiny" data-vote=${row.turn.rating}>${t(row.turn.rating)}${row.turn.reason ? `：${row.turn.reason}` : ""}</span>`}
      ${sources.map((source) => html`<${Source} source=${source} />`)}</div>`;
}

function Pending({ desk, id, row, write }) {
  const { message } = row;
  const waits = message.error && (message.error.status === 0 || message.error.status >= 500);
  return html`<div class="desk-words">${row.text}</div>
    <div class="desk-under yd-tiny" role=${message.error ? "alert" : undefined}>${!message.error ? t("sending") : waits ? t("unsent") : html`<span class="yd-error">${t("failed")}：${told(message.error)} ${message.error.requestId && html`<span class="yd-mono">${message.error.requestId}</span>`}</span>`}
      ${message.error && html`<button class="yd-btn yd-btn-small" onClick=${() => desk.again(id, message)}>${t("resend")}</button>
        <button class="yd-btn yd-btn-small" onClick=${() => { desk.drop(id, message); write(row.text); }}>${t("takeBack")}</button>`}</div>`;
}

function Entry({ desk, row, id, write }) {
  if (row.kind === "event") {
    const name = row.name || desk.name(row.agent_id);
    const text = row.event ? (KNOWN_EVENTS.has(row.event) ? t(`event_${row.event}`, { name }) : row.event) : row.text;
    const why = row.note && !/^(asked|high_stakes|emotion)$/.test(row.note) ? row.note : "";
    return html`<li class="desk-event"><span>${text}</span> <time class="yd-nums" datetime=${row.created_at} title=${moment(row.created_at)}>${clock(row.created_at)}</time>${why && html`<div class="desk-event-note">${why}</div>`}</li>`;
  }
  const staff = row.kind === "staff" || row.kind === "pending";
  const who = row.kind === "note" ? `${t("note")} · ${desk.name(row.agent_id)}` : row.kind === "pending" || (staff && row.agent_id === desk.me.agent_id) ? t("who_me") : staff ? row.name || desk.name(row.agent_id) : t(`who_${row.kind}`);
  return html`<li class="desk-entry" data-kind=${row.kind}><div class="desk-who"><strong>${who}</strong> <time class="yd-nums" datetime=${row.created_at} title=${moment(row.created_at)}>${clock(row.created_at)}</time></div>
    <div class="desk-bubble">${row.kind === "bot" ? html`<${Bot} row=${row} />` : row.kind === "pending" ? html`<${Pending} desk=${desk} id=${id} row=${row} write=${write} />` : said(row) && html`<div class="desk-words"><${Linked} text=${said(row)} /></div>`}<${Files} session=${id} attachments=${row.attachments} insert=${desk.holds(id) && write} /></div>
    ${row.kind === "staff" && row.seq && row.seq === desk.seenUpTo(id) && html`<div class="yd-tiny yd-muted">${t("seen")}</div>`}</li>`;
}

function Head({ desk, session, mine, act }) {
  const waits = waiting(session);
  const done = session.state === "resolved" || session.state === "closed" || session.state === "bot";
  return html`<header class="desk-head">
    <button class="yd-btn yd-btn-quiet desk-back" onClick=${() => act("list")} aria-label=${t("back")}>←</button>
    <${Face} customer=${session.customer} /><div class="yd-grow desk-head-who"><h2 class="yd-clip"><a class="desk-plain" href=${contactLink(session.session_id)} title=${t("contactPage")}>${called(session)}</a></h2>
      <div class="yd-row yd-tiny yd-muted">${waits ? html`<${Since} from=${session.queued_at} words="waited" patience /><${Urgency} session=${session} />` : mine ? html`<${Since} from=${session.assigned_at} words="served" />` : html`<span>${done ? t(`${session.state}State`) : t("withColleague", { name: desk.name(session.agent_id) })}</span>`}</div></div>
    <div class="yd-row desk-actions">
      ${waits && html`<button class="yd-btn yd-btn-primary" onClick=${() => act("accept")}>${t("accept")}</button>`}
      ${mine && html`<button class="yd-btn" onClick=${() => act("transfer")}>${t("transfer")}</button><button class="yd-btn yd-btn-primary" onClick=${() => act("resolve")}>${t("resolve")}</button>`}
      ${(mine || waits) && html`<button class="yd-btn yd-btn-quiet" onClick=${() => act("close")}>${t("close")}</button>`}
      ${done && session.resolved_at && html`<button class="yd-btn" onClick=${() => act("solution")}>${t("writeSolution")}</button>`}
      <button class="yd-btn yd-btn-quiet desk-to-help" onClick=${() => act("help")}>${t("customer")}</button>
    </div></header>`;
}

export function Conversation({ desk, act, composer }) {
  if (desk.shownContact) return html`<${Contact} key=${desk.shownContact} desk=${desk} id=${desk.shownContact} act=${act} />`;
  return html`<${Talking} desk=${desk} act=${act} composer=${composer} />`;
}

function Talking({ desk, act, composer }) {
  const id = desk.open, session = desk.session, detail = desk.details.get(id);
  const list = useRef(), foot = useRef(true);
  const rows = detail?.session ? timeline(detail, desk) : [];
  useEffect(() => { foot.current = true; }, [id]);
  useEffect(() => { if (foot.current && list.current) list.current.scrollTop = list.current.scrollHeight; });
  if (!id) return html`<section class="desk-conversation desk-idle" aria-label=${t("conversation")}><div class="yd-empty"><h2>${t("pick")}</h2><p>${t("pickText")}</p></div></section>`;
  if (detail?.error) return html`<section class="desk-conversation" aria-label=${t("conversation")}><div class="desk-pad"><button class="yd-btn yd-btn-quiet desk-back" onClick=${() => act("list")}>← ${t("back")}</button><${Failure} error=${detail.error} retry=${() => desk.load(id)} /></div></section>`;
  const mine = desk.holds(id);
  return html`<section class="desk-conversation" aria-label=${t("conversation")}>
    ${session && html`<${Head} desk=${desk} session=${session} mine=${mine} act=${act} />`}
    ${desk.viewers.length > 0 && html`<div class="desk-viewers" role="status">${t("viewing", { names: desk.viewers.map((one) => one.name).join(t("and")) })}</div>`}
    <div class="desk-log yd-scroll" ref=${list} tabindex="0" role="log" aria-label=${t("conversation")} onScroll=${(event) => { const at = event.currentTarget; foot.current = at.scrollHeight - at.scrollTop - at.clientHeight < 60; }}>
      ${detail?.session ? html`<ol class="desk-entries">${rows.map((row, n) => html`<${Entry} key=${row.message?.id || row.id || `${row.created_at}${row.kind}${n}`} desk=${desk} row=${row} id=${id} write=${(text) => composer.current?.insert(text)} />`)}</ol>` : html`<div class="yd-empty"><${Spinner} /></div>`}
    </div>
    ${desk.isTyping(id) && html`<p class="yd-tiny yd-muted desk-typing" role="status">${t("customerTyping")}</p>`}
    ${session && !detail?.botOnly && html`<${Composer} key=${id} desk=${desk} id=${id} mine=${mine} waits=${waiting(session)} handle=${composer} act=${act} />`}
  </section>`;
}
