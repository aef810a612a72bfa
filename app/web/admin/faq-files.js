// Curated answers as a file: given out, and taken in after one has seen what would become of each row.
import { number, words } from "../shared/i18n.js";
import { Dialog, attempt, html, toast } from "../shared/ui.js";
import { useRef, useState } from "../vendor/preact-htm.js";
import { server } from "./server.js";

const SHOWN = 100;
const t = words({
  zh: { import: "导入", export: "导出全部", title: "导入“{name}”", added: "新增 {n} 条", changed: "改写 {n} 条", unchanged: "{n} 条没有变化", refused: "{n} 行不能收下，改好后可以再导入一次：", row: "第 {n} 行：{message}", rest: "另有 {n} 行", take: "导入并生效", none: "没有可以导入的内容。", done: "已导入", cancel: "取消" },
  en: { import: "Import", export: "Export all", title: "Import “{name}”", added: "{n} new", changed: "{n} changed", unchanged: "{n} as they are", refused: "{n} rows cannot be taken; put them right and import the file again:", row: "Row {n}: {message}", rest: "{n} more rows", take: "Import", none: "There is nothing to import.", done: "Imported", cancel: "Cancel" },
});

export function FaqFiles({ path, may, onChange }) {
  const [planned, setPlanned] = useState(null);
  const [busy, setBusy] = useState(false);
  const input = useRef();
  const send = (file, dry) => server.upload(`${path}/import`, file, { query: { dry_run: dry } });
  const look = async (event) => {
    const [file] = event.target.files;
    event.target.value = "";
    if (!file) return;
    setBusy(true);
    await attempt(async () => setPlanned({ file, report: await send(file, true) }));
    setBusy(false);
  };
  const take = async () => {
    setBusy(true);
    await attempt(async () => { await send(planned.file, false); toast(t("done"), "good"); setPlanned(null); });
    setBusy(false);
    onChange();
  };
  return html`<a class="yd-btn" href="${path}/export" download="faqs.xlsx">${t("export")}</a>
    ${may && html`<button class="yd-btn" disabled=${busy} onClick=${() => input.current.click()}>${t("import")}</button><input ref=${input} type="file" accept=".csv,.xlsx" aria-label=${t("import")} hidden onChange=${look} />`}
    ${planned && html`<${Planned} ...${planned} busy=${busy} onTake=${take} onClose=${() => setPlanned(null)} />`}`;
}

function Planned({ file, report, busy, onTake, onClose }) {
  const { added, changed, unchanged, refused } = report;
  const told = [["added", added], ["changed", changed], ["unchanged", unchanged]].filter(([, n]) => n > 0);
  return html`<${Dialog} title=${t("title", { name: file.name })} onClose=${onClose}>
    <p>${told.length ? told.map(([name, n]) => t(name, { n: number(n) })).join("，") : t("none")}</p>
    ${refused.length > 0 && html`<p>${t("refused", { n: number(refused.length) })}</p><ul>${refused.slice(0, SHOWN).map(({ row, message }) => html`<li>${t("row", { n: row, message })}</li>`)}${refused.length > SHOWN && html`<li>${t("rest", { n: number(refused.length - SHOWN) })}</li>`}</ul>`}
    <div class="yd-row yd-wrap"><span class="yd-grow"></span><button class="yd-btn" onClick=${onClose}>${t("cancel")}</button><button class="yd-btn yd-btn-primary" disabled=${busy || added + changed === 0} onClick=${onTake}>${t("take")}</button></div><//>`;
}
