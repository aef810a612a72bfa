// Words of a page in the reader's language: `const t = words({ zh: {...}, en: {...} })`, then t("send", { n: 3 }).

const wanted = new URLSearchParams(location.search).get("lang") || stored("yd-lang") || navigator.language || "zh";
let current = /^zh/i.test(wanted) ? "zh" : "en";

export const language = () => current;
export const locale = () => (current === "zh" ? "zh-CN" : "en");

// remember: for the next page; the widget does not, on a site that is not its own.
export function setLanguage(value, remember = true) {
  current = value === "en" ? "en" : "zh";
  if (remember) try { localStorage.setItem("yd-lang", current); } catch { /* a page without storage keeps it until it is closed */ }
}

export function words(catalogue) {
  return (key, values) => {
    const text = catalogue[current][key] ?? catalogue.zh[key];
    if (text === undefined) throw new Error(`no words for ${key}`);
    return values ? text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "") : text;
  };
}

export const moment = (iso) => new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeStyle: "short" }).format(new Date(iso));
export const clock = (iso) => new Intl.DateTimeFormat(locale(), { timeStyle: "short" }).format(new Date(iso));
export const number = (value, digits = 0) => new Intl.NumberFormat(locale(), { maximumFractionDigits: digits }).format(value);
export const percent = (value, digits = 1) => new Intl.NumberFormat(locale(), { style: "percent", maximumFractionDigits: digits }).format(value);

export function ago(iso) {
  const seconds = (Date.parse(iso) - Date.now()) / 1000;
  const units = [["day", 86400], ["hour", 3600], ["minute", 60]];
  const [unit, size] = units.find(([, length]) => Math.abs(seconds) >= length) || ["second", 1];
  return new Intl.RelativeTimeFormat(locale(), { numeric: "auto" }).format(Math.round(seconds / size), unit);
}

function stored(name) {
  try { return localStorage.getItem(name); } catch { return null; }
}
