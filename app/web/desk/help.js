// The right column: who the customer is, what the bot would say, the customer's rows, notes.
import { useEffect, useState } from "../vendor/preact-htm.js";
import { clock, percent } from "../shared/i18n.js";
import { Failure, html, Spinner, Tag } from "../shared/ui.js";
import { api, base } from "./store.js";
import { Journey } from "./contact.js";
import { Organise } from "./organise.js";
import { conversationLink, ticketLink, ticketsLink } from "./route.js";
import { called, Face, Linked, OutcomeTag, Section, uncited, Urgency, waiting } from "./parts.js";
import { t } from "./words.js";

const REASONS = new Set(["asked", "high_stakes", "emotion", "no_answer"]);
const USABLE = new Set(["answered", "partially_answered", "low_confidence"]);
const QUIET = new Set(["business_not_configured", "caller_unknown", "nothing_asked"]);

function Mood({ value }) {
  const [word, tone] = value >= 0.6 ? ["angry", "bad"] : value >= 0.3 ? ["upset", "warn"] : ["calm", "good"];
  return html`<${Tag} tone=${tone}>${t("mood", { word: t(word) })}${value >= 0.3 ? ` ${percent(value, 0)}` : ""}<//>`;
}

// Who it is: name, level, where they are in their journey.
function Who({ session, desk, act }) {
  const { customer } = session, contact = desk.contact(session.session_id);
  return html`<${Section} title=${t("who_customer")} extra=${html`<button class="yd-btn yd-btn-quiet yd-btn-small" disabled=${!contact} onClick=${() => act("rename")}>${t((contact?.customer || customer)?.given ? "rename" : "nameIt")}</button>`}>
    <div class="yd-row yd-wrap"><${Face} customer=${customer} /><strong class="yd-grow yd-clip">${called(session)}</strong>
      ${customer?.level && html`<${Tag} tone="accent">${customer.level}<//>`}${customer ? html`<${Tag} tone=${customer.kind === "member" ? "good" : customer.kind === "claimed" ? "warn" : ""}>${t(`kind_${customer.kind}`)}<//>` : null}
      ${(contact?.customer || customer)?.labels.map((label) => html`<${Tag} tone="accent">${label}<//>`)}</div>
    ${customer?.user_id && called(session) !== customer.user_id && html`<p class="yd-small yd-muted yd-mono">${customer.user_id}</p>`}
    <${Journey} contact=${contact} session=${session} /><//>`;
}

function Card({ session }) {
  const { card } = session;
  return html`<${Section} title=${t("card")}>
    <div class="yd-row yd-wrap desk-tags"><${Urgency} session=${session} />
      <${Tag} tone=${session.reason === "asked" ? "" : "bad"}>${REASONS.has(session.reason) ? t(`r_${session.reason}`) : session.reason}<//><${Mood} value=${session.emotion} />
      ${session.team && html`<${Tag} tone="accent">${t("forTeam", { team: desk.teamName(session.team) })}<//>`}${session.skill && html`<${Tag}>${t("skillNeeded", { skill: session.skill })}<//>`}</div>
    ${card.question && html`<div class="desk-question"><span class="yd-label">${t("question")}</span><p>${card.question}</p></div>`}
    <dl class="desk-facts">
      ${session.ticket && html`<div><dt>${t("ticket")}</dt><dd><a class="yd-mono" href=${ticketLink(session.ticket)} target="_blank">${session.ticket}</a></dd></div>`}
      ${card.entities?.length ? html`<div><dt>${t("entities")}</dt><dd class="yd-row yd-wrap">${card.entities.map((entity) => html`<${Tag}>${entity.value}<//>`)}</dd></div>` : null}
    </dl>
    <details class="desk-more" open=${waiting(session)}><summary>${t("more")}</summary>
      ${card.summary && html`<span class="yd-label">${t("summary")}</span><p class="desk-summary"><${Linked} text=${card.summary} /></p>`}
      ${card.tried?.length ? html`<span class="yd-label">${t("tried")}</span><ul class="desk-tried">${card.tried.map((turn) => html`<li><div class="yd-row yd-wrap"><strong>${turn.question}</strong><${OutcomeTag} outcome=${turn.outcome} /></div><p>${turn.reply}</p>${turn.sources.length ? html`<p class="yd-tiny yd-muted">${t("sources")}：${turn.sources.join("、")}</p>` : null}</li>`)}</ul>` : null}
      <p class="yd-tiny yd-muted">${t("session")} <a class="yd-mono" href=${conversationLink(session.session_id)}>${session.session_id}</a></p></details>
  <//>`;
}

// The tickets of this conversation, and the form of a new one that is filled in as far as the desk knows.
function Tickets({ session, detail }) {
  const { session_id } = session;
  const question = [...(detail?.turns.values() || [])].at(-1)?.question || session.card?.question || "";
  const filled = { new: 1, session_id, user_id: session.customer?.user_id || "", subject: question.replace(/\s+/g, " ").slice(0, 100) };
  return html`<section class="desk-section"><div class="yd-row"><a class="yd-grow" href=${ticketsLink({ session_id })} target="_blank">${t("tickets")}</a><a class="yd-btn yd-btn-quiet yd-btn-small" href=${ticketsLink(filled)} target="_blank">${t("newTicket")}</a></div></section>`;
}

const Problem = ({ error, retry }) => (QUIET.has(error.code) ? html`<p class="yd-notice">${error.message}</p>` : html`<${Failure} error=${error} retry=${retry} />`);

function Piece({ title, score, text, insert, primary }) {
  return html`<li class="desk-piece"><div class="yd-row"><span class="yd-grow yd-clip yd-small desk-piece-title">${title}</span>${score !== undefined && html`<span class="yd-tiny yd-muted yd-nums">${percent(score, 0)}</span>`}</div>
    <div class="desk-piece-text">${text}</div>
    <button class=${`yd-btn yd-btn-small ${primary ? "yd-btn-primary" : ""}`} onClick=${() => insert(text)}>${t("insert")}</button></li>`;
}

function Ask({ label, onAsk, busy }) {
  const [text, setText] = useState("");
  return html`<form class="yd-row" onSubmit=${(event) => { event.preventDefault(); onAsk(text.trim()); }}>
    <input class="yd-input" aria-label=${label} placeholder=${label} maxlength="2000" value=${text} onInput=${(event) => setText(event.target.value)} /><button class="yd-btn" disabled=${busy}>${t("search")}</button></form>`;
}

function Suggestions({ desk, id, insert }) {
  const advice = desk.advice.get(id) || {};
  const { data, error, loading, none } = advice;
  const usable = data && USABLE.has(data.outcome);
  return html`<${Section} title=${t("help")} extra=${loading ? html`<${Spinner} />` : html`<button class="yd-btn yd-btn-quiet yd-btn-small" onClick=${() => desk.advise(id)}>${t("refresh")}</button>`}>
    <div aria-live="polite" class="yd-stack">
    ${error && html`<${Problem} error=${error} retry=${() => desk.advise(id)} />`}
    ${none && html`<p class="desk-none">${t("helpNone")}</p>`}
    ${data && !error && html`<p class="yd-tiny yd-muted">${t("about", { question: data.question })}</p>
      ${data.degraded.length > 0 && html`<p class="yd-notice" data-tone="warn">${t("degraded")}</p>`}
      <ul class="desk-pieces">${usable && data.draft && html`<${Piece} title=${t("draft")} score=${data.confidence} text=${uncited(data.draft)} insert=${insert} primary />`}
        ${data.candidates.map((found) => html`<${Piece} title=${`《${found.title}》${found.heading && found.heading !== found.title ? ` ${found.heading}` : ""}`} score=${found.probability} text=${found.text} insert=${insert} />`)}</ul>
      ${!usable && !data.candidates.length && html`<p class="desk-none">${t("helpEmpty")}</p>`}`}
    </div>
    <${Ask} label=${t("ask")} busy=${loading} onAsk=${(question) => desk.advise(id, question)} />
  <//>`;
}

function Rows({ id, insert }) {
  const [{ data, error, loading }, set] = useState({});
  useEffect(() => set({}), [id]);
  async function ask(question) {
    set({ loading: true });
    try { set({ data: await api.get(`${base(id)}/business-assist`, { question }) }); } catch (failure) { set({ error: failure }); }
  }
  return html`<${Section} title=${t("rows")} extra=${loading && html`<${Spinner} />`}>
    <p class="yd-tiny yd-muted">${t("rowsHint")}</p>
    <div aria-live="polite" class="yd-stack">
    ${error && html`<${Problem} error=${error} />`}
    ${data && (data.sources.length ? html`${data.sources.map((source) => html`<div class="desk-rows"><strong class="yd-small">${source.table}</strong><dl class="desk-fields">${Object.entries(source.fields).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl></div>`)}
      <ul class="desk-pieces"><${Piece} title=${t("draft")} text=${uncited(data.draft)} insert=${insert} /></ul>` : html`<p class="yd-notice">${data.draft || t("rowsEmpty")}</p>`)}</div>
    <${Ask} label=${t("askRows")} busy=${loading} onAsk=${ask} />
  <//>`;
}

function Notes({ desk, detail }) {
  return html`<${Section} title=${t("notes")}>
    ${detail.notes.length ? html`<ul class="desk-notes">${detail.notes.map((note) => html`<li><div class="yd-tiny yd-muted">${desk.name(note.agent_id)} · ${clock(note.created_at)}</div><p><${Linked} text=${note.content} /></p></li>`)}</ul>` : html`<p class="desk-none">${t("notesEmpty")}</p>`}<//>`;
}

export function Help({ desk, insert, act }) {
  const id = desk.open, session = desk.shownContact ? null : desk.session, detail = desk.details.get(id);
  return html`<aside class="desk-help yd-scroll" aria-label=${t("customer")} tabindex="0">
    ${session && html`<button class="yd-btn yd-btn-quiet desk-close-help" onClick=${() => act("conversation")}>← ${t("conversation")}</button>
      <${Who} session=${session} desk=${desk} act=${act} />
      ${!detail?.botOnly && html`<${Organise} key=${id} desk=${desk} session=${session} /><${Card} session=${detail?.session || session} />`}
      ${desk.console && html`<${Tickets} session=${session} detail=${detail} />`}
      ${desk.holds(id) ? html`<${Suggestions} desk=${desk} id=${id} insert=${insert} /><${Rows} id=${id} insert=${insert} />` : waiting(session) ? html`<p class="desk-none desk-pad">${t("helpWaiting")}</p>` : null}
      ${detail?.session && html`<${Notes} desk=${desk} detail=${detail} />`}`}
  </aside>`;
}
