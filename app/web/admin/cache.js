// What the cache saved, and forgetting it: all, what came of one document, or one question.
import { number, percent, words } from "../shared/i18n.js";
import { Field, Loaded, attempt, confirmed, html, toast, useLoaded } from "../shared/ui.js";
import { useState } from "../vendor/preact-htm.js";
import { Head } from "./page.js";
import { DocumentPicker } from "./picker.js";
import { server } from "./server.js";
import { Figure } from "./figure.js";

const t = words({
  zh: {
    title: "缓存", text: "问过的问题直接给出同样的回答。文档或设定一变，旧的回答马上不再使用，一般不用清除。", rate: "命中率", rateText: "{hits} 次命中，{shared} 次合并，{misses} 次重算", size: "存着的回答", sizeText: "全部租户最多 {max} 条，各留 {ttl}", saved: "省下的计算", savedText: "{calls} 次大模型调用，{tokens} token", searches: "检索结果", searchesText: "{hits} 次命中，{misses} 次重算", off: "缓存没有打开（CACHE_MAX_SIZE 为 0）。",
    clear: "清除缓存", clearText: "只影响本租户。清除之后，下一次问会重新检索和作答。", all: "全部", allText: "忘掉所有回答和检索结果。", document: "引用过一篇文档的", documentText: "只忘掉用到这篇文档的回答。", question: "一个问题的", questionText: "只忘掉这个问题的回答。", ask: "问题", go: "清除", sure: "清除缓存？", sureAll: "本租户的全部缓存回答都会清除，接下来的回答会慢一些，直到重新攒起来。", sureDocument: "引用过这篇文档的缓存回答都会清除。", sureQuestion: "「{question}」的缓存回答会清除。", minutes: "{n} 分钟", seconds: "{n} 秒",
  },
  en: {
    title: "Cache", text: "A question that was asked before gets the same answer at once. A changed document or setting makes old answers unused at once; clearing is rarely needed.", rate: "Hit rate", rateText: "{hits} hits, {shared} shared, {misses} computed", size: "Kept answers", sizeText: "{max} at most for all tenants, for {ttl} each", saved: "Computing saved", savedText: "{calls} model calls, {tokens} tokens", searches: "Search results", searchesText: "{hits} hits, {misses} computed", off: "The cache is off (CACHE_MAX_SIZE is 0).",
    clear: "Clear the cache", clearText: "Only of this tenant. The next question is searched and answered anew.", all: "Everything", allText: "Forget all answers and search results.", document: "What cites a document", documentText: "Forget only answers that used this document.", question: "One question", questionText: "Forget only the answer to this question.", ask: "Question", go: "Clear", sure: "Clear the cache?", sureAll: "All cached answers of this tenant are forgotten; answers are slower until they are there again.", sureDocument: "Cached answers that cite this document are forgotten.", sureQuestion: "The cached answer to “{question}” is forgotten.", minutes: "{n} min", seconds: "{n} s",
  },
});

export function Cache() {
  const state = useLoaded((signal) => server.get("/api/v1/performance/cache/stats", {}, { signal }), []);
  const [document, setDocument] = useState("");
  const [question, setQuestion] = useState("");
  const clear = async (body, text) => {
    if (!await confirmed({ title: t("sure"), text, action: t("go") })) return;
    await attempt(async () => toast((await server.post("/api/v1/performance/cache/invalidate", body)).message, "good"));
    state.reload();
  };
  return html`<${Head} title=${t("title")} text=${t("text")} /><div class="yd-stack"><${Loaded} state=${state}>${(stats) => html`${!stats.enabled && html`<p class="yd-notice" data-tone="warn">${t("off")}</p>`}<div class="ad-figures">
      <${Figure} title=${t("rate")} value=${percent(stats.hit_rate, 1)} text=${t("rateText", { hits: number(stats.hits), shared: number(stats.shared), misses: number(stats.misses) })} />
      <${Figure} title=${t("size")} value=${number(stats.size)} text=${t("sizeText", { max: number(stats.max_size), ttl: stats.ttl_seconds >= 60 ? t("minutes", { n: number(stats.ttl_seconds / 60) }) : t("seconds", { n: number(stats.ttl_seconds) }) })} />
      <${Figure} title=${t("saved")} value=${t("seconds", { n: number(stats.saved_ms / 1000, 1) })} text=${t("savedText", { calls: number(stats.saved_llm_calls), tokens: number(stats.saved_llm_tokens) })} />
      <${Figure} title=${t("searches")} value=${number(stats.retrieval.size)} text=${t("searchesText", { hits: number(stats.retrieval.hits), misses: number(stats.retrieval.misses) })} /></div>`}<//>
    <section class="yd-stack"><div><h2>${t("clear")}</h2><p class="yd-small yd-muted">${t("clearText")}</p></div><div class="ad-thirds">
      <${Way} title=${t("question")} text=${t("questionText")} ready=${question.trim()} run=${() => clear({ question: question.trim() }, t("sureQuestion", { question: question.trim() }))}><${Field} label=${t("ask")}><input class="yd-input" maxlength="2000" value=${question} onInput=${(event) => setQuestion(event.target.value)} /><//><//>
      <${Way} title=${t("document")} text=${t("documentText")} ready=${document} run=${() => clear({ document_id: document }, t("sureDocument"))}><${DocumentPicker} value=${document} onPick=${setDocument} /><//>
      <${Way} title=${t("all")} text=${t("allText")} ready=${true} run=${() => clear({}, t("sureAll"))} /></div></section></div>`;
}

const Way = ({ title, text, ready, run, children }) => html`<form class="yd-card yd-stack" onSubmit=${(event) => { event.preventDefault(); run(); }}><div><h3>${title}</h3><p class="yd-small yd-muted">${text}</p></div>${children}<div><button class="yd-btn yd-btn-danger" disabled=${!ready}>${t("go")}</button></div></form>`;
