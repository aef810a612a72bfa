// Words that may belong into the vocabulary, each taken in by one press.
import { number, words } from "../shared/i18n.js";
import { Empty, Loaded, Table, attempt, html, toast, useLoaded } from "../shared/ui.js";
import { useState } from "../vendor/preact-htm.js";
import { server } from "./server.js";

const VOCABULARY = "/api/v1/knowledge/vocabulary";
const t = words({
  zh: { term: "词", kind: "种类", others: "全称", count: "次数", why: "依据", accept: "收下", acceptAll: "收下选中的 {n} 条", taken: "收下 {n} 条", empty: "没有建议：知识库里的词都切得开，顾客的说法也都查得到。", pick: "选择", caption: "建议", word: "被切开的词", abbreviation: "顾客的简称", protected: "型号" },
  en: { term: "Word", kind: "Kind", others: "Full form", count: "Times", why: "Evidence", accept: "Accept", acceptAll: "Accept {n} chosen", taken: "{n} taken", empty: "No suggestions: words of the base stay whole, and what customers say is found.", pick: "Choose", caption: "Suggestions", word: "Cut apart", abbreviation: "Customers' short name", protected: "Model" },
});

export function VocabularySuggestions({ may }) {
  const state = useLoaded((signal) => server.get(`${VOCABULARY}/suggestions`, {}, { signal }), []);
  const [chosen, setChosen] = useState([]);
  const [gone, setGone] = useState([]);
  const keyOf = (one) => `${one.kind} ${one.term}`;
  const accept = (some) => attempt(async () => {
    const report = await server.post(`${VOCABULARY}/entries`, { entries: some.map(({ kind, term, others }) => ({ kind, term, others })) });
    toast([t("taken", { n: number(report.taken) }), ...report.refused.map((one) => one.message)].join(" "), report.refused.length ? undefined : "good");
    setGone([...gone, ...some.map(keyOf)]);
    setChosen([]);
  });
  const flip = (key) => setChosen(chosen.includes(key) ? chosen.filter((one) => one !== key) : [...chosen, key]);
  const columns = [
    ...(may ? [{ title: t("pick"), cell: (one) => html`<input type="checkbox" aria-label=${one.term} checked=${chosen.includes(keyOf(one))} onChange=${() => flip(keyOf(one))} />` }] : []),
    { title: t("term"), cell: (one) => html`<span class="ad-text">${one.term}</span>` },
    { title: t("kind"), cell: (one) => t(one.kind) },
    { title: t("others"), cell: (one) => one.others.join("、") },
    { title: t("count"), numeric: true, cell: (one) => number(one.count) },
    { title: t("why"), name: "ad-wide", cell: (one) => html`<span class="ad-sub">${one.examples.join("；")}</span>` },
    ...(may ? [{ title: t("accept"), cell: (one) => html`<button class="yd-btn yd-btn-quiet yd-btn-small" onClick=${() => accept([one])}>${t("accept")}</button>` }] : []),
  ];
  return html`<${Loaded} state=${state}>${({ suggestions }) => {
    const rows = suggestions.filter((one) => !gone.includes(keyOf(one)));
    const some = rows.filter((one) => chosen.includes(keyOf(one))).slice(0, 200);
    return html`<div class="yd-stack">${some.length > 0 && html`<div class="yd-row"><button class="yd-btn yd-btn-primary" onClick=${() => accept(some)}>${t("acceptAll", { n: number(some.length) })}</button></div>`}
      <div class="yd-card ad-table">${rows.length ? html`<${Table} caption=${t("caption")} columns=${columns} rows=${rows} keyOf=${keyOf} />` : html`<${Empty}>${t("empty")}<//>`}</div></div>`;
  }}<//>`;
}
