// What of retrieval this tenant has set for itself, within which ranges, and what it was before.
import { moment, number, words } from "../shared/i18n.js";
import { Field, Loaded, Table, attempt, confirmed, html, useLoaded } from "../shared/ui.js";
import { useState } from "../vendor/preact-htm.js";
import { Listing, useListing } from "./listing.js";
import { named } from "./names.js";
import { Head } from "./page.js";
import { link } from "./route.js";
import { server } from "./server.js";
import { Reports } from "./tuning-reports.js";

const PARAMS = "/api/v1/tuner/params";
const TABS = ["params", "history", "reports"];
const t = words({
  zh: {
    title: "检索调优", text: "召回、权重、门槛和缓存。改了下一个回答就用，不用重启；谁改的、改了什么都留着，也退得回去。", params: "参数", history: "历史", reports: "校准与扫描", name: "参数", value: "现值", range: "范围", usual: "默认", note: "为什么改", save: "保存", saved: "已生效", reset: "全部恢复默认", resetTitle: "全部恢复默认？", resetText: "本租户的检索参数都回到安装时的设置。", version: "第 {n} 版", by: "修改人", when: "时间", changes: "改动", revert: "恢复到这一版", revertTitle: "恢复到第 {n} 版？", revertText: "所有参数回到那时的值，并记为新的一版。", never: "还没有调过。", nobody: "未署名",
  },
  en: {
    title: "Tuning", text: "Recall, weights, thresholds and caches. In use from the next answer on, without a restart; who changed what is kept, and there is a way back.", params: "Parameters", history: "History", reports: "Calibration and sweeps", name: "Parameter", value: "Value", range: "Range", usual: "Default", note: "Why", save: "Save", saved: "In force", reset: "Back to defaults", resetTitle: "Back to all defaults?", resetText: "Retrieval of this tenant goes back to the settings of the installation.", version: "Version {n}", by: "By", when: "When", changes: "Changes", revert: "Back to this", revertTitle: "Back to version {n}?", revertText: "All parameters go back to what they were then; that is a new version.", never: "Nothing was tuned yet.", nobody: "Unnamed",
  },
});
const plain = (value) => number(value, 4);

export function Tuning({ route, manages }) {
  const tab = TABS.includes(route.id) ? route.id : "params";
  const view = { params: Params, history: History, reports: Reports }[tab];
  return html`<${Head} title=${t("title")} text=${t("text")} />
    <nav class="ad-tabs" aria-label=${t("title")}>${TABS.map((name) => html`<a aria-current=${name === tab ? "page" : undefined} href=${link(`tuning/${name}`)}>${t(name)}</a>`)}</nav>
    <${view} key=${route.path} route=${route} may=${manages} />`;
}

function Params({ may }) {
  const state = useLoaded((signal) => server.get(PARAMS, {}, { signal }), []);
  return html`<${Loaded} state=${state}>${(data) => html`<${Form} key=${data.version} data=${data} may=${may} onChange=${state.reload} />`}<//>`;
}

function Form({ data, may, onChange }) {
  const [values, setValues] = useState({});
  const [note, setNote] = useState("");
  const [busy, setBusy] = useState(false);
  const changed = Object.fromEntries(data.params.filter((one) => values[one.name] !== undefined && values[one.name] !== "" && Number(values[one.name]) !== one.value).map((one) => [one.name, Number(values[one.name])]));
  const save = async (event) => {
    event.preventDefault();
    setBusy(true);
    if (await attempt(() => server.raw("PUT", PARAMS, { body: { values: changed, note, version: data.version } }), t("saved"))) onChange();
    setBusy(false);
  };
  const reset = async () => {
    if (!await confirmed({ title: t("resetTitle"), text: t("resetText"), action: t("reset") })) return;
    await attempt(() => server.post(`${PARAMS}/reset`, {}), t("saved"));
    onChange();
  };
  const columns = [
    { title: t("name"), cell: (one) => html`<span class="ad-text">${named("parameter", one.name)}</span><span class="ad-sub yd-mono">${one.name}</span>` },
    { title: t("value"), cell: (one) => (may ? html`<input class="yd-input" type="number" name=${one.name} aria-label=${named("parameter", one.name)} min=${one.low} max=${one.high} step=${one.whole ? 1 : "any"} value=${values[one.name] ?? one.value} onInput=${(event) => setValues({ ...values, [one.name]: event.target.value })} />` : plain(one.value)) },
    { title: t("range"), cell: (one) => `${plain(one.low)} – ${plain(one.high)}` },
    { title: t("usual"), name: "ad-wide", cell: (one) => html`<span class=${one.tuned ? "" : "yd-muted"}>${plain(one.default)}</span>` },
  ];
  return html`<form class="yd-stack" onSubmit=${save}><div class="yd-card ad-table"><${Table} caption=${t("params")} columns=${columns} rows=${data.params} keyOf=${(one) => one.name} /></div>
    ${may && html`<${Field} label=${t("note")}><input class="yd-input" name="note" maxlength="500" value=${note} onInput=${(event) => setNote(event.target.value)} /><//>
    <div class="yd-row"><button class="yd-btn" type="button" onClick=${reset}>${t("reset")}</button><span class="yd-grow"></span><button class="yd-btn yd-btn-primary" disabled=${busy || Object.keys(changed).length === 0}>${t("save")}</button></div>`}</form>`;
}

function History({ route, may }) {
  const list = useListing(route, [], (query, signal) => server.get(`${PARAMS}/history`, query, { signal }));
  const revert = async (one) => {
    if (!await confirmed({ title: t("revertTitle", { n: one.version }), text: t("revertText"), action: t("revert") })) return;
    await attempt(() => server.post(`${PARAMS}/history/${one.version}/revert`, {}), t("saved"));
    list.reload();
  };
  const columns = [
    { title: t("when"), cell: (one) => html`<span class="ad-text">${t("version", { n: one.version })}</span><span class="ad-sub">${one.created_at && moment(one.created_at)}</span>` },
    { title: t("changes"), cell: (one) => html`${one.changes.map((change) => html`<span class="ad-sub">${named("parameter", change.name)} ${plain(change.before)} → ${plain(change.after)}</span>`)}${one.note && html`<span class="ad-text">${one.note}</span>`}` },
    { title: t("by"), name: "ad-wide", cell: (one) => one.by || html`<span class="yd-muted">${t("nobody")}</span>` },
    ...(may ? [{ title: t("revert"), cell: (one) => html`<button class="yd-btn yd-btn-quiet yd-btn-small" onClick=${() => revert(one)}>${t("revert")}</button>` }] : []),
  ];
  return html`<${Listing} list=${list} caption=${t("history")} columns=${columns} rowsOf=${(data) => data.items} keyOf=${(one) => one.version} empty=${t("never")} />`;
}
