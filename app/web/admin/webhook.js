// One webhook: what it is told, what was delivered, sending again, trying it.
import { ago, moment, number, words } from "../shared/i18n.js";
import { Dialog, Failure, Field, Loaded, Tag, attempt, confirmed, html, toast, useLoaded } from "../shared/ui.js";
import { useState } from "../vendor/preact-htm.js";
import { Choice, Listing, useListing } from "./listing.js";
import { Named, options } from "./names.js";
import { Facts, Head } from "./page.js";
import { go, link } from "./route.js";
import { server } from "./server.js";
import { EVENTS, EventChoice, eventName } from "./webhooks.js";

const WEBHOOKS = "/api/v1/webhooks";
const t = words({
  zh: { back: "全部 Webhook", test: "试送一次", ok: "送到了，对方回了 {status}", bad: "没送到：{why}", pause: "暂停", resume: "恢复", pauseTitle: "暂停投递？", pauseText: "暂停期间的新事件不会补送；正在等待的会留着。", paused: "已暂停", resumed: "已恢复", edit: "修改", remove: "删除", sure: "删除这个 Webhook？", sureText: "投递记录一起删除，不能恢复。", removed: "已删除", about: "这个 Webhook", url: "接收地址", description: "说明", events: "事件", state: "状态", enabled: "使用中", created: "创建于", deliveries: "投递记录（30 天内）", event: "事件", result: "结果", attempts: "次数", when: "时间", next: "下次 {when}", retry: "再送一次", again: "已排入投递", empty: "还没有投递。可以先试送一次。", save: "保存", missing: "没有这个 Webhook，可能已被删除。", actions: "操作" },
  en: { back: "All webhooks", test: "Send a test", ok: "Delivered; the answer was {status}", bad: "Not delivered: {why}", pause: "Pause", resume: "Resume", pauseTitle: "Pause deliveries?", pauseText: "New events meanwhile are not made up for; what waits stays.", paused: "Paused", resumed: "Resumed", edit: "Edit", remove: "Delete", sure: "Delete this webhook?", sureText: "Its deliveries are deleted too. This cannot be undone.", removed: "Deleted", about: "This webhook", url: "Address", description: "Description", events: "Events", state: "State", enabled: "Active", created: "Created", deliveries: "Deliveries (30 days)", event: "Event", result: "Result", attempts: "Tries", when: "When", next: "next {when}", retry: "Send again", again: "Queued", empty: "No deliveries yet. Send a test first.", save: "Save", missing: "There is no such webhook; it may have been deleted.", actions: "Actions" },
});

export function Webhook({ route }) {
  const address = `${WEBHOOKS}/${route.id}`;
  const state = useLoaded((signal) => server.get(WEBHOOKS, {}, { signal }), [route.id]);
  const list = useListing(route, ["state", "event"], (query, signal) => server.get(`${address}/deliveries`, query, { signal }));
  const [editing, setEditing] = useState(false);
  const back = { href: link("webhooks"), title: t("back") };
  if (!state.data) return html`<${Head} title=${t("about")} back=${back} /><${Loaded} state=${state} />`;
  const hook = state.data.webhooks.find((each) => each.id === route.id);
  if (!hook) return html`<${Head} title=${t("about")} back=${back} /><p>${t("missing")}</p>`;
  const test = () => attempt(async () => {
    const { delivered, status, error } = await server.post(`${address}/test`);
    toast(delivered ? t("ok", { status }) : t("bad", { why: error || status }), delivered ? "good" : "bad");
    list.reload();
  });
  const toggle = async () => {
    if (hook.enabled && !await confirmed({ title: t("pauseTitle"), text: t("pauseText"), action: t("pause") })) return;
    if (await attempt(() => server.patch(address, { enabled: !hook.enabled }), hook.enabled ? t("paused") : t("resumed"))) state.reload();
  };
  const remove = async () => {
    if (!await confirmed({ title: t("sure"), text: t("sureText"), action: t("remove") })) return;
    if (await attempt(() => server.delete(address), t("removed"))) go("webhooks");
  };
  const retry = async (delivery) => { if (await attempt(() => server.post(`${address}/deliveries/${delivery.id}/retry`), t("again"))) setTimeout(list.reload, 1000); };
  const columns = [
    { title: t("event"), cell: (row) => html`${eventName(row.event)}<span class="ad-sub yd-mono">${row.event}</span>` },
    { title: t("result"), cell: (row) => html`<${Named} kind="delivery" value=${row.state} /> ${row.status && html`<span class="yd-small yd-nums">${row.status}</span>`}${row.error && html`<span class="ad-sub">${row.error}</span>`}${row.state === "pending" && row.attempts > 0 && html`<span class="ad-sub">${t("next", { when: ago(row.due_at) })}</span>`}` },
    { title: t("attempts"), numeric: true, name: "ad-wide", cell: (row) => number(row.attempts) },
    { title: t("when"), name: "ad-wide", cell: (row) => html`<span class="ad-when">${moment(row.created_at)}</span>` },
    { title: t("actions"), cell: (row) => html`<button class="yd-btn yd-btn-small" onClick=${() => retry(row)}>${t("retry")}</button>` },
  ];
  return html`<${Head} title=${hook.description || hook.url} back=${back}><button class="yd-btn yd-btn-primary" onClick=${test}>${t("test")}</button><button class="yd-btn" onClick=${() => setEditing(true)}>${t("edit")}</button><button class="yd-btn" onClick=${toggle}>${hook.enabled ? t("pause") : t("resume")}</button><button class="yd-btn yd-btn-danger" onClick=${remove}>${t("remove")}</button><//>
    <div class="yd-stack"><section class="yd-card"><${Facts} facts=${[[t("url"), html`<span class="yd-mono">${hook.url}</span>`], [t("description"), hook.description], [t("state"), html`<${Tag} tone=${hook.enabled ? "good" : "warn"}>${hook.enabled ? t("enabled") : t("paused")}<//>`], [t("events"), hook.events.map(eventName).join("、")], [t("created"), moment(hook.created_at)]]} /></section>
    <h2>${t("deliveries")}</h2><${Listing} list=${list} caption=${t("deliveries")} columns=${columns} rowsOf=${(data) => data.deliveries} keyOf=${(row) => row.id} empty=${t("empty")} filters=${html`<${Choice} list=${list} name="state" label=${t("result")} options=${options("delivery")} /><${Choice} list=${list} name="event" label=${t("event")} options=${EVENTS.map((event) => [event, eventName(event)])} />`} /></div>
    ${editing && html`<${Editing} hook=${hook} onClose=${() => setEditing(false)} onSaved=${() => { setEditing(false); state.reload(); }} />`}`;
}

function Editing({ hook, onClose, onSaved }) {
  const [values, setValues] = useState({ url: hook.url, description: hook.description });
  const [chosen, setChosen] = useState(hook.events);
  const [error, setError] = useState(null);
  const set = (name) => (event) => setValues({ ...values, [name]: event.target.value });
  const save = async (event) => {
    event.preventDefault();
    try {
      await server.patch(`${WEBHOOKS}/${hook.id}`, { ...values, events: chosen });
      onSaved();
    } catch (failure) { setError(failure); }
  };
  return html`<${Dialog} title=${t("edit")} onClose=${onClose}><form class="yd-stack" onSubmit=${save}><${Field} label=${t("url")}><input class="yd-input" type="url" required maxlength="2000" value=${values.url} onInput=${set("url")} /><//>
    <${EventChoice} chosen=${chosen} onChange=${setChosen} /><${Field} label=${t("description")}><input class="yd-input" maxlength="200" value=${values.description} onInput=${set("description")} /><//>
    ${error && html`<${Failure} error=${error} />`}<div class="yd-row"><span class="yd-grow"></span><button class="yd-btn yd-btn-primary" disabled=${!chosen.length}>${t("save")}</button></div></form><//>`;
}
