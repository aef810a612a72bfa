// Two reports, question by question; and a turn as every report shows it.
import { number, words } from "../shared/i18n.js";
import { Empty, Loaded, Table, html, useLoaded } from "../shared/ui.js";
import { REPORTS } from "./evaluation-reports.js";
import { Named, named } from "./names.js";
import { link } from "./route.js";
import { server } from "./server.js";

const EFFECTS = ["worse", "better", "other", "same"];
const t = words({
  zh: { title: "逐题对照", say: "顾客说", effect: "变化", before: "先前", after: "这一次", sure: "差别显著（p = {p}）。", luck: "差别不显著，可能只是运气（p = {p}）。", gained: "变成正确 {n} 轮，不再正确 {m} 轮。", unmatched: "{n} 轮只在一份报告里，没有对照。", same: "每一题的结果都与先前一样。", banned: "说了不该说的：{what}", lacks: "没说到：{what}", cites: "没引到：{what}", queue: "被人工队列接走", instead: "回应成了“{got}”，应当是“{wanted}”", web: "顾客的网页" },
  en: { title: "Question by question", say: "Customer says", effect: "Change", before: "Before", after: "Now", sure: "Significant (p = {p}).", luck: "Not significant: it may be luck (p = {p}).", gained: "{n} turns became correct, {m} no longer are.", unmatched: "{n} turns are in one report alone.", same: "Every turn came out as before.", banned: "Says what it must not: {what}", lacks: "Does not say: {what}", cites: "Does not cite: {what}", queue: "Taken by the queue", instead: "“{got}” instead of “{wanted}”", web: "The customer's page" },
});
const REASONS = [["holds ", "banned"], ["lacks ", "lacks"], ["cites none of ", "cites"]];

// Lists as the server prints them: what stands between brackets, the groups apart.
const listed = (text) => text.replaceAll(/^\[\(?|,?\)?\]$/g, "").replaceAll(/,?\), \(/g, "；");

// What is wrong with a reply, which the server says for people who read logs.
function reason(why) {
  if (why === "swallowed by the queue") return t("queue");
  const known = REASONS.find(([start]) => why.startsWith(start));
  if (known) return t(known[1], { what: listed(why.slice(known[0].length)) });
  const [got, wanted] = why.split(", not ");
  const kinds = (text, between) => text.split(between).map((kind) => named("turnKind", kind)).join(" / ");
  return wanted ? t("instead", { got: kinds(got, "+"), wanted: kinds(wanted, "|") }) : why;
}

export const Turn = ({ one }) => html`<span class="ad-text">${one.say}</span><span class="ad-sub">${one.case}${one.turn > 1 && ` #${one.turn}`}${one.tag && ` · ${one.tag}`}</span>`;

export const Reply = ({ one }) => html`<span class="ad-text">${one.reply}</span>${one.why && html`<span class="ad-sub yd-error">${reason(one.why)}</span>`}
  ${one.sources.map((source) => html`<span class="ad-sub">${source.document_id ? html`<a href=${link(`documents/${source.document_id}`)}>${source.place}</a>` : source.place || t("web")}</span>`)}`;

export function Compared({ report, before }) {
  const state = useLoaded((signal) => server.get(`${REPORTS}/${report}/compare`, { before }, { signal }), [report, before]);
  const side = (name) => (turn) => html`<div><${Named} kind="turnVerdict" value=${turn[name].verdict} /></div><${Reply} one=${turn[name]} />`;
  const columns = [
    { title: t("say"), cell: (turn) => html`<${Turn} one=${turn.after} />` },
    { title: t("effect"), cell: (turn) => html`<${Named} kind="effect" value=${turn.effect} />` },
    { title: t("before"), cell: side("before") },
    { title: t("after"), cell: side("after") },
  ];
  return html`<h2>${t("title")}</h2><${Loaded} state=${state}>${(found) => html`<div class="yd-stack">
    <div class="yd-row yd-wrap">${EFFECTS.map((effect) => html`<span><${Named} kind="effect" value=${effect} /> ${number(found.counts[effect] || 0)}</span>`)}</div>
    <p class="yd-small">${t("gained", { n: number(found.gained), m: number(found.lost) })} ${t(found.p_value < 0.05 ? "sure" : "luck", { p: number(found.p_value, 4) })} ${found.unmatched > 0 && t("unmatched", { n: number(found.unmatched) })}</p>
    <div class="yd-card ad-table">${found.turns.length ? html`<${Table} caption=${t("title")} columns=${columns} rows=${found.turns} keyOf=${(turn) => `${turn.after.case}.${turn.after.turn}`} />` : html`<${Empty}>${t("same")}<//>`}</div></div>`}<//>`;
}
