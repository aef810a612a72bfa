// The company's own model writes questions about the base and judges them: what it takes first, then what came of it.
import { moment, number, percent, words } from "../shared/i18n.js";
import { Dialog, Failure, Field, Table, attempt, confirmed, html, useLoaded } from "../shared/ui.js";
import { useState } from "../vendor/preact-htm.js";
import { Facts } from "./page.js";
import { server } from "./server.js";

const TUNER = "/api/v1/tuner";
const t = words({
  zh: {
    title: "让大模型出题校准", text: "大模型就知识库里的片段各出两道题：一道写明了答案，一道没写，再逐题判断检索到的资料里有没有答案。门槛按这些判断校准；之后不接大模型也能用。", passages: "就几段出题", passagesHint: "每段两道题；题越多越准，也越久", estimate: "先估算", again: "重新估算", begin: "开始", trying: "正在试两段…", takes: "预计", time: "时间", tokens: "token（发出 / 收回）", cost: "费用", unpriced: "没有设单价（LLM_PRICES）", seconds: "约 {n} 秒", minutes: "约 {n} 分钟", counted: "{n} 段，{questions} 道题",
    inForce: "门槛正按大模型的判断校准：有答案的 {answerable} 道，没有的 {unanswerable} 道（{by}，{when}）。", drop: "改回自动校准", dropTitle: "改回自动校准？", dropText: "门槛不再使用大模型的判断。报告还在，可以再采用。", dropped: "已改回",
    few: "明确的判断太少：两类各要 20 道以上才校准。请多出一些题。", kinds: "有答案的 {answerable} 道，没有的 {unanswerable} 道。", auroc: "概率把两类题分开的程度（AUROC）", right: "留出的一半题上判断正确", rightText: "现在 {before}，按它校准之后 {after}", order: "校准移动的是门槛，题目之间的先后不变，所以 AUROC 前后相同。", question: "题目", verdict: "大模型的判断", probability: "现在的概率", yes: "有答案", no: "没有答案", shown: "题目与判断",
  },
  en: {
    title: "Have the model calibrate", text: "The model writes two questions about passages of the base, one that the passage answers and one that it leaves open, then judges for each whether what the search finds answers it. The gate is fitted to these verdicts, and works without the model afterwards.", passages: "Passages", passagesHint: "Two questions each; more are more exact and take longer", estimate: "Estimate first", again: "Estimate again", begin: "Begin", trying: "Trying two passages…", takes: "It will take", time: "Time", tokens: "Tokens (sent / received)", cost: "Cost", unpriced: "No price is set (LLM_PRICES)", seconds: "about {n} s", minutes: "about {n} min", counted: "{n} passages, {questions} questions",
    inForce: "The gate is calibrated by a model's verdicts: {answerable} questions with an answer, {unanswerable} without ({by}, {when}).", drop: "Back to automatic", dropTitle: "Back to automatic calibration?", dropText: "The gate no longer uses the model's verdicts. The report stays and can be used again.", dropped: "Back to automatic",
    few: "Too few clear verdicts: 20 or more of either kind are needed. Have more questions written.", kinds: "{answerable} questions with an answer, {unanswerable} without.", auroc: "How well the probability tells them apart (AUROC)", right: "Right on the half that was held out", rightText: "{before} now, {after} calibrated by them", order: "Calibrating moves the gate, not the order of questions: the AUROC stays the same.", question: "Question", verdict: "Verdict", probability: "Probability now", yes: "Answered", no: "Not answered", shown: "Questions and verdicts",
  },
});
const takes = (seconds) => (seconds < 90 ? t("seconds", { n: number(seconds, 0) }) : t("minutes", { n: number(Math.ceil(seconds / 60)) }));

export function Judging({ onClose }) {
  const [passages, setPassages] = useState(100);
  const [state, setState] = useState({});
  const { estimate } = state;
  const ask = async (event) => {
    event.preventDefault();
    setState({ busy: true });
    try {
      if (!estimate) return setState({ estimate: await server.post(`${TUNER}/judgements/estimates`, { passages }) });
      await server.post(`${TUNER}/judgements`, { passages });
      return onClose(true);
    } catch (error) { return setState({ error }); }
  };
  const change = (event) => { setPassages(Number(event.target.value)); setState({}); };
  return html`<${Dialog} title=${t("title")} onClose=${() => onClose(false)}><form class="yd-stack" onSubmit=${ask}><p class="yd-small yd-muted">${t("text")}</p>
    <${Field} label=${t("passages")} hint=${t("passagesHint")}><input class="yd-input" type="number" name="passages" min="2" max="1000" required value=${passages} onInput=${change} /><//>
    <div aria-live="polite">${state.busy && !estimate && html`<p class="yd-small">${t("trying")}</p>`}${estimate && html`<h3>${t("takes")}</h3><p>${t("counted", { n: number(estimate.passages), questions: number(2 * estimate.passages) })}</p><${Facts} facts=${[[t("time"), takes(estimate.seconds)], [t("tokens"), `${number(estimate.prompt_tokens)} / ${number(estimate.completion_tokens)}`], [t("cost"), estimate.cost ? number(estimate.cost, 2) : t("unpriced")]]} />`}</div>
    ${state.error && html`<${Failure} error=${state.error} />`}<div class="yd-row"><span class="yd-grow"></span><button class="yd-btn yd-btn-primary" disabled=${state.busy}>${t(estimate ? "begin" : "estimate")}</button></div></form><//>`;
}

export function VerdictsInForce({ may }) {
  const state = useLoaded((signal) => server.get(`${TUNER}/verdicts`, {}, { signal }), []);
  const found = state.data?.verdicts;
  const drop = async () => {
    if (!await confirmed({ title: t("dropTitle"), text: t("dropText"), action: t("drop"), danger: false })) return;
    await attempt(() => server.delete(`${TUNER}/verdicts`), t("dropped"));
    state.reload();
  };
  return found && html`<p class="yd-notice yd-row"><span class="yd-grow">${t("inForce", { answerable: number(found.answerable), unanswerable: number(found.unanswerable), by: found.by, when: moment(found.created_at) })}</span>${may && html`<button class="yd-btn yd-btn-small" onClick=${drop}>${t("drop")}</button>`}</p>`;
}

export function Judged({ result }) {
  const columns = [
    { title: t("question"), cell: (one) => one.text },
    { title: t("verdict"), cell: (one) => t(one.answerable ? "yes" : "no") },
    { title: t("probability"), numeric: true, cell: (one) => number(one.probability, 2) },
  ];
  return html`<p>${t("kinds", { answerable: number(result.answerable), unanswerable: number(result.unanswerable) })}</p>${result.fit ? html`<${Facts} facts=${[[t("auroc"), number(result.fit.auroc, 3)], [t("right"), t("rightText", { before: percent(result.fit.right_before, 1), after: percent(result.fit.right_after, 1) })]]} /><p class="yd-small yd-muted">${t("order")}</p>` : html`<p class="yd-notice" data-tone="warn">${t("few")}</p>`}
    <details><summary>${t("shown")}</summary><${Table} caption=${t("shown")} columns=${columns} rows=${result.verdicts} keyOf=${(one) => one.text} /></details>`;
}
