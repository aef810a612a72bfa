// Lines over a scale, drawn as SVG: shares from 0 to 1 over whatever is on the x axis.
import { number, percent } from "../shared/i18n.js";
import { html } from "../shared/ui.js";

const WIDTH = 640;
const HEIGHT = 240;
const LEFT = 44;
const BOTTOM = 24;
const COLOURS = ["var(--yd-accent)", "var(--yd-good)", "var(--yd-warn)", "var(--yd-bad)", "var(--yd-text-3)"];

// series: [{title, points: [[x, share]]}]. marks: [{x, title}] as upright lines.
export function Plot({ title, series, marks = [] }) {
  const every = series.flatMap((one) => one.points);
  const [first, last] = [Math.min(...every.map(([x]) => x)), Math.max(...every.map(([x]) => x))];
  const low = Math.floor(Math.min(...every.map(([, y]) => y)) * 10) / 10;
  const x = (value) => LEFT + (last > first ? (value - first) / (last - first) : 0.5) * (WIDTH - LEFT - 12);
  const y = (value) => 10 + (1 - (value - low) / Math.max(1 - low, 0.1)) * (HEIGHT - BOTTOM - 10);
  const ticks = [low, (1 + low) / 2, 1];
  return html`<figure class="yd-stack"><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label=${title} width="100%">
    ${ticks.map((value) => html`<line x1=${LEFT} x2=${WIDTH - 12} y1=${y(value)} y2=${y(value)} stroke="var(--yd-border)" /><text x=${LEFT - 6} y=${y(value) + 4} text-anchor="end" font-size="12" fill="var(--yd-text-3)">${percent(value, 0)}</text>`)}
    ${[first, last].map((value, place) => html`<text x=${x(value)} y=${HEIGHT - 6} text-anchor=${place ? "end" : "start"} font-size="12" fill="var(--yd-text-3)">${number(value, 2)}</text>`)}
    ${marks.map((mark, place) => html`<line x1=${x(mark.x)} x2=${x(mark.x)} y1="10" y2=${HEIGHT - BOTTOM} stroke="var(--yd-text-3)" stroke-dasharray=${place ? "2 3" : "6 3"} /><text x=${x(mark.x) + 4} y=${22 + 14 * place} font-size="12" fill="var(--yd-text-2)">${mark.title}</text>`)}
    ${series.map((one, place) => html`<polyline fill="none" stroke-width="2" stroke=${COLOURS[place % COLOURS.length]} points=${one.points.map(([at, share]) => `${x(at)},${y(share)}`).join(" ")} />${one.points.length < 12 && one.points.map(([at, share]) => html`<circle cx=${x(at)} cy=${y(share)} r="3" fill=${COLOURS[place % COLOURS.length]} />`)}`)}
    </svg><figcaption class="yd-small yd-row">${series.map((one, place) => html`<span><svg width="10" height="10" aria-hidden="true"><rect width="10" height="10" rx="2" fill=${COLOURS[place % COLOURS.length]} /></svg> ${one.title}</span>`)}</figcaption></figure>`;
}
