// The language models: what each was asked, what that cost, and how many of its replies could not be read.
import { number, percent, words } from "../shared/i18n.js";
import { Loaded, Table, html, useLoaded } from "../shared/ui.js";
import { Connection } from "./connection.js";
import { Head } from "./page.js";
import { server } from "./server.js";

const DAYS = 7;
const t = words({
  zh: {
    title: "大模型", text: "不接大模型也能用：回答摘自知识库原文。接上之后由它理解追问、写回答、核对依据。", used: "最近 7 天用了多少", model: "模型", calls: "请求", tokens: "token（发出 / 收回）", cost: "费用", none: "这 7 天没有请求过大模型。", unreadable: "读不懂的回复", unreadableText: "要求按格式回，再请求一次之后仍然读不懂的。占比高，说明这个模型不会按格式写，可以换一个。", provider: "提供商", replies: "条数", share: "占请求", unread: "没有读不懂的回复。",
  },
  en: {
    title: "Language models", text: "It works without one: answers are quoted from the knowledge base. With one, follow-ups are understood, answers written and checked by it.", used: "Use in the last 7 days", model: "Model", calls: "Requests", tokens: "Tokens (sent / received)", cost: "Cost", none: "No model was asked in these 7 days.", unreadable: "Replies that could not be read", unreadableText: "Asked for in a set form, asked for once more, and still not readable. Where the share is high the model cannot keep to a form: choose another one.", provider: "Provider", replies: "Replies", share: "Of requests", unread: "Every reply could be read.",
  },
});

// One row for each key of the days' rows, its figures added up.
function summed(rows, key, figures) {
  const found = new Map();
  for (const row of rows) {
    const sum = found.get(key(row)) || { ...row, ...Object.fromEntries(figures.map((name) => [name, 0])) };
    for (const name of figures) sum[name] += row[name];
    found.set(key(row), sum);
  }
  return [...found.values()];
}

export function Models() {
  const state = useLoaded((signal) => server.get("/api/v1/observability/spending", { days: DAYS }, { signal }), []);
  return html`<${Head} title=${t("title")} text=${t("text")} /><div class="yd-stack"><${Connection} /><${Loaded} state=${state}>${(data) => html`<${Used} data=${data} />`}<//></div>`;
}

function Used({ data }) {
  const used = summed(data.items, (row) => row.model, ["calls", "prompt_tokens", "completion_tokens", "cost"]);
  const unread = summed(data.unreadable, (row) => `${row.provider}/${row.model}`, ["replies"]);
  const calls = Object.fromEntries(used.map((row) => [row.model, row.calls]));
  const columns = [
    { title: t("model"), cell: (row) => html`<span class="ad-text">${row.model}</span>` },
    { title: t("calls"), numeric: true, cell: (row) => number(row.calls) },
    { title: t("tokens"), numeric: true, cell: (row) => `${number(row.prompt_tokens)} / ${number(row.completion_tokens)}` },
    { title: t("cost"), numeric: true, cell: (row) => number(row.cost, 2) },
  ];
  const failed = [
    { title: t("provider"), cell: (row) => row.provider },
    { title: t("model"), cell: (row) => html`<span class="ad-text">${row.model}</span>` },
    { title: t("replies"), numeric: true, cell: (row) => number(row.replies) },
    { title: t("share"), numeric: true, cell: (row) => (calls[row.model] ? percent(row.replies / calls[row.model], 1) : "") },
  ];
  return html`<section class="yd-stack"><h2>${t("used")}</h2>${used.length ? html`<div class="yd-card ad-table"><${Table} caption=${t("used")} columns=${columns} rows=${used} keyOf=${(row) => row.model} /></div>` : html`<p class="yd-muted">${t("none")}</p>`}
    <div><h2>${t("unreadable")}</h2><p class="yd-small yd-muted">${t("unreadableText")}</p></div>${unread.length ? html`<div class="yd-card ad-table"><${Table} caption=${t("unreadable")} columns=${failed} rows=${unread} keyOf=${(row) => `${row.provider}/${row.model}`} /></div>` : html`<p class="yd-muted">${t("unread")}</p>`}</section>`;
}
