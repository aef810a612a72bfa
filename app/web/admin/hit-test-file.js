// The hit test of a file of questions: what came of each as a table, to look at and to keep.
import { number, percent, words } from "../shared/i18n.js";
import { Failure, Spinner, Table, Tag, html } from "../shared/ui.js";
import { useRef, useState } from "../vendor/preact-htm.js";
import { link } from "./route.js";
import { server } from "./server.js";

const t = words({
  zh: { title: "一次试一批", text: "选一个文件，最多 200 问：TXT 一行一问，CSV、XLSX 要有“问题”一列，JSONL 每行一个 question。还可以写“之前问过”和“文档编号”（应当命中的）。", pick: "选择文件", download: "下载结果", caption: "每一问的结果", counts: "会回答 {pass}，会反问 {clarify}，没有依据 {refuse}", question: "问题", verdict: "结论", confidence: "把握", found: "最好的片段", why: "应当命中的", pass: "会回答", clarify: "会反问", refuse: "没有依据" },
  en: { title: "Try many at once", text: "Choose a file of up to 200 questions: TXT, one a line; CSV or XLSX with a column “question”; JSONL with a question a line. They may have “history” and “document_id”, which should be found.", pick: "Choose a file", download: "Download the results", caption: "What came of each question", counts: "{pass} would be answered, {clarify} asked back, {refuse} without evidence", question: "Question", verdict: "Verdict", confidence: "Confidence", found: "Best passage", why: "What should be found", pass: "Would answer", clarify: "Would ask back", refuse: "No evidence" },
});
const TONES = { pass: "good", clarify: "warn", refuse: "bad" };

export function HitTestFile() {
  const [state, setState] = useState({});
  const input = useRef();
  const take = async (event) => {
    const [file] = event.target.files;
    event.target.value = "";
    if (!file) return;
    setState({ busy: true });
    try {
      const response = await server.raw("POST", "/api/v1/knowledge/search/file", { form: file, query: { decide: true } });
      const blob = await response.blob();
      setState({ rows: rowsOf(await blob.text()), address: URL.createObjectURL(blob) });
    } catch (error) {
      setState({ error });
    }
  };
  const { rows } = state;
  return html`<section class="yd-card yd-stack" aria-labelledby="ad-many"><div class="yd-row yd-wrap"><div class="yd-grow"><h2 id="ad-many">${t("title")}</h2><p class="yd-small yd-muted">${t("text")}</p></div>
      ${rows && html`<a class="yd-btn" href=${state.address} download="hit-test.csv">${t("download")}</a>`}<button class="yd-btn" disabled=${state.busy} onClick=${() => input.current.click()}>${t("pick")}</button><input ref=${input} type="file" accept=".txt,.csv,.xlsx,.jsonl" aria-label=${t("pick")} hidden onChange=${take} /></div>
    <div role="status">${state.busy && html`<${Spinner} />`}${rows && html`<p>${t("counts", counted(rows))}</p>`}</div>
    ${state.error && html`<${Failure} error=${state.error} />`}
    ${rows && html`<div class="ad-table"><${Table} caption=${t("caption")} columns=${columns()} rows=${rows} keyOf=${(row) => row.place} /></div>`}</section>`;
}

const columns = () => [
  { title: t("question"), cell: (row) => html`<a href=${link("hit-test", { q: row.question, history: row.history })}>${row.question}</a>` },
  { title: t("verdict"), cell: (row) => html`<${Tag} tone=${TONES[row.verdict]}>${t(row.verdict)}<//>` },
  { title: t("confidence"), numeric: true, cell: (row) => percent(Number(row.confidence), 0) },
  { title: t("found"), name: "ad-wide", cell: (row) => html`${row.title}<span class="ad-sub">${row.text.slice(0, 120)}</span>` },
  { title: t("why"), name: "ad-wide", cell: (row) => row.explanation },
];

const counted = (rows) => Object.fromEntries(Object.keys(TONES).map((one) => [one, number(rows.filter((row) => row.verdict === one).length)]));

// The rows of a CSV file by its first one; what a spreadsheet would run has an apostrophe before it there.
function rowsOf(text) {
  const cells = [...text.replace(/^\uFEFF/, "").matchAll(/(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r?\n|$)/g)];
  const rows = [[]];
  for (const [, quoted, plain, end] of cells) {
    rows.at(-1).push((quoted?.replaceAll('""', '"') ?? plain).replace(/^'(?='*[=+\-@＝＋－＠])/, ""));
    if (end !== ",") rows.push([]);
  }
  const [names, ...filled] = rows.filter((row) => row.length > 1);
  return filled.map((row, place) => ({ place, ...Object.fromEntries(names.map((name, at) => [name, row[at] ?? ""])) }));
}
