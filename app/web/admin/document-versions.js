// The versions of a document, and what may be done with each; those of all documents that wait for somebody.
import { ago, moment, number, words } from "../shared/i18n.js";
import { Dialog, Failure, Field, attempt, confirmed, html, toast, useLoaded } from "../shared/ui.js";
import { useState } from "../vendor/preact-htm.js";
import { Diff } from "./diff.js";
import { Named } from "./names.js";
import { link } from "./route.js";
import { server } from "./server.js";

const t = words({
  zh: {
    title: "版本", version: "第 {n} 版", chunks: "{n} 段", compare: "对比", try: "试一试", download: "下载", submit: "提交审核", approve: "通过并发布", schedule: "定时发布", reject: "退回", rollback: "回到这一版", discard: "删除草稿",
    at: "将在 {when} 发布", reason: "原因", note: "意见（可以不写）", when: "发布时间", discardTitle: "删除第 {n} 版草稿？", discardText: "这一版的内容会删除，不能恢复。已发布的内容不受影响。", done: "已完成", publishing: "已发布，索引还在更新",
    rollbackText: "第 {n} 版的内容会作为新的一版马上发布。", approveText: "通过之后，下一句回答就用第 {n} 版。", scheduleText: "到时自动发布第 {n} 版，之前照旧用现在的版本回答。", submitText: "提交之后，由管理员通过或退回。", rejectText: "第 {n} 版会变回草稿。", waiting: "还没发布的版本", by: "{who}：{what}",
  },
  en: {
    title: "Versions", version: "Version {n}", chunks: "{n} passages", compare: "Compare", try: "Try", download: "Download", submit: "Submit", approve: "Approve and publish", schedule: "Schedule", reject: "Send back", rollback: "Roll back to this", discard: "Delete draft",
    at: "Published at {when}", reason: "Reason", note: "Remark (optional)", when: "Publish at", discardTitle: "Delete draft {n}?", discardText: "The content of this version is deleted for good. What is published stays.", done: "Done", publishing: "Published, the index is still at work",
    rollbackText: "The content of version {n} is published at once, as a new version.", approveText: "From the next answer on, version {n} counts.", scheduleText: "Version {n} is published at that time; until then the present one answers.", submitText: "An administrator approves it or sends it back.", rejectText: "Version {n} becomes a draft again.", waiting: "Not published yet", by: "{who}: {what}",
  },
});
const DOING = { draft: ["submit"], review: ["approve", "schedule", "reject"], scheduled: ["approve", "reject"], archived: ["rollback"], published: [] };
const REASONED = ["reject"];
const said = (who, what) => (who && what ? t("by", { who, what }) : who || what);

// path: of the document; changed: called after something was done.
export function Versions({ path, document, versions, manages, changed }) {
  const [shown, setShown] = useState(null);
  const [deciding, setDeciding] = useState(null);
  const discard = async ({ version }) => {
    if (!await confirmed({ title: t("discardTitle", { n: version }), text: t("discardText"), action: t("discard") })) return;
    if (await attempt(() => server.delete(`${path}/versions/${version}`), t("done"))) changed();
  };
  const one = (version) => html`<li key=${version.version} class="yd-stack yd-small"><div class="yd-row yd-wrap"><strong class="yd-grow">${t("version", { n: version.version })}</strong><${Named} kind="version" value=${version.state} /></div>
    <span class="ad-sub"><span title=${moment(version.created_at)}>${ago(version.created_at)}</span> · ${t("chunks", { n: number(version.chunks) })}${said(version.author, version.reason) && ` · ${said(version.author, version.reason)}`}</span>
    ${version.publish_at && html`<span>${t("at", { when: moment(version.publish_at) })}</span>`}
    ${version.note && html`<span class="yd-muted">${said(version.decided_by, version.note)}</span>`}
    <div class="yd-row yd-wrap"><button class="yd-btn yd-btn-small" onClick=${() => setShown(version.version)}>${t("compare")}</button>
      ${version.state !== "published" && html`<a class="yd-btn yd-btn-small" href=${link("hit-test", { document: document.id, draft: `${document.id}:${version.version}` })}>${t("try")}</a>`}
      <a class="yd-btn yd-btn-small" href=${`${path}/original?version=${version.version}`} download=${document.name}>${t("download")}</a>
      ${manages && DOING[version.state].map((action) => html`<button class="yd-btn yd-btn-small" onClick=${() => setDeciding({ action, version: version.version })}>${t(action)}</button>`)}
      ${manages && version.state in { draft: 1, review: 1, scheduled: 1 } && (document.published || versions.length > 1) && html`<button class="yd-btn yd-btn-small yd-btn-danger" onClick=${() => discard(version)}>${t("discard")}</button>`}</div></li>`;
  return html`<section class="yd-card" aria-label=${t("title")}><div class="ad-card-title"><h2>${t("title")}</h2></div><ul class="ad-list">${versions.map(one)}</ul>
    ${shown !== null && html`<${Diff} path=${path} version=${shown} onClose=${() => setShown(null)} />`}
    ${deciding && html`<${Decide} ...${deciding} path=${path} onClose=${() => setDeciding(null)} onDone=${() => { setDeciding(null); changed(); }} />`}</section>`;
}

function Decide({ path, action, version, onClose, onDone }) {
  const [reason, setReason] = useState("");
  const [when, setWhen] = useState("");
  const [state, setState] = useState({});
  const run = async (event) => {
    event.preventDefault();
    setState({ busy: true });
    const body = { reason };
    if (action === "schedule") body.publish_at = new Date(when).toISOString();
    if (action === "rollback") body.version = version;
    const place = action === "rollback" ? `${path}/rollback` : `${path}/versions/${version}/${action === "schedule" ? "approve" : action}`;
    try {
      const response = await server.raw("POST", place, { body });
      toast(response.status === 202 ? t("publishing") : t("done"), "good");
      onDone();
    } catch (error) { setState({ error }); }
  };
  const needed = REASONED.includes(action);
  return html`<${Dialog} title=${t(action)} onClose=${onClose}><form class="yd-stack" onSubmit=${run}><p>${t(`${action}Text`, { n: version })}</p>
    ${action === "schedule" && html`<${Field} label=${t("when")}><input class="yd-input" type="datetime-local" required value=${when} onInput=${(event) => setWhen(event.target.value)} /><//>`}
    <${Field} label=${needed || action === "rollback" ? t("reason") : t("note")}><input class="yd-input" maxlength="500" required=${needed} value=${reason} onInput=${(event) => setReason(event.target.value)} /><//>
    ${state.error && html`<${Failure} error=${state.error} />`}
    <div class="yd-row"><span class="yd-grow"></span><button class="yd-btn yd-btn-primary" disabled=${state.busy}>${t(action)}</button></div></form><//>`;
}

// again: changes when there may be others.
export function Waiting({ again }) {
  const { data } = useLoaded((signal) => server.get("/api/v1/knowledge/drafts", { limit: 10 }, { signal }), [again]);
  if (!data?.total) return null;
  return html`<section class="yd-card ad-waiting" aria-label=${t("waiting")}><div class="ad-card-title"><h2>${t("waiting")} <span class="yd-nums">${number(data.total)}</span></h2></div>
    <ul class="ad-list">${data.items.map((item) => html`<li class="yd-row yd-wrap yd-small"><a class="yd-grow" href=${link(`documents/${item.document_id}`)}>${item.title}<span class="ad-sub">${t("version", { n: item.version.version })}${said(item.version.author, item.version.reason) && ` · ${said(item.version.author, item.version.reason)}`}</span></a>
      <${Named} kind="version" value=${item.version.state} /></li>`)}</ul></section>`;
}
