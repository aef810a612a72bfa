// Files that are dropped or chosen: sent in batches, then followed file by file until each answers or says why not.
import { number, words } from "../shared/i18n.js";
import { Failure, Field, Tag, attempt, html, told } from "../shared/ui.js";
import { useEffect, useRef, useState } from "../vendor/preact-htm.js";
import { filesIn } from "./dropped.js";
import { named, toneOf } from "./names.js";
import { Meter } from "./page.js";
import { Preview } from "./preview.js";
import { link } from "./route.js";
import { server } from "./server.js";

const DOCUMENTS = "/api/v1/knowledge/documents";
const JOBS = "/api/v1/knowledge/jobs";
const BATCH = { files: 20, bytes: 20 * 1024 * 1024 };
const PAUSE = 700;  // ms between two looks at a job
const OVER = ["ready", "failed", "cancelled"];

const t = words({
  zh: {
    drop: "把文件或文件夹拖到这里", or: "或", choose: "选择文件", kinds: "PDF、Word、Excel、PowerPoint（新旧格式）、Markdown、网页、文本、CSV、JSON、EPUB、邮件（eml）、图片与扫描件，可以一次很多个", look: "导入前先看切成什么样", options: "归类（可选）", category: "分类", tags: "标签（逗号分隔）", folder: "放进目录", draft: "存为草稿，先不发布", reason: "为什么改",
    progress: "导入进度", sending: "正在上传", failedBatch: "这一批没有送到", cancel: "取消没处理完的", close: "收起", chunks: "{done} / {all} 段", left: "大约还要 {n} 秒", open: "查看", same: "与《{path}》内容相同",
    created: "新文档", updated: "更新为新版本", drafted: "存为草稿", unchanged: "内容没有变化", retry: "稍后自动重试：{why}", summary: "{ready} 个可以检索，{failed} 个没有导入，共 {all} 个", busy: "{ready} / {all} 个可以检索",
  },
  en: {
    drop: "Drop files or folders here", or: "or", choose: "Choose files", kinds: "PDF, Word, Excel, PowerPoint (old and new), Markdown, HTML, text, CSV, JSON, EPUB, mail (eml), pictures and scans; many at once", look: "Show the passages before importing", options: "Filing (optional)", category: "Category", tags: "Tags (comma-separated)", folder: "Into folder", draft: "Keep as drafts, do not publish", reason: "Reason for the change",
    progress: "Import", sending: "Uploading", failedBatch: "This batch was not received", cancel: "Cancel what is left", close: "Close", chunks: "{done} / {all} passages", left: "about {n} s left", open: "Open", same: "Same content as {path}",
    created: "New document", updated: "New version", drafted: "Kept as a draft", unchanged: "Nothing changed", retry: "Tried again later: {why}", summary: "{ready} searchable, {failed} not imported, {all} in all", busy: "{ready} of {all} searchable",
  },
});

// {batches, taken, send, follow, drop}: batches in hand, and a number that changes whenever a file became searchable.
export function useUploads() {
  const [batches, setBatches] = useState([]);
  const [taken, setTaken] = useState(0);
  const alive = useRef(true);
  const change = (key, values) => alive.current && setBatches((before) => before.map((batch) => (batch.key === key ? { ...batch, ...values } : batch)));
  const watch = async (key, id) => {
    for (let ready = -1; alive.current; await new Promise((resume) => setTimeout(resume, PAUSE))) {
      let detail;
      try {
        detail = await server.get(`${JOBS}/${id}`);
      } catch (error) {
        change(key, { error });
        if (error.status === 0 || error.status >= 500) continue;
        return;
      }
      change(key, { ...detail, error: null });
      const now = detail.job.counts.ready || 0;
      if (now !== ready && ready >= 0 || detail.job.finished_at) setTaken((count) => count + 1);
      ready = now;
      if (detail.job.finished_at) return;
    }
  };
  const add = (batch) => { const key = crypto.randomUUID?.() || String(Math.random()); setBatches((before) => [{ key, ...batch }, ...before]); return key; };
  const followed = useRef(new Set());
  const underWay = useRef([]);
  const follow = (id) => {
    if (followed.current.has(id)) return;
    followed.current.add(id);
    watch(add({ files: [] }), id);
  };
  useEffect(() => {
    server.get(JOBS, { unfinished: true }).then(async (page) => {
      await Promise.allSettled(underWay.current);  // what was dropped meanwhile may be among these jobs
      page.items.forEach((job) => follow(job.id));
    }, () => {});
    return () => { alive.current = false; };
  }, []);
  const send = async (entries, filing) => {
    for (const part of inBatches(entries)) {
      const key = add({ files: part.map(({ path }) => ({ path, status: "sending", chunks: 0, chunks_done: 0, notices: [] })) });
      try {
        const sent = server.upload(`${DOCUMENTS}?wait=0`, form(part, filing));
        underWay.current.push(sent);
        const detail = await sent;
        followed.current.add(detail.job.id);
        change(key, detail);
        watch(key, detail.job.id);
      } catch (error) {
        const files = error.details?.files;  // what was wrong with each of them, where nothing was taken
        change(key, files ? { files, over: true } : { error, over: true, files: part.map(({ path }) => ({ path, status: "failed", chunks: 0, notices: [], error: part.length === 1 ? { message: told(error) } : null })) });
        setTaken((count) => count + 1);
      }
    }
  };
  const drop = ({ key, job }) => {
    followed.current.delete(job?.id);
    setBatches((before) => before.filter((batch) => batch.key !== key));
  };
  return { batches, taken, send, follow, drop };
}

function inBatches(entries) {
  const parts = [];
  let size = 0;
  for (const entry of entries) {
    const last = parts[parts.length - 1];
    if (!last || last.length >= BATCH.files || size + entry.file.size > BATCH.bytes) { parts.push([entry]); size = entry.file.size; }
    else { last.push(entry); size += entry.file.size; }
  }
  return parts;
}

function form(part, { category, tags, folder, draft, reason }) {
  const body = new FormData();
  for (const { file, path } of part) {
    body.append("files", file, file.name);
    body.append("paths", folder ? `${folder.replace(/\/+$/, "")}/${path}` : path);
  }
  if (draft) body.append("draft", "true");
  if (reason) body.append("reason", reason);
  if (category) body.append("category", category);
  for (const tag of tags.split(/[,，]/)) if (tag.trim()) body.append("tags", tag.trim());
  return body;
}

export function Upload({ uploads }) {
  const [over, setOver] = useState(false);
  const [filing, setFiling] = useState({ category: "", tags: "", folder: "", draft: false, reason: "" });
  const input = useRef();
  const set = (name) => (event) => setFiling({ ...filing, [name]: event.target.value });
  const [looking, setLooking] = useState(false);
  const [waiting, setWaiting] = useState(null);
  const take = (entries) => { if (looking && entries.length) setWaiting(entries); else uploads.send(entries, filing); };
  const dropped = async (event) => {
    event.preventDefault();
    setOver(false);
    take(await filesIn(event.dataTransfer));
  };
  const chosen = (event) => {
    take([...event.target.files].map((file) => ({ file, path: file.name })));
    event.target.value = "";
  };
  return html`<section class="yd-stack ad-upload">
    <div class="ad-drop" data-over=${over} onDragOver=${(event) => { event.preventDefault(); setOver(true); }} onDragLeave=${() => setOver(false)} onDrop=${dropped}>
      <strong>${t("drop")}</strong><span class="yd-muted">${t("or")}</span><button class="yd-btn yd-btn-primary" onClick=${() => input.current.click()}>${t("choose")}</button>
      <input ref=${input} type="file" multiple hidden aria-label=${t("choose")} onChange=${chosen} />
      <p class="yd-small yd-muted">${t("kinds")}</p></div>
    <div class="ad-checks"><label><input type="checkbox" checked=${looking} onChange=${(event) => setLooking(event.target.checked)} />${t("look")}</label></div>
    ${waiting && html`<${Preview} entries=${waiting} onTake=${() => { uploads.send(waiting, filing); setWaiting(null); }} onClose=${() => setWaiting(null)} />`}
    <details><summary>${t("options")}</summary><div class="ad-fields">
      <${Field} label=${t("category")}><input class="yd-input" maxlength="64" value=${filing.category} onInput=${set("category")} /><//>
      <${Field} label=${t("tags")}><input class="yd-input" value=${filing.tags} onInput=${set("tags")} /><//>
      <${Field} label=${t("folder")}><input class="yd-input" value=${filing.folder} onInput=${set("folder")} /><//>
      <${Field} label=${t("reason")}><input class="yd-input" maxlength="500" value=${filing.reason} onInput=${set("reason")} /><//></div>
      <div class="ad-checks"><label><input type="checkbox" checked=${filing.draft} onChange=${(event) => setFiling({ ...filing, draft: event.target.checked })} />${t("draft")}</label></div></details>
    ${uploads.batches.map((batch) => html`<${Batch} key=${batch.key} batch=${batch} close=${() => uploads.drop(batch)} />`)}</section>`;
}

function Batch({ batch, close }) {
  const { job, files, error } = batch;
  const count = (state) => files.filter((file) => file.status === state).length;
  const over = batch.over || job?.finished_at;
  const told = { ready: count("ready"), failed: count("failed"), all: files.length };
  return html`<section class="yd-card" aria-label=${t("progress")}>
    <div class="yd-row yd-wrap"><h2 class="yd-grow" aria-live="polite">${over ? t("summary", told) : job ? t("busy", told) : t("sending")}
      ${!over && job?.eta_seconds ? html` <span class="yd-small yd-muted">${t("left", { n: Math.ceil(job.eta_seconds) })}</span>` : ""}</h2>
      ${job && !over && html`<button class="yd-btn yd-btn-small" onClick=${() => attempt(() => server.post(`${JOBS}/${job.id}/cancel`))}>${t("cancel")}</button>`}
      ${over && html`<button class="yd-btn yd-btn-small" onClick=${close}>${t("close")}</button>`}</div>
    ${error && html`<${Failure} error=${error} />`}
    <ul class="ad-files">${files.map((file) => html`<${File} key=${file.path} file=${file} />`)}</ul></section>`;
}

function File({ file }) {
  const sending = file.status === "sending";
  const share = OVER.includes(file.status) ? 1 : file.chunks ? file.chunks_done / file.chunks : 0;
  const standing = file.outcome === "drafted" && file.status === "ready" ? ["version", "draft"] : ["file", file.status];
  const waiting = !OVER.includes(file.status) && file.error;
  return html`<li><div class="yd-row yd-wrap"><span class="yd-grow ad-text">${file.path}</span>
      ${file.outcome && file.status === "ready" && html`<span class="yd-small yd-muted">${t(file.outcome)}</span>`}
      ${file.chunks > 0 && html`<span class="yd-small yd-muted yd-nums">${file.status === "ready" ? t("chunks", { done: number(file.chunks), all: number(file.chunks) }) : t("chunks", { done: number(file.chunks_done), all: number(file.chunks) })}</span>`}
      ${file.document_id && file.status === "ready" && html`<a class="yd-small" href=${link(`documents/${file.document_id}`)}>${t("open")}</a>`}
      <${Tag} tone=${sending ? "accent" : toneOf(...standing)}>${sending ? t("sending") : named(...standing)}<//></div>
    ${!OVER.includes(file.status) && html`<${Meter} share=${share} />`}
    ${file.error && html`<p class="yd-small ${waiting ? "yd-muted" : "yd-error"}">${waiting ? t("retry", { why: file.error.message }) : file.error.message}</p>`}
    ${file.same_as && html`<p class="yd-small yd-muted">${t("same", { path: file.same_as })}</p>`}
    ${file.notices.map((notice) => html`<p class="yd-small yd-muted">${notice.message}</p>`)}</li>`;
}
