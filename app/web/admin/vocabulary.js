// The words of a company's own: those there are, by kind, and those that may help.
import { moment, number, words } from "../shared/i18n.js";
import { Dialog, Failure, Field, attempt, confirmed, html, toast } from "../shared/ui.js";
import { useRef, useState } from "../vendor/preact-htm.js";
import { Listing, Search, useListing } from "./listing.js";
import { Head } from "./page.js";
import { link } from "./route.js";
import { server } from "./server.js";
import { VocabularySuggestions } from "./vocabulary-suggestions.js";

const VOCABULARY = "/api/v1/knowledge/vocabulary";
const KINDS = ["word", "synonym", "abbreviation", "protected", "stop", "entity"];
const ENTITIES = ["product_model", "member_name", "error_code", "order_number"];
const t = words({
  zh: {
    title: "词表", text: "您自己的产品名、简称和型号。改完不用重启：知识库在后台换用新词，换好之前检索照旧。", search: "搜索词", term: "词", others: "对应的词", created: "添加于", empty: "还没有词。可以一条条添加、导入 CSV，或看看建议。", remove: "删除", removeTitle: "删除“{name}”？", removeText: "检索会换回没有它的样子。", add: "添加", save: "保存", import: "导入表格", export: "导出 CSV", suggestions: "建议", saved: "已生效", later: "已保存，知识库正在后台换用新词", imported: "收下 {n} 条", refused: "{n} 条没有收下", row: "第 {n} 行", oneWay: "只有左边的词能找到右边的", kind: "种类",
    word: "词语", synonym: "同义词", abbreviation: "简称", protected: "型号", stop: "停用词", entity: "实体", all: "全部",
    hint_word: "这个词不再被切开，例如产品名", hint_synonym: "每行一个，互相都能找到", hint_abbreviation: "简称对应的全称", hint_protected: "保持完整，不纠错", hint_stop: "提问里的这个词不参与检索", hint_entity: "这个名字是什么", product_model: "产品", member_name: "人名", error_code: "错误码", order_number: "单号",
  },
  en: {
    title: "Vocabulary", text: "Names of your products, short names and models. No restart: the base takes new words behind the scenes, and searches go on as they are until then.", search: "Search words", term: "Word", others: "Belongs to", created: "Added", empty: "No words yet. Add them, import a table, or look at the suggestions.", remove: "Delete", removeTitle: "Delete “{name}”?", removeText: "Searches go back to how they were without it.", add: "Add", save: "Save", import: "Import a table", export: "Export CSV", suggestions: "Suggestions", saved: "In use", later: "Saved; the base is taking it in", imported: "{n} taken", refused: "{n} not taken", row: "Row {n}", oneWay: "Only the first word finds the others", kind: "Kind",
    word: "Words", synonym: "Synonyms", abbreviation: "Short names", protected: "Models", stop: "Stop words", entity: "Entities", all: "All",
    hint_word: "Is no longer cut apart, a product's name for example", hint_synonym: "One a line; each finds the others", hint_abbreviation: "Its full form", hint_protected: "Stays whole, and is never corrected", hint_stop: "Questions are not searched by it", hint_entity: "What it names", product_model: "Product", member_name: "Person", error_code: "Error code", order_number: "Order number",
  },
});

// Says whether searches know already. response: of a change.
const told = (response) => toast(t(response.status === 202 ? "later" : "saved"), "good");

export function Vocabulary({ route, manages }) {
  const [changes, setChanges] = useState(0);
  const kind = route.query.get("kind");
  return html`<${Head} title=${t("title")} text=${t("text")}>${manages && html`<${Actions} key=${kind} kind=${kind} onChange=${() => setChanges(changes + 1)} />`}<//>
    ${kind === "suggestions" ? html`<${Tabs} route=${route} /><${VocabularySuggestions} may=${manages} />` : html`<${Entries} key=${changes} route=${route} may=${manages} />`}`;
}

function Tabs({ route, counts = {} }) {
  const at = route.query.get("kind") || "";
  const name = (kind) => (kind === "suggestions" || kind in counts === false ? t(kind || "all") : `${t(kind)} ${number(counts[kind])}`);
  return html`<nav class="yd-row ad-filters" aria-label=${t("kind")}>${["", ...KINDS, "suggestions"].map((kind) => html`<a class="yd-btn yd-btn-small ${at === kind ? "" : "yd-btn-quiet"}" aria-current=${at === kind ? "page" : undefined} href=${link("vocabulary", { kind })}>${name(kind)}</a>`)}</nav>`;
}

function Entries({ route, may }) {
  const list = useListing(route, ["q", "kind"], (query, signal) => server.get(VOCABULARY, query, { signal }));
  const remove = async (entry) => {
    if (!await confirmed({ title: t("removeTitle", { name: entry.term }), text: t("removeText"), action: t("remove") })) return;
    await attempt(async () => { told(await server.raw("DELETE", `${VOCABULARY}/${entry.id}`)); list.reload(); });
  };
  const shown = (entry) => (entry.kind === "entity" ? entry.others.map(t).join("") : entry.others.join("、"));
  const columns = [
    { title: t("term"), cell: (entry) => html`<span class="ad-text">${entry.term}</span>` },
    { title: t("kind"), cell: (entry) => t(entry.kind) },
    { title: t("others"), cell: (entry) => html`<span>${shown(entry)}</span>${entry.kind === "synonym" && !entry.both_ways && html`<span class="ad-sub">${t("oneWay")}</span>`}` },
    { title: t("created"), name: "ad-wide", cell: (entry) => html`<span class="ad-when">${moment(entry.created_at)}</span>` },
    ...(may ? [{ title: t("remove"), cell: (entry) => html`<button class="yd-btn yd-btn-quiet yd-btn-small" onClick=${() => remove(entry)}>${t("remove")}</button>` }] : []),
  ];
  return html`<${Tabs} route=${route} counts=${list.data?.counts} /><${Listing} list=${list} caption=${t("title")} columns=${columns} rowsOf=${(data) => data.entries} keyOf=${(entry) => entry.id} empty=${t("empty")} filters=${html`<${Search} list=${list} label=${t("search")} />`} />`;
}

function Actions({ kind, onChange }) {
  const [adding, setAdding] = useState(false);
  const [report, setReport] = useState(null);
  const file = useRef();
  const take = async (event) => {
    const [chosen] = event.target.files;
    event.target.value = "";
    if (chosen) await attempt(async () => setReport(await server.upload(`${VOCABULARY}/import`, chosen)));
  };
  const seen = () => { setReport(null); onChange(); };
  return html`<a class="yd-btn" href="${VOCABULARY}/export" download="vocabulary.csv">${t("export")}</a><button class="yd-btn" onClick=${() => file.current.click()}>${t("import")}</button><input ref=${file} type="file" accept=".csv,.xlsx" hidden onChange=${take} /><button class="yd-btn yd-btn-primary" onClick=${() => setAdding(true)}>${t("add")}</button>
    ${adding && html`<${Adding} kind=${KINDS.includes(kind) ? kind : "word"} onClose=${(made) => { setAdding(false); if (made) onChange(); }} />`}
    ${report && html`<${Dialog} title=${t("imported", { n: number(report.taken) })} onClose=${seen}>${report.refused.length > 0 && html`<p>${t("refused", { n: number(report.refused.length) })}</p><ul>${report.refused.slice(0, 50).map((one) => html`<li>${t("row", { n: one.row })}：${one.message}</li>`)}</ul>`}<//>`}`;
}

function Adding({ kind: first, onClose }) {
  const [kind, setKind] = useState(first);
  const [term, setTerm] = useState("");
  const [others, setOthers] = useState("");
  const [oneWay, setOneWay] = useState(false);
  const [state, setState] = useState({});
  const given = () => (kind === "synonym" ? others.split("\n") : ["abbreviation", "entity"].includes(kind) ? [others || ENTITIES[0]] : []).map((one) => one.trim()).filter(Boolean);
  const save = async (event) => {
    event.preventDefault();
    setState({ busy: true });
    try { told(await server.raw("PUT", VOCABULARY, { body: { kind, term, others: given(), both_ways: !oneWay } })); onClose(true); } catch (error) { setState({ error }); }
  };
  return html`<${Dialog} title=${t("add")} onClose=${() => onClose(false)}><form class="yd-stack" onSubmit=${save}>
    <${Field} label=${t("kind")} hint=${t(`hint_${kind}`)}><select class="yd-input" name="kind" value=${kind} onChange=${(event) => { setKind(event.target.value); setOthers(""); }}>${KINDS.map((value) => html`<option value=${value}>${t(value)}</option>`)}</select><//>
    <${Field} label=${t("term")}><input class="yd-input" name="term" required maxlength="64" value=${term} onInput=${(event) => setTerm(event.target.value)} /><//>
    ${kind === "synonym" && html`<${Field} label=${t("others")}><textarea class="yd-input" name="others" required rows="3" value=${others} onInput=${(event) => setOthers(event.target.value)}></textarea><//><label class="yd-small"><input type="checkbox" checked=${oneWay} onChange=${(event) => setOneWay(event.target.checked)} /> ${t("oneWay")}</label>`}
    ${kind === "abbreviation" && html`<${Field} label=${t("others")}><input class="yd-input" name="others" required maxlength="64" value=${others} onInput=${(event) => setOthers(event.target.value)} /><//>`}
    ${kind === "entity" && html`<${Field} label=${t("others")}><select class="yd-input" name="others" value=${others || ENTITIES[0]} onChange=${(event) => setOthers(event.target.value)}>${ENTITIES.map((value) => html`<option value=${value}>${t(value)}</option>`)}</select><//>`}
    ${state.error && html`<${Failure} error=${state.error} />`}<div class="yd-row"><span class="yd-grow"></span><button class="yd-btn yd-btn-primary" disabled=${state.busy}>${t("save")}</button></div></form><//>`;
}
