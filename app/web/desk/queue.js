// The left column: who waits, and whom I serve; or conversations of before.
import { html, Empty, Spinner, Tag } from "../shared/ui.js";
import { moment } from "../shared/i18n.js";
import { History } from "./history.js";
import { Person, Since, snoozed, STATES, Urgency, useSecond } from "./parts.js";
import { t } from "./words.js";

function Item({ desk, session, place, open }) {
  const id = session.session_id, unread = desk.unreadOf(session), mine = desk.holds(id);
  const waits = session.state === "queued" || session.state === "out_of_hours";
  const text = session.last_message?.content || session.card.question || session.card.summary || "";
  return html`<li><button class="desk-item" data-session=${id} aria-current=${desk.open === id ? "true" : undefined} onClick=${() => open(id)}>
    <span class="yd-row"><${Person} customer=${session.customer} user_id=${session.user_id} /><span class="yd-grow"></span>
      ${waits && html`<${Urgency} session=${session} />`}
      ${unread ? html`<span class="desk-unread yd-nums"><span aria-hidden="true">${unread}</span><span class="yd-sr">${t("unread", { n: unread })}</span></span>` : null}
      ${place && place <= 9 ? html`<kbd class="desk-kbd" aria-hidden="true">${place}</kbd>` : null}</span>
    <span class="desk-item-text yd-clip">${text}</span>
    <span class="yd-row desk-item-foot">
      ${waits ? html`<${Since} from=${session.queued_at} words="waited" patience />` : mine ? html`<${Since} from=${session.assigned_at} words="served" />` : html`<span class="yd-tiny yd-muted">${t(STATES[session.state], { name: desk.name(session.agent_id) })}</span>`}
      ${session.state === "out_of_hours" && html`<${Tag}>${t("out_of_hours")}<//>`}
      ${session.skill && html`<${Tag}>${session.skill}<//>`}
      ${snoozed(session) && html`<${Tag}>${t("backAt", { time: moment(session.snoozed_until) })}<//>`}
      ${(session.labels || []).map((label) => html`<${Tag} tone="accent">${label}<//>`)}
    </span></button></li>`;
}

function Group({ title, count, children }) {
  return html`<section class="desk-group" aria-label=${title}><h2 class="desk-group-title"><span>${title}</span>${count ? html` <span class="yd-nums desk-count">${count}</span>` : null}</h2>${children}</section>`;
}

export function Queue({ desk, open }) {
  const items = (sessions, numbered) => html`<ul class="desk-list">${sessions.map((session, n) => html`<${Item} key=${session.session_id} desk=${desk} session=${session} place=${numbered && n + 1} open=${open} />`)}</ul>`;
  useSecond(); // what was put aside comes back by itself
  const mine = [...desk.mine.values()].filter((session) => !snoozed(session)), aside = [...desk.mine.values()].filter(snoozed);
  const tab = (past, word) => html`<button type="button" aria-pressed=${desk.past === past} onClick=${() => { desk.past = past; desk.changed(); }}>${t(word)}</button>`;
  const tabs = html`<div class="desk-modes desk-tabs" role="group" aria-label=${t("lists")}>${tab(false, "serving")}${tab(true, "history")}</div>`;
  if (desk.past) return html`<nav class="desk-queue" aria-label=${t("history")} tabindex="-1">${tabs}<${History} desk=${desk} /></nav>`;
  return html`<nav class="desk-queue" aria-label=${t("queue")} tabindex="-1">${tabs}
    <${Group} title=${t("mine")} count=${mine.length}>${mine.length ? items(mine, true) : html`<p class="desk-none">${t("mineEmpty")}</p>`}<//>
    <${Group} title=${t("queue")} count=${desk.queue?.length}>
      ${desk.queue === null ? html`<${Empty}><${Spinner} /><//>` : desk.queue.length ? items(desk.queue) : html`<p class="desk-none">${t("queueEmpty")}</p>`}<//>
    ${aside.length > 0 && html`<${Group} title=${t("snoozedGroup")} count=${aside.length}>${items(aside)}<//>`}
    ${desk.ended.length > 0 && html`<${Group} title=${t("recent")}>${items(desk.ended)}<//>`}
  </nav>`;
}
