// Business hours as days and times; the profile writes them as lines: "1-5 09:00-18:00", Monday being 1.
import { locale, words } from "../shared/i18n.js";
import { html } from "../shared/ui.js";

const t = words({
  zh: { always: "没有写时间：全天候。", add: "加一段时间", remove: "删去这段", from: "从", to: "到", days: "哪几天", run: "{first}至{last}", and: "、" },
  en: { always: "No hours: around the clock.", add: "Add hours", remove: "Remove these hours", from: "from", to: "to", days: "Days", run: "{first}–{last}", and: ", " },
});
const WEEK = [1, 2, 3, 4, 5, 6, 7];
const dayName = (day, style) => new Intl.DateTimeFormat(locale(), { weekday: style, timeZone: "UTC" }).format(new Date(Date.UTC(2024, 0, day)));  // 1 January 2024 was a Monday

export function parsed(line) {
  const [days, times = ""] = line.split(" ");
  const [start = "", end = ""] = times.split("-");
  const found = days.split(",").flatMap((part) => {
    const [first, last = first] = part.split("-").map(Number);
    return first <= last ? WEEK.filter((day) => day >= first && day <= last) : WEEK.filter((day) => day >= first || day <= last);
  });
  return { days: new Set(found), start, end };
}

function findRuns(days) {
  const runs = [];
  for (const day of WEEK.filter((each) => days.has(each))) {
    const run = runs.at(-1);
    if (run && run[1] === day - 1) run[1] = day;
    else runs.push([day, day]);
  }
  return runs;
}

export function written({ days, start, end }) {
  return `${findRuns(days).map(([first, last]) => (first === last ? first : `${first}-${last}`)).join(",")} ${start}-${end}`;
}

// A line of hours as people say it: "周一至周五 09:00–18:00".
export function describeHours(line) {
  const { days, start, end } = parsed(line);
  const runs = findRuns(days).map(([first, last]) => (first === last ? dayName(first, "short") : t("run", { first: dayName(first, "short"), last: dayName(last, "short") })));
  return `${runs.join(t("and"))} ${start}–${end}`;
}

export function Hours({ lines, onChange }) {
  const change = (index, span) => onChange(lines.map((line, at) => (at === index ? written(span) : line)));
  return html`<div class="yd-stack">${lines.length === 0 && html`<p class="yd-small yd-muted">${t("always")}</p>`}${lines.map((line, index) => {
    const span = parsed(line);
    const flip = (day) => { const days = new Set(span.days); if (!days.delete(day)) days.add(day); if (days.size) change(index, { ...span, days }); };
    return html`<div class="ad-hours yd-row yd-wrap"><div class="ad-days" role="group" aria-label=${t("days")}>${WEEK.map((day) => html`<button type="button" aria-pressed=${span.days.has(day)} aria-label=${dayName(day, "long")} onClick=${() => flip(day)}>${dayName(day, "narrow")}</button>`)}</div>
      <input class="yd-input" type="time" required aria-label=${t("from")} value=${span.start} onChange=${(event) => change(index, { ...span, start: event.target.value })} /><span>–</span><input class="yd-input" type="time" required aria-label=${t("to")} value=${span.end} onChange=${(event) => change(index, { ...span, end: event.target.value })} />
      <button type="button" class="yd-btn yd-btn-quiet yd-btn-icon" aria-label=${t("remove")} onClick=${() => onChange(lines.filter((_, at) => at !== index))}>×</button></div>`;
  })}<div><button type="button" class="yd-btn yd-btn-small" onClick=${() => onChange([...lines, "1-5 09:00-18:00"])}>${t("add")}</button></div></div>`;
}
