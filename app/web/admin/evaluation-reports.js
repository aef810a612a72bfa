// Reports of evaluation runs: all of them, and how far one is.
import { moment, number, percent, words } from "../shared/i18n.js";
import { html, useLoaded } from "../shared/ui.js";
import { useEffect } from "../vendor/preact-htm.js";
import { SETS } from "./evaluation-set.js";
import { Choice, Listing, useListing } from "./listing.js";
import { Named, named } from "./names.js";
import { Meter } from "./page.js";
import { go, link } from "./route.js";
import { server } from "./server.js";

export const REPORTS = "/api/v1/evaluation/reports";
const AGAIN = 1000;  // ms between two looks at a run
const t = words({
  zh: { reports: "报告", set: "评测集", state: "状态", accuracy: "正确", wrong: "误答", cited: "引对出处", turns: "轮数", when: "时间", empty: "还没有报告。打开一个评测集，点“运行”。", done: "{done} / {total} 轮", remove: "删除", removeSome: "删除 {n} 份报告？", removeText: "不能恢复。" },
  en: { reports: "Reports", set: "Set", state: "State", accuracy: "Correct", wrong: "False answers", cited: "Right citations", turns: "Turns", when: "When", empty: "No reports yet. Open a set and press “Run”.", done: "{done} of {total} turns", remove: "Delete", removeSome: "Delete {n} reports?", removeText: "This cannot be undone." },
});
export const open = (report) => report?.state === "queued" || report?.state === "running";
export const share = (value) => (value === null || value === undefined ? "–" : percent(value, 1));

// Looks again while a run is not over.
export function useFollowed(state, working) {
  useEffect(() => {
    if (!working) return undefined;
    const timer = setTimeout(state.reload, AGAIN);
    return () => clearTimeout(timer);
  }, [state.data, working]);
}

export const Progress = ({ report }) => html`<${Named} kind="run" value=${report.state} />${open(report) && report.total > 0 && html`<span class="ad-sub">${t("done", { done: number(report.done), total: number(report.total) })}</span><${Meter} share=${report.done / report.total} />`}${report.error && html`<span class="ad-sub">${report.error}</span>`}`;

export function EvaluationReports({ route, manages }) {
  const sets = useLoaded((signal) => server.get(SETS, {}, { signal }), []);
  const list = useListing(route, ["set_id"], (query, signal) => server.get(REPORTS, query, { signal }), { limit: 20 });
  useFollowed(list, list.data?.reports.some(open));
  const figure = (name) => (report) => share(report.figures?.[name]);
  const columns = [
    { title: t("set"), sort: "set", text: (report) => report.set_name, cell: (report) => html`<a href=${link(`evaluation/reports/${report.id}`)}>${report.set_name}</a>` },
    { title: t("state"), text: (report) => named("run", report.state), cell: (report) => html`<${Progress} report=${report} />` },
    { title: t("accuracy"), numeric: true, text: (report) => report.figures?.accuracy, cell: figure("accuracy") },
    { title: t("wrong"), numeric: true, text: (report) => report.figures?.false_answers, cell: figure("false_answers") },
    { title: t("cited"), name: "ad-wide", numeric: true, text: (report) => report.figures?.citation_recall, cell: figure("citation_recall") },
    { title: t("turns"), name: "ad-wide", numeric: true, text: (report) => report.figures?.turns || 0, cell: (report) => number(report.figures?.turns || 0) },
    { title: t("when"), name: "ad-wide", sort: "created", latest: true, text: (report) => report.created_at, cell: (report) => html`<span class="ad-when">${moment(report.created_at)}</span>` },
  ];
  const bulk = manages ? [{ title: t("remove"), danger: true, run: (report) => server.delete(`${REPORTS}/${report.id}`), sure: (rows) => ({ title: t("removeSome", { n: rows.length }), text: t("removeText") }) }] : [];
  const names = (sets.data?.sets || []).map((set) => [set.id, set.name]);
  return html`<${Listing} list=${list} caption=${t("reports")} columns=${columns} file="evaluation-reports" bulk=${bulk} nameOf=${(report) => report.set_name} rowsOf=${(data) => data.reports} keyOf=${(report) => report.id} onOpen=${(report) => go(`evaluation/reports/${report.id}`)} empty=${t("empty")} filters=${html`<${Choice} list=${list} name="set_id" label=${t("set")} options=${names} />`} />`;
}
