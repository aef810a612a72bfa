// The bin: documents that were deleted and can still come back.
import { ago, moment, number, words } from "../shared/i18n.js";
import { attempt, confirmed, html, toast } from "../shared/ui.js";
import { Listing, Search, useListing } from "./listing.js";
import { bytes } from "./page.js";
import { go } from "./route.js";
import { server } from "./server.js";

const BIN = "/api/v1/knowledge/bin";

const t = words({
  zh: {
    bin: "回收站", search: "搜索文件名、目录或标题", name: "文件", versions: "版本", size: "大小", deleted: "删除于", by: "{name} 删除", until: "保留到", forever: "一直保留", restore: "恢复", erase: "彻底删除",
    restored: "已恢复", restoring: "已恢复，索引还在更新", erased: "已彻底删除", eraseTitle: "彻底删除《{name}》？", eraseText: "它的 {n} 个版本和原文件都会删除，不能恢复。", empty: "回收站是空的。删除的文档会先放到这里。", eraseSome: "彻底删除 {n} 篇文档？", eraseSomeText: "它们的版本和原文件都会删除，不能恢复。",
  },
  en: {
    bin: "Bin", search: "Search file name, folder or title", name: "File", versions: "Versions", size: "Size", deleted: "Deleted", by: "By {name}", until: "Kept until", forever: "Kept", restore: "Restore", erase: "Delete for good",
    restored: "Restored", restoring: "Restored, the index is still at work", erased: "Deleted for good", eraseTitle: "Delete {name} for good?", eraseText: "Its {n} versions and the original files are deleted. This cannot be undone.", empty: "The bin is empty. Deleted documents come here first.", eraseSome: "Delete {n} documents for good?", eraseSomeText: "Their versions and the original files are deleted. This cannot be undone.",
  },
});

export function Bin({ route, manages }) {
  const list = useListing(route, ["q"], (query, signal) => server.get(BIN, query, { signal }));
  const restore = (item) => attempt(async () => {
    const response = await server.raw("POST", `${BIN}/${item.id}/restore`);
    toast(response.status === 200 ? t("restored") : t("restoring"), "good");
    go(`documents/${item.id}`);
  });
  const erase = async (item) => {
    if (!await confirmed({ title: t("eraseTitle", { name: item.name }), text: t("eraseText", { n: number(item.versions) }), action: t("erase") })) return;
    await attempt(() => server.raw("DELETE", `${BIN}/${item.id}`), t("erased"));
    list.reload();
  };
  const columns = [
    { title: t("name"), sort: "name", text: (item) => item.path, cell: (item) => html`<strong>${item.title || item.name}</strong><span class="ad-sub">${item.path}</span>` },
    { title: t("versions"), numeric: true, name: "ad-wide", text: (item) => item.versions, cell: (item) => number(item.versions) },
    { title: t("size"), numeric: true, name: "ad-wide", sort: "size", text: (item) => item.size, cell: (item) => bytes(item.size) },
    { title: t("deleted"), sort: "deleted", latest: true, text: (item) => item.deleted_at, cell: (item) => html`<span class="ad-when" title=${moment(item.deleted_at)}>${ago(item.deleted_at)}</span>${item.deleted_by && html`<span class="ad-sub">${t("by", { name: item.deleted_by })}</span>`}` },
    { title: t("until"), name: "ad-wide", text: (item) => item.erased_at, cell: (item) => (item.erased_at ? moment(item.erased_at) : t("forever")) },
  ];
  if (manages) columns.push({ title: t("restore"), cell: (item) => html`<div class="yd-row yd-wrap"><button class="yd-btn yd-btn-small" onClick=${() => restore(item)}>${t("restore")}</button><button class="yd-btn yd-btn-small yd-btn-danger" onClick=${() => erase(item)}>${t("erase")}</button></div>` });
  const bulk = manages ? [{ title: t("restore"), run: (item) => server.raw("POST", `${BIN}/${item.id}/restore`) },
    { title: t("erase"), danger: true, run: (item) => server.raw("DELETE", `${BIN}/${item.id}`), sure: (rows) => ({ title: t("eraseSome", { n: rows.length }), text: t("eraseSomeText") }) }] : [];
  return html`<${Listing} list=${list} caption=${t("bin")} columns=${columns} file="bin" bulk=${bulk} nameOf=${(item) => item.title || item.name} rowsOf=${(data) => data.items} keyOf=${(item) => item.id} empty=${t("empty")} filters=${html`<${Search} list=${list} label=${t("search")} />`} />`;
}
