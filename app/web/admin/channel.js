// One channel: how it does, what was sent, sending again, a test message.
import { ago, language, moment, number, words } from "../shared/i18n.js";
import { Dialog, Empty, Field, Loaded, Tag, attempt, html, useLoaded } from "../shared/ui.js";
import { useState } from "../vendor/preact-htm.js";
import { CHANNELS, Health, kindOf, when } from "./channels.js";
import { Choice, Listing, useListing } from "./listing.js";
import { Facts, Head } from "./page.js";
import { link } from "./route.js";
import { server } from "./server.js";

const REFRESH = 1500;  // ms until a message that was put on its way has most likely gone
const t = words({
  zh: {
    back: "渠道", about: "这个渠道", missing: "没有这个渠道；它可能已从 CHANNELS 里去掉。", state: "状态", kind: "种类", callback: "回调地址", token: "访问令牌", received: "最近收到", sent: "最近发出", members: "对应了会员的用户", cannot: "这个渠道证明不了消息是谁发的，不能对应会员",
    unused: "还没有用到", valid: "有效，{when}到期", failed: "取不到：{why}", replies: "发往平台的回复", result: "结果", pending: "待发", done: "已发出", dead: "没发出", attempts: "次数", created: "时间", conversation: "会话", open: "看会话", next: "{when}再试", retry: "再发一次", again: "已排上，马上再发", actions: "操作", empty: "还没有回复。",
    test: "发测试消息", testTitle: "发一条测试消息", testText: "先用您自己的账号在平台上对它说一句话，那个会话就排在第一个。测试消息与回复走同一条路，结果见下面的列表。", where: "发到哪个会话", last: "{when}说过话", noneYet: "还没有人在这个渠道里说过话。", send: "发送", queued: "测试消息已排上",
  },
  en: {
    back: "Channels", about: "This channel", missing: "There is no such channel; it may have been taken out of CHANNELS.", state: "State", kind: "Kind", callback: "Callback address", token: "Access token", received: "Last received", sent: "Last sent", members: "Users known as members", cannot: "This channel does not prove who writes, so nobody can be matched",
    unused: "Not needed yet", valid: "Valid, runs out {when}", failed: "Cannot be had: {why}", replies: "Replies to the platform", result: "Result", pending: "Waiting", done: "Sent", dead: "Not sent", attempts: "Tries", created: "When", conversation: "Conversation", open: "Open", next: "again {when}", retry: "Send again", again: "Queued, it goes at once", actions: "Actions", empty: "No replies yet.",
    test: "Send a test", testTitle: "Send a test message", testText: "Write to the account with your own one first, and your conversation is the first of the list. A test goes the way of all replies; the list below shows how it went.", where: "To which conversation", last: "wrote {when}", noneYet: "Nobody has written on this channel yet.", send: "Send", queued: "The test is queued",
  },
});
const TONES = { pending: "", done: "good", dead: "bad" };

function tokenText({ token }) {
  if (!token) return "";
  return t(token.status, { when: token.expires_at && ago(token.expires_at), why: token.error });
}

export function Channel({ route }) {
  const address = `${CHANNELS}/${encodeURIComponent(route.id)}`;
  const state = useLoaded((signal) => server.get(CHANNELS, {}, { signal }), [route.id]);
  const list = useListing(route, ["status"], (query, signal) => server.get(`${address}/replies`, query, { signal }));
  const [testing, setTesting] = useState(false);
  const back = { href: link("channels"), title: t("back") };
  if (!state.data) return html`<${Head} title=${t("about")} back=${back} /><${Loaded} state=${state} />`;
  const channel = state.data.channels.find((each) => each.name === route.id);
  if (!channel) return html`<${Head} title=${t("about")} back=${back} /><p>${t("missing")}</p>`;
  const again = () => setTimeout(() => { list.reload(); state.reload(); }, REFRESH);
  const retry = async (reply) => { if (await attempt(() => server.post(`${address}/replies/${reply.id}/retry`), t("again"))) again(); };
  const columns = [
    { title: t("result"), cell: (row) => html`<${Tag} tone=${TONES[row.status]}>${t(row.status)}<//>${row.error && row.status !== "done" && html`<span class="ad-sub">${row.error}</span>`}${row.status === "pending" && row.attempts > 0 && html`<span class="ad-sub">${t("next", { when: ago(row.due_at) })}</span>`}` },
    { title: t("attempts"), numeric: true, name: "ad-wide", cell: (row) => number(row.attempts) },
    { title: t("created"), name: "ad-wide", cell: (row) => html`<span class="ad-when">${moment(row.created_at)}</span>` },
    { title: t("conversation"), cell: (row) => html`<a href=${link(`conversations/${row.session_id}`)}>${t("open")}</a>` },
    { title: t("actions"), cell: (row) => row.status === "dead" && html`<button class="yd-btn yd-btn-small" onClick=${() => retry(row)}>${t("retry")}</button>` },
  ];
  const facts = [
    [t("state"), html`<${Health} channel=${channel} />`],
    [t("kind"), kindOf(channel)],
    [t("callback"), html`<span class="yd-mono">${location.origin}${channel.callback}</span>`],
    [t("token"), tokenText(channel)],
    [t("received"), when(channel.last_message_at)],
    [t("sent"), when(channel.last_reply_at)],
    [t("members"), channel.proves_users ? number(channel.members) : t("cannot")],
  ];
  return html`<${Head} title=${channel.name} back=${back}><button class="yd-btn yd-btn-primary" onClick=${() => setTesting(true)}>${t("test")}</button><//>
    <div class="yd-stack"><section class="yd-card"><${Facts} facts=${facts} /></section>
    <h2>${t("replies")}</h2><${Listing} list=${list} caption=${t("replies")} columns=${columns} rowsOf=${(data) => data.replies} keyOf=${(row) => row.id} empty=${t("empty")} filters=${html`<${Choice} list=${list} name="status" label=${t("result")} options=${["pending", "done", "dead"].map((status) => [status, t(status)])} />`} /></div>
    ${testing && html`<${Test} address=${address} onClose=${() => setTesting(false)} onSent=${() => { setTesting(false); again(); }} />`}`;
}

function Test({ address, onClose, onSent }) {
  const state = useLoaded((signal) => server.get(`${address}/conversations`, {}, { signal }), []);
  const [chosen, setChosen] = useState("");
  const send = (first) => async (event) => {
    event.preventDefault();
    if (await attempt(() => server.post(`${address}/test`, { session_id: chosen || first.session_id, language: language() }), t("queued"))) onSent();
  };
  return html`<${Dialog} title=${t("testTitle")} onClose=${onClose}><p>${t("testText")}</p><${Loaded} state=${state}>${({ conversations }) => (conversations.length === 0
    ? html`<${Empty}>${t("noneYet")}<//>`
    : html`<form class="yd-stack" onSubmit=${send(conversations[0])}><${Field} label=${t("where")}><select class="yd-input" value=${chosen || conversations[0].session_id} onChange=${(event) => setChosen(event.target.value)}>
      ${conversations.map((one) => html`<option value=${one.session_id}>${t("last", { when: ago(one.updated_at) })} · ${one.session_id.slice(-8)}</option>`)}</select><//>
      <div class="yd-row"><span class="yd-grow"></span><button class="yd-btn yd-btn-primary">${t("send")}</button></div></form>`)}<//><//>`;
}
