// Webhooks: who is told of what.
import { moment, number, words } from "../shared/i18n.js";
import { Dialog, Failure, Field, Tag, html } from "../shared/ui.js";
import { useState } from "../vendor/preact-htm.js";
import { Choice, Listing, Search, pageOf, useListing } from "./listing.js";
import { Head } from "./page.js";
import { go, link } from "./route.js";
import { Secret } from "./secret.js";
import { server } from "./server.js";
import { Webhook } from "./webhook.js";

const WEBHOOKS = "/api/v1/webhooks";
export const EVENTS = ["message.customer", "message.bot", "message.staff", "handoff.queued", "handoff.accepted", "handoff.resolved", "handoff.left", "handoff.closed", "ticket.created", "ticket.updated", "feedback.given", "gap.detected", "document.ready", "document.failed"];
const t = words({
  zh: {
    title: "Webhook", text: "有事发生时，通知您自己的系统。每次投递都带签名，没送到会自动重试。", url: "接收地址", events: "订阅的事件", description: "说明", enabled: "使用中", paused: "已暂停", state: "状态", created: "创建于", new: "新建 Webhook", urlHint: "以 https:// 开头；默认不允许指向本机和内网", create: "创建", search: "搜索地址或说明", empty: "还没有 Webhook。建一个，就能把新会话、工单和知识缺口通知到您的系统。", pause: "暂停", resume: "恢复", remove: "删除", removeSome: "删除 {n} 个 Webhook？", removeText: "投递记录一起删除。", all: "全选", count: "{n} 种",
    shown: "Webhook 已创建", shownText: "这是验证签名用的密钥，只显示这一次，请现在复制。", done: "我已保存好", secret: "签名密钥（可选）", secretHint: "至少 16 个字符；留空则生成一个",
    "message.customer": "顾客说话", "message.bot": "智能客服回复", "message.staff": "客服回复", "handoff.queued": "请求人工", "handoff.accepted": "客服接入", "handoff.resolved": "人工解决", "handoff.left": "退出排队", "handoff.closed": "人工会话结束", "ticket.created": "新工单", "ticket.updated": "工单有变化", "feedback.given": "顾客评价", "gap.detected": "发现知识缺口", "document.ready": "文档可检索", "document.failed": "文档导入失败", "webhook.test": "试送",
  },
  en: {
    title: "Webhooks", text: "Tells your own systems when something happens. Each delivery is signed and tried again until it arrives.", url: "Address", events: "Events", description: "Description", enabled: "Active", paused: "Paused", state: "State", created: "Created", new: "New webhook", urlHint: "Begins with https://; this machine and private networks are not allowed by default", create: "Create", search: "Search address or description", empty: "No webhooks yet. With one, new conversations, tickets and gaps reach your systems.", pause: "Pause", resume: "Resume", remove: "Delete", removeSome: "Delete {n} webhooks?", removeText: "Their deliveries go with them.", all: "All", count: "{n} kinds",
    shown: "The webhook is made", shownText: "This secret verifies signatures and is shown this once. Copy it now.", done: "I have kept it", secret: "Signing secret (optional)", secretHint: "16 characters or more; empty for a generated one",
    "message.customer": "Customer wrote", "message.bot": "Assistant replied", "message.staff": "Staff replied", "handoff.queued": "A person was asked for", "handoff.accepted": "Staff accepted", "handoff.resolved": "Staff resolved", "handoff.left": "Left the queue", "handoff.closed": "Desk closed", "ticket.created": "New ticket", "ticket.updated": "Ticket changed", "feedback.given": "Feedback", "gap.detected": "Gap found", "document.ready": "Document ready", "document.failed": "Document failed", "webhook.test": "Test",
  },
});
export const eventName = (event) => (EVENTS.includes(event) || event === "webhook.test" ? t(event) : event);

export function Webhooks(props) {
  return props.route.id ? html`<${Webhook} key=${props.route.id} ...${props} />` : html`<${All} ...${props} />`;
}

function All({ route }) {
  const by = { url: (hook) => hook.url, created: (hook) => hook.created_at };
  const list = useListing(route, ["q", "state"], async (query, signal) => pageOf((await server.get(WEBHOOKS, {}, { signal })).webhooks, query, { by, text: (hook) => `${hook.url} ${hook.description}`, keep: (hook) => !query.state || hook.enabled === (query.state === "enabled") }));
  const [making, setMaking] = useState(false);
  const set = (enabled) => (hook) => hook.enabled !== enabled && server.patch(`${WEBHOOKS}/${hook.id}`, { enabled });
  const bulk = [{ title: t("resume"), run: set(true) }, { title: t("pause"), run: set(false) },
    { title: t("remove"), danger: true, run: (hook) => server.delete(`${WEBHOOKS}/${hook.id}`), sure: (rows) => ({ title: t("removeSome", { n: number(rows.length) }), text: t("removeText") }) }];
  const columns = [
    { title: t("url"), sort: "url", text: (hook) => hook.url, cell: (hook) => html`<a href=${link(`webhooks/${hook.id}`)}>${hook.url}</a><span class="ad-sub">${hook.description}</span>` },
    { title: t("events"), name: "ad-wide", text: (hook) => hook.events.map(eventName).join("、"), cell: (hook) => html`<span title=${hook.events.map(eventName).join("、")}>${hook.events.length > 3 ? t("count", { n: number(hook.events.length) }) : hook.events.map(eventName).join("、")}</span>` },
    { title: t("state"), text: (hook) => t(hook.enabled ? "enabled" : "paused"), cell: (hook) => html`<${Tag} tone=${hook.enabled ? "good" : "warn"}>${hook.enabled ? t("enabled") : t("paused")}<//>` },
    { title: t("created"), name: "ad-wide", sort: "created", latest: true, text: (hook) => hook.created_at, cell: (hook) => html`<span class="ad-when">${moment(hook.created_at)}</span>` },
  ];
  return html`<${Head} title=${t("title")} text=${t("text")}><button class="yd-btn yd-btn-primary" onClick=${() => setMaking(true)}>${t("new")}</button><//>
    <${Listing} list=${list} caption=${t("title")} columns=${columns} file="webhooks" bulk=${bulk} rowsOf=${(data) => data.items} keyOf=${(hook) => hook.id} nameOf=${(hook) => hook.url} onOpen=${(hook) => go(`webhooks/${hook.id}`)} empty=${t("empty")} next=${html`<button class="yd-btn yd-btn-primary" onClick=${() => setMaking(true)}>${t("new")}</button>`}
      filters=${html`<${Search} list=${list} label=${t("search")} /><${Choice} list=${list} name="state" label=${t("state")} options=${[["enabled", t("enabled")], ["paused", t("paused")]]} />`} />
    ${making && html`<${Making} onClose=${() => { setMaking(false); list.reload(); }} />`}`;
}

export function EventChoice({ chosen, onChange }) {
  const flip = (event) => onChange(EVENTS.filter((each) => (each === event ? !chosen.includes(each) : chosen.includes(each))));
  return html`<fieldset class="ad-plain yd-stack"><legend class="yd-label">${t("events")}</legend><label class="yd-small"><input type="checkbox" checked=${chosen.length === EVENTS.length} onChange=${(event) => onChange(event.target.checked ? EVENTS : [])} /> ${t("all")}</label>
    <div class="ad-events">${EVENTS.map((event) => html`<label class="yd-small"><input type="checkbox" name="event" value=${event} checked=${chosen.includes(event)} onChange=${() => flip(event)} /> ${eventName(event)}<span class="ad-sub yd-mono">${event}</span></label>`)}</div></fieldset>`;
}

function Making({ onClose }) {
  const [values, setValues] = useState({ url: "", description: "", secret: "" });
  const [chosen, setChosen] = useState([]);
  const [state, setState] = useState({});
  const set = (name) => (event) => setValues({ ...values, [name]: event.target.value });
  const make = async (event) => {
    event.preventDefault();
    setState({ busy: true });
    try { setState({ made: await server.post(WEBHOOKS, { ...values, events: chosen }) }); } catch (error) { setState({ error }); }
  };
  if (state.made) return html`<${Dialog} title=${t("shown")} onClose=${onClose}><${Secret} value=${state.made.secret} text=${t("shownText")} /><div class="yd-row"><span class="yd-grow"></span><button class="yd-btn yd-btn-primary" onClick=${onClose}>${t("done")}</button></div><//>`;
  return html`<${Dialog} title=${t("new")} onClose=${onClose}><form class="yd-stack" onSubmit=${make}><${Field} label=${t("url")} hint=${t("urlHint")}><input class="yd-input" type="url" name="url" required maxlength="2000" value=${values.url} onInput=${set("url")} /><//>
    <${EventChoice} chosen=${chosen} onChange=${setChosen} /><${Field} label=${t("description")}><input class="yd-input" maxlength="200" value=${values.description} onInput=${set("description")} /><//>
    <${Field} label=${t("secret")} hint=${t("secretHint")}><input class="yd-input" autocomplete="off" maxlength="128" value=${values.secret} onInput=${set("secret")} /><//>
    ${state.error && html`<${Failure} error=${state.error} />`}<div class="yd-row"><span class="yd-grow"></span><button class="yd-btn yd-btn-primary" disabled=${state.busy || !chosen.length}>${t("create")}</button></div></form><//>`;
}
