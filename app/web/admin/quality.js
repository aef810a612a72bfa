// What the quality check found, and what people say of it.
import { ago, language, number, words } from "../shared/i18n.js";
import { Dialog, Failure, Field, attempt, html, toast } from "../shared/ui.js";
import { useState } from "../vendor/preact-htm.js";
import { Choice, Listing, useListing } from "./listing.js";
import { Named, named } from "./names.js";
import { Head } from "./page.js";
import { link } from "./route.js";
import { finished } from "./run.js";
import { server } from "./server.js";

const ISSUES = "/api/v1/knowledge/quality/issues";
const KINDS = ["contradiction", "answer_conflict", "expired", "sensitive", "duplicate", "untitled", "term", "unreached"];
const STATES = ["open", "ignored"];
const t = words({
  zh: {
    title: "质量检查", text: "重复、矛盾、过期等问题。每天自动检查一次；改好文档再检查，问题就不在了。", run: "现在检查", running: "正在检查…", checked: "检查完了", kind: "种类", severity: "严重程度", what: "问题", state: "状态", ignore: "忽略", reopen: "重新打开", reason: "为什么没有问题", done: "已完成", empty: "没有发现问题。", never: "还没有检查过，有没有问题还不知道。", ignoreText: "文字不变，以后检查就不再列为待处理；任何一处文字变了，会重新列出。", by: "{who}：{why}", open: "待处理 {n}", jobs: "运行记录",
    last: "{when}检查了 {documents} 篇文档的 {passages} 个片段、{answers} 条问答。", fresh: "之后没有改动。", changed: "之后改过 {n} 篇，还没有检查到。", unsearched: "顾客的提问还不到 200 次，没有查哪些片段从没被检索到。",
  },
  en: {
    title: "Quality check", text: "Duplicates, contradictions, what is out of date, and more. It is looked for every day; change the document and check again, and the finding is gone.", run: "Check now", running: "Checking…", checked: "Checked", kind: "Kind", severity: "Severity", what: "Finding", state: "State", ignore: "Ignore", reopen: "Open again", reason: "Why nothing is wrong", done: "Done", empty: "Nothing found.", never: "Nothing was checked yet, so nobody knows.", ignoreText: "While the texts stay the same it is not listed as open again; once either changes, it is.", by: "{who}: {why}", open: "{n} open", jobs: "Runs",
    last: "Checked {when}: {passages} passages of {documents} documents, {answers} questions with answers.", fresh: "Nothing changed since.", changed: "{n} changed since and are not checked yet.", unsearched: "With fewer than 200 searches nobody looked for passages that none of them found.",
    contradiction: "The same said with different numbers: {values}", answer_conflict: "The answer says “{own}”; “{other}” says “{said}”", expired: "In the past by its own words: {values}", sensitive: "It holds: {values}", duplicate: "Nearly the same as a passage of “{other}”", untitled: "Neither its title nor a heading says what it is about", term: "Not the word of the vocabulary: {values}", unreached: "No recent search found this passage",
  },
});

// The server says it in Chinese.
const told = (issue) => (language() === "zh" ? issue.detail : t(issue.kind, { values: issue.values.join(", "), own: issue.values[0], said: issue.values[1], other: issue.other_title }));

export function Quality({ route, manages }) {
  const [ignoring, setIgnoring] = useState(null);
  const [busy, setBusy] = useState(false);
  const list = useListing(route, ["kind", "state"], (query, signal) => server.get(ISSUES, query, { signal }));
  const check = async () => {
    setBusy(true);
    await attempt(async () => finished(await server.post("/api/v1/jobs/quality_check/runs", {})), t("checked"));
    setBusy(false);
    list.reload();
  };
  const reopen = async (issue) => {
    if (await attempt(() => server.patch(`${ISSUES}/${issue.id}`, { state: "open" }), t("done"))) list.reload();
  };
  const columns = [
    { title: t("what"), cell: (issue) => html`<div><${Named} kind="issue" value=${issue.kind} /></div><span class="ad-text">${told(issue)}</span>${places(issue)}` },
    { title: t("severity"), name: "ad-wide", cell: (issue) => html`<${Named} kind="severity" value=${issue.severity} />` },
    { title: t("state"), cell: (issue) => html`<${Named} kind="issueState" value=${issue.state} />${issue.reason && html`<span class="ad-sub">${t("by", { who: issue.decided_by, why: issue.reason })}</span>`}
      ${manages && (issue.state === "open" ? html`<button class="yd-btn yd-btn-small" onClick=${() => setIgnoring(issue)}>${t("ignore")}</button>` : html`<button class="yd-btn yd-btn-small" onClick=${() => reopen(issue)}>${t("reopen")}</button>`)}` },
  ];
  const total = Object.values(list.data?.counts || {}).reduce((sum, count) => sum + count, 0);
  return html`<${Head} title=${t("title")} text=${t("text")}><span class="yd-muted yd-small">${list.data && t("open", { n: number(total) })}</span><a class="yd-btn" href=${link("jobs", { kind: "quality_check" })}>${t("jobs")}</a>
      ${manages && html`<button class="yd-btn yd-btn-primary" disabled=${busy} onClick=${check}>${t(busy ? "running" : "run")}</button>`}<//>
    <div class="yd-stack">${list.data?.last_check && html`<p class="yd-small yd-muted">${coverage(list.data.last_check)}</p>`}
    <${Listing} list=${list} caption=${t("title")} columns=${columns} rowsOf=${(data) => data.items} keyOf=${(issue) => issue.id} empty=${t(list.data?.last_check ? "empty" : "never")} filters=${html`<${Choice} list=${list} name="kind" label=${t("kind")} options=${KINDS.map((value) => [value, named("issue", value)])} />
      <${Choice} list=${list} name="state" label=${t("state")} options=${STATES.map((value) => [value, named("issueState", value)])} />`} /></div>
    ${ignoring && html`<${Ignore} issue=${ignoring} onClose=${() => setIgnoring(null)} onDone=${() => { setIgnoring(null); list.reload(); }} />`}`;
}

// Both sides of a finding: where, and what it says there.
function places(issue) {
  const first = { href: issue.curated ? link("faqs", { q: issue.title }) : link(`documents/${issue.document_id}`), title: issue.title || issue.document_id };
  const other = issue.other_document_id && { href: link(`documents/${issue.other_document_id}`), title: issue.other_title };
  return [first, other].filter(Boolean).map((place, at) => html`<span class="ad-sub"><a href=${place.href}>${place.title}</a> ${issue.excerpts[at]}</span>`);
}

function coverage(check) {
  const seen = t("last", { when: ago(check.checked_at), documents: number(check.documents), passages: number(check.passages), answers: number(check.answers) });
  const since = check.changed ? t("changed", { n: number(check.changed) }) : t("fresh");
  return [seen, since, check.searches === 0 && t("unsearched")].filter(Boolean).join(language() === "zh" ? "" : " ");
}

function Ignore({ issue, onClose, onDone }) {
  const [reason, setReason] = useState("");
  const [state, setState] = useState({});
  const save = async (event) => {
    event.preventDefault();
    setState({ busy: true });
    try {
      await server.patch(`${ISSUES}/${issue.id}`, { state: "ignored", reason });
      toast(t("done"), "good");
      onDone();
    } catch (error) { setState({ error }); }
  };
  return html`<${Dialog} title=${t("ignore")} onClose=${onClose}><form class="yd-stack" onSubmit=${save}><p>${told(issue)}</p><p class="yd-muted yd-small">${t("ignoreText")}</p>
    <${Field} label=${t("reason")}><input class="yd-input" maxlength="500" required value=${reason} onInput=${(event) => setReason(event.target.value)} /><//>
    ${state.error && html`<${Failure} error=${state.error} />`}
    <div class="yd-row"><span class="yd-grow"></span><button class="yd-btn yd-btn-primary" disabled=${state.busy}>${t("ignore")}</button></div></form><//>`;
}
