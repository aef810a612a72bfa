// Channels: the accounts of the tenant on platforms, how each does, and what could not be sent. Settings open them.
import { ago, moment, number, words } from "../shared/i18n.js";
import { Tag, html } from "../shared/ui.js";
import { Channel } from "./channel.js";
import { Listing, Search, pageOf, useListing } from "./listing.js";
import { Head } from "./page.js";
import { go, link } from "./route.js";
import { server } from "./server.js";

export const CHANNELS = "/api/v1/channels";
const t = words({
  zh: {
    title: "渠道", text: "顾客在各个平台上发来的话，由同一个助手回答，转人工后由客服在人工台里接着说。账号写在环境变量 CHANNELS 里，改了要重启，这里只能看。", empty: "还没有渠道。在 CHANNELS 里写上账号并重启，顾客在微信、企业微信、飞书、钉钉和邮件里就能得到回答。", name: "账号", search: "搜索账号或平台", state: "状态", last: "最近收到", sent: "最近发出", waiting: "待发", dead: "没发出", never: "还没有",
    ok: "正常", unused: "还没有用过", tokenFailed: "取不到访问令牌", fetchFailed: "取不到消息", undelivered: "有回复没发出",
    wechat: "微信公众号", wecom: "企业微信自建应用", wecom_bot: "企业微信智能机器人", wecom_kf: "微信客服", feishu: "飞书 / Lark", dingtalk: "钉钉", mail: "电子邮件", webhook: "自己的系统",
  },
  en: {
    title: "Channels", text: "What customers write on these platforms is answered by the same assistant, and by staff at the desk. Accounts stand in the environment variable CHANNELS and change by a restart; here they are shown.", empty: "No channels yet. Name an account in CHANNELS and restart: customers are answered on WeChat, WeCom, Feishu, DingTalk and by e-mail.", name: "Account", search: "Search account or platform", state: "State", last: "Last received", sent: "Last sent", waiting: "Waiting", dead: "Not sent", never: "Never",
    ok: "All well", unused: "Not used yet", tokenFailed: "No access token", fetchFailed: "Cannot fetch", undelivered: "Replies not sent",
    wechat: "WeChat account", wecom: "WeCom application", wecom_bot: "WeCom smart robot", wecom_kf: "WeCom customer service", feishu: "Feishu / Lark", dingtalk: "DingTalk", mail: "E-mail", webhook: "Own system",
  },
});
export const kindOf = (channel) => t(channel.kind);
export const when = (iso) => (iso ? html`<span class="ad-when" title=${moment(iso)}>${ago(iso)}</span>` : html`<span class="yd-muted">${t("never")}</span>`);

// The worst that can be said of an account, and why.
export function Health({ channel }) {
  const [tone, word, why] =
    channel.token?.status === "failed" ? ["bad", "tokenFailed", channel.token.error]
    : channel.problem ? ["bad", "fetchFailed", channel.problem]
    : channel.dead > 0 ? ["warn", "undelivered", ""]
    : channel.last_message_at || channel.last_reply_at ? ["good", "ok", ""] : ["", "unused", ""];
  return html`<${Tag} tone=${tone}>${t(word)}<//>${why && html`<span class="ad-sub">${why}</span>`}`;
}

export function Channels(props) {
  return props.route.id ? html`<${Channel} key=${props.route.id} ...${props} />` : html`<${All} ...${props} />`;
}

function All({ route }) {
  const by = { name: (channel) => channel.name, last: (channel) => channel.last_message_at, sent: (channel) => channel.last_reply_at, dead: (channel) => channel.dead };
  const list = useListing(route, ["q"], async (query, signal) => pageOf((await server.get(CHANNELS, {}, { signal })).channels, query, { by, text: (channel) => `${channel.name} ${kindOf(channel)}` }));
  const columns = [
    { title: t("name"), sort: "name", text: (channel) => `${channel.name} ${kindOf(channel)}`, cell: (channel) => html`<a href=${link(`channels/${channel.name}`)}>${channel.name}</a><span class="ad-sub">${kindOf(channel)}</span>` },
    { title: t("state"), cell: (channel) => html`<${Health} channel=${channel} />` },
    { title: t("last"), name: "ad-wide", sort: "last", latest: true, text: (channel) => channel.last_message_at, cell: (channel) => when(channel.last_message_at) },
    { title: t("sent"), name: "ad-wide", sort: "sent", latest: true, text: (channel) => channel.last_reply_at, cell: (channel) => when(channel.last_reply_at) },
    { title: t("waiting"), name: "ad-wide", numeric: true, text: (channel) => channel.pending, cell: (channel) => number(channel.pending) },
    { title: t("dead"), numeric: true, sort: "dead", text: (channel) => channel.dead, cell: (channel) => (channel.dead ? html`<a href=${link(`channels/${channel.name}`, { status: "dead" })}>${number(channel.dead)}</a>` : number(0)) },
  ];
  return html`<${Head} title=${t("title")} text=${t("text")} /><${Listing} list=${list} caption=${t("title")} columns=${columns} file="channels" rowsOf=${(data) => data.items} keyOf=${(channel) => channel.name} onOpen=${(channel) => go(`channels/${channel.name}`)} empty=${t("empty")} filters=${html`<${Search} list=${list} label=${t("search")} />`} />`;
}
