// Small pieces that the columns share.
import { useEffect, useState } from "../vendor/preact-htm.js";
import { language } from "../shared/i18n.js";
import { html, Tag } from "../shared/ui.js";
import { ticketLink } from "./route.js";
import { lasted, t } from "./words.js";

// Draws again every second.
export function useSecond() {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((n) => n + 1), 1000);
    return () => clearInterval(timer);
  }, []);
}

export const waiting = (session) => session && (session.state === "queued" || session.state === "out_of_hours");

// A running time since a moment; it is coloured when somebody waits for long.
export function Since({ from, words, patience }) {
  useSecond();
  if (!from) return null;
  const seconds = (Date.now() - Date.parse(from)) / 1000;
  const tone = patience && seconds > 600 ? "bad" : patience && seconds > 180 ? "warn" : "";
  return html`<span class="desk-since yd-tiny yd-nums" data-tone=${tone}>${t(words, { time: lasted(seconds) })}</span>`;
}

export const Urgency = ({ session }) => (session.priority >= 2 ? html`<${Tag} tone="bad">${t("urgent")}<//>` : session.priority === 1 ? html`<${Tag} tone="warn">${t("soon")}<//>` : null);

export const STATES = { queued: "waitingState", out_of_hours: "waitingState", assigned: "withColleague", resolved: "resolvedState", closed: "closedState", bot: "botState" };
export const snoozed = (session) => session.snoozed_until && Date.parse(session.snoozed_until) > Date.now();

// A name for people: what staff call the customer, else as far as somebody knows.
export function called({ customer, user_id }) {
  if (!customer) return user_id || t("anonymous");
  return customer.given || customer.name || customer.user_id || t("visitor", { alias: language() === "zh" ? customer.alias : customer.alias_en });
}

export const Face = ({ customer }) => html`<span class="desk-face" data-colour=${customer ? customer.colour : undefined} aria-hidden="true">${[...(customer ? customer.given || customer.name || (customer.kind === "visitor" ? (language() === "zh" ? customer.alias : customer.alias_en) : customer.user_id) : "?")][0]}</span>`;
export const Person = ({ customer, user_id }) => html`<${Face} customer=${customer} /><strong class="yd-clip">${called({ customer, user_id })}</strong>${customer?.level && html`<span class="yd-tiny yd-muted">${customer.level}</span>`}`;

// Numbers of tickets within a text are links.
const TICKET = /\b(TK\d{12})\b/;
export const linked = (text) => text.split(TICKET).map((part, n) => (n % 2 ? html`<a href=${ticketLink(part)} target="_blank">${part}</a>` : part));
export const Linked = ({ text }) => linked(text);

const TONES = { answered: "good", partially_answered: "good", low_confidence: "warn", clarify: "accent", no_evidence: "warn", cannot_answer: "warn", high_stakes: "bad", rejected: "bad" };
export const OutcomeTag = ({ outcome }) => html`<${Tag} tone=${TONES[outcome]}>${t(`o_${outcome}`)}<//>`;

// The numbers of sources mean nothing to customers of a person.
export const uncited = (text) => text.replace(/[ \t]*\[(\d+|SQL)\]/g, "").trim();

export function Section({ title, extra, children }) {
  return html`<section class="desk-section"><div class="yd-row"><h3 class="yd-grow">${title}</h3>${extra}</div>${children}</section>`;
}
