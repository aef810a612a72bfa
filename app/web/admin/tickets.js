// Tickets: found, ordered, looked at as a list or a board, changed together, taken out as a file, opened.
import { ago, moment, words } from "../shared/i18n.js";
import { Dialog, Failure, Field, attempt, confirmed, html, toast } from "../shared/ui.js";
import { useEffect, useState } from "../vendor/preact-htm.js";
import { Choice, Listing, Search, useListing } from "./listing.js";
import { Named, named, options } from "./names.js";
import { Head, Tabs } from "./page.js";
import { go, link } from "./route.js";
import { server } from "./server.js";
import { Board } from "./ticket-board.js";
import { Assigned, AssigneeOptions, ConversationLink, Customer, Due, NONE, NumberLink, Select, TEAM, TICKETS, useAssignees } from "./ticket-parts.js";
import { Ticket } from "./ticket.js";

const ORDERS = ["urgency", "due", "newest", "oldest", "updated"], STATES = ["in_progress", "waiting", "resolved", "closed", "reopened"], REFUSED = ["invalid_transition", "ticket_not_found"];
const t = words({
  zh: {
    title: "工单", text: "要有人跟进的事。没办完的在前，其中紧急的先。", search: "编号、主题、说明、顾客", ticket: "工单", state: "状态", priority: "优先级", category: "类别", assignee: "负责人", anybody: "负责人：全部", due: "时限", onlyOverdue: "只看超时", updated: "更新于", new: "新建工单", subject: "一句话说明", description: "详情", create: "登记", user: "顾客编号（可选）", session: "会话编号（可选）", noneHere: "这段会话还没有工单。", moved: "已移到 {state}",
    list: "列表", board: "看板", views: "看法", order: "排序", o_urgency: "紧急的先", o_due: "先到时限的先", o_newest: "新登记的先", o_oldest: "先登记的先", o_updated: "刚变化的先", mine: "分给我的", export: "导出 CSV",
    empty: "还没有工单。顾客在对话里说“帮我报个修”并确认，或没有客服在线时请求人工，这里就会有一张；电话里接到的事，也可以自己登记。", tryIt: "去对话里试一次",
    choose: "选中工单 {number}", chooseAll: "选中这一页", chosen: "已选 {n} 张", setState: "改状态…", setPriority: "改优先级…", give: "分给…", unchoose: "取消选择", done: "{n} 张已改", outcomes: "{n} 张已改，{failed} 张没有改", changed: "已改", bulk: "批量处理", closing: "关闭 {n} 张工单？", closingText: "关闭之后只能重新打开。", invalid_transition: "现在的状态不能这样改", ticket_not_found: "没有这张工单",
  },
  en: {
    title: "Tickets", text: "What somebody has to see to. Open ones first, the most urgent of them before the rest.", search: "Number, subject, text, customer", ticket: "Ticket", state: "State", priority: "Priority", category: "Category", assignee: "Assignee", anybody: "Assignee: all", due: "Due", onlyOverdue: "Overdue only", updated: "Changed", new: "New ticket", subject: "In one sentence", description: "Details", create: "Open", user: "Customer id (optional)", session: "Conversation id (optional)", noneHere: "No tickets of this conversation yet.", moved: "Moved to {state}",
    list: "List", board: "Board", views: "Views", order: "Order", o_urgency: "Most urgent first", o_due: "Due first", o_newest: "Newest first", o_oldest: "Oldest first", o_updated: "Last changed first", mine: "Given to me", export: "Export CSV",
    empty: "No tickets yet. A customer who asks for a repair in a conversation and confirms it, or wants a person while nobody is there, has a ticket here. What comes by telephone you open yourself.", tryIt: "Try it in a conversation",
    choose: "Choose ticket {number}", chooseAll: "Choose this page", chosen: "{n} chosen", setState: "Set state…", setPriority: "Set priority…", give: "Give to…", unchoose: "Choose none", done: "{n} changed", outcomes: "{n} changed, {failed} not", changed: "Changed", bulk: "Bulk actions", closing: "Close {n} tickets?", closingText: "Closed tickets can only be reopened.", invalid_transition: "Its state does not allow that", ticket_not_found: "There is no such ticket",
  },
});

export function Tickets(props) {
  return props.route.id ? html`<${Ticket} key=${props.route.id} ...${props} />` : html`<${All} ...${props} />`;
}

// What stands in the address, as the interface asks it.
function narrowed({ assignee, ...rest }) {
  if (assignee === NONE) return { ...rest, unassigned: true };
  return assignee.startsWith(TEAM) ? { ...rest, team: assignee.slice(TEAM.length) } : { ...rest, assignee };
}

function All({ route, me }) {
  const [opening, setOpening] = useState(false);
  const [chosen, setChosen] = useState(new Set());
  const assignees = useAssignees();
  const board = route.query.get("view") === "board";
  const list = useListing(route, ["q", "state", "priority", "category", "assignee", "session_id", "overdue"], (query, signal) => server.get(TICKETS, narrowed(query), { signal }));
  useEffect(() => setChosen(new Set()), [route.query.toString()]);
  const query = { ...narrowed(list.asked), sort: list.sort };
  const rows = list.data?.tickets || [];
  const ofSession = list.asked.session_id && Object.values(list.asked).filter(Boolean).length === 1;
  const filled = route.query.get("new");  // the desk opens the form with what it knows
  const shut = () => { setOpening(false); if (filled) go("tickets", { session_id: list.asked.session_id }, { replace: true }); };
  const toggle = (numbers, on) => setChosen((before) => { const after = new Set(before); for (const one of numbers) on ? after.add(one) : after.delete(one); return after; });
  const all = rows.length > 0 && rows.every((ticket) => chosen.has(ticket.number));
  const columns = [
    { name: "ad-chosen", title: html`<input type="checkbox" aria-label=${t("chooseAll")} checked=${all} onChange=${(event) => toggle(rows.map((ticket) => ticket.number), event.target.checked)} />`, cell: (ticket) => html`<input type="checkbox" aria-label=${t("choose", ticket)} checked=${chosen.has(ticket.number)} onChange=${(event) => toggle([ticket.number], event.target.checked)} />` },
    { title: t("ticket"), name: "ad-what", cell: (ticket) => html`<a href=${link(`tickets/${ticket.number}`)}>${ticket.subject}</a><span class="ad-sub"><${NumberLink} number=${ticket.number} />${(ticket.user_id || ticket.session_id) && html` · <${Customer} ticket=${ticket} />`}${ticket.session_id && html` · <${ConversationLink} session=${ticket.session_id} />`}</span>
      <span class="yd-row yd-wrap ad-phone"><${Named} kind="priority" value=${ticket.priority} /><${Assigned} ticket=${ticket} assignees=${assignees} /><${Due} ticket=${ticket} /></span>` },
    { title: t("state"), cell: (ticket) => html`<${Named} kind="state" value=${ticket.state} />` },
    { title: t("priority"), name: "ad-wide", cell: (ticket) => html`<${Named} kind="priority" value=${ticket.priority} />` },
    { title: t("category"), name: "ad-wide", cell: (ticket) => html`<${Named} kind="category" value=${ticket.category} />` },
    { title: t("assignee"), name: "ad-wide", cell: (ticket) => html`<${Assigned} ticket=${ticket} assignees=${assignees} />` },
    { title: t("due"), name: "ad-wide", cell: (ticket) => html`<${Due} ticket=${ticket} />` },
    { title: t("updated"), name: "ad-wide", cell: (ticket) => html`<span class="ad-when" title=${moment(ticket.updated_at)}>${ago(ticket.updated_at)}</span>` },
  ];
  const move = async (ticket, to) => {
    if (to === "closed" && !await confirmed({ title: t("closing", { n: 1 }), text: t("closingText"), action: named("state", to) })) return;
    await attempt(() => server.post(`${TICKETS}/${ticket.number}/transitions`, { to, version: ticket.version }), t("moved", { state: named("state", to) }));
  };
  const file = `${TICKETS}/export?${new URLSearchParams(Object.entries(query).filter(([, value]) => value !== "" && value !== undefined))}`;
  const at = (view) => link("tickets", { ...Object.fromEntries(route.query), offset: "", view });
  const filters = html`<${Search} list=${list} label=${t("search")} />
    ${!board && html`<${Choice} list=${list} name="state" label=${t("state")} options=${options("state")} />`}<${Choice} list=${list} name="priority" label=${t("priority")} options=${options("priority")} /><${Choice} list=${list} name="category" label=${t("category")} options=${options("category")} />
    <select class="yd-input ad-choice" aria-label=${t("assignee")} value=${list.asked.assignee} onChange=${(event) => list.change({ assignee: event.target.value })}><option value="">${t("anybody")}</option>${me.agent_id && html`<option value=${me.agent_id}>${t("mine")}</option>`}<${AssigneeOptions} assignees=${{ ...assignees, people: assignees.people.filter((one) => one.id !== me.agent_id) }} /></select>
    <${Choice} list=${list} name="overdue" label=${t("due")} options=${[["true", t("onlyOverdue")]]} />
    <select class="yd-input ad-choice" aria-label=${t("order")} value=${list.sort || ORDERS[0]} onChange=${(event) => list.change({ sort: event.target.value === ORDERS[0] ? "" : event.target.value })}>${ORDERS.map((one) => html`<option value=${one}>${t(`o_${one}`)}</option>`)}</select>`;
  const next = html`<span class="yd-row yd-wrap ad-next"><button class="yd-btn yd-btn-primary" onClick=${() => setOpening(true)}>${t("new")}</button><a class="yd-btn" href="/">${t("tryIt")}</a></span>`;
  return html`<${Head} title=${t("title")} text=${t("text")}><a class="yd-btn" href=${file} download="tickets.csv">${t("export")}</a><button class="yd-btn yd-btn-primary" onClick=${() => setOpening(true)}>${t("new")}</button><//>
    <${Tabs} label=${t("views")} tabs=${[{ title: t("list"), href: at(""), current: !board }, { title: t("board"), href: at("board"), current: board }]} />
    ${board ? html`<div class="yd-stack"><div class="ad-filters" role="search">${filters}</div><${Board} query=${query} assignees=${assignees} move=${move} /></div>`
    : html`<${Listing} list=${list} caption=${t("title")} columns=${columns} rowsOf=${(data) => data.tickets} keyOf=${(ticket) => ticket.number} onOpen=${(ticket) => go(`tickets/${ticket.number}`)} empty=${t("empty")} unmatched=${ofSession && t("noneHere")} next=${next} filters=${filters} />
      ${chosen.size > 0 && html`<${Bulk} numbers=${[...chosen]} assignees=${assignees} onClear=${() => setChosen(new Set())} onDone=${() => { setChosen(new Set()); list.reload(); }} />`}`}
    ${(opening || filled) && html`<${Opening} given=${Object.fromEntries(["session_id", "user_id", "subject"].map((name) => [name, route.query.get(name) || ""]))} onClose=${shut} />`}`;
}

// What is done to all that are chosen, in one request; where some stay as they were, it says which and why.
function Bulk({ numbers, assignees, onClear, onDone }) {
  const [told, setTold] = useState(null);
  const [busy, setBusy] = useState(false);
  const n = numbers.length;
  const act = async (change) => {
    if (change.to === "closed" && !await confirmed({ title: t("closing", { n }), text: t("closingText"), action: named("state", "closed") })) return;
    setBusy(true);
    try {
      const { outcomes, changed } = await server.post(`${TICKETS}/bulk`, { numbers, ...change });
      if (changed < n) setTold({ outcomes, changed });
      else { toast(t("done", { n }), "good"); onDone(); }
    } catch (failure) { toast(failure); }
    setBusy(false);
  };
  const given = (value) => (value === NONE ? { assignee: "", team: "" } : value.startsWith(TEAM) ? { team: value.slice(TEAM.length) } : { assignee: value });
  const menu = (title, children, change) => html`<select class="yd-input ad-choice" aria-label=${title} value="" disabled=${busy} onChange=${(event) => { const { value } = event.target; event.target.value = ""; if (value) act(change(value)); }}><option value="">${title}</option>${children}</select>`;
  const entries = (kind, values) => values.map((value) => html`<option value=${value}>${named(kind, value)}</option>`);
  return html`<div class="ad-savebar yd-wrap" role="group" aria-label=${t("bulk")}><strong>${t("chosen", { n })}</strong>
    ${menu(t("setState"), entries("state", STATES), (to) => ({ to }))}${menu(t("setPriority"), entries("priority", options("priority").map(([value]) => value)), (priority) => ({ priority }))}
    ${menu(t("give"), html`<${AssigneeOptions} assignees=${assignees} />`, given)}<button class="yd-btn yd-btn-quiet yd-btn-small" onClick=${onClear}>${t("unchoose")}</button></div>
    ${told && html`<${Dialog} title=${t("outcomes", { n: told.changed, failed: n - told.changed })} onClose=${onDone}><ul class="ad-list">${told.outcomes.map((one) => html`<li key=${one.number} class="yd-row yd-wrap yd-small"><${NumberLink} number=${one.number} /><span class=${one.code ? "yd-error" : "yd-muted"}>${!one.code ? t("changed") : REFUSED.includes(one.code) ? t(one.code) : one.message}</span></li>`)}</ul><//>`}`;
}

// given: what the address says of the new ticket.
function Opening({ given, onClose }) {
  const [values, setValues] = useState({ description: "", priority: "normal", category: "other", ...given });
  const [error, setError] = useState(null);
  const set = (name) => (value) => setValues({ ...values, [name]: value });
  const typed = (name) => (event) => set(name)(event.target.value);
  const save = async (event) => {
    event.preventDefault();
    try {
      const ticket = await server.post(TICKETS, values);
      onClose();
      go(`tickets/${ticket.number}`);
    } catch (failure) { setError(failure); }
  };
  return html`<${Dialog} title=${t("new")} onClose=${onClose}><form class="yd-stack" onSubmit=${save}>
    <${Field} label=${t("subject")}><input class="yd-input" required maxlength="100" value=${values.subject} onInput=${typed("subject")} /><//>
    <${Field} label=${t("description")}><textarea class="yd-input" rows="5" maxlength="5000" value=${values.description} onInput=${typed("description")}></textarea><//>
    <div class="ad-fields"><${Select} label=${t("priority")} kind="priority" value=${values.priority} onChange=${set("priority")} /><${Select} label=${t("category")} kind="category" value=${values.category} onChange=${set("category")} /><${Field} label=${t("user")}><input class="yd-input" maxlength="128" value=${values.user_id} onInput=${typed("user_id")} /><//>
      ${given.session_id && html`<${Field} label=${t("session")}><input class="yd-input yd-mono" maxlength="128" value=${values.session_id} onInput=${typed("session_id")} /><//>`}</div>
    ${error && html`<${Failure} error=${error} />`}<div class="yd-row"><span class="yd-grow"></span><button class="yd-btn yd-btn-primary">${t("create")}</button></div></form><//>`;
}
