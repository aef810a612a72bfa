// A chart over time by uPlot, with what it shows as a table for whoever cannot or does not want to see it.
import { locale, moment, words } from "../shared/i18n.js";
import { html } from "../shared/ui.js";
import uPlot from "../vendor/uplot.js";
import { useEffect, useRef, useState } from "../vendor/preact-htm.js";

const t = words({ zh: { table: "看数字", time: "时间", nothing: "这段时间里没有数据。", latest: "新的在前" }, en: { table: "As a table", time: "Time", nothing: "No data in this time.", latest: "latest first" } });
const HEIGHT = 220;
const LENGTH = { minute: 60, hour: 3600 };  // s; the last bar has room too
const DARK = matchMedia("(prefers-color-scheme: dark)");

const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Each stacked series stands on those after it, so the first is on top.
function stackedValues(series) {
  const sums = series.map(() => []);
  for (let place = 0; place < series[0].values.length; place += 1) {
    let sum = 0;
    for (let index = series.length - 1; index >= 0; index -= 1) { sum += series[index].values[place] || 0; sums[index][place] = sum; }
  }
  return sums;
}

function hours(step, first, last) {
  const day = last - first > 2 * 86400 ? { month: "numeric", day: "numeric" } : { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  const written = new Intl.DateTimeFormat(locale(), day);
  return (_, splits) => splits.map((at) => written.format(new Date(at * 1000)));
}

function drawn(element, { at, series, stacked, step, format }, told) {
  const axis = { stroke: token("--yd-text-3"), grid: { stroke: token("--yd-border"), width: 1 }, ticks: { show: false }, font: `12px ${token("--yd-font")}` };
  const values = stacked ? stackedValues(series) : series.map((one) => one.values);
  const bars = uPlot.paths.bars({ size: [0.8, 40], align: 1 });
  const line = uPlot.paths.linear();
  return new uPlot({
    width: element.clientWidth, height: HEIGHT, legend: { show: false }, cursor: { y: false, points: { size: 7 } }, padding: [8, 20, 0, 0],
    hooks: { setCursor: [(plot) => told(plot.cursor.idx)] },
    scales: { x: { time: true, range: (_, first, last) => [first, stacked ? last + LENGTH[step] : last] }, y: { range: (_, low, high) => [0, high > 0 ? high * 1.1 : 1] } },
    axes: [{ ...axis, grid: { show: false }, values: hours(step, at[0], at.at(-1)), space: 64, size: 32 }, { ...axis, values: (_, splits) => splits.map(format), size: 64 }],
    series: [{}, ...series.map((one) => ({ label: one.title, stroke: token(one.colour), fill: stacked ? token(one.colour) : undefined, width: stacked ? 0 : 2, paths: stacked ? bars : line, spanGaps: !stacked, points: { show: !stacked && one.values.filter((value) => value !== null).length < 40, size: 5 } }))],
  }, [at, ...values], element);
}

export function Chart({ title, at, series, stacked, step, format }) {
  const place = useRef();
  const [pointed, setPointed] = useState(null);
  const [dark, setDark] = useState(DARK.matches);
  const nothing = series.every((one) => one.values.every((value) => !value));
  useEffect(() => {
    const changed = () => setDark(DARK.matches);
    DARK.addEventListener("change", changed);
    return () => DARK.removeEventListener("change", changed);
  }, []);
  useEffect(() => {
    if (nothing) return undefined;
    const plot = drawn(place.current, { at, series, stacked, step, format }, (index) => setPointed(index ?? null));
    const watcher = new ResizeObserver(([entry]) => plot.setSize({ width: Math.floor(entry.contentRect.width), height: HEIGHT }));
    watcher.observe(place.current);
    return () => { watcher.disconnect(); plot.destroy(); };
  }, [at[0], at.at(-1), JSON.stringify(series), dark, nothing]);
  const shown = (value) => (value === null || value === undefined ? "–" : format(value));
  const busy = at.map((_, index) => index).filter((index) => series.some((one) => one.values[index])).reverse();
  return html`<figure class="yd-card ad-chart"><figcaption><h2>${title}</h2><ul class="ad-legend">${series.map((one) => html`<li><span class="ad-swatch" style=${{ background: `var(${one.colour})` }} aria-hidden="true"></span>${one.title}${pointed !== null && html` <strong class="yd-nums">${shown(one.values[pointed])}</strong>`}</li>`)}${pointed !== null && html`<li class="yd-muted">${moment(new Date(at[pointed] * 1000))}</li>`}</ul></figcaption>
    ${nothing ? html`<p class="ad-chart-nothing yd-muted">${t("nothing")}</p>` : html`<div ref=${place} class="ad-plot" aria-hidden="true"></div>
    <details><summary>${t("table")}</summary><div class="yd-scroll ad-numbers" tabindex="0" role="region" aria-label=${title}><table class="yd-table"><caption class="yd-sr">${title}，${t("latest")}</caption><thead><tr><th scope="col">${t("time")}</th>${series.map((one) => html`<th scope="col" class="yd-num">${one.title}</th>`)}</tr></thead>
      <tbody>${busy.map((index) => html`<tr><th scope="row">${moment(new Date(at[index] * 1000))}</th>${series.map((one) => html`<td class="yd-num">${shown(one.values[index])}</td>`)}</tr>`)}</tbody></table></div></details>`}</figure>`;
}
