// Two sets of parameters tried on customers side by side, and what may be concluded.
import { moment, number, percent, words } from "../shared/i18n.js";
import { Dialog, Failure, Field, Loaded, Table, Tag, attempt, confirmed, html, useLoaded } from "../shared/ui.js";
import { useState } from "../vendor/preact-htm.js";
import { server } from "./server.js";

const EXPERIMENTS = "/api/v1/tuner/experiments";
const t = words({
  zh: {
    begin: "开始实验", none: "还没有做过。一部分顾客用新参数，其余照旧，看哪一组更好；同一位顾客总在同一组。", running: "进行中", over: "已结束", end: "结束", adopt: "结束并采用新参数", endTitle: "结束实验？", endText: "所有顾客回到原来的参数。", adoptTitle: "采用新参数？", adoptText: "结束实验，所有顾客改用：{values}。", ended: "实验已结束", name: "名称", param: "参数", value: "新的值", share: "百分之几用新参数", unit: "按什么分组", customer: "顾客", conversation: "会话", needed: "每组至少多少", control: "原参数", treatment: "新参数", metric: "指标", difference: "相差", p: "校正后的 p", answered: "得到回答", refused: "遇到拒答", handoff: "转人工", liked: "点赞", disliked: "点踩", units: "{n} 位 / {turns} 轮", too_few: "样本还不够：两组各要 {n}，够了才下结论。", no_difference: "没有显著差别。", better: "新参数更好。", worse: "新参数更差。", mixed: "有好有坏，请看各项。", adopted: "已采用为第 {n} 版",
  },
  en: {
    begin: "Begin an experiment", none: "None yet. Some customers meet new parameters, the others what is in force; a customer always meets the same.", running: "Running", over: "Over", end: "End", adopt: "End and adopt", endTitle: "End the experiment?", endText: "All customers go back to the parameters in force.", adoptTitle: "Adopt the new parameters?", adoptText: "The experiment ends, and all customers get: {values}.", ended: "The experiment is over", name: "Name", param: "Parameter", value: "New value", share: "Percent that meet it", unit: "Count by", customer: "Customers", conversation: "Conversations", needed: "At least in each arm", control: "In force", treatment: "New", metric: "Metric", difference: "Difference", p: "p, corrected", answered: "Were answered", refused: "Met a refusal", handoff: "Handed off", liked: "Liked a reply", disliked: "Disliked one", units: "{n}, {turns} turns", too_few: "Too few yet: nothing is concluded before both arms have {n}.", no_difference: "No significant difference.", better: "The new parameters are better.", worse: "The new parameters are worse.", mixed: "Better in some, worse in others.", adopted: "Adopted as version {n}",
  },
});
const TONES = { better: "good", worse: "bad", mixed: "warn" };

export function Experiments({ may }) {
  const [adding, setAdding] = useState(false);
  const state = useLoaded((signal) => server.get(EXPERIMENTS, {}, { signal }), []);
  return html`<${Loaded} state=${state}>${(data) => html`<div class="yd-stack">${may && !data.items.some((one) => one.running) && html`<div><button class="yd-btn yd-btn-primary" onClick=${() => setAdding(true)}>${t("begin")}</button></div>`}
    ${data.items.length === 0 && html`<div class="yd-card"><p class="yd-empty">${t("none")}</p></div>`}${data.items.map((one) => html`<${Experiment} key=${one.id} one=${one} may=${may} onChange=${state.reload} />`)}
    ${adding && html`<${Beginning} onClose=${(made) => { setAdding(false); if (made) state.reload(); }} />`}</div>`}<//>`;
}

function Experiment({ one, may, onChange }) {
  const { result } = one;
  const values = Object.entries(one.values).map(([name, value]) => `${name} = ${number(value, 4)}`).join("，");
  const end = async (adopt) => {
    if (!await confirmed({ title: t(adopt ? "adoptTitle" : "endTitle"), text: t(adopt ? "adoptText" : "endText", { values }), action: t(adopt ? "adopt" : "end") })) return;
    await attempt(() => server.post(`${EXPERIMENTS}/${one.id}/end`, { adopt }), t("ended"));
    onChange();
  };
  const told = (arm) => `${t(arm)}：${t("units", { n: number(result.arms[arm].units), turns: number(result.arms[arm].turns) })}`;
  const columns = [
    { title: t("metric"), cell: (metric) => t(metric.name) },
    { title: t("control"), numeric: true, cell: (metric) => percent(metric.control, 1) },
    { title: t("treatment"), numeric: true, cell: (metric) => percent(metric.treatment, 1) },
    { title: t("difference"), numeric: true, name: "ad-wide", cell: (metric) => `${percent(metric.difference, 1)}（${percent(metric.low, 1)} – ${percent(metric.high, 1)}）` },
    { title: t("p"), numeric: true, cell: (metric) => html`<span>${number(metric.p_corrected, 4)}</span>${metric.significant && html` <${Tag} tone=${(metric.difference > 0) === metric.more_is_better ? "good" : "bad"}>${metric.difference > 0 ? "↑" : "↓"}<//>`}` },
  ];
  return html`<section class="yd-card yd-stack"><div class="ad-card-title"><h2>${one.name}</h2><${Tag} tone=${one.running ? "accent" : ""}>${t(one.running ? "running" : "over")}<//>${one.adopted !== null && html`<${Tag} tone="good">${t("adopted", { n: one.adopted })}<//>`}<span class="yd-grow"></span>${may && one.running && html`<button class="yd-btn yd-btn-small" onClick=${() => end(false)}>${t("end")}</button><button class="yd-btn yd-btn-small yd-btn-primary" onClick=${() => end(true)}>${t("adopt")}</button>`}</div>
    <p class="yd-small yd-muted"><span class="yd-mono">${values}</span> · ${moment(one.created_at)} · ${told("control")} · ${told("treatment")}</p>
    <p class="yd-notice" data-tone=${TONES[result.conclusion]}>${t(result.conclusion, { n: number(result.needed) })}</p><${Table} caption=${one.name} columns=${columns} rows=${result.metrics} keyOf=${(metric) => metric.name} /></section>`;
}

function Beginning({ onClose }) {
  const params = useLoaded((signal) => server.get("/api/v1/tuner/params", {}, { signal }), []);
  const [given, setGiven] = useState({ name: "", param: "similarity_threshold", value: "", share: "50", unit: "customer", needed: "200" });
  const [state, setState] = useState({});
  const set = (name) => (event) => setGiven({ ...given, [name]: event.target.value });
  const begin = async (event) => {
    event.preventDefault();
    setState({ busy: true });
    const { name, param, value, share, unit, needed } = given;
    try { await server.post(EXPERIMENTS, { name, values: { [param]: Number(value) }, share: Number(share), unit, needed: Number(needed) }); onClose(true); } catch (error) { setState({ error }); }
  };
  const [chosen] = (params.data?.params || []).filter((one) => one.name === given.param);
  return html`<${Dialog} title=${t("begin")} onClose=${() => onClose(false)}><form class="yd-stack" onSubmit=${begin}>
    <${Field} label=${t("name")}><input class="yd-input" name="name" required maxlength="100" value=${given.name} onInput=${set("name")} /><//>
    <${Field} label=${t("param")}><select class="yd-input" name="param" value=${given.param} onChange=${set("param")}>${(params.data?.params || []).map((one) => html`<option value=${one.name}>${one.title}</option>`)}</select><//>
    <${Field} label=${t("value")} hint=${chosen && `${number(chosen.low, 4)} – ${number(chosen.high, 4)}`}><input class="yd-input" type="number" name="value" required step="any" min=${chosen?.low} max=${chosen?.high} value=${given.value} onInput=${set("value")} /><//>
    <div class="ad-fields"><${Field} label=${t("share")}><input class="yd-input" type="number" name="share" min="1" max="99" value=${given.share} onInput=${set("share")} /><//>
    <${Field} label=${t("unit")}><select class="yd-input" name="unit" value=${given.unit} onChange=${set("unit")}><option value="customer">${t("customer")}</option><option value="conversation">${t("conversation")}</option></select><//>
    <${Field} label=${t("needed")}><input class="yd-input" type="number" name="needed" min="20" value=${given.needed} onInput=${set("needed")} /><//></div>
    ${state.error && html`<${Failure} error=${state.error} />`}<div class="yd-row"><span class="yd-grow"></span><button class="yd-btn yd-btn-primary" disabled=${state.busy}>${t("begin")}</button></div></form><//>`;
}
