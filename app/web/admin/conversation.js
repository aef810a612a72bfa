// One conversation: what was said by whom, how each reply was decided, how it was rated.
import { clock, moment, number, words } from "../shared/i18n.js";
import { Prose } from "../shared/markdown.js";
import { Loaded, Tag, attempt, confirmed, html, toast, useLoaded } from "../shared/ui.js";
import { useState } from "../vendor/preact-htm.js";
import { Named, named } from "./names.js";
import { Facts, Head } from "./page.js";
import { go, link } from "./route.js";
import { server } from "./server.js";
import { NumberLink, TICKETS, linked } from "./ticket-parts.js";
import { TraceDrawer } from "./trace.js";

const t = words({
  zh: { back: "全部会话", title: "会话", about: "这段会话", customer: "顾客", unproved: "（未证明）", channel: "渠道", state: "现在由谁接待", turns: "轮数", started: "开始于", last: "最近", id: "会话编号", remove: "删除", removeTitle: "删除这段会话？", removeText: "全部消息、评价和决策记录都会删除，不能恢复。", removed: "已删除", trace: "怎么答的", up: "赞", down: "踩", cached: "来自缓存", sources: "来源", page: "第 {n} 页", tickets: "这段会话的工单", ticket: "工单", votes: "评价", anonymous: "未登录", empty: "这段会话里还没有话。", outcomes: "各轮结论" },
  en: { back: "All conversations", title: "Conversation", about: "This conversation", customer: "Customer", unproved: " (not proved)", channel: "Channel", state: "Now with", turns: "Turns", started: "Started", last: "Last active", id: "Session id", remove: "Delete", removeTitle: "Delete this conversation?", removeText: "All messages, votes and traces are deleted. This cannot be undone.", removed: "Deleted", trace: "How it was decided", up: "Thumbs up", down: "Thumbs down", cached: "From the cache", sources: "Sources", page: "page {n}", tickets: "Its tickets", ticket: "Tickets", votes: "Votes", anonymous: "Not signed in", empty: "Nothing was said yet.", outcomes: "Outcomes" },
});

export function Conversation({ route }) {
  const address = `/api/v1/conversations/${encodeURIComponent(route.id)}`;
  const state = useLoaded((signal) => server.get(address, {}, { signal }), [route.id]);
  const tickets = useLoaded((signal) => server.get(TICKETS, { session_id: route.id }, { signal }), [route.id]).data?.tickets || [];
  const [traced, setTraced] = useState(route.query.get("trace") || "");
  const back = { href: link("conversations"), title: t("back") };
  if (!state.data) return html`<${Head} title=${t("title")} back=${back} /><${Loaded} state=${state} />`;
  const talk = state.data;
  const turns = new Map(talk.turns.map((turn) => [turn.message_id, turn]));
  const remove = async () => {
    if (!await confirmed({ title: t("removeTitle"), text: t("removeText"), action: t("remove") })) return;
    await attempt(async () => { await server.delete(address); toast(t("removed"), "good"); go("conversations"); });
  };
  const votes = { up: talk.turns.filter((turn) => turn.rating === "up").length, down: talk.turns.filter((turn) => turn.rating === "down").length };
  const outcomes = [...new Set(talk.turns.map((turn) => turn.outcome))];
  return html`<${Head} title=${talk.turns[0]?.question.slice(0, 60) || t("title")} back=${back}><a class="yd-btn" href=${link("tickets", { session_id: talk.session_id })}>${t("tickets")}</a><button class="yd-btn yd-btn-danger" onClick=${remove}>${t("remove")}</button><//>
    <div class="ad-two"><section class="yd-card ad-talk" aria-label=${t("title")}>${talk.entries.length === 0 && t("empty")}${talk.entries.map((entry) => html`<${Entry} entry=${entry} turn=${turns.get(entry.message_id)} trace=${setTraced} />`)}</section>
    <aside class="yd-card"><div class="ad-card-title"><h2>${t("about")}</h2></div><${Facts} facts=${[
      [t("customer"), talk.user_id ? talk.user_id + (talk.verified ? "" : t("unproved")) : t("anonymous")], [t("channel"), talk.channel], [t("state"), html`<${Named} kind="desk" value=${talk.state} />`], [t("turns"), number(talk.turns.length)],
      [t("outcomes"), outcomes.length > 0 && html`<span class="yd-row yd-wrap">${outcomes.map((outcome) => html`<${Named} kind="outcome" value=${outcome} />`)}</span>`], [t("votes"), (votes.up + votes.down > 0) && `${t("up")} ${votes.up} · ${t("down")} ${votes.down}`],
      [t("ticket"), tickets.length > 0 && tickets.map((ticket) => html`<div><${NumberLink} number=${ticket.number} /> ${ticket.subject}</div>`)],
      [t("started"), moment(talk.created_at)], [t("last"), moment(talk.updated_at)], [t("id"), html`<span class="yd-mono yd-tiny">${talk.session_id}</span>`]]} /></aside></div>
    ${traced && html`<${TraceDrawer} id=${traced} onClose=${() => setTraced("")} />`}`;
}

function Entry({ entry, turn, trace }) {
  if (entry.event) return html`<div class="ad-happened">${named("event", entry.event)}${entry.name && ` · ${entry.name}`}${entry.note && ` · ${named("reason", entry.note)}`} · ${clock(entry.created_at)}</div>`;
  const replied = entry.who === "bot" && turn;
  return html`<div class="ad-turn"><div class="ad-say" data-who=${entry.who}>${entry.who === "bot" ? html`<${Prose} text=${entry.text} mark=${linked} />` : html`<div class="ad-text">${linked(entry.text)}</div>`}
      ${replied && turn.data.sources.length > 0 && html`<${Sources} sources=${turn.data.sources} />`}</div>
    <div class="ad-said" data-who=${entry.who}><span>${entry.name || named("who", entry.who)} · ${clock(entry.created_at)}</span>
      ${replied && html`<${Named} kind="outcome" value=${turn.outcome} />${turn.data.cached && html`<${Tag}>${t("cached")}<//>`}
        ${turn.rating && html`<${Tag} tone=${turn.rating === "up" ? "good" : "bad"}>${t(turn.rating)}${turn.reason && `：${turn.reason}`}<//>`}
        <button class="yd-btn yd-btn-small" onClick=${() => trace(turn.message_id)}>${t("trace")}</button>`}</div></div>`;
}

const Sources = ({ sources }) => html`<details><summary>${t("sources")} ${sources.length}</summary><ul class="ad-sources">${sources.map((source) => (source.table
  ? html`<li>[SQL] ${source.table} · ${source.key}</li>`
  : html`<li>[${source.index}] ${source.document_id ? html`<a href=${link(`documents/${source.document_id}`)}>${source.title}</a>` : source.title}${source.page ? ` · ${t("page", { n: source.page })}` : ""}${source.heading && ` · ${source.heading}`}</li>`))}</ul></details>`;
