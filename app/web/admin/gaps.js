// What customers asked in vain: gaps, clustered and ranked, and the questions one by one.
import { ago, moment, number, words } from "../shared/i18n.js";
import { attempt, html } from "../shared/ui.js";
import { useState } from "../vendor/preact-htm.js";
import { Gap } from "./gap.js";
import { Choice, Listing, Search, useListing } from "./listing.js";
import { Named, Reasons, named, options } from "./names.js";
import { Head, Tabs } from "./page.js";
import { go, link } from "./route.js";
import { finished } from "./run.js";
import { server } from "./server.js";

const GAPS = "/api/v1/knowledge/gaps";
const OUTCOMES = ["no_evidence", "cannot_answer", "low_confidence", "clarify", "partially_answered"];
const t = words({
  zh: {
    title: "知识缺口", text: "顾客问了、没帮上的问题，归成一类一类。写好答案，审核通过，就会回答顾客。", gaps: "缺口", questions: "逐条问题", search: "搜索问题", question: "问题", state: "状态", why: "为什么算缺口", customers: "多少人问过", week: "近 7 天", trend: "比前 7 天", last: "最近一次", order: "排序", rank: "量大、在涨的在前", recent: "最近问的在前", most: "问得最多在前", outcome: "最近的结论", count: "问过", first: "最早", try: "命中测试", times: "{n} 次", people: "{n} 人", mine: "立即挖掘", mining: "正在挖掘…", mined: "收集 {n} 个问题，新增 {m} 个缺口", empty: "还没有缺口。每天夜里挖掘一次，也可以现在挖掘。", emptyQuestions: "问过的问题都答上来了。", same: "持平",
  },
  en: {
    title: "Gaps", text: "What customers asked without being helped, clustered. Write an answer, have it approved, and it answers customers.", gaps: "Gaps", questions: "Questions one by one", search: "Search questions", question: "Question", state: "State", why: "Why it is one", customers: "Asked by", week: "Last 7 days", trend: "Against the 7 before", last: "Last", order: "Order", rank: "Many and growing first", recent: "Latest first", most: "Most asked first", outcome: "Last outcome", count: "Asked", first: "First", try: "Hit test", times: "{n} times", people: "{n}", mine: "Mine now", mining: "Mining…", mined: "{n} questions collected, {m} new gaps", empty: "No gaps yet. They are mined every night, and now if you like.", emptyQuestions: "All that was asked was answered.", same: "same",
  },
});

export function Gaps(props) {
  if (props.route.id && props.route.id !== "questions") return html`<${Gap} key=${props.route.id} ...${props} />`;
  return html`<${All} ...${props} />`;
}

function All({ route, manages }) {
  const [runs, setRuns] = useState(0);
  const apart = route.id === "questions";
  const tabs = [{ title: t("gaps"), href: link("gaps"), current: !apart }, { title: t("questions"), href: link("gaps/questions"), current: apart }];
  return html`<${Head} title=${t("title")} text=${t("text")}>${manages && html`<${Mine} onDone=${() => setRuns(runs + 1)} />`}<//>
    <${Tabs} label=${t("title")} tabs=${tabs} />${apart ? html`<${Questions} route=${route} />` : html`<${Clusters} key=${runs} route=${route} />`}`;
}

function Mine({ onDone }) {
  const [busy, setBusy] = useState(false);
  const mine = async () => {
    setBusy(true);
    await attempt(async () => finished(await server.post(`${GAPS}/mine`, {})), t("mine"));
    setBusy(false);
    onDone();
  };
  return html`<button class="yd-btn yd-btn-primary" disabled=${busy} onClick=${mine}>${busy ? t("mining") : t("mine")}</button>`;
}

function trend(gap) {
  const more = gap.week - gap.week_before;
  return more === 0 ? t("same") : `${more > 0 ? "+" : "−"}${number(Math.abs(more))}`;
}

function Clusters({ route }) {
  const list = useListing(route, ["q", "state", "reason", "order"], (query, signal) => server.get(GAPS, query, { signal }));
  const columns = [
    { title: t("question"), cell: (gap) => html`<a class="ad-text" href=${link(`gaps/${gap.id}`)}>${gap.question}</a>` },
    { title: t("why"), cell: (gap) => html`<${Reasons} gap=${gap} />` },
    { title: t("state"), cell: (gap) => html`<${Named} kind="gap" value=${gap.state} />` },
    { title: t("customers"), numeric: true, cell: (gap) => t("people", { n: number(gap.customers) }) },
    { title: t("week"), name: "ad-wide", numeric: true, cell: (gap) => number(gap.week) },
    { title: t("trend"), name: "ad-wide", numeric: true, cell: trend },
    { title: t("last"), name: "ad-wide", cell: (gap) => gap.last_seen && html`<span class="ad-when" title=${moment(gap.last_seen)}>${ago(gap.last_seen)}</span>` },
  ];
  const filters = html`<${Search} list=${list} label=${t("search")} /><${Choice} list=${list} name="state" label=${t("state")} options=${options("gap")} /><${Choice} list=${list} name="reason" label=${t("why")} options=${options("miss")} />
    <select class="yd-input ad-choice" aria-label=${t("order")} value=${list.asked.order} onChange=${(event) => list.change({ order: event.target.value })}><option value="">${t("rank")}</option><option value="recent">${t("recent")}</option></select>`;
  return html`<${Listing} list=${list} caption=${t("title")} columns=${columns} rowsOf=${(data) => data.items} keyOf=${(gap) => gap.id} onOpen=${(gap) => go(`gaps/${gap.id}`)} empty=${t("empty")} filters=${filters} />`;
}

function Questions({ route }) {
  const list = useListing(route, ["q", "outcome", "order"], (query, signal) => server.get(`${GAPS}/questions`, query, { signal }));
  const columns = [
    { title: t("question"), cell: (one) => html`<span class="ad-text">${one.question}</span>` },
    { title: t("outcome"), name: "ad-wide", cell: (one) => html`<${Named} kind="outcome" value=${one.outcome} />` },
    { title: t("count"), numeric: true, cell: (one) => t("times", { n: number(one.count) }) },
    { title: t("last"), name: "ad-wide", cell: (one) => html`<span class="ad-when" title=${moment(one.last_seen)}>${ago(one.last_seen)}</span>` },
    { title: t("first"), name: "ad-wide", cell: (one) => html`<span class="ad-when">${moment(one.first_seen)}</span>` },
    { title: t("try"), cell: (one) => html`<a class="ad-when" href=${link("hit-test", { q: one.question })}>${t("try")}</a>` },
  ];
  return html`<${Listing} list=${list} caption=${t("questions")} columns=${columns} rowsOf=${(data) => data.questions} keyOf=${(one) => one.id} empty=${t("emptyQuestions")} filters=${html`<${Search} list=${list} label=${t("search")} />
      <${Choice} list=${list} name="outcome" label=${t("outcome")} options=${OUTCOMES.map((value) => [value, named("outcome", value)])} />
      <select class="yd-input ad-choice" aria-label=${t("order")} value=${list.asked.order} onChange=${(event) => list.change({ order: event.target.value })}><option value="">${t("recent")}</option><option value="count">${t("most")}</option></select>`} />`;
}
