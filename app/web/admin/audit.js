// The audit log: who did what, when, to what, and how it ended.
import { moment, words } from "../shared/i18n.js";
import { html } from "../shared/ui.js";
import { Choice, Listing, Search, useListing } from "./listing.js";
import { Named, options } from "./names.js";
import { Head } from "./page.js";
import { server } from "./server.js";
import { NumberLink } from "./ticket-parts.js";

const AUDIT = "/api/v1/audit";
const t = words({
  zh: { title: "审计日志", text: "管理员改动了什么：动手之前先记下，不能修改。请求的内容不记，所以里面没有密钥。", when: "何时", who: "谁", what: "做了什么", target: "对什么", outcome: "结果", local: "本机", scripts: "命令行", actor: "按密钥的名称或编号找", action: "按接口名称找，例如 revoke_key", empty: "还没有记录：管理员改动了什么，这里就有什么。", request: "请求编号 {id}" },
  en: { title: "Audit log", text: "What administrators changed: written down before it is done, and not changed afterwards. Bodies are not kept, so no secrets are.", when: "When", who: "Who", what: "Action", target: "Of what", outcome: "Result", local: "This machine", scripts: "Command line", actor: "Name or id of a key", action: "Name of the endpoint, such as revoke_key", empty: "Nothing yet: what administrators change is listed here.", request: "Request {id}" },
});
const who = (entry) => entry.actor || (entry.actor_id === "scripts" ? t("scripts") : entry.actor_id || t("local"));

export function Audit({ route }) {
  const list = useListing(route, ["actor", "action", "outcome"], (query, signal) => server.get(AUDIT, query, { signal }));
  const columns = [
    { title: t("when"), cell: (entry) => html`<span class="ad-when" title=${entry.at}>${moment(entry.at)}</span>` },
    { title: t("who"), cell: (entry) => html`<strong>${who(entry)}</strong><span class="ad-sub yd-mono">${entry.actor_id.slice(0, 12)}</span>` },
    { title: t("what"), cell: (entry) => html`<span class="yd-mono" title=${t("request", { id: entry.request_id })}>${entry.action}</span>` },
    { title: t("target"), name: "ad-wide", cell: (entry) => Object.entries(entry.target).map(([name, value]) => html`<div class="yd-small"><span class="yd-muted">${name}</span> ${name === "number" ? html`<${NumberLink} number=${value} />` : html`<span class="yd-mono">${value}</span>`}</div>`) },
    { title: t("outcome"), cell: (entry) => html`<${Named} kind="audited" value=${entry.outcome || "open"} />` },
  ];
  return html`<${Head} title=${t("title")} text=${t("text")} />
    <${Listing} list=${list} caption=${t("title")} columns=${columns} rowsOf=${(data) => data.items} keyOf=${(entry) => entry.id} empty=${t("empty")} filters=${html`<${Search} list=${list} name="actor" label=${t("actor")} /><${Search} list=${list} name="action" label=${t("action")} />
      <${Choice} list=${list} name="outcome" label=${t("outcome")} options=${options("audited").filter(([value]) => value !== "open")} />`} />`;
}
