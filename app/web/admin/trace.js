// How one turn was decided, in a drawer.
import { useState } from "../vendor/preact-htm.js";
import { moment, number, percent, words } from "../shared/i18n.js";
import { Failure, Spinner, html, useLoaded } from "../shared/ui.js";
import { Candidates, DecisionView, Degraded, Funnel, Hypotheses, Parts } from "./evidence.js";
import { Named, named } from "./names.js";
import { Drawer, Facts, Meter } from "./page.js";
import { link } from "./route.js";
import { server } from "./server.js";

const t = words({
  zh: { title: "怎么答的", question: "问的是", standalone: "理解为", outcome: "结论", confidence: "把握", agent: "由谁回答", cached: "这一句来自缓存，没有重新检索。", none: "这一轮没有检索知识库。", way: "从问题到依据", meant: "可能的意思", decision: "谁来回答", times: "时间花在哪", model: "大模型", provider: "由谁写", calls: "请求", cost: "费用", origin: "看它是怎么算出来的", tokens: "用量", tokenText: "输入 {p}，输出 {c}", offline: "没有用大模型，回答摘自片段或固定的话。", verification: "核对", factuality: "成立的说法 {n} %", when: "时间", id: "追踪编号", ms: "{n} 毫秒", again: "用这句做命中测试", gone: "这一轮没有决策记录：可能早于这个版本，或已按保留期删除。" },
  en: { title: "How it was decided", question: "Asked", standalone: "Understood as", outcome: "Outcome", confidence: "Confidence", agent: "Answered by", cached: "This reply came from the cache; nothing was searched.", none: "Nothing was searched in this turn.", way: "From question to evidence", meant: "What may be meant", decision: "Who answers", times: "Where the time went", model: "Language model", provider: "Written by", calls: "Requests", cost: "Cost", origin: "See how it was computed", tokens: "Tokens", tokenText: "{p} in, {c} out", offline: "No language model: the reply is taken from passages or fixed words.", verification: "Verification", factuality: "{n} % of its claims hold", when: "When", id: "Trace id", ms: "{n} ms", again: "Hit test with this", gone: "There is no trace of this turn: it is older than this version, or was deleted by the retention period." },
});

export function TraceDrawer({ id, onClose }) {
  const [shown, show] = useState(id);
  const state = useLoaded((signal) => server.get(`/api/v1/traces/${encodeURIComponent(shown)}`, {}, { signal }), [shown]);
  return html`<${Drawer} title=${t("title")} onClose=${onClose}>
    ${state.error ? (state.error.code === "trace_not_found" ? html`<p class="yd-notice">${t("gone")}</p>` : html`<${Failure} error=${state.error} retry=${state.reload} />`) : !state.data ? html`<${Spinner} />` : html`<${Trace} trace=${state.data} onOpen=${show} />`}<//>`;
}

function Requests({ requests }) {
  return html`<ul class="yd-stack yd-small">${requests.map((request) => html`<li><span>${Object.keys(request.prompts)[0]} · ${request.model}</span>
    <span class="yd-mono yd-tiny">${Object.entries(request.prompts).map(([name, version]) => `${name} ${version}`).join("  ")}${request.error && ` · ${request.error}`}</span>
    <span class="yd-nums">${t("ms", { n: number(request.ms, 0) })} · ${t("tokenText", { p: number(request.prompt_tokens), c: number(request.completion_tokens) })}</span></li>`)}</ul>`;
}

function Trace({ trace, onOpen }) {
  const { evidence, model } = trace;
  return html`<${Facts} facts=${[[t("question"), trace.question], [t("standalone"), trace.standalone !== trace.question && trace.standalone], [t("outcome"), html`<${Named} kind="outcome" value=${trace.outcome} />`],
      [t("confidence"), trace.confidence > 0 && percent(trace.confidence, 0)], [t("agent"), named("intent", trace.intent)], [t("when"), moment(trace.created_at)], [t("id"), html`<span class="yd-mono yd-tiny">${trace.trace_id}</span>`]]} />
    <${Degraded} parts=${trace.degraded} />
    ${trace.cached && html`<p class="yd-notice">${t("cached")}${trace.origin && html` <button class="yd-btn yd-btn-small" onClick=${() => onOpen(trace.origin)}>${t("origin")}</button>`}</p>`}
    ${evidence ? html`<section class="yd-stack"><h3>${t("meant")}</h3><${Hypotheses} hypotheses=${evidence.hypotheses} /><${Parts} parts=${evidence.parts} /></section>
      <section class="yd-stack ad-narrow"><h3>${t("way")}</h3><${Funnel} evidence=${evidence} timings=${trace.timings_ms} /></section><${Candidates} evidence=${evidence} />` : !trace.cached && html`<p class="yd-notice">${t("none")}</p>`}
    <section class="yd-stack"><h3>${t("decision")}</h3><${DecisionView} decision=${trace.decision} route=${trace.route} /></section>
    <section class="yd-stack"><h3>${t("times")}</h3><${Times} times=${trace.timings_ms} /></section>
    ${model && html`<section class="yd-stack"><h3>${t("model")}</h3>${model.calls === 0 ? html`<p class="yd-small">${t("offline")}</p>` : html`<${Facts} facts=${[[t("provider"), model.name], [t("calls"), number(model.calls)], [t("tokens"), t("tokenText", { p: number(model.prompt_tokens), c: number(model.completion_tokens) })], [t("cost"), model.cost > 0 && number(model.cost, 6)]]} /><${Requests} requests=${model.requests} />`}</section>`}
    ${trace.verification?.factuality != null && html`<p class="yd-small">${t("verification")}：${t("factuality", { n: trace.verification.factuality })}</p>`}
    <p><a class="yd-btn yd-btn-small" href=${link("hit-test", { q: trace.standalone || trace.question })}>${t("again")}</a></p>`;
}

function Times({ times }) {
  const total = times.total || Object.values(times).reduce((sum, value) => sum + value, 0) || 1;
  const stages = Object.entries(times).filter(([stage, value]) => stage !== "total" && value > 0);
  return html`<ul class="ad-times">${[...stages, ["total", total]].map(([stage, value]) => html`<li><span>${named("stage", stage)}</span><${Meter} share=${value / total} /><span class="yd-nums">${t("ms", { n: number(value, value < 10 ? 1 : 0) })}</span></li>`)}</ul>`;
}
