// Questions that the knowledge base did not answer, and what to do about each.
import { ago, moment, number, words } from "../shared/i18n.js";
import { html } from "../shared/ui.js";
import { Choice, Listing, Search, useListing } from "./listing.js";
import { Named, named } from "./names.js";
import { Head } from "./page.js";
import { link } from "./route.js";
import { server } from "./server.js";

const OUTCOMES = ["no_evidence", "cannot_answer", "low_confidence", "clarify", "partially_answered"];
const t = words({
  zh: { title: "知识缺口", text: "顾客问过、知识库没答上来的问题。补一篇文档，再用命中测试确认。", search: "搜索问题", question: "问题", outcome: "最近的结论", count: "问过", last: "最近一次", first: "最早", order: "排序", recent: "最近问的在前", most: "问得最多在前", try: "命中测试", empty: "没有缺口：问过的问题都答上来了。", times: "{n} 次" },
  en: { title: "Gaps", text: "What customers asked and the documents did not answer. Add a document, then check with the hit test.", search: "Search questions", question: "Question", outcome: "Last outcome", count: "Asked", last: "Last", first: "First", order: "Order", recent: "Latest first", most: "Most asked first", try: "Hit test", empty: "No gaps: all that was asked was answered.", times: "{n} times" },
});

export function Gaps({ route }) {
  const list = useListing(route, ["q", "outcome", "order"], (query, signal) => server.get("/api/v1/knowledge/gaps", query, { signal }));
  const columns = [
    { title: t("question"), cell: (gap) => html`<span class="ad-text">${gap.question}</span>` },
    { title: t("outcome"), name: "ad-wide", cell: (gap) => html`<${Named} kind="outcome" value=${gap.outcome} />` },
    { title: t("count"), numeric: true, cell: (gap) => t("times", { n: number(gap.count) }) },
    { title: t("last"), name: "ad-wide", cell: (gap) => html`<span class="ad-when" title=${moment(gap.last_seen)}>${ago(gap.last_seen)}</span>` },
    { title: t("first"), name: "ad-wide", cell: (gap) => html`<span class="ad-when">${moment(gap.first_seen)}</span>` },
    { title: t("try"), cell: (gap) => html`<a class="ad-when" href=${link("hit-test", { q: gap.question })}>${t("try")}</a>` },
  ];
  return html`<${Head} title=${t("title")} text=${t("text")} />
    <${Listing} list=${list} caption=${t("title")} columns=${columns} rowsOf=${(data) => data.gaps} keyOf=${(gap) => gap.id} empty=${t("empty")} filters=${html`<${Search} list=${list} label=${t("search")} />
      <${Choice} list=${list} name="outcome" label=${t("outcome")} options=${OUTCOMES.map((value) => [value, named("outcome", value)])} />
      <select class="yd-input ad-choice" aria-label=${t("order")} value=${list.asked.order} onChange=${(event) => list.change({ order: event.target.value })}><option value="">${t("recent")}</option><option value="count">${t("most")}</option></select>`} />`;
}
