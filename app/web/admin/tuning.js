// What of retrieval this tenant has set for itself, within which ranges, and what it was before.
import { moment, number, percent, words } from "../shared/i18n.js";
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
    step: "实测：调到 {value}，{what}", answered: "能答的答了 {from} → {to}", refused: "该拒的拒了 {from} → {to}", right: "判断正确 {from} → {to}", hit1: "首位命中 {from} → {to}", comma: "；", alike: "没有差别", report: "{n} 道题，{when}", outdated: "之后有改动，可以重新量", unmeasured: "还没有量过。", measure: "去量一次", lone: "这次没有试别的值。", never_measured: "校准和扫描不量这一项。",
    vector_top_k: "调高：按意思多找几条，换了说法的问题更容易找到，检索稍慢。", bm25_top_k: "调高：按字词多找几条，型号和专名更容易找到，检索稍慢。", rrf_k: "调高：两路各自的头几名不再那么占优，名次更平均。", rrf_vector_weight: "调高：更看重意思相近；换了说法的问题答得好，型号、编号可能排后。", rrf_keyword_weight: "调高：更看重字词相同；型号、编号排得准，换了说法的问题可能排后。", rerank_top_k: "调高：可以用来回答的片段更多，答得更全，也更容易带进不相干的。", rerank_candidates: "调高：交叉编码器多看几个候选，排得更准，也更慢。",
    similarity_threshold: "调高：没把握的少答，答错的少了，能答的也会少答一些。", confident_threshold: "调高：更多回答会带上“不太确定”的提示。", clarify_threshold: "调高：反问少了，不到门槛的更多直接说没有找到。", min_surviving_chunks: "调高：要更多片段过门槛才回答，答得更少、更稳。", page_boost: "调高：顾客正在看的那一页排得更靠前。", hot_cache_max_size: "调高：记住更多热门问题的回答，多占内存。", hot_cache_ttl: "调高：同样的问题在更长时间里直接给上次的回答。", retrieval_cache_max_size: "调高：记住更多检索结果，多占内存。", retrieval_cache_ttl: "调高：同样的检索在更长时间里不用重做。",
  },
  en: {
    title: "Tuning", text: "Recall, weights, thresholds and caches. In use from the next answer on, without a restart; who changed what is kept, and there is a way back.", params: "Parameters", history: "History", reports: "Calibration and sweeps", name: "Parameter", value: "Value", range: "Range", usual: "Default", note: "Why", save: "Save", saved: "In force", reset: "Back to defaults", resetTitle: "Back to all defaults?", resetText: "Retrieval of this tenant goes back to the settings of the installation.", version: "Version {n}", by: "By", when: "When", changes: "Changes", revert: "Back to this", revertTitle: "Back to version {n}?", revertText: "All parameters go back to what they were then; that is a new version.", never: "Nothing was tuned yet.", nobody: "Unnamed",
    step: "Measured at {value}: {what}", answered: "answerable answered {from} → {to}", refused: "others refused {from} → {to}", right: "judged right {from} → {to}", hit1: "first hit right {from} → {to}", comma: "; ", alike: "no difference", report: "{n} questions, {when}", outdated: "something changed since, measure anew", unmeasured: "Not measured yet.", measure: "Measure it", lone: "No other value was tried.", never_measured: "Calibrations and sweeps do not measure this one.",
    vector_top_k: "Higher: more is found by meaning, other wordings are found more often; a little slower.", bm25_top_k: "Higher: more is found by keywords, models and names are found more often; a little slower.", rrf_k: "Higher: the first few of either recall count less, ranks are evened out.", rrf_vector_weight: "Higher: meaning counts more; other wordings do better, models and numbers may fall back.", rrf_keyword_weight: "Higher: the same words count more; models and numbers do better, other wordings may fall back.", rerank_top_k: "Higher: more passages to answer from; fuller answers, and more that is beside the question.", rerank_candidates: "Higher: the cross-encoder reads more candidates; better order, slower.",
    similarity_threshold: "Higher: fewer unsure answers and fewer wrong ones; some good ones are lost, too.", confident_threshold: "Higher: more answers come with a note that they may not be certain.", clarify_threshold: "Higher: fewer questions back; more is said not to be found.", min_surviving_chunks: "Higher: more passages have to pass; fewer answers, safer ones.", page_boost: "Higher: the page that the customer looks at comes further up.", hot_cache_max_size: "Higher: more frequent answers are remembered; more memory.", hot_cache_ttl: "Higher: the same question gets the last answer for longer.", retrieval_cache_max_size: "Higher: more searches are remembered; more memory.", retrieval_cache_ttl: "Higher: the same search is not done again for longer.",
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
  const measured = useLoaded((signal) => server.get("/api/v1/tuner/effects", {}, { signal }), [state.data?.version]);
  const effects = Object.fromEntries((measured.data?.items || []).map((one) => [one.name, one]));
  return html`<${Loaded} state=${state}>${(data) => html`<${Form} key=${data.version} data=${data} effects=${effects} may=${may} onChange=${state.reload} />`}<//>`;
}

// What the last measurement gave beside the value in force.
function Measured({ one, may }) {
  const { effect } = one;
  if (!one.measured_by) return html`<span class="ad-sub">${t("never_measured")}</span>`;
  if (!effect) return html`<span class="ad-sub">${t("unmeasured")} ${may && html`<a href=${link("tuning/reports")}>${t("measure")}</a>`}</span>`;
  const said = (point, name) => effect.now[name] !== null && point[name] !== null && point[name] !== effect.now[name] && t(name, { from: percent(effect.now[name]), to: percent(point[name]) });
  const step = (point) => t("step", { value: plain(point.value), what: ["right", "answered", "refused", "hit1"].map((name) => said(point, name)).filter(Boolean).join(t("comma")) || t("alike") });
  const beside = [effect.up, effect.down].filter(Boolean);
  const from = t("report", { n: number(effect.questions), when: moment(effect.measured_at) });
  return html`${beside.map((point) => html`<span class="ad-sub">${step(point)}</span>`)}<span class="ad-sub">${beside.length === 0 && t("lone")} <a href=${link(`tuning/reports/${effect.report_id}`)}>${from}</a>${effect.outdated && ` · ${t("outdated")}`}</span>`;
}

function Form({ data, effects, may, onChange }) {
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
    { title: t("name"), cell: (one) => html`<span class="ad-text">${named("parameter", one.name)}</span><span class="ad-sub yd-mono">${one.name}</span><span class="ad-sub">${t(one.name)}</span>${effects[one.name] && html`<${Measured} one=${effects[one.name]} may=${may} />`}` },
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
