// What was found for a question and how it was judged, drawn for people who do not know the engine. The hit test and
// the trace of a turn show the same.
import { number, percent, words } from "../shared/i18n.js";
import { Tag, html } from "../shared/ui.js";
import { Named, named, toneOf } from "./names.js";
import { useState } from "../vendor/preact-htm.js";
import { link } from "./route.js";

const t = words({
  zh: {
    read: "读懂问题", readText: "一句话可能有几种理解，每一种都去找。", meaning: "按意思找", keyword: "按字词找", piece: "{n} 段", fused: "合并去重", fusedText: "两路都靠前的排在前面", ranked: "细看排序", rankedText: "逐段与问题对照，算出把握", gated: "可用来回答", gatedText: "把握过了门槛 {threshold}，名次够前", decided: "谁来回答",
    words: "问题里的词，越大越有区分度", candidates: "找到的片段，把握大的在前", threshold: "门槛 {threshold}", page: "第 {n} 页", details: "各项得分", rankIn: "按意思第 {v} · 按字词第 {k}", onlyMeaning: "按意思第 {v}，按字词没找到", onlyKeyword: "按字词第 {k}，按意思没找到", neither: "不在两路召回里",
    cosine: "意思相近度（余弦）", bm25: "字词得分（BM25）", fusedScore: "合并得分", score: "重排得分", scorer: "由谁打分", fits: "最贴近的理解", verdict: "结论", passed: "可用来回答", gate: "低于门槛", rerank_cut: "名次靠后，没用上", asks: "问：", more: "显示其余 {n} 段", parts: "这句话里有 {n} 个问题，分别去找", best: "最高把握 {best}", probability: "把握",
    none: "一段也没有找到。", noBids: "只有一个智能体应答，不用比较。", aside: "顺带", urgent: "最先", claims: "认领", looks_up: "查找后认领", tier: "由{tier}判断意图", rules: "规则", entities: "实体", head: "分类器", llm: "大模型", degraded: "检索时有部件出了故障：{parts}，结果可能不全。",
  },
  en: {
    read: "Understanding", readText: "A sentence may be meant in several ways; each is looked for.", meaning: "By meaning", keyword: "By words", piece: "{n} passages", fused: "Merged", fusedText: "What both found early comes first", ranked: "Ranked", rankedText: "Each is compared with the question", gated: "May be used", gatedText: "Past the threshold of {threshold}, early enough", decided: "Who answers",
    words: "Words of the question; larger tells more apart", candidates: "Passages found, the surest first", threshold: "Threshold {threshold}", page: "page {n}", details: "All scores", rankIn: "by meaning #{v} · by words #{k}", onlyMeaning: "by meaning #{v}, not by words", onlyKeyword: "by words #{k}, not by meaning", neither: "in neither recall",
    cosine: "Closeness of meaning (cosine)", bm25: "Words (BM25)", fusedScore: "Merged score", score: "Reranker's score", scorer: "Scored by", fits: "Fits best", verdict: "Verdict", passed: "may be used", gate: "below the threshold", rerank_cut: "too far back to be used", asks: "Q:", more: "Show the other {n}", parts: "{n} questions in this message, each searched", best: "surest {best}", probability: "Probability",
    none: "Nothing was found.", noBids: "One agent answered; there was nothing to weigh.", aside: "aside", urgent: "first", claims: "claims", looks_up: "after looking", tier: "Intent told by {tier}", rules: "rules", entities: "entities", head: "classifier", llm: "language model", degraded: "Something was out of order while searching: {parts}. Results may be incomplete.",
  },
});

const FIRST = 10;
const shown = (value) => percent(value, 0);
const ms = (value) => (value === undefined ? "" : `${number(value, value < 10 ? 1 : 0)} ms`);

export const Degraded = ({ parts }) => parts?.length > 0 && html`<div class="yd-notice" data-tone="warn">${t("degraded", { parts: parts.map((part) => named("degraded", part)).join("、") })}</div>`;

// The way from the question to what may be used, with how many are left at each step and how long it took.
export function Funnel({ evidence, timings }) {
  const { hypotheses, recalled, candidates, threshold } = evidence;
  const passing = candidates.filter((one) => one.stage === "passed").length;
  const steps = [
    { title: t("read"), count: hypotheses.length, time: timings.embed, text: t("readText") },
    { pair: [{ title: t("meaning"), count: recalled.vector, time: timings.vector }, { title: t("keyword"), count: recalled.keyword, time: timings.bm25 }] },
    { title: t("fused"), count: recalled.fused, time: timings.fuse, text: t("fusedText") },
    { title: t("ranked"), count: candidates.length, time: timings.rerank, text: t("rankedText") },
    { title: t("gated"), count: passing, time: timings.gate, text: t("gatedText", { threshold: shown(threshold) }), tone: passing ? "good" : "bad" },
  ];
  const box = (step) => html`<div class="ad-step" data-tone=${step.tone}><div class="ad-step-title">${step.title}<span class="yd-tiny yd-muted yd-nums">${ms(step.time)}</span></div>
    <div class="ad-step-count yd-nums">${number(step.count)}</div>${step.text && html`<div class="yd-tiny yd-muted">${step.text}</div>`}</div>`;
  return html`<ol class="ad-funnel">${steps.map((step) => html`<li>${step.pair ? html`<div class="ad-pair">${step.pair.map(box)}</div>` : box(step)}</li>`)}</ol>`;
}

export const Hypotheses = ({ hypotheses }) => html`<ul class="ad-hypotheses">${hypotheses.map((one) => html`<li><${Named} kind="kind" value=${one.kind} /><span>${one.text}</span></li>`)}</ul>`;

export function Terms({ terms }) {
  const entries = Object.entries(terms || {}).sort((a, b) => b[1] - a[1]);
  const most = entries[0]?.[1] || 1;
  return entries.length > 0 && html`<figure><figcaption class="yd-small yd-muted">${t("words")}</figcaption><div class="ad-terms">${entries.map(([word, idf]) => html`<span title=${`idf ${number(idf, 2)}`} style=${{ fontSize: `${12 + Math.round(8 * idf / most)}px` }}>${word}</span>`)}</div></figure>`;
}

function ranks(one) {
  const [v, k] = [one.vector_rank, one.keyword_rank];
  if (v && k) return t("rankIn", { v, k });
  return v ? t("onlyMeaning", { v }) : k ? t("onlyKeyword", { k }) : t("neither");
}

// The line of the threshold runs through all bars, so that one sees at a glance who is on which side.
export function Candidate({ one, threshold, hypotheses, open }) {
  const tone = one.stage === "rerank_cut" ? "" : toneOf("verdict", one.verdict);
  const facts = [[t("cosine"), number(one.cosine, 3)], [t("bm25"), number(one.bm25, 2)], [t("fusedScore"), number(one.fused, 4)], [t("score"), number(one.score, 3)], [t("scorer"), one.scorer], [t("fits"), hypotheses?.[one.hypothesis]?.text]];
  return html`<article class="ad-candidate" data-tone=${tone}>
    <div class="yd-row yd-wrap"><span class="ad-rank yd-nums">${one.rank}</span>
      <div class="yd-grow"><a href=${link(`documents/${one.document_id}`)}>${one.title || one.document_name}</a><span class="ad-sub">${[one.heading, one.page && t("page", { n: one.page })].filter(Boolean).join(" · ")}</span></div>
      <${Tag} tone=${tone}>${t(one.stage)}<//></div>
    <div class="ad-probability" role="img" aria-label=${`${t("probability")} ${shown(one.probability)}，${t("threshold", { threshold: shown(threshold) })}`}>
      <div class="ad-gauge"><div class="ad-gauge-fill" data-tone=${tone} style=${{ width: `${100 * one.probability}%` }}></div><div class="ad-gauge-line" style=${{ left: `${100 * threshold}%` }}></div></div><strong class="yd-nums">${shown(one.probability)}</strong></div>
    ${one.question && html`<p class="yd-small"><strong>${t("asks")}</strong>${one.question}</p>`}
    <p class="yd-small ad-clamp">${one.text}</p>
    <details open=${open}><summary>${ranks(one)}</summary><dl class="ad-facts">${facts.filter(([, value]) => value).map(([name, value]) => html`<dt>${name}</dt><dd class="yd-nums">${value}</dd>`)}</dl></details></article>`;
}

export function Candidates({ evidence }) {
  const [all, setAll] = useState(false);
  const shownOnes = all ? evidence.candidates : evidence.candidates.slice(0, FIRST);
  const hidden = evidence.candidates.length - shownOnes.length;
  return html`<section class="yd-stack"><div class="yd-row"><h3 class="yd-grow">${t("candidates")}</h3><span class="yd-small yd-muted"><span class="ad-key-line" aria-hidden="true"></span> ${t("threshold", { threshold: shown(evidence.threshold) })}</span></div>
    ${shownOnes.length === 0 ? html`<p class="yd-muted">${t("none")}</p>` : shownOnes.map((one) => html`<${Candidate} key=${one.chunk_id} one=${one} threshold=${evidence.threshold} hypotheses=${evidence.hypotheses} />`)}
    ${hidden > 0 && html`<div><button class="yd-btn yd-btn-small" onClick=${() => setAll(true)}>${t("more", { n: number(hidden) })}</button></div>`}</section>`;
}

// A message with several questions: how each of them fared.
export const Parts = ({ parts }) => parts?.length > 0 && html`<div class="yd-stack"><p class="yd-small yd-muted">${t("parts", { n: parts.length })}</p><ul class="ad-hypotheses">${parts.map((part) => html`<li><${Named} kind="verdict" value=${part.verdict} /><span>${part.hypotheses[0]?.text}</span>
  <span class="yd-small yd-muted yd-nums">${t("best", { best: shown(part.candidates[0]?.probability || 0) })}</span></li>`)}</ul></div>`;

// Who answers first, then the others; who had no claim at all is left out.
function weighed({ intents, bids }) {
  const chosen = (bid) => intents.includes(bid.intent);
  return bids.filter((bid) => chosen(bid) || bid.probability >= 0.005).sort((a, b) => chosen(b) - chosen(a) || b.probability - a.probability);
}

export function DecisionView({ decision, route }) {
  if (!decision) return html`<p class="yd-small yd-muted">${t("noBids")}</p>`;
  return html`<div class="yd-stack"><div class="yd-row yd-wrap">${decision.intents.map((intent) => html`<${Tag} tone="accent">${named("intent", intent)}<//>`)}</div>
    <ul class="ad-bids">${weighed(decision).map((bid) => html`<li><span class="ad-bid-name">${named("intent", bid.intent)}<span class="ad-sub">${t(bid.rank)}</span></span>
      <div class="ad-gauge"><div class="ad-gauge-fill" data-tone=${decision.intents.includes(bid.intent) ? "good" : ""} style=${{ width: `${100 * bid.probability}%` }}></div></div><strong class="yd-nums">${shown(bid.probability)}</strong><span class="ad-sub">${named("why", bid.why)}</span></li>`)}</ul>
    ${route && html`<p class="yd-tiny yd-muted">${t("tier", { tier: t(route.tier) })}</p>`}</div>`;
}
