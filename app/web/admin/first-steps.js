// What is left to do before customers can be served: on the first page until it is done or put away.
import { number, words } from "../shared/i18n.js";
import { html, useLoaded } from "../shared/ui.js";
import { useState } from "../vendor/preact-htm.js";
import { link } from "./route.js";
import { server } from "./server.js";

const HIDDEN = "yd-first-steps";
const PLACES = { documents: "documents", try: "profile", model: "models", widget: "widget", colleagues: "people" };
const t = words({
  zh: {
    title: "开始使用", left: "还有 {n} 步", done: "已完成", hide: "收起", documents: "放进自己的文档", documentsText: "文件、网站或问答都行；示例可以随时删掉。", documentsDone: "{n} 篇", try: "像顾客一样问一句", tryText: "在“助手设定”旁边试，看它怎么答、凭什么。", model: "接一个大模型", modelText: "不接也能用，回答摘自原文；语气、改写和多轮追问要靠它。", widget: "放到网站上", widgetText: "一行代码，先看效果再贴。", colleagues: "请同事进来", colleaguesText: "发一个邀请链接，各自设密码登录，谁做了什么分得清。", colleaguesDone: "{n} 位",
  },
  en: {
    title: "First steps", left: "{n} to go", done: "Done", hide: "Hide", documents: "Bring in your documents", documentsText: "Files, a website or questions and answers; the samples can go at any time.", documentsDone: "{n} of them", try: "Ask as a customer would", tryText: "Beside the assistant's settings, with what each answer rests on.", model: "Connect a language model", modelText: "It works without, quoting; tone, wording and follow-ups need one.", widget: "Put it on your site", widgetText: "One line of code, seen before it is pasted.", colleagues: "Invite colleagues", colleaguesText: "A link to a password of their own each; it is clear who did what.", colleaguesDone: "{n} of them",
  },
});

export function FirstSteps() {
  const [hidden, setHidden] = useState(() => localStorage.getItem(HIDDEN) === "hidden");
  const state = useLoaded((signal) => (hidden ? Promise.resolve(null) : server.get("/api/v1/first-steps", {}, { signal })), [hidden]);
  const left = state.data?.steps.filter((step) => !step.done).length;
  if (!left) return null;
  const hide = () => { localStorage.setItem(HIDDEN, "hidden"); setHidden(true); };
  return html`<section class="yd-card yd-stack ad-steps" aria-labelledby="ad-steps"><div class="yd-row"><h2 id="ad-steps" class="yd-grow">${t("title")}</h2><span class="yd-small yd-muted">${t("left", { n: number(left) })}</span><button class="yd-btn yd-btn-quiet yd-btn-small" onClick=${hide}>${t("hide")}</button></div>
    <ol>${state.data.steps.map((step) => html`<li data-done=${step.done ? "" : undefined}><span class="ad-tick" aria-hidden="true">${step.done ? "✓" : ""}</span><div><a href=${link(PLACES[step.name])}>${t(step.name)}</a>${step.done ? html` <span class="yd-small yd-muted">${t("done")}${["documents", "colleagues"].includes(step.name) ? ` · ${t(`${step.name}Done`, { n: number(step.count) })}` : ""}</span>` : html`<div class="yd-small yd-muted">${t(`${step.name}Text`)}</div>`}</div></li>`)}</ol></section>`;
}
