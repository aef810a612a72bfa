// The hit test: what the assistant would find for a question, and why a passage is not used.
import { number, percent, words } from "../shared/i18n.js";
import { Failure, Field, Spinner, html } from "../shared/ui.js";
import { useEffect, useRef, useState } from "../vendor/preact-htm.js";
import { Candidate, Candidates, DecisionView, Degraded, Funnel, Hypotheses, Parts, Terms } from "./evidence.js";
import { HitTestFile } from "./hit-test-file.js";
import { DocumentPicker, PassagePicker } from "./picker.js";
import { Head } from "./page.js";
import { go } from "./route.js";
import { server } from "./server.js";

const t = words({
  zh: {
    title: "命中测试", text: "用顾客的话试一问，看机器人找到什么、凭什么回答或不回答。这里走的是与对话相同的检索，不留下会话。", ask: "顾客会怎么问", example: "例如：退货运费谁出", go: "试一试", more: "前文与范围", history: "前面问过的话（每行一句，先问的在上）", historyHint: "用来试「那个呢」这样的追问", category: "只在这个分类里找", tag: "只在这个标签里找",
    pass: "会回答", clarify: "会反问", refuse: "会说没有依据", passText: "有 {n} 段可用来回答，最高把握 {best}。", clarifyText: "最高把握 {best}，接近门槛 {threshold}，还不够确定。", refuseText: "最高把握 {best}，没有一段达到门槛 {threshold}。", rejected: "对话不会受理这句话（{reason}），下面只是检索的结果。", took: "检索用了 {ms} 毫秒", way: "从问题到依据", meant: "可能的意思", decision: "谁来回答",
    trying: "正在试这篇文档的第 {n} 版，当作它已经发布。对话不受影响。", live: "不带草稿再试",
    whyTitle: "为什么没有这一条？", whyText: "选一篇您认为应当命中的文档（或其中一段），看它走到了哪一步。", whyAsk: "先写问题，再看它卡在哪一步。", check: "查一查", best: "这篇文档里最接近的一段",
    exists: "在知识库里", indexed: "已建好索引", inside: "在有效期和范围内", recalled: "被找到", close: "名次够前", over: "过门槛", reached: "走到了：",
  },
  en: {
    title: "Hit test", text: "Ask as a customer would and see what is found, and why it is answered or not. This is the search of the chat; no conversation is kept.", ask: "What a customer may ask", example: "For example: who pays for return shipping", go: "Try", more: "Earlier questions and scope", history: "Earlier questions (one a line, the first at the top)", historyHint: "For follow-ups such as “and that one?”", category: "Only in this category", tag: "Only with this tag",
    pass: "Would answer", clarify: "Would ask back", refuse: "Would say that there is no evidence", passText: "{n} passages may be used; the surest has {best}.", clarifyText: "The surest has {best}: close to {threshold}, not sure enough.", refuseText: "The surest has {best}; none reaches {threshold}.", rejected: "The chat would not take this ({reason}); below is what the search alone found.", took: "The search took {ms} ms", way: "From question to evidence", meant: "What may be meant", decision: "Who answers",
    trying: "Version {n} of this document is tried as if it were published. The chat sees none of it.", live: "Try without it",
    whyTitle: "Why is it not there?", whyText: "Choose a document (or one passage of it) that you expected, and see how far it came.", whyAsk: "Write the question first.", check: "Check", best: "The closest passage of this document",
    exists: "In the knowledge base", indexed: "Indexed", inside: "Valid and in scope", recalled: "Found", close: "Early enough", over: "Passes the gate", reached: "Came as far as:",
  },
});
const draftOf = (text) => ({ document_id: text.split(":")[0], version: Number(text.split(":")[1]) });
const TONES = { pass: "good", clarify: "warn", refuse: "bad" };
const LADDER = [["not_found", "exists"], ["not_indexed", "indexed"], ["filtered", "inside"], ["not_recalled", "recalled"], ["rerank_cut", "close"], ["gate", "over"]];

export function HitTest({ route }) {
  const at = (name) => route.query.get(name) || "";
  const [form, setForm] = useState({ q: at("q"), history: at("history"), category: at("category"), tag: at("tag") });
  const [draft, setDraft] = useState(at("draft"));
  const [wanted, setWanted] = useState({ document: at("document"), chunk: at("chunk") });
  const [state, setState] = useState({});
  const asking = useRef(0);
  const set = (name) => (event) => setForm({ ...form, [name]: event.target.value });
  const run = async (why = wanted, version = draft) => {
    if (!form.q.trim()) return;
    const mine = ++asking.current;
    setState((before) => ({ ...before, busy: true }));
    go("hit-test", { ...form, ...why, draft: version }, { replace: true });
    const body = { query: form.q, explain: true, decide: true, filter: { categories: form.category ? [form.category] : [], tags: form.tag ? [form.tag] : [] } };
    if (form.history.trim()) body.history = form.history.split("\n").map((line) => line.trim()).filter(Boolean);
    if (why.chunk || why.document) body.why = why.chunk ? { chunk_id: why.chunk } : { document_id: why.document };
    if (version) body.drafts = [draftOf(version)];
    try {
      const found = await server.post("/api/v1/knowledge/search", body);
      if (mine === asking.current) setState({ found });
    } catch (error) {
      if (mine === asking.current) setState({ error });
    }
  };
  useEffect(() => { run(); }, []);
  const choose = (why) => { setWanted(why); run(why); };
  const { found } = state;
  return html`<${Head} title=${t("title")} text=${t("text")} />
    <div class="yd-stack"><form class="yd-card yd-stack" onSubmit=${(event) => { event.preventDefault(); run(); }}>
      <div class="ad-ask"><input class="yd-input" aria-label=${t("ask")} placeholder=${t("example")} value=${form.q} maxlength="2000" autofocus onInput=${set("q")} /><button class="yd-btn yd-btn-primary" disabled=${!form.q.trim() || state.busy}>${t("go")}</button></div>
      <details open=${Boolean(form.history || form.category || form.tag)}><summary>${t("more")}</summary><div class="ad-fields">
        <${Field} label=${t("history")} hint=${t("historyHint")}><textarea class="yd-input" rows="3" value=${form.history} onInput=${set("history")}></textarea><//>
        <div class="yd-stack"><${Field} label=${t("category")}><input class="yd-input" value=${form.category} onInput=${set("category")} /><//><${Field} label=${t("tag")}><input class="yd-input" value=${form.tag} onInput=${set("tag")} /><//></div></div></details></form>
    ${draft && html`<div class="yd-notice yd-row yd-wrap" data-tone="warn"><span class="yd-grow">${t("trying", { n: draftOf(draft).version })}</span><button class="yd-btn yd-btn-small" onClick=${() => { setDraft(""); run(wanted, ""); }}>${t("live")}</button></div>`}
    <div role="status">${state.busy && html`<${Spinner} />`}</div>
    ${state.error && html`<${Failure} error=${state.error} retry=${() => run()} />`}
    ${found && html`${found.rejected && html`<p class="yd-notice" data-tone="warn">${t("rejected", { reason: found.rejected })}</p>`}<${Verdict} found=${found} /><${Degraded} parts=${found.degraded} /><section class="yd-stack"><h2>${t("way")}</h2><${Funnel} evidence=${found} timings=${found.timings_ms} /></section>`}
    <${Why} found=${found} wanted=${wanted} choose=${choose} />
    ${found && html`<${Found} found=${found} />`}
    <${HitTestFile} /></div>`;
}

function Verdict({ found }) {
  const values = { n: found.candidates.filter((one) => one.stage === "passed").length, best: percent(found.candidates[0]?.probability || 0, 0), threshold: percent(found.threshold, 0) };
  const total = Object.values(found.timings_ms).reduce((sum, value) => sum + value, 0);
  return html`<section class="ad-verdict" data-tone=${TONES[found.verdict]} aria-live="polite"><div class="yd-grow"><h2>${t(found.verdict)}</h2><p>${t(`${found.verdict}Text`, values)}</p></div>
    <span class="yd-small yd-nums">${t("took", { ms: number(total, 0) })}</span></section>`;
}

const Found = ({ found }) => html`<div class="ad-two"><section class="yd-card"><${Candidates} evidence=${found} /></section>
    <div class="yd-stack"><section class="yd-card yd-stack"><h2>${t("meant")}</h2><${Hypotheses} hypotheses=${found.hypotheses} /><${Parts} parts=${found.parts} /><${Terms} terms=${found.terms} /></section>
    <section class="yd-card yd-stack"><h2>${t("decision")}</h2><${DecisionView} decision=${found.decision} route=${found.route} /></section></div></div>`;

function Why({ found, wanted, choose }) {
  const why = found?.why;
  const at = why && LADDER.findIndex(([stage]) => stage === why.stage);
  return html`<section class="yd-card yd-stack" aria-labelledby="ad-why"><div><h2 id="ad-why">${t("whyTitle")}</h2><p class="yd-small yd-muted">${found ? t("whyText") : t("whyAsk")}</p></div>
    <div class="ad-fields"><${DocumentPicker} value=${wanted.document} onPick=${(document) => choose({ document, chunk: "" })} />
      ${wanted.document && html`<${PassagePicker} document=${wanted.document} value=${wanted.chunk} onPick=${(chunk) => choose({ ...wanted, chunk })} />`}</div>
    ${why && html`<div class="yd-stack" aria-live="polite"><ol class="ad-ladder" aria-label=${t("reached")}>${LADDER.map(([stage, label], index) => html`<li data-step=${at < 0 || index < at ? "done" : index === at ? "here" : ""}><span aria-hidden="true">${at < 0 || index < at ? "✓" : index === at ? "✕" : "·"}</span>${t(label)}</li>`)}</ol>
      <p><strong>${why.explanation}</strong></p>
      ${why.candidate && html`<div><h3>${t("best")}</h3><${Candidate} one=${why.candidate} threshold=${found.threshold} hypotheses=${found.hypotheses} open=${true} /></div>`}</div>`}</section>`;
}
