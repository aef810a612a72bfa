// What the list, the board and the page of a ticket have in common.
import { ago, moment, words } from "../shared/i18n.js";
import { Field, Tag, html, useLoaded } from "../shared/ui.js";
import { options } from "./names.js";
import { link } from "./route.js";
import { server } from "./server.js";

export const TICKETS = "/api/v1/tickets";
export const MOVES = { open: ["in_progress", "waiting", "resolved", "closed"], in_progress: ["waiting", "resolved", "closed"], waiting: ["in_progress", "resolved", "closed"], resolved: ["closed", "reopened"], closed: ["reopened"], reopened: ["in_progress", "waiting", "resolved", "closed"] };
const SOON = 3600;  // seconds
const t = words({
  zh: { paused: "等顾客，停表", overdue: "已超时", respond: "回应", resolve: "解决", late: "超时未回应", nobody: "未分配", people: "同事", teams: "客服组", gone: "{id}（已停用）", visitor: "访客", unproved: "（未证明）", conversation: "会话" },
  en: { paused: "waiting, clock stopped", overdue: "Overdue", respond: "Respond", resolve: "Resolve", late: "No response in time", nobody: "Nobody", people: "Colleagues", teams: "Teams", gone: "{id} (disabled)", visitor: "Visitor", unproved: " (not proved)", conversation: "Conversation" },
});

// {people, teams} to whom a ticket may be given; empty while it is loading.
export function useAssignees() {
  return useLoaded((signal) => server.get(`${TICKETS}/assignees`, {}, { signal }), []).data || { people: [], teams: [] };
}

const nameIn = (list, id) => list.find((one) => one.id === id)?.name;
export const personName = (assignees, id) => nameIn(assignees.people, id) || id;
export const teamName = (assignees, id) => nameIn(assignees.teams, id) || id;

export function Assigned({ ticket, assignees }) {
  const names = [ticket.assignee && personName(assignees, ticket.assignee), ticket.team && teamName(assignees, ticket.team)].filter(Boolean);
  return names.length ? names.join(" · ") : html`<span class="yd-muted">${t("nobody")}</span>`;
}

// The value of one <select> for people and teams: a person's id, "team:ID", "none", or "" for no choice.
export const TEAM = "team:", NONE = "none";
export const AssigneeOptions = ({ assignees }) => html`<option value=${NONE}>${t("nobody")}</option>
  ${assignees.people.length > 0 && html`<optgroup label=${t("people")}>${assignees.people.map((one) => html`<option value=${one.id}>${one.name}</option>`)}</optgroup>`}
  ${assignees.teams.length > 0 && html`<optgroup label=${t("teams")}>${assignees.teams.map((one) => html`<option value=${TEAM + one.id}>${one.name}</option>`)}</optgroup>`}`;

// What is kept stays choosable although it is not in the list any more.
export function Pick({ label, list, value, onChange }) {
  const known = !value || list.some((one) => one.id === value);
  return html`<${Field} label=${label}><select class="yd-input" value=${value} onChange=${(event) => onChange(event.target.value)}><option value="">${t("nobody")}</option>
    ${!known && html`<option value=${value} selected>${t("gone", { id: value })}</option>`}${list.map((one) => html`<option value=${one.id} selected=${one.id === value}>${one.name}</option>`)}</select><//>`;
}

export const Select = ({ label, kind, value, onChange }) => html`<${Field} label=${label}><select class="yd-input" value=${value} onChange=${(event) => onChange(event.target.value)}>
  ${options(kind).map(([one, shown]) => html`<option value=${one} selected=${one === value}>${shown}</option>`)}</select><//>`;

// The next end of the service level: of the first response while there was none, then of the resolution.
export function Due({ ticket }) {
  const { sla } = ticket;
  if (ticket.resolved_at) return html`<span class="yd-muted">—</span>`;
  if (sla.paused) return html`<span class="yd-muted">${t("paused")}</span>`;
  if (sla.breached) return html`<${Tag} tone="bad">${t("overdue")}<//><span class="ad-sub">${moment(sla.resolve_by)}</span>`;
  if (!sla.responded_at && sla.response_breached) return html`<${Tag} tone="bad">${t("late")}<//><span class="ad-sub">${t("resolve")} ${ago(sla.resolve_by)}</span>`;
  return html`<${Left} end=${sla.responded_at ? sla.resolve_by : sla.respond_by} name=${t(sla.responded_at ? "resolve" : "respond")} />`;
}

function Left({ end, name = "" }) {
  const near = Date.parse(end) - Date.now() < 1000 * SOON;
  return html`<span class=${near ? "ad-when ad-warn" : "ad-when"} title=${moment(end)}>${name} ${ago(end)}</span>`;
}

// How one end of the service level stands: breached is whether it has passed without what it is for.
export function Standing({ ticket, end, breached, late }) {
  if (breached) return html`<${Tag} tone="bad">${t(late)}<//>`;
  if (ticket.resolved_at) return null;
  return ticket.sla.paused ? html`<span class="yd-muted">${t("paused")}</span>` : html`<${Left} end=${end} />`;
}

export const NumberLink = ({ number }) => html`<a class="yd-mono" href=${link(`tickets/${encodeURIComponent(number)}`)}>${number}</a>`;

// Numbers of tickets within a text are links; as `mark` of `Prose`, too.
export const linked = (text) => text.split(/\b(TK\d{12})\b/).map((part, n) => (n % 2 ? html`<${NumberLink} number=${part} />` : part));

// The customer's page at the desk, where there is a conversation that leads to it.
export function Customer({ ticket }) {
  const name = ticket.user_id ? ticket.user_id + (ticket.verified ? "" : t("unproved")) : ticket.session_id && t("visitor");
  return ticket.session_id ? html`<a href=${`/desk#/contact/${encodeURIComponent(ticket.session_id)}`}>${name}</a>` : name;
}

export const ConversationLink = ({ session, children }) => html`<a href=${link(`conversations/${encodeURIComponent(session)}`)}>${children || t("conversation")}</a>`;
