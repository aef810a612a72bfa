// How the assistant is doing: turns and how they ended, times, cache, refusals, degradation, tokens.
import { number, percent, words } from "../shared/i18n.js";
import { Empty, Loaded, html, useLoaded } from "../shared/ui.js";
import { Chart } from "./chart.js";
import { Figure } from "./figure.js";
import { FirstSteps } from "./first-steps.js";
import { named } from "./names.js";
import { Head, Meter } from "./page.js";
import { go } from "./route.js";
import { filled } from "./series.js";
import { server } from "./server.js";

const RANGES = { hour: [1, "minute"], six: [6, "minute"], day: [24, "hour"], week: [168, "hour"], month: [720, "hour"] };
const STAGES = ["guard", "cache", "history", "embed", "screen", "route", "understand", "vector", "bm25", "fuse", "rerank", "gate", "generate", "verify", "persist"];
const ENDS = [["answered", ["answered", "partially_answered"]], ["unsure", ["low_confidence", "clarify"]], ["none", ["no_evidence", "cannot_answer"]], ["people", ["handoff", "high_stakes"]], ["other", ["out_of_scope", "irrelevant", "nonsense", "rejected"]]];
const t = words({
  zh: {
    title: "概览", text: "机器人答得怎么样、快不快、有没有部件在降级。", range: "时间范围", hour: "1 小时", six: "6 小时", day: "24 小时", week: "7 天", month: "30 天", refresh: "刷新",
    turns: "对话轮数", turnsText: "失败 {failed} 轮", first: "首字（中位数）", firstText: "95 % 的人快于 {p95}", total: "整句（中位数）", totalText: "95 % 快于 {p95}，99 % 快于 {p99}", cache: "来自缓存", cacheText: "{n} 轮", refusal: "没能回答", refusalText: "{n} 轮：没有依据、超出范围等", degraded: "降级作答", degradedText: "{n} 轮有部件出故障", tokens: "大模型 token", tokensText: "{calls} 次调用", now: "正在回答", nowText: "最多同时 {peak} 轮（本次启动以来）",
    outcomes: "对话怎样结束", answered: "已回答", unsure: "不确定或反问", none: "没有依据", people: "转人工", other: "其他", times: "一轮要多久", p50: "中位数", p95: "95 % 快于", firstP50: "首字，中位数", rates: "缓存、没能回答与降级", cached: "来自缓存", refused: "没能回答", degradedRate: "降级", llm: "大模型用量", input: "输入", output: "输出",
    stages: "各步耗时", stage: "步骤", count: "次数", stagesText: "一轮里每一步花的时间", parts: "降级的部件", rejections: "没有处理的消息", limited: "超过上限的请求", quiet: "这段时间里没有。", reason: "原因", times_n: "{n} 次", nothing: "这段时间里没有对话。", ms: "{n} 毫秒", s: "{n} 秒",
  },
  en: {
    title: "Overview", text: "How well the assistant answers, how fast, and whether a part of it is degraded.", range: "Range", hour: "1 hour", six: "6 hours", day: "24 hours", week: "7 days", month: "30 days", refresh: "Refresh",
    turns: "Turns", turnsText: "{failed} failed", first: "First words (median)", firstText: "95 % within {p95}", total: "Whole reply (median)", totalText: "95 % within {p95}, 99 % within {p99}", cache: "From the cache", cacheText: "{n} turns", refusal: "Not answered", refusalText: "{n} turns: no evidence, out of scope and so on", degraded: "Degraded", degradedText: "{n} turns with a part out of order", tokens: "Model tokens", tokensText: "{calls} calls", now: "Being answered now", nowText: "{peak} at once at most since the start",
    outcomes: "How turns ended", answered: "Answered", unsure: "Unsure or asked back", none: "No evidence", people: "To people", other: "Other", times: "How long a turn takes", p50: "Median", p95: "95 % within", firstP50: "First words, median", rates: "Cache, refusals, degradation", cached: "From the cache", refused: "Not answered", degradedRate: "Degraded", llm: "Use of the language model", input: "Input", output: "Output",
    stages: "Time by step", stage: "Step", count: "Times", stagesText: "What each step of a turn takes", parts: "Degraded parts", rejections: "Messages not handled", limited: "Requests over the limits", quiet: "None in this time.", reason: "Reason", times_n: "{n} times", nothing: "No turns in this time.", ms: "{n} ms", s: "{n} s",
  },
});
const time = (ms) => (ms >= 1000 ? t("s", { n: number(ms / 1000, 1) }) : t("ms", { n: number(ms, ms < 10 ? 1 : 0) }));
const share = (part, whole) => (whole ? part / whole : 0);
const sum = (counts, names) => names.reduce((all, name) => all + (counts[name] || 0), 0);

export function Dashboard({ route }) {
  const range = RANGES[route.query.get("range")] ? route.query.get("range") : "day";
  const [hours, step] = RANGES[range];
  const state = useLoaded(async (signal) => {
    const to = new Date();
    const from = new Date(to - hours * 3600e3);
    const [series, metrics] = await Promise.all([server.get("/api/v1/performance/series", { from: from.toISOString(), to: to.toISOString(), step }, { signal }), server.get("/api/v1/performance/metrics", {}, { signal })]);
    return { series, metrics, points: filled(series.points, from, to, step) };
  }, [range]);
  return html`<${Head} title=${t("title")} text=${t("text")}><div class="ad-ranges" role="group" aria-label=${t("range")}>${Object.keys(RANGES).map((name) => html`<button aria-pressed=${name === range} onClick=${() => go("overview", { range: name === "day" ? "" : name }, { replace: true })}>${t(name)}</button>`)}</div>
    <button class="yd-btn yd-btn-small" onClick=${state.reload} disabled=${state.loading}>${t("refresh")}</button><//>
    <${FirstSteps} /><${Loaded} state=${state}>${({ series, metrics, points }) => html`<div class="yd-stack" aria-busy=${state.loading}><${Figures} total=${series.total} metrics=${metrics} /><${Charts} points=${points} total=${series.total} step=${step} /></div>`}<//>`;
}

function Figures({ total, metrics }) {
  const tokens = total.llm.prompt_tokens + total.llm.completion_tokens;
  return html`<div class="ad-figures">
    <${Figure} title=${t("turns")} value=${number(total.turns)} text=${t("turnsText", { failed: number(total.failed) })} />
    <${Figure} title=${t("first")} value=${time(total.first_token_ms.p50)} text=${t("firstText", { p95: time(total.first_token_ms.p95) })} />
    <${Figure} title=${t("total")} value=${time(total.total_ms.p50)} text=${t("totalText", { p95: time(total.total_ms.p95), p99: time(total.total_ms.p99) })} />
    <${Figure} title=${t("cache")} value=${percent(share(total.cached, total.turns), 1)} text=${t("cacheText", { n: number(total.cached) })} />
    <${Figure} title=${t("refusal")} value=${percent(share(total.refused, total.turns), 1)} text=${t("refusalText", { n: number(total.refused) })} />
    <${Figure} title=${t("degraded")} tone=${total.degraded ? "warn" : ""} value=${percent(share(total.degraded, total.turns), 1)} text=${t("degradedText", { n: number(total.degraded) })} />
    <${Figure} title=${t("tokens")} value=${number(tokens)} text=${t("tokensText", { calls: number(total.llm.calls) })} />
    <${Figure} title=${t("now")} value=${number(metrics.concurrency.in_flight)} text=${t("nowText", { peak: number(metrics.concurrency.peak) })} /></div>`;
}

const COLOURS = { answered: "--yd-good", unsure: "--ad-amber", none: "--yd-bad", people: "--yd-accent", other: "--yd-border-strong" };

function Charts({ points, total, step }) {
  const at = points.map((point) => Date.parse(point.at) / 1000);
  const line = (title, pick, colour) => ({ title, colour, values: points.map(pick) });
  const rate = (pick) => (point) => (point.turns ? pick(point) / point.turns : null);
  const duration = (pick) => (point) => (pick(point)?.count ? pick(point).p50 : null);
  return html`<div class="ad-charts">
    <${Chart} title=${t("outcomes")} at=${at} step=${step} stacked=${true} format=${(value) => number(value)} series=${ENDS.map(([name, outcomes]) => line(t(name), (point) => sum(point.outcomes, outcomes), COLOURS[name]))} />
    <${Chart} title=${t("times")} at=${at} step=${step} format=${time} series=${[line(t("p95"), (point) => (point.total_ms.count ? point.total_ms.p95 : null), "--ad-amber"), line(t("p50"), duration((point) => point.total_ms), "--yd-accent"), line(t("firstP50"), duration((point) => point.first_token_ms), "--yd-good")]} />
    <${Chart} title=${t("rates")} at=${at} step=${step} format=${(value) => percent(value, 0)} series=${[line(t("cached"), rate((point) => point.cached), "--yd-good"), line(t("refused"), rate((point) => point.refused), "--yd-bad"), line(t("degradedRate"), rate((point) => point.degraded), "--ad-amber")]} />
    <${Chart} title=${t("llm")} at=${at} step=${step} stacked=${true} format=${(value) => number(value)} series=${[line(t("input"), (point) => point.llm.prompt_tokens, "--yd-accent"), line(t("output"), (point) => point.llm.completion_tokens, "--yd-good")]} />
    <${Stages} stages=${total.stages} />
    <div class="yd-stack"><${Counts} title=${t("parts")} kind="degraded" counts=${total.degradations} /><${Counts} title=${t("rejections")} kind="rejection" counts=${total.rejections} /><${Counts} title=${t("limited")} kind="limit" counts=${total.limited} /></div></div>`;
}

function Stages({ stages }) {
  const rows = STAGES.filter((stage) => stages[stage]?.count);
  const longest = Math.max(1, ...rows.map((stage) => stages[stage].p95));
  return html`<section class="yd-card"><div class="ad-card-title"><h2>${t("stages")}</h2></div>${rows.length === 0 ? html`<${Empty}>${t("nothing")}<//>` : html`<div class="yd-scroll" tabindex="0" role="region" aria-label=${t("stages")}><table class="yd-table ad-stages"><caption class="yd-sr">${t("stagesText")}</caption><thead><tr><th scope="col">${t("stage")}</th><th scope="col" class="ad-wide"><span class="yd-sr">${t("p95")}</span></th><th scope="col" class="yd-num">${t("p50")}</th><th scope="col" class="yd-num">${t("p95")}</th><th scope="col" class="yd-num ad-wide">${t("count")}</th></tr></thead>
    <tbody>${rows.map((stage) => html`<tr><th scope="row">${named("stage", stage)}</th><td class="ad-wide"><${Meter} share=${stages[stage].p95 / longest} /></td><td class="yd-num">${time(stages[stage].p50)}</td><td class="yd-num">${time(stages[stage].p95)}</td><td class="yd-num ad-wide">${number(stages[stage].count)}</td></tr>`)}</tbody></table></div>`}</section>`;
}

function Counts({ title, kind, counts }) {
  const rows = Object.entries(counts).sort((a, b) => b[1] - a[1]);
  return html`<section class="yd-card"><div class="ad-card-title"><h2>${title}</h2></div>${rows.length === 0 ? html`<p class="yd-small yd-muted">${t("quiet")}</p>` : html`<ul class="ad-list">${rows.map(([name, count]) => html`<li class="yd-row yd-small"><span class="yd-grow">${named(kind, name)}</span><span class="yd-nums">${t("times_n", { n: number(count) })}</span></li>`)}</ul>`}</section>`;
}
