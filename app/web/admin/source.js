// One source: how its last sync went, and what became of each page or file.
import { ago, moment, number, words } from "../shared/i18n.js";
import { Dialog, Loaded, attempt, html, useLoaded } from "../shared/ui.js";
import { useEffect, useState } from "../vendor/preact-htm.js";
import { Choice, Listing, Search, useListing } from "./listing.js";
import { Named, options } from "./names.js";
import { Facts, Head } from "./page.js";
import { go, link } from "./route.js";
import { server } from "./server.js";
import { Editing, SOURCES, Standing, period, place, useSynced } from "./sources.js";

const COUNTS = ["created", "updated", "unchanged", "expired", "excluded", "waiting", "failed"];
const t = words({
  zh: {
    back: "全部来源", sync: "现在同步", started: "已开始同步", edit: "修改", pause: "暂停", resume: "恢复", paused: "已暂停", resumed: "已恢复", remove: "删除", sure: "删除这个来源？", sureText: "以后不再同步。由它而来的文档要留下吗？", keep: "留下文档", expire: "让文档失效", removed: "已删除", where: "来源", kind: "种类", often: "多久一次", next: "下次同步", state: "状态", last: "最近一次同步", counts: "结果", folder: "目录", category: "分类", run: "运行记录", items: "网页和文件", locator: "网址或路径", seen: "看过", changed: "有变化", document: "文档", empty: "还没有同步过。", search: "网址或路径里的字", failing: "出错", only: "只看出错的", without: "没有出错的", created: "新增 {n}", updated: "更新 {n}", unchanged: "未变 {n}", expired: "失效 {n}", excluded: "不收 {n}", waiting: "等待 {n}", failed: "出错 {n}",
    noindex: "网页声明不收录", canonical: "有另一个规范网址", redirected: "转到了别的网址", out_of_scope: "不在范围内", robots_disallowed: "robots.txt 不允许", deleted: "文件已删除",
  },
  en: {
    back: "All sources", sync: "Sync now", started: "The sync runs", edit: "Edit", pause: "Pause", resume: "Resume", paused: "Paused", resumed: "Resumed", remove: "Delete", sure: "Delete this source?", sureText: "It is not synced any more. What about its documents?", keep: "Keep them", expire: "Let them expire", removed: "Deleted", where: "Where", kind: "Kind", often: "How often", next: "Next sync", state: "State", last: "Last sync", counts: "Result", folder: "Folder", category: "Category", run: "Run", items: "Pages and files", locator: "Address or path", seen: "Looked at", changed: "Changed", document: "Document", empty: "It was not synced yet.", search: "Text of the address or path", failing: "Errors", only: "With errors", without: "Without", created: "{n} new", updated: "{n} changed", unchanged: "{n} as before", expired: "{n} expired", excluded: "{n} left out", waiting: "{n} waiting", failed: "{n} failed",
    noindex: "The page asks for that", canonical: "It has another address", redirected: "It leads elsewhere", out_of_scope: "Outside of the source", robots_disallowed: "robots.txt forbids it", deleted: "The file was deleted",
  },
});
const REASONS = ["noindex", "canonical", "redirected", "out_of_scope", "robots_disallowed", "deleted"];
const reason = (said) => (REASONS.includes(said) ? t(said) : said);

export function SourceView({ route, manages }) {
  const address = `${SOURCES}/${route.id}`;
  const state = useLoaded((signal) => server.get(address, {}, { signal }), [route.id]);
  const list = useListing(route, ["state", "failing", "q"], (query, signal) => server.get(`${address}/items`, Object.fromEntries(Object.entries(query).filter(([, value]) => value !== "")), { signal }));
  const [open, setOpen] = useState("");
  const running = state.data?.running;
  useSynced(state, Boolean(running));
  useEffect(() => { if (state.data && !running) list.reload(); }, [running]);
  const sync = async () => { await attempt(() => server.post(`${address}/sync`), t("started")); state.reload(); };
  const toggle = async (source) => { if (await attempt(() => server.patch(address, { enabled: !source.enabled }), source.enabled ? t("paused") : t("resumed"))) state.reload(); };
  const remove = async (documents) => { if (await attempt(() => server.delete(`${address}?documents=${documents}`), t("removed"))) go("sources"); };
  const columns = [
    { title: t("locator"), cell: (item) => html`<span class="ad-text">${item.locator}</span>${item.reason && html`<span class="ad-sub">${reason(item.reason)}</span>`}${item.error && html`<span class="ad-sub">${item.error}</span>`}` },
    { title: t("state"), cell: (item) => html`<${Named} kind="item" value=${item.state} />` },
    { title: t("document"), name: "ad-wide", cell: (item) => item.document_id && html`<a href=${link(`documents/${item.document_id}`)}>${t("document")}</a>` },
    { title: t("changed"), name: "ad-wide", cell: (item) => item.changed_at && html`<span class="ad-when" title=${moment(item.changed_at)}>${ago(item.changed_at)}</span>` },
  ];
  const filters = html`<${Search} list=${list} label=${t("search")} /><${Choice} list=${list} name="state" label=${t("state")} options=${options("item")} /><${Choice} list=${list} name="failing" label=${t("failing")} options=${[["true", t("only")], ["false", t("without")]]} />`;
  return html`<${Loaded} state=${state}>${(source) => html`<${Head} title=${source.name} back=${{ href: link("sources"), title: t("back") }}>${manages && html`<button class="yd-btn yd-btn-primary" disabled=${source.running !== null} onClick=${sync}>${t("sync")}</button><button class="yd-btn" onClick=${() => setOpen("edit")}>${t("edit")}</button><button class="yd-btn" onClick=${() => toggle(source)}>${source.enabled ? t("pause") : t("resume")}</button><button class="yd-btn yd-btn-danger" onClick=${() => setOpen("remove")}>${t("remove")}</button>`}<//>
    <div class="yd-stack"><section class="yd-card"><${Facts} facts=${[[t("where"), html`<span class="yd-mono">${place(source)}</span>`], [t("kind"), html`<${Named} kind="source" value=${source.kind} />`], [t("folder"), source.folder], [t("category"), source.category], [t("often"), source.enabled ? period(source.interval_minutes) : t("paused")], [t("next"), source.next_sync_at && moment(source.next_sync_at)], [t("state"), html`<${Standing} source=${source} />`],
      [t("last"), source.last && html`<a href=${link(`jobs/${source.last.run_id}`)}>${moment(source.last.finished_at)}</a>`], [t("counts"), source.last && COUNTS.filter((name) => source.last.counts[name]).map((name) => t(name, { n: number(source.last.counts[name]) })).join("、")]]} /></section>
    <h2>${t("items")}</h2><${Listing} list=${list} caption=${t("items")} columns=${columns} rowsOf=${(data) => data.items} keyOf=${(item) => item.locator} empty=${t("empty")} filters=${filters} /></div>
    ${open === "edit" && html`<${Editing} source=${source} onClose=${() => setOpen("")} onSaved=${() => { setOpen(""); state.reload(); }} />`}
    ${open === "remove" && html`<${Dialog} title=${t("sure")} onClose=${() => setOpen("")}><p>${t("sureText")}</p><div class="yd-row"><span class="yd-grow"></span><button class="yd-btn" onClick=${() => remove("keep")}>${t("keep")}</button><button class="yd-btn yd-btn-danger" onClick=${() => remove("expire")}>${t("expire")}</button></div><//>`}`}<//>`;
}
