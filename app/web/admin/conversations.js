// Conversations: found by what was said and how they ended.
import { ago, moment, number, words } from "../shared/i18n.js";
import { Tag, html } from "../shared/ui.js";
import { Conversation } from "./conversation.js";
import { Choice, Listing, Search, useListing } from "./listing.js";
import { Named, options } from "./names.js";
import { Head } from "./page.js";
import { go, link } from "./route.js";
import { server } from "./server.js";

const t = words({
  zh: { title: "会话", text: "每一段对话、每一句凭什么这样回答、顾客怎么评价。", search: "搜索说过的话、会话或顾客编号", first: "第一句", last: "最后的结论", turns: "轮数", votes: "评价", up: "赞", down: "踩", when: "最近", channel: "渠道", desk: "人工", handed: "转过人工", never: "没转过人工", outcome: "结论", rating: "评价", ups: "有赞", downs: "有踩", since: "从", until: "到", empty: "还没有会话。顾客说的第一句话会出现在这里。", anonymous: "未登录顾客", nothing: "（没有文字）" },
  en: { title: "Conversations", text: "Each conversation, why each reply was as it was, and what customers thought of it.", search: "Search what was said, session or customer", first: "First message", last: "Last outcome", turns: "Turns", votes: "Votes", up: "up", down: "down", when: "Active", channel: "Channel", desk: "Desk", handed: "Handed off", never: "Never handed off", outcome: "Outcome", rating: "Votes", ups: "With thumbs up", downs: "With thumbs down", since: "From", until: "To", empty: "No conversations yet. A customer's first message shows here.", anonymous: "Not signed in", nothing: "(no text)" },
});

const day = (text, end) => (text ? new Date(`${text}T${end ? "23:59:59" : "00:00:00"}`).toISOString() : "");

export function Conversations(props) {
  return props.route.id ? html`<${Conversation} key=${props.route.id} ...${props} />` : html`<${All} ...${props} />`;
}

function All({ route }) {
  const list = useListing(route, ["q", "outcome", "handoff", "rating", "channel", "since", "until"], (query, signal) => server.get("/api/v1/conversations", { ...query, since: day(query.since), until: day(query.until, true) }, { signal }));
  const columns = [
    { title: t("first"), cell: (item) => html`<a href=${link(`conversations/${item.session_id}`)}>${item.first_question || t("nothing")}</a><span class="ad-sub">${item.user_id || t("anonymous")}${item.channel && ` · ${item.channel}`}</span>` },
    { title: t("last"), cell: (item) => html`<div class="yd-row yd-wrap">${item.last_outcome && html`<${Named} kind="outcome" value=${item.last_outcome} />`}${item.handoff && item.last_outcome !== "handoff" && html`<${Tag} tone="accent">${t("handed")}<//>`}</div>` },
    { title: t("turns"), numeric: true, name: "ad-wide", cell: (item) => number(item.turns) },
    { title: t("votes"), name: "ad-wide", cell: (item) => html`<span class="yd-row yd-small ad-when">${item.up > 0 && html`<span>${t("up")} ${item.up}</span>`}${item.down > 0 && html`<span class="yd-error">${t("down")} ${item.down}</span>`}</span>` },
    { title: t("when"), name: "ad-wide", cell: (item) => html`<span class="ad-when" title=${moment(item.updated_at)}>${ago(item.updated_at)}</span>` },
  ];
  const date = (name) => html`<label class="yd-small yd-row">${t(name)}<input class="yd-input ad-choice" type="date" value=${list.asked[name]} onChange=${(event) => list.change({ [name]: event.target.value })} /></label>`;
  return html`<${Head} title=${t("title")} text=${t("text")} />
    <${Listing} list=${list} caption=${t("title")} columns=${columns} rowsOf=${(data) => data.conversations} keyOf=${(item) => item.session_id} onOpen=${(item) => go(`conversations/${item.session_id}`)} empty=${t("empty")} filters=${html`<${Search} list=${list} label=${t("search")} />
      <${Choice} list=${list} name="outcome" label=${t("outcome")} options=${options("outcome")} /><${Choice} list=${list} name="handoff" label=${t("desk")} options=${[["true", t("handed")], ["false", t("never")]]} />
      <${Choice} list=${list} name="rating" label=${t("rating")} options=${[["down", t("downs")], ["up", t("ups")]]} /><div class="ad-dates">${date("since")}${date("until")}</div>`} />`;
}
