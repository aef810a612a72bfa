// The audit log in words: who did what to which thing, when, and how it ended.
import { language, moment, words } from "../shared/i18n.js";
import { html, useLoaded } from "../shared/ui.js";
import { Choice, Days, Listing, Search, moments, useListing } from "./listing.js";
import { Named, options } from "./names.js";
import { Head } from "./page.js";
import { link } from "./route.js";
import { server } from "./server.js";

const AUDIT = "/api/v1/audit";
const PLACES = { document_id: "documents", gap_id: "gaps", source_id: "sources", webhook_id: "webhooks", number: "tickets" };  // whose pages are called by that id
const NAMES = ["q", "actor", "kind", "action", "outcome", "since", "until"];
const t = words({
  zh: { title: "审计日志", text: "管理员和组长改动了什么：动手之前先记下，不能修改。请求的内容不记，所以里面没有密钥；只看不改的，比如导入前的预览，不算改动。", when: "何时", what: "谁做了什么", outcome: "结果", actor: "谁", kind: "对象", search: "按名称或编号找", action: "接口", details: "细节", look: "展开", lookAt: "展开：{sentence}", empty: "还没有记录：管理员改动了什么，这里就有什么。", next: "去看看文档", request: "请求编号 {id}" },
  en: { title: "Audit log", text: "What administrators and leads changed: written down before it is done, and not changed afterwards. Bodies are not kept, so no secrets are; what only looks, such as the preview of an import, is no change.", when: "When", what: "Who did what", outcome: "Result", actor: "Who", kind: "Thing", search: "Search by name or id", action: "Endpoint", details: "Details", look: "Show", lookAt: "Show: {sentence}", empty: "Nothing yet: what administrators change is listed here.", next: "Look at the documents", request: "Request {id}" },
});

// The page of the thing, where it may still be there.
function pageOf(entry) {
  const [name, id] = Object.entries(entry.target).find(([each]) => PLACES[each]) || [];
  return name && !entry.action.startsWith("delete_") && !entry.action.startsWith("erase_") && link(`${PLACES[name]}/${id}`);
}

export function Audit({ route }) {
  const asked = (query) => ({ ...query, ...moments(query), lang: language() });
  const list = useListing(route, NAMES, (query, signal) => server.get(AUDIT, asked(query), { signal }));
  const choices = useLoaded((signal) => server.get(`${AUDIT}/choices`, { lang: language() }, { signal }), []);
  const values = (name) => (choices.data?.[name] || []).map((one) => [one.value, one.name]);
  const columns = [
    { title: t("when"), sort: "at", latest: true, cell: (entry) => html`<span class="ad-when" title=${entry.at}>${moment(entry.at)}</span>` },
    { title: t("what"), cell: (entry) => (pageOf(entry) ? html`<a class="ad-light" href=${pageOf(entry)}>${entry.sentence}</a>` : html`<span class="ad-text">${entry.sentence}</span>`) },
    { title: t("details"), name: "ad-wide", cell: (entry) => html`<details><summary aria-label=${t("lookAt", { sentence: entry.sentence })}>${t("look")}</summary><div class="yd-tiny"><span class="yd-muted">${t("action")}</span> <span class="yd-mono">${entry.action}</span></div>${Object.entries(entry.target).map(([name, value]) => html`<div class="yd-tiny"><span class="yd-muted">${name}</span> <span class="yd-mono">${value}</span></div>`)}
      <div class="yd-tiny yd-mono yd-muted">${[entry.actor_id, entry.changed.join(" ")].filter(Boolean).join(" · ")}</div><div class="yd-tiny yd-muted">${t("request", { id: entry.request_id })}</div></details>` },
    { title: t("outcome"), name: "ad-wide", cell: (entry) => html`<${Named} kind="audited" value=${entry.outcome || "open"} />` },
  ];
  const search = new URLSearchParams(Object.entries(asked(list.asked)).filter(([, value]) => value));
  return html`<${Head} title=${t("title")} text=${t("text")} />
    <${Listing} list=${list} caption=${t("title")} columns=${columns} where=${`${AUDIT}/export?${search}`} rowsOf=${(data) => data.items} keyOf=${(entry) => entry.id} empty=${t("empty")} next=${html`<a class="yd-btn" href=${link("documents")}>${t("next")}</a>`} filters=${html`<${Search} list=${list} label=${t("search")} />
      <${Choice} list=${list} name="actor" label=${t("actor")} options=${values("actors")} /><${Choice} list=${list} name="kind" label=${t("kind")} options=${values("kinds")} />
      <${Choice} list=${list} name="outcome" label=${t("outcome")} options=${options("audited").filter(([value]) => value !== "open")} />
      ${list.asked.action && html`<button class="yd-tag" onClick=${() => list.change({ action: "" })}>${t("action")} ${list.asked.action} ×</button>`}<${Days} list=${list} />`} />`;
}
