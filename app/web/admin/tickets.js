// Tickets: found, looked at, opened.
import { ago, moment, words } from "../shared/i18n.js";
import { Dialog, Failure, Field, Tag, html } from "../shared/ui.js";
import { useState } from "../vendor/preact-htm.js";
import { Choice, Listing, Search, useListing } from "./listing.js";
import { Named, options } from "./names.js";
import { Head } from "./page.js";
import { go, link } from "./route.js";
import { server } from "./server.js";
import { Ticket } from "./ticket.js";

const TICKETS = "/api/v1/tickets";
const t = words({
  zh: { title: "工单", text: "没办完的在前，其中紧急的先。", search: "搜索编号、主题、说明或顾客", ticket: "工单", state: "状态", priority: "优先级", category: "类别", assignee: "负责人", due: "解决时限", overdue: "已超时", onlyOverdue: "只看超时", time: "时限", updated: "更新于", empty: "还没有工单。顾客报修、投诉，或人工不在时留言，都会成为工单。", new: "新建工单", subject: "一句话说明", description: "详情", create: "登记", user: "顾客编号（可选）", paused: "等顾客，停表" },
  en: { title: "Tickets", text: "What is open first, the most urgent of it before the rest.", search: "Search number, subject, text or customer", ticket: "Ticket", state: "State", priority: "Priority", category: "Category", assignee: "Assignee", due: "Due", overdue: "Overdue", onlyOverdue: "Overdue only", time: "Deadline", updated: "Changed", empty: "No tickets yet. Repairs, complaints and messages left out of hours become tickets.", new: "New ticket", subject: "In one sentence", description: "Details", create: "Open", user: "Customer id (optional)", paused: "waiting, clock stopped" },
});

export const Due = ({ ticket }) => {
  if (ticket.resolved_at) return html`<span class="yd-muted">—</span>`;
  if (ticket.sla.paused) return html`<span class="yd-muted">${t("paused")}</span>`;
  return ticket.sla.breached ? html`<${Tag} tone="bad">${t("overdue")}<//>` : html`<span class="ad-when" title=${moment(ticket.sla.resolve_by)}>${ago(ticket.sla.resolve_by)}</span>`;
};

export function Tickets(props) {
  return props.route.id ? html`<${Ticket} key=${props.route.id} ...${props} />` : html`<${All} ...${props} />`;
}

function All({ route }) {
  const [opening, setOpening] = useState(false);
  const list = useListing(route, ["q", "state", "priority", "overdue"], (query, signal) => server.get(TICKETS, query, { signal }));
  const columns = [
    { title: t("ticket"), cell: (ticket) => html`<a href=${link(`tickets/${ticket.number}`)}>${ticket.subject}</a><span class="ad-sub">${ticket.number}${ticket.user_id && ` · ${ticket.user_id}`}</span>` },
    { title: t("state"), cell: (ticket) => html`<${Named} kind="state" value=${ticket.state} />` },
    { title: t("priority"), name: "ad-wide", cell: (ticket) => html`<${Named} kind="priority" value=${ticket.priority} />` },
    { title: t("category"), name: "ad-wide", cell: (ticket) => html`<${Named} kind="category" value=${ticket.category} />` },
    { title: t("assignee"), name: "ad-wide", cell: (ticket) => ticket.assignee || html`<span class="yd-muted">—</span>` },
    { title: t("due"), name: "ad-wide", cell: (ticket) => html`<${Due} ticket=${ticket} />` },
    { title: t("updated"), name: "ad-wide", cell: (ticket) => html`<span class="ad-when" title=${moment(ticket.updated_at)}>${ago(ticket.updated_at)}</span>` },
  ];
  return html`<${Head} title=${t("title")} text=${t("text")}><button class="yd-btn yd-btn-primary" onClick=${() => setOpening(true)}>${t("new")}</button><//>
    <${Listing} list=${list} caption=${t("title")} columns=${columns} rowsOf=${(data) => data.tickets} keyOf=${(ticket) => ticket.number} onOpen=${(ticket) => go(`tickets/${ticket.number}`)} empty=${t("empty")} filters=${html`<${Search} list=${list} label=${t("search")} />
      <${Choice} list=${list} name="state" label=${t("state")} options=${options("state")} /><${Choice} list=${list} name="priority" label=${t("priority")} options=${options("priority")} />
      <${Choice} list=${list} name="overdue" label=${t("time")} options=${[["true", t("onlyOverdue")]]} />`} />
    ${opening && html`<${Opening} onClose=${() => setOpening(false)} />`}`;
}

function Opening({ onClose }) {
  const [values, setValues] = useState({ subject: "", description: "", priority: "normal", category: "other", user_id: "" });
  const [error, setError] = useState(null);
  const set = (name) => (event) => setValues({ ...values, [name]: event.target.value });
  const save = async (event) => {
    event.preventDefault();
    try {
      const ticket = await server.post(TICKETS, values);
      onClose();
      go(`tickets/${ticket.number}`);
    } catch (failure) { setError(failure); }
  };
  const choice = (name) => html`<${Field} label=${t(name)}><select class="yd-input" value=${values[name]} onChange=${set(name)}>${options(name).map(([value, shown]) => html`<option value=${value} selected=${value === values[name]}>${shown}</option>`)}</select><//>`;
  return html`<${Dialog} title=${t("new")} onClose=${onClose}><form class="yd-stack" onSubmit=${save}>
    <${Field} label=${t("subject")}><input class="yd-input" required maxlength="100" value=${values.subject} onInput=${set("subject")} /><//>
    <${Field} label=${t("description")}><textarea class="yd-input" rows="5" maxlength="5000" value=${values.description} onInput=${set("description")}></textarea><//>
    <div class="ad-fields">${choice("priority")}${choice("category")}<${Field} label=${t("user")}><input class="yd-input" maxlength="128" value=${values.user_id} onInput=${set("user_id")} /><//></div>
    ${error && html`<${Failure} error=${error} />`}<div class="yd-row"><span class="yd-grow"></span><button class="yd-btn yd-btn-primary">${t("create")}</button></div></form><//>`;
}
