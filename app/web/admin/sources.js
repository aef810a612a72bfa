// Sources: websites and folders that documents come from by themselves.
import { ago, moment, number, words } from "../shared/i18n.js";
import { Dialog, Failure, Field, attempt, html } from "../shared/ui.js";
import { useEffect, useState } from "../vendor/preact-htm.js";
import { Choice, Listing, Search, pageOf, useListing } from "./listing.js";
import { Named, named, options } from "./names.js";
import { Head } from "./page.js";
import { go, link } from "./route.js";
import { server } from "./server.js";
import { SourceView } from "./source.js";

export const SOURCES = "/api/v1/knowledge/sources";
const AGAIN = 1000;  // ms between two looks at what is synced
const PERIODS = [[60, "hourly"], [360, "six"], [1440, "daily"], [10080, "weekly"], [0, "never"]];
const t = words({
  zh: {
    title: "数据来源", text: "网站和文件夹里的内容有变化时，知识库自动跟着变：改了的成为新版本，没有了的失效。", new: "添加来源", search: "搜索名称或网址", name: "名称", kind: "来源", pages: "网页或文件", last: "最近一次同步", state: "状态", sync: "现在同步", started: "已开始同步", never: "还没有同步过", empty: "还没有数据来源。添加帮助中心的网址，那里的内容就会进到知识库里。",
    website: "网站", pathOf: "服务器上的文件夹", what: "从哪里来", url: "网址", urlHint: "起始页，或站点地图（sitemap.xml）", depth: "跟几层链接", most: "最多几页", rate: "每分钟最多请求几次", prefix: "路径前缀", prefixHint: "只取路径以它开头的网页", path: "文件夹", pathHint: "要在这些目录之下：{roots}", folder: "放到目录", folderHint: "知识库里的目录，可以不填", category: "分类", period: "多久同步一次", hourly: "每小时", six: "每 6 小时", daily: "每天", weekly: "每周", never0: "只手动同步", minutes: "每 {n} 分钟", save: "保存", edit: "修改来源", count: "{n} 个", errors: "{n} 个取不到", paused: "已暂停", partial: "没有看完",
  },
  en: {
    title: "Sources", text: "Websites and folders that the knowledge base follows by itself: what changes becomes a new version, what is gone expires.", new: "Add a source", search: "Search name or address", name: "Name", kind: "Source", pages: "Pages or files", last: "Last sync", state: "State", sync: "Sync now", started: "The sync runs", never: "Never yet", empty: "No sources yet. Add the address of your help centre, and what it says is in the knowledge base.",
    website: "Website", pathOf: "Folder of the server", what: "Where from", url: "Address", urlHint: "The first page, or a sitemap (sitemap.xml)", depth: "Links to follow", most: "Pages at most", rate: "Requests a minute, at most", prefix: "Path prefix", prefixHint: "Only pages whose paths begin with it", path: "Folder", pathHint: "Below one of these: {roots}", folder: "File under", folderHint: "A folder of the knowledge base; may be empty", category: "Category", period: "How often", hourly: "Hourly", six: "Every 6 hours", daily: "Daily", weekly: "Weekly", never0: "On demand alone", minutes: "Every {n} minutes", save: "Save", edit: "Edit the source", count: "{n}", errors: "{n} could not be had", paused: "Paused", partial: "Not all seen",
  },
});
export const place = (source) => (source.website ? source.website.url : source.path);
export const period = (minutes) => { const known = PERIODS.find(([each]) => each === minutes); return known ? t(known[1] === "never" ? "never0" : known[1]) : t("minutes", { n: number(minutes) }); };
export const itemsOf = (source) => Object.values(source.items).reduce((sum, each) => sum + each, 0);

// How the last sync went, and whether one is at work.
export function Standing({ source }) {
  const { last, running } = source;
  if (running) return html`<${Named} kind="run" value="running" />`;
  if (!last) return html`<span class="yd-muted">${t("never")}</span>`;
  if (last.error) return html`<${Named} kind="run" value="failed" /><span class="ad-sub">${last.error.message}</span>`;
  return html`<${Named} kind="run" value="done" />${last.counts.failed > 0 && html`<span class="ad-sub">${t("errors", { n: number(last.counts.failed) })}</span>`}${!last.complete && html`<span class="ad-sub">${t("partial")}</span>`}`;
}

// Looks again while something is synced.
export function useSynced(state, working) {
  useEffect(() => {
    if (!working) return undefined;
    const timer = setTimeout(state.reload, AGAIN);
    return () => clearTimeout(timer);
  }, [state.data, working]);
}

export function Sources(props) {
  return props.route.id ? html`<${SourceView} key=${props.route.id} ...${props} />` : html`<${All} ...${props} />`;
}

function All({ route, manages }) {
  const by = { name: (source) => source.name, pages: (source) => source.items.current || 0, last: (source) => source.last?.finished_at };
  const list = useListing(route, ["q", "kind"], async (query, signal) => {
    const { sources, roots } = await server.get(SOURCES, {}, { signal });
    return { ...pageOf(sources, query, { by, text: (source) => `${source.name} ${place(source)}`, keep: (source) => !query.kind || source.kind === query.kind }), roots };
  });
  const [making, setMaking] = useState(false);
  useSynced(list, list.data?.items.some((source) => source.running));
  const sync = async (source) => { await attempt(() => server.post(`${SOURCES}/${source.id}/sync`), t("started")); list.reload(); };
  const bulk = manages ? [{ title: t("sync"), run: (source) => source.running === null && server.post(`${SOURCES}/${source.id}/sync`) }] : [];
  const columns = [
    { title: t("name"), sort: "name", text: (source) => source.name, cell: (source) => html`<a href=${link(`sources/${source.id}`)}>${source.name}</a><span class="ad-sub">${place(source)}</span>` },
    { title: t("kind"), name: "ad-wide", text: (source) => `${named("source", source.kind)} ${place(source)}`, cell: (source) => html`<${Named} kind="source" value=${source.kind} /><span class="ad-sub">${source.enabled ? period(source.interval_minutes) : t("paused")}</span>` },
    { title: t("pages"), name: "ad-wide", numeric: true, sort: "pages", text: (source) => source.items.current || 0, cell: (source) => number(source.items.current || 0) },
    { title: t("last"), sort: "last", latest: true, text: (source) => source.last?.finished_at, cell: (source) => source.last && html`<span class="ad-when" title=${moment(source.last.finished_at)}>${ago(source.last.finished_at)}</span>` },
    { title: t("state"), cell: (source) => html`<${Standing} source=${source} />` },
    { title: t("sync"), cell: (source) => manages && html`<button class="yd-btn yd-btn-small" disabled=${source.running !== null} onClick=${() => sync(source)}>${t("sync")}</button>` },
  ];
  return html`<${Head} title=${t("title")} text=${t("text")}>${manages && html`<button class="yd-btn yd-btn-primary" onClick=${() => setMaking(true)}>${t("new")}</button>`}<//>
    <${Listing} list=${list} caption=${t("title")} columns=${columns} file="sources" bulk=${bulk} rowsOf=${(data) => data.items} keyOf=${(source) => source.id} nameOf=${(source) => source.name} onOpen=${(source) => go(`sources/${source.id}`)} empty=${t("empty")} next=${manages && html`<button class="yd-btn yd-btn-primary" onClick=${() => setMaking(true)}>${t("new")}</button>`}
      filters=${html`<${Search} list=${list} label=${t("search")} /><${Choice} list=${list} name="kind" label=${t("kind")} options=${options("source")} />`} />
    ${making && html`<${Editing} roots=${list.data?.roots || []} onClose=${() => setMaking(false)} onSaved=${() => { setMaking(false); list.reload(); }} />`}`;
}

const NEW = { name: "", path: "", folder: "", category: "", interval_minutes: 1440, url: "", depth: 2, max_pages: 200, requests_per_minute: 60, prefix: "/" };
const SITE = ["url", "depth", "max_pages", "requests_per_minute", "prefix"];

// source: what is there already; without it a new one is made.
export function Editing({ source, roots = [], onClose, onSaved }) {
  const [values, setValues] = useState(source ? { ...NEW, ...source, ...source.website, path: source.path || "" } : NEW);
  const [kind, setKind] = useState(source ? source.kind : "website");
  const [state, setState] = useState({});
  const set = (name) => (event) => setValues({ ...values, [name]: event.target.type === "number" ? event.target.valueAsNumber : event.target.value });
  const save = async (event) => {
    event.preventDefault();
    setState({ busy: true });
    const common = { name: values.name, folder: values.folder, category: values.category, interval_minutes: Number(values.interval_minutes) };
    const where = kind === "website" ? { website: Object.fromEntries(SITE.map((name) => [name, values[name]])) } : { path: values.path };
    try {
      const saved = source ? await server.patch(`${SOURCES}/${source.id}`, { ...common, ...where }) : await server.post(SOURCES, { ...common, ...where });
      onSaved(saved);
    } catch (error) { setState({ error }); }
  };
  const count = (name, label, min, max) => html`<${Field} label=${label}><input class="yd-input" type="number" name=${name} required min=${min} max=${max} value=${values[name]} onInput=${set(name)} /><//>`;
  const known = PERIODS.some(([minutes]) => minutes === values.interval_minutes);
  return html`<${Dialog} title=${source ? t("edit") : t("new")} onClose=${onClose}><form class="yd-stack" onSubmit=${save}>
    <${Field} label=${t("name")}><input class="yd-input" name="name" required maxlength="80" value=${values.name} onInput=${set("name")} /><//>
    ${!source && roots.length > 0 && html`<${Field} label=${t("what")}><select class="yd-input" name="kind" value=${kind} onChange=${(event) => setKind(event.target.value)}><option value="website">${t("website")}</option><option value="folder">${t("pathOf")}</option></select><//>`}
    ${kind === "folder" ? html`<${Field} label=${t("path")} hint=${roots.length ? t("pathHint", { roots: roots.join("、") }) : ""}><input class="yd-input" name="path" required maxlength="1000" value=${values.path} onInput=${set("path")} /><//>`
    : html`<${Field} label=${t("url")} hint=${t("urlHint")}><input class="yd-input" type="url" name="url" required maxlength="1000" value=${values.url} onInput=${set("url")} /><//>
      ${count("depth", t("depth"), 0, 10)}${count("max_pages", t("most"), 1, 5000)}${count("requests_per_minute", t("rate"), 1, 600)}
      <${Field} label=${t("prefix")} hint=${t("prefixHint")}><input class="yd-input" name="prefix" required pattern="/.*" maxlength="500" value=${values.prefix} onInput=${set("prefix")} /><//>`}
    <${Field} label=${t("folder")} hint=${t("folderHint")}><input class="yd-input" name="folder" maxlength="100" value=${values.folder} onInput=${set("folder")} /><//>
    <${Field} label=${t("category")}><input class="yd-input" name="category" maxlength="100" value=${values.category} onInput=${set("category")} /><//>
    <${Field} label=${t("period")}><select class="yd-input" name="period" value=${values.interval_minutes} onChange=${(event) => setValues({ ...values, interval_minutes: Number(event.target.value) })}>${!known && html`<option value=${values.interval_minutes}>${period(values.interval_minutes)}</option>`}${PERIODS.map(([minutes]) => html`<option value=${minutes}>${period(minutes)}</option>`)}</select><//>
    ${state.error && html`<${Failure} error=${state.error} />`}<div class="yd-row"><span class="yd-grow"></span><button class="yd-btn yd-btn-primary" disabled=${state.busy}>${t("save")}</button></div></form><//>`;
}
