// Who a customer is: a short form beside a conversation, and a page with all that there is.
import { useEffect, useState } from "../vendor/preact-htm.js";
import { ago, moment } from "../shared/i18n.js";
import { attempt, Dialog, Empty, Failure, Field, html, Spinner, Tag, toast } from "../shared/ui.js";
import { Labels } from "./organise.js";
import { called, Face, Linked, Person, STATES } from "./parts.js";
import { contactLink, conversationLink, ticketLink } from "./route.js";
import { t } from "./words.js";

const WEB = /^https?:\/\//;
const nameChannel = (channel) => (channel === "web" ? t("web") : channel);  // a company names others itself
const page = (visit) => visit.title || visit.url.replace(WEB, "");

function Place({ visit }) {
  return html`${WEB.test(visit.url) ? html`<a href=${visit.url} target="_blank" rel="noopener noreferrer" title=${visit.url}>${page(visit)}</a>` : page(visit)}`;
}

// Facts beside the conversation. contact: as it was read, null while it is.
export function Journey({ contact, session }) {
  if (!contact) return null;
  const [last, ...before] = contact.visits;
  return html`<dl class="desk-facts">
    ${last && html`<div><dt>${t("onPage")}</dt><dd><${Place} visit=${last} /></dd></div>`}
    ${(session.channel || contact.channel) && html`<div><dt>${t("channel")}</dt><dd>${nameChannel(session.channel || contact.channel)}</dd></div>`}
    ${contact.language && html`<div><dt>${t("speaks")}</dt><dd>${t(`lang_${contact.language}`)}</dd></div>`}
    <div><dt>${t("lastSeen")}</dt><dd title=${moment(contact.last_seen)}>${ago(contact.last_seen)}</dd></div>
    <div><dt>${t("contactTalks")}</dt><dd><a href=${contactLink(session.session_id)}>${t("talks", { n: contact.total })}</a></dd></div></dl>
  ${before.length ? html`<details class="desk-more"><summary>${t("journey", { n: contact.visits.length })}</summary><ol class="desk-visits">${contact.visits.map((visit) => html`<li><${Place} visit=${visit} /> <span class="yd-tiny yd-muted">${ago(visit.last_at)}${visit.visits > 1 ? ` · ${t("times", { n: visit.visits })}` : ""}</span></li>`)}</ol></details>` : null}`;
}

export function Rename({ desk, id, onClose }) {
  const customer = desk.contact(id)?.customer;
  const [name, setName] = useState(customer?.given || "");
  async function save(event) {
    event.preventDefault();
    if (await attempt(() => desk.nameContact(id, { name: name.trim(), labels: customer.labels }), t("saved"))) onClose();
  }
  return html`<${Dialog} title=${t(customer?.given ? "rename" : "nameIt")} onClose=${onClose}><form class="yd-stack" onSubmit=${save}>
    <${Field} label=${t("contactName")} hint=${t("renameHint")}><input class="yd-input" maxlength="64" value=${name} onInput=${(event) => setName(event.target.value)} /><//>
    <div class="yd-row"><span class="yd-grow"></span><button type="button" class="yd-btn" onClick=${onClose}>${t("cancel")}</button><button class="yd-btn yd-btn-primary" disabled=${!customer}>${t("save")}</button></div></form><//>`;
}

const Part = ({ title, count, children }) => html`<section class="desk-part"><h3>${title} <span class="desk-count yd-nums">${count}</span></h3>${count ? children : html`<p class="desk-none">${t("nothingHere")}</p>`}</section>`;

export function Talk({ one, current }) {
  return html`<li><a class="desk-found" href=${conversationLink(one.session_id)} aria-current=${current ? "true" : undefined}>
    <span class="yd-row"><${Person} customer=${one.customer} /><span class="yd-grow"></span><span class="yd-tiny yd-muted yd-nums" title=${moment(one.updated_at)}>${ago(one.updated_at)}</span></span>
    <span class="desk-item-text yd-clip">${one.snippet || one.first_question || t("noWords")}</span>
    <span class="yd-row yd-wrap desk-item-foot"><span class="yd-tiny yd-muted">${one.state === "bot" ? t("botState") : one.state === "assigned" ? t("withColleague", { name: one.agent }) : t(STATES[one.state])}</span>
      ${one.labels.map((label) => html`<${Tag} tone="accent">${label}<//>`)}</span></a>
    ${one.ticket && html`<a class="yd-tiny desk-found-ticket" href=${ticketLink(one.ticket)} target="_blank">${one.ticket}</a>`}</li>`;
}

export function Contact({ desk, id, act }) {
  const known = desk.contacts.get(id) || {};
  const { data, error } = known;
  useEffect(() => { desk.readContact(id); desk.readLabels(); }, [id]);
  const head = html`<button class="yd-btn yd-btn-quiet" onClick=${() => act("back")}>← ${t("backToTalk")}</button>`;
  if (error) return html`<section class="desk-conversation" aria-label=${t("contactPage")}><div class="desk-pad">${head}<${Failure} error=${error} retry=${() => desk.readContact(id)} /></div></section>`;
  if (!data) return html`<section class="desk-conversation" aria-label=${t("contactPage")}><div class="yd-empty"><${Spinner} /></div></section>`;
  const { customer } = data;
  return html`<section class="desk-conversation desk-contact yd-scroll" aria-label=${t("contactPage")} tabindex="0"><div class="desk-pad yd-stack">
    <div>${head}</div>
    <header class="yd-row yd-wrap"><${Face} customer=${customer} /><div class="yd-grow"><h2>${called({ customer })}</h2>
      <div class="yd-small yd-muted">${customer.user_id && html`<span class="yd-mono">${customer.user_id}</span> · `}${t("since", { time: moment(data.first_seen) })} · ${t("lastSeenAt", { time: ago(data.last_seen) })}</div></div>
      ${customer.level && html`<${Tag} tone="accent">${customer.level}<//>`}<${Tag} tone=${customer.kind === "member" ? "good" : ""}>${t(`kind_${customer.kind}`)}<//>
      <button class="yd-btn" onClick=${() => act("rename")}>${t(customer.given ? "rename" : "nameIt")}</button></header>
    <${Labels} label=${t("contactLabels")} labels=${customer.labels} known=${desk.labels} save=${(labels) => desk.nameContact(id, { name: customer.given, labels })} />
    <${Part} title=${t("contactTalks")} count=${data.total}><ul class="desk-list">${data.conversations.map((one) => html`<${Talk} one=${one} current=${one.session_id === id} />`)}</ul><//>
    <${Part} title=${t("tickets")} count=${data.tickets.length}><ul class="desk-rowlist">${data.tickets.map((one) => html`<li class="yd-row yd-wrap"><a href=${ticketLink(one.number)} target="_blank" class="yd-mono">${one.number}</a><span class="yd-grow">${one.subject}</span><${Tag}>${t(`ticket_${one.state}`)}<//></li>`)}</ul><//>
    <${Part} title=${t("notes")} count=${data.notes.length}><ul class="desk-rowlist">${data.notes.map((note) => html`<li><div class="yd-tiny yd-muted">${note.name} · ${moment(note.created_at)} · <a href=${conversationLink(note.session_id)}>${t("openTalk")}</a></div><p><${Linked} text=${note.content} /></p></li>`)}</ul><//>
    <${Part} title=${t("votes")} count=${data.votes.length}><ul class="desk-rowlist">${data.votes.map((vote) => html`<li><div class="yd-row yd-wrap"><span class="yd-tiny" data-vote=${vote.rating}>${t(vote.rating)}</span><span class="yd-grow">${vote.question}</span><a class="yd-tiny" href=${conversationLink(vote.session_id)}>${t("openTalk")}</a></div>${vote.reason && html`<p>${vote.reason}</p>`}</li>`)}</ul><//>
    <${Part} title=${t("journeyTitle")} count=${data.visits.length}><ul class="desk-rowlist">${data.visits.map((visit) => html`<li class="yd-row yd-wrap"><span class="yd-grow"><${Place} visit=${visit} /></span><span class="yd-tiny yd-muted">${ago(visit.last_at)} · ${t("times", { n: visit.visits })}</span></li>`)}</ul><//>
  </div></section>`;
}
