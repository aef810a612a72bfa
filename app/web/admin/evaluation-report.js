// One report: its figures, every turn, and what changed since an earlier one.
import { moment, number, percent, words } from "../shared/i18n.js";
import { Loaded, Table, attempt, confirmed, html, useLoaded } from "../shared/ui.js";
import { useEffect } from "../vendor/preact-htm.js";
import { Compared, Turn, Reply } from "./evaluation-comparison.js";
import { Progress, REPORTS, open, share, useFollowed } from "./evaluation-reports.js";
import { Figure } from "./figure.js";
import { Choice, Listing, Search, useListing } from "./listing.js";
import { Named, options } from "./names.js";
import { Facts, Head } from "./page.js";
import { go, link } from "./route.js";
import { server } from "./server.js";

const t = words({
  zh: {
    back: "全部报告", cancel: "取消", cancelled: "已取消", remove: "删除", sure: "删除这份报告？", sureText: "逐轮的结果一起删除。", removed: "已删除", accuracy: "正确", accuracyText: "{n} / {all} 轮，说了一部分的 {part} 轮", wrong: "误答", wrongText: "不该答却答了，或说了不该说的", cited: "引到标注的出处", citedText: "所引文档里引对的 {value}", unfounded: "没有依据的数字", unfoundedText: "{n} 个回答里", brushed: "被打发", brushedText: "被人工队列误接 {n} 轮", seconds: "每轮用时", secondsText: "95% 在 {value} 秒内", faithful: "忠实", faithfulText: "句子有出处，由大模型评判", broken: "出故障的轮次", brokenText: "这些轮次说明不了知识库好坏", relevant: "切题", relevantText: "由大模型评判", second: "{n} 秒",
    about: "当时", set: "评测集", when: "时间", revision: "知识库版本号", embedder: "向量模型", reranker: "重排", llm: "大模型", none: "没有", judge: "评判", tags: "按标签", tag: "标签", right: "正确 / 轮数", compare: "与先前的报告对照", only: "不对照，看全部", results: "逐轮结果", search: "顾客的话里的字", say: "顾客说", verdict: "判定", reply: "回复", empty: "还没有结果。",
  },
  en: {
    back: "All reports", cancel: "Cancel", cancelled: "Cancelled", remove: "Delete", sure: "Delete this report?", sureText: "The results of its turns go with it.", removed: "Deleted", accuracy: "Correct", accuracyText: "{n} of {all} turns; {part} said a part", wrong: "False answers", wrongText: "Answered what it should not, or said what is forbidden", cited: "Cited what is labelled", citedText: "{value} of the cited documents are right", unfounded: "Figures without grounds", unfoundedText: "Of {n} answers", brushed: "Brushed off", brushedText: "{n} turns taken by the queue", seconds: "A turn took", secondsText: "95 % within {value} s", faithful: "Faithful", faithfulText: "Sentences with grounds, as a model judges", broken: "Out of order", brokenText: "Turns that say nothing of the knowledge base", relevant: "Relevant", relevantText: "As a model judges", second: "{n} s",
    about: "At that time", set: "Set", when: "When", revision: "Knowledge revision", embedder: "Embedder", reranker: "Reranker", llm: "Language model", none: "None", judge: "Judge", tags: "By tag", tag: "Tag", right: "Correct / turns", compare: "Compare with an earlier report", only: "No comparison: all turns", results: "Turn by turn", search: "Text of what the customer said", say: "Customer says", verdict: "Verdict", reply: "Reply", empty: "No results yet.",
  },
});

export function EvaluationReport({ id, route, manages }) {
  const state = useLoaded((signal) => server.get(`${REPORTS}/${id}`, {}, { signal }), [id]);
  useFollowed(state, open(state.data));
  const before = route.query.get("before") || "";
  const cancel = async () => { await attempt(() => server.post(`/api/v1/jobs/runs/${id}/cancel`), t("cancelled")); state.reload(); };
  const remove = async () => {
    if (!await confirmed({ title: t("sure"), text: t("sureText"), action: t("remove") })) return;
    if (await attempt(() => server.delete(`${REPORTS}/${id}`), t("removed"))) go("evaluation/reports");
  };
  return html`<${Loaded} state=${state}>${(report) => html`<div class="yd-stack"><${Head} title=${report.set_name} back=${{ href: link("evaluation/reports"), title: t("back") }}>
      ${manages && (open(report) ? html`<button class="yd-btn" onClick=${cancel}>${t("cancel")}</button>` : html`<button class="yd-btn" onClick=${remove}>${t("remove")}</button>`)}<//>
    <div><${Progress} report=${report} /></div>${report.figures && html`<${Figures} figures=${report.figures} />`}
    <div class="ad-two"><${About} report=${report} />${report.figures && html`<${Tags} tags=${report.figures.by_tag} />`}</div>
    ${!open(report) && html`<${Earlier} report=${report} before=${before} path=${route.path} />`}
    ${before ? html`<${Compared} key=${before} report=${id} before=${before} />` : html`<${Results} report=${report} route=${route} />`}</div>`}<//>`;
}

function Figures({ figures }) {
  const { seconds } = figures;
  return html`<div class="ad-figures">
    <${Figure} title=${t("accuracy")} value=${share(figures.accuracy)} text=${t("accuracyText", { n: number(figures.correct), all: number(figures.turns), part: number(figures.partly) })} />
    <${Figure} title=${t("wrong")} tone=${figures.false_answers > 0 ? "warn" : ""} value=${share(figures.false_answers)} text=${t("wrongText")} />
    <${Figure} title=${t("cited")} value=${share(figures.citation_recall)} text=${t("citedText", { value: share(figures.citation_precision) })} />
    <${Figure} title=${t("unfounded")} tone=${figures.hallucination_rate > 0 ? "warn" : ""} value=${share(figures.hallucination_rate)} text=${t("unfoundedText", { n: number(figures.answers) })} />
    <${Figure} title=${t("brushed")} value=${number(figures.brush_offs)} text=${t("brushedText", { n: number(figures.swallowed) })} />
    <${Figure} title=${t("seconds")} value=${t("second", { n: number(seconds.p50, 2) })} text=${t("secondsText", { value: number(seconds.p95, 2) })} />
    ${figures.degraded > 0 && html`<${Figure} title=${t("broken")} tone="warn" value=${number(figures.degraded)} text=${t("brokenText")} />`}
    ${figures.faithfulness !== null && html`<${Figure} title=${t("faithful")} value=${share(figures.faithfulness)} text=${t("faithfulText")} />`}
    ${figures.relevance !== null && html`<${Figure} title=${t("relevant")} value=${percent(figures.relevance, 0)} text=${t("relevantText")} />`}</div>`;
}

function About({ report }) {
  const { revision, embedder, reranker, llm, judge } = report.circumstances;
  const facts = [[t("set"), html`<a href=${link(`evaluation/sets/${report.set_id}`)}>${report.set_name}</a>`], [t("when"), moment(report.created_at)], [t("revision"), revision], [t("embedder"), embedder], [t("reranker"), reranker], [t("llm"), llm || t("none")], [t("judge"), judge]];
  return html`<section class="yd-card"><h2>${t("about")}</h2><${Facts} facts=${facts} /></section>`;
}

function Tags({ tags }) {
  const columns = [{ title: t("tag"), cell: ([tag]) => tag || "–" }, { title: t("right"), numeric: true, cell: ([, { correct, turns }]) => `${number(correct)} / ${number(turns)}` }];
  const rows = Object.entries(tags);
  return rows.length > 1 && html`<div class="yd-card ad-table"><${Table} caption=${t("tags")} columns=${columns} rows=${rows} keyOf=${([tag]) => tag} /></div>`;
}

// Other reports of the same set, one of which to compare with.
function Earlier({ report, before, path }) {
  const state = useLoaded((signal) => server.get(REPORTS, { set_id: report.set_id, limit: 200 }, { signal }), [report.id]);
  const others = (state.data?.reports || []).filter((one) => one.id !== report.id && one.figures);
  return others.length > 0 && html`<div class="yd-row"><select class="yd-input ad-choice" aria-label=${t("compare")} value=${before} onChange=${(event) => go(path, { before: event.target.value })}>
    <option value="">${t(before ? "only" : "compare")}</option>${others.map((one) => html`<option value=${one.id} selected=${one.id === before}>${moment(one.created_at)} · ${share(one.figures.accuracy)}</option>`)}</select></div>`;
}

function Results({ report, route }) {
  const list = useListing(route, ["q", "verdict", "tag"], (query, signal) => server.get(`${REPORTS}/${report.id}/results`, query, { signal }));
  useEffect(() => { if (list.data) list.reload(); }, [report.done, report.state]);
  const tags = Object.keys(report.figures?.by_tag || {}).filter(Boolean);
  const columns = [
    { title: t("say"), cell: (one) => html`<${Turn} one=${one} />` },
    { title: t("verdict"), cell: (one) => html`<${Named} kind="turnVerdict" value=${one.verdict} />` },
    { title: t("reply"), cell: (one) => html`<${Reply} one=${one} />` },
  ];
  const filters = html`<${Search} list=${list} label=${t("search")} /><${Choice} list=${list} name="verdict" label=${t("verdict")} options=${options("turnVerdict")} />${tags.length > 0 && html`<${Choice} list=${list} name="tag" label=${t("tag")} options=${tags.map((tag) => [tag, tag])} />`}`;
  return html`<h2>${t("results")}</h2><${Listing} list=${list} caption=${t("results")} columns=${columns} rowsOf=${(data) => data.results} keyOf=${(one) => `${one.case}.${one.turn}`} empty=${t("empty")} filters=${filters} />`;
}
