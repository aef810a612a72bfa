// Tickets as a board: a column a state; a card is dragged, or moved by its menu, which keyboards and phones reach.
import { words } from "../shared/i18n.js";
import { Failure, Spinner, html, useLoaded } from "../shared/ui.js";
import { useState } from "../vendor/preact-htm.js";
import { Named, named } from "./names.js";
import { link } from "./route.js";
import { server } from "./server.js";
import { Assigned, Due, MOVES, NumberLink, TICKETS } from "./ticket-parts.js";

const COLUMNS = [["open", ["open", "reopened"]], ["in_progress", ["in_progress"]], ["waiting", ["waiting"]], ["resolved", ["resolved"]], ["closed", ["closed"]]];
const SHOWN = 20;
const t = words({
  zh: { move: "移动工单 {number}", moveTo: "移到…", more: "还有 {n} 张", none: "没有", board: "看板" },
  en: { move: "Move ticket {number}", moveTo: "Move to…", more: "{n} more", none: "None", board: "Board" },
});

// query: what the list is narrowed to, as the interface asks it; move: (ticket, to) => promise of whether it went well.
export function Board({ query, assignees, move }) {
  const state = useLoaded((signal) => Promise.all(COLUMNS.map(([, states]) => {
    const asked = new URLSearchParams(Object.entries({ ...query, limit: SHOWN }).filter(([, value]) => value !== "" && value !== undefined));
    for (const one of states) asked.append("state", one);
    return server.get(`${TICKETS}?${asked}`, {}, { signal });
  })), [JSON.stringify(query)]);
  const [over, setOver] = useState("");
  if (state.error) return html`<${Failure} error=${state.error} retry=${state.reload} />`;
  if (!state.data) return html`<div class="yd-card yd-empty"><${Spinner} /></div>`;
  const tickets = new Map(state.data.flatMap((page) => page.tickets.map((ticket) => [ticket.number, ticket])));
  const go = async (ticket, to) => { await move(ticket, to); state.reload(); };
  const drop = (name) => (event) => {
    event.preventDefault();
    setOver("");
    const ticket = tickets.get(event.dataTransfer.getData("text/plain"));
    const to = ticket && name === "open" ? "reopened" : name;
    if (ticket && ticket.state !== to && !(name === "open" && ticket.state === "open")) go(ticket, to);
  };
  return html`<div class="ad-board" role="group" aria-label=${t("board")} tabindex="0" aria-busy=${state.loading}>${COLUMNS.map(([name], place) => {
    const page = state.data[place];
    return html`<section class="ad-column" aria-label=${named("state", name)} data-over=${over === name} onDragOver=${(event) => { event.preventDefault(); setOver(name); }} onDragLeave=${() => setOver("")} onDrop=${drop(name)}>
      <h2>${named("state", name)} <span class="yd-muted yd-nums">${page.total}</span></h2>
      ${page.tickets.map((ticket) => html`<article key=${ticket.number} class="yd-card ad-ticket" draggable="true" onDragStart=${(event) => event.dataTransfer.setData("text/plain", ticket.number)}>
        <a href=${link(`tickets/${ticket.number}`)} draggable="false">${ticket.subject}</a>
        <div class="yd-row yd-wrap yd-tiny"><${Named} kind="priority" value=${ticket.priority} /><${Named} kind="category" value=${ticket.category} />${ticket.state === "reopened" && html`<${Named} kind="state" value="reopened" />`}</div>
        <div class="yd-tiny"><${NumberLink} number=${ticket.number} /></div>
        <div class="yd-tiny yd-muted"><${Assigned} ticket=${ticket} assignees=${assignees} /> · <${Due} ticket=${ticket} /></div>
        <select class="yd-input ad-size" aria-label=${t("move", { number: ticket.number })} value="" onChange=${(event) => { const to = event.target.value; event.target.value = ""; go(ticket, to); }}>
          <option value="">${t("moveTo")}</option>${MOVES[ticket.state].map((to) => html`<option value=${to}>${named("state", to)}</option>`)}</select></article>`)}
      ${page.total === 0 && html`<p class="yd-small yd-muted">${t("none")}</p>`}
      ${page.total > page.tickets.length && html`<a class="yd-small" href=${link("tickets", { ...query, state: name })}>${t("more", { n: page.total - page.tickets.length })}</a>`}</section>`;
  })}</div>`;
}
