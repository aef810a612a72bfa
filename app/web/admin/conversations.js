// Conversations: found by what was said and how they ended.
import { ago, moment, number, words } from "../shared/i18n.js";
import { Dialog, Field, Tag, html, useLoaded } from "../shared/ui.js";
import { Conversation } from "./conversation.js";
import { Choice, Days, Listing, Search, moments, useListing } from "./listing.js";
import { Named, named, options } from "./names.js";
import { Head } from "./page.js";
import { go, link } from "./route.js";
import { server } from "./server.js";

const t = words({
  zh: { title: "会话", text: "每一段对话、每一句凭什么这样回答、顾客怎么评价。", search: "搜索说过的话、会话或顾客编号", worst: "最不顺的一句", trouble: "怎么不顺", last: "最后的结论", label: "加标签", labelled: "标签", labelText: "给选中的 {n} 个会话加上：", save: "加上", remove: "删除", removeTitle: "删除 {n} 个会话？", removeText: "说过的话、评价和附件一起彻底删除，不能恢复。", try: "去聊天页问一句", turns: "轮数", votes: "评价", up: "赞", down: "踩", when: "最近", channel: "渠道", desk: "人工", handed: "转过人工", never: "没转过人工", outcome: "结论", rating: "评价", ups: "有赞", downs: "有踩", empty: "还没有会话。顾客说的第一句话会出现在这里。", anonymous: "未登录顾客", nothing: "（没有文字）" },
  en: { title: "Conversations", text: "Each conversation, why each reply was as it was, and what customers thought of it.", search: "Search what was said, session or customer", worst: "Worst turn", trouble: "What was wrong", last: "Last outcome", label: "Label", labelled: "Label", labelText: "Add to the {n} conversations:", save: "Add", remove: "Delete", removeTitle: "Delete {n} conversations?", removeText: "What was said, votes and attachments are deleted for good. This cannot be undone.", try: "Ask something on the chat page", turns: "Turns", votes: "Votes", up: "up", down: "down", when: "Active", channel: "Channel", desk: "Desk", handed: "Handed off", never: "Never handed off", outcome: "Outcome", rating: "Votes", ups: "With thumbs up", downs: "With thumbs down", empty: "No conversations yet. A customer's first message shows here.", anonymous: "Not signed in", nothing: "(no text)" },
});

export function Conversations(props) {
  return props.route.id ? html`<${Conversation} key=${props.route.id} ...${props} />` : html`<${All} ...${props} />`;
}

function All({ route }) {
  const list = useListing(route, ["q", "label", "trouble", "outcome", "handoff", "rating", "channel", "since", "until"], (query, signal) => server.get("/api/v1/conversations", { ...query, ...moments(query) }, { signal }));
  const columns = [
    { title: t("worst"), text: (item) => item.title, cell: (item) => html`<a href=${link(`conversations/${item.session_id}`)}>${item.title || t("nothing")}</a>${item.labels.map((label) => html` <a class="yd-tag" href=${link("conversations", { label })}>${label}</a>`)}<span class="ad-sub">${item.user_id || t("anonymous")}${item.channel && ` · ${item.channel}`}</span>` },
    { title: t("trouble"), text: (item) => named("trouble", item.trouble), cell: (item) => item.trouble !== "none" && html`<${Named} kind="trouble" value=${item.trouble} />` },
    { title: t("last"), name: "ad-wide", text: (item) => named("outcome", item.last_outcome), cell: (item) => html`<div class="yd-row yd-wrap">${item.last_outcome && html`<${Named} kind="outcome" value=${item.last_outcome} />`}${item.handoff && item.last_outcome !== "handoff" && html`<${Tag} tone="accent">${t("handed")}<//>`}</div>` },
    { title: t("turns"), numeric: true, name: "ad-wide", sort: "turns", text: (item) => item.turns, cell: (item) => number(item.turns) },
    { title: t("votes"), name: "ad-wide", text: (item) => `${t("up")} ${item.up} ${t("down")} ${item.down}`, cell: (item) => html`<span class="yd-row yd-small ad-when">${item.up > 0 && html`<span>${t("up")} ${item.up}</span>`}${item.down > 0 && html`<span class="yd-error">${t("down")} ${item.down}</span>`}</span>` },
    { title: t("when"), name: "ad-wide", sort: "updated", latest: true, text: (item) => item.updated_at, cell: (item) => html`<span class="ad-when" title=${moment(item.updated_at)}>${ago(item.updated_at)}</span>` },
  ];
  const bulk = [
    { title: t("label"), ask: Labelling, run: (item, label) => item.labels.includes(label) || server.put(`/api/v1/agent/sessions/${item.session_id}/labels`, { labels: [...item.labels, label] }) },
    { title: t("remove"), danger: true, run: (item) => server.delete(`/api/v1/conversations/${item.session_id}`), sure: (rows) => ({ title: t("removeTitle", { n: rows.length }), text: t("removeText") }) },
  ];
  return html`<${Head} title=${t("title")} text=${t("text")} />
    <${Listing} list=${list} caption=${t("title")} columns=${columns} file="conversations" bulk=${bulk} rowsOf=${(data) => data.conversations} keyOf=${(item) => item.session_id} nameOf=${(item) => item.title || item.session_id} onOpen=${(item) => go(`conversations/${item.session_id}`)} empty=${t("empty")} next=${html`<a class="yd-btn" href="/" target="_blank" rel="noopener">${t("try")}</a>`} filters=${html`<${Search} list=${list} label=${t("search")} />
      ${list.asked.label && html`<button class="yd-tag" onClick=${() => list.change({ label: "" })}>${t("labelled")} ${list.asked.label} ×</button>`}<${Choice} list=${list} name="trouble" label=${t("trouble")} options=${options("trouble").filter(([value]) => value !== "none")} />
      <${Choice} list=${list} name="outcome" label=${t("outcome")} options=${options("outcome")} /><${Choice} list=${list} name="handoff" label=${t("desk")} options=${[["true", t("handed")], ["false", t("never")]]} />
      <${Choice} list=${list} name="rating" label=${t("rating")} options=${[["down", t("downs")], ["up", t("ups")]]} /><${Days} list=${list} />`} />`;
}

// Which label is given to all that were selected; those in use are suggested.
function Labelling({ rows, onClose, onDone }) {
  const known = useLoaded((signal) => server.get("/api/v1/agent/labels", {}, { signal }), []);
  const save = (event) => { event.preventDefault(); onDone(new FormData(event.target).get("label").trim()); };
  return html`<${Dialog} title=${t("label")} onClose=${onClose}><form class="yd-stack" onSubmit=${save}>
    <${Field} label=${t("labelText", { n: number(rows.length) })}><input class="yd-input" name="label" required maxlength="32" pattern=".*\\S.*" list="ad-labels" autocomplete="off" /><//>
    <datalist id="ad-labels">${(known.data?.labels || []).map((label) => html`<option value=${label} />`)}</datalist>
    <div class="yd-row"><span class="yd-grow"></span><button class="yd-btn yd-btn-primary">${t("save")}</button></div></form><//>`;
}
