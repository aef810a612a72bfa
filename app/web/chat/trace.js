// The drawer that explains one turn: what was searched, what was found, who answered and why, and how long it took.
import { client } from "../core/api.js";
import { number, percent, words } from "../shared/i18n.js";
import { Loaded, Tag, html, render, useLoaded } from "../shared/ui.js";
import { named } from "../admin/names.js";
import { useEffect, useRef } from "../vendor/preact-htm.js";

const t = words({
  zh: {
    title: "这一轮怎么决定的", close: "关闭", question: "问题", standalone: "检索时的问法", outcome: "结论", agent: "由谁回答", confidence: "把握", cached: "来自缓存：这一轮没有重新检索。", why: "为什么", bids: "各智能体的把握", hypotheses: "理解成这些问法", candidates: "候选片段（按最终次序）", recalled: "向量召回 {vector} 条，关键词召回 {keyword} 条，合并后 {fused} 条；概率到 {threshold} 才算依据。",
    nothing: "这一轮没有检索。", verdict_pass: "采用", verdict_clarify: "反问", verdict_refuse: "未过门槛", ranks: "向量第 {vector} · 关键词第 {keyword}", timings: "各步耗时", ms: "{n} 毫秒", model: "生成", tokens: "{calls} 次调用，{prompt} + {completion} 个词元", id: "编号", degraded: "出了故障的部件", page: "第 {n} 页",
    asked: "原话", rewritten: "改写", spelled: "纠错", translated: "翻译", in_full: "简称展开", in_context: "结合上文", part: "其中一问",
  },
  en: {
    title: "How this was decided", close: "Close", question: "Question", standalone: "As searched", outcome: "Outcome", agent: "Answered by", confidence: "Confidence", cached: "From the cache: nothing was searched for this turn.", why: "Why", bids: "What the agents bid", hypotheses: "Understood as", candidates: "Candidates in their final order", recalled: "{vector} by vectors, {keyword} by keywords, {fused} together; evidence begins at a probability of {threshold}.",
    nothing: "Nothing was searched for this turn.", verdict_pass: "used", verdict_clarify: "asks back", verdict_refuse: "below the gate", ranks: "vectors {vector} · keywords {keyword}", timings: "Time of each step", ms: "{n} ms", model: "Generation", tokens: "{calls} calls, {prompt} + {completion} tokens", id: "Id", degraded: "Failed parts", page: "page {n}",
    asked: "as asked", rewritten: "rewritten", spelled: "corrected", translated: "translated", in_full: "in full", in_context: "in context", part: "one part",
  },
});
const TONES = { pass: "good", clarify: "warn", refuse: "" };
const api = client();

// id: of a reply. Opens the drawer in #drawer, and gives the focus back when it is closed.
export function showTrace(id) {
  const place = document.getElementById("drawer");
  const close = () => render(null, place);
  render(null, place);
  render(html`<${Drawer} id=${id} onClose=${close} />`, place);
}

function Drawer({ id, onClose }) {
  const button = useRef();
  const state = useLoaded(() => api.get(`/api/v1/traces/${id}`), [id]);
  useEffect(() => { button.current.focus(); }, []);
  return html`<aside class="yd-drawer" role="dialog" aria-label=${t("title")} onKeyDown=${(event) => event.key === "Escape" && onClose()}>
    <div class="yd-row"><h2 class="yd-grow">${t("title")}</h2><button ref=${button} class="yd-btn yd-btn-quiet yd-btn-icon" aria-label=${t("close")} onClick=${onClose}>×</button></div>
    <${Loaded} state=${state}>${(trace) => html`<${Trace} trace=${trace} />`}<//></aside>`;
}

const Trace = ({ trace }) => html`<div class="trace">
  <dl><dt>${t("question")}</dt><dd>${trace.question}</dd>
    ${trace.standalone && trace.standalone !== trace.question && html`<dt>${t("standalone")}</dt><dd>${trace.standalone}</dd>`}
    <dt>${t("outcome")}</dt><dd><${Tag} tone="accent">${named("outcome", trace.outcome)}<//></dd>
    <dt>${t("agent")}</dt><dd>${named("intent", trace.intent)}</dd>
    <dt>${t("confidence")}</dt><dd>${percent(trace.confidence)}</dd>
    ${trace.degraded.length > 0 && html`<dt>${t("degraded")}</dt><dd>${trace.degraded.map((part) => named("degraded", part)).join("、")}</dd>`}
    ${trace.decision && html`<dt>${t("why")}</dt><dd>${named("why", trace.decision.why)}</dd>`}</dl>
  ${trace.cached ? html`<p class="yd-notice">${t("cached")}</p>` : html`<${Evidence} evidence=${trace.evidence} />`}
  ${trace.decision && html`<section class="yd-stack"><h3>${t("bids")}</h3>${trace.decision.bids.map((bid) => html`<div><div class="yd-row yd-small"><span class="yd-grow">${named("intent", bid.intent)} <span class="yd-muted">${named("why", bid.why)}</span></span><span class="yd-nums">${percent(bid.probability)}</span></div><${Meter} label=${named("intent", bid.intent)} value=${bid.probability} /></div>`)}</section>`}
  <section class="yd-stack"><h3>${t("timings")}</h3><dl>${Object.entries(trace.timings_ms).map(([stage, ms]) => html`<dt>${named("stage", stage)}</dt><dd class="yd-nums">${t("ms", { n: number(ms, 1) })}</dd>`)}</dl></section>
  ${trace.model && html`<dl><dt>${t("model")}</dt><dd>${[trace.model.provider, trace.model.name].filter(Boolean).join(" · ")}${trace.model.calls > 0 && ` · ${t("tokens", { calls: trace.model.calls, prompt: trace.model.prompt_tokens, completion: trace.model.completion_tokens })}`}</dd></dl>`}
  <p class="yd-tiny yd-muted yd-mono">${t("id")} ${trace.trace_id}</p></div>`;

const Meter = ({ label, value }) => html`<progress class="meter" max="1" value=${value} aria-label=${label}></progress>`;

function Evidence({ evidence }) {
  if (!evidence) return html`<p class="yd-notice">${t("nothing")}</p>`;
  return html`<section class="yd-stack"><h3>${t("hypotheses")}</h3>${evidence.hypotheses.map((one) => html`<div class="yd-row yd-small"><${Tag}>${t(one.kind)}<//><span>${one.text}</span></div>`)}</section>
    <section class="yd-stack"><h3>${t("candidates")}</h3><p class="yd-small yd-muted">${t("recalled", { ...evidence.recalled, threshold: percent(evidence.threshold) })}</p>
    ${evidence.candidates.map((one) => html`<div class="candidate yd-stack" data-verdict=${one.verdict}><div class="yd-row"><b class="yd-grow yd-clip">${one.rank}. ${one.title}${one.page ? ` · ${t("page", { n: one.page })}` : ""}</b><${Tag} tone=${TONES[one.verdict]}>${t(`verdict_${one.verdict}`)} ${percent(one.probability)}<//></div>
      <div>${one.question || one.text}</div><div class="yd-tiny yd-muted">${t("ranks", { vector: one.vector_rank ?? "–", keyword: one.keyword_rank ?? "–" })}</div><${Meter} label=${one.title} value=${one.probability} /></div>`)}</section>`;
}
