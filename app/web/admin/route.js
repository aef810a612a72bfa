// Where one is stands in the address: #/section/id?name=value. So going back, reloading and sending a link all work.
import { useEffect, useState } from "../vendor/preact-htm.js";

export function link(path, query = {}) {
  const search = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== "" && value !== undefined && value !== null && value !== 0));
  return `#/${path}${search.size ? `?${search}` : ""}`;
}

// replace: this is the same page asked otherwise, for which "back" is not meant.
export function go(path, query, { replace = false } = {}) {
  const target = link(path, query);
  if (replace) location.replace(target);
  else location.hash = target;
}

// As the address has it now, which may be later than what was drawn.
export function current() {
  const [path, search] = location.hash.replace(/^#\/?/, "").split("?");
  const [section = "", ...rest] = path.split("/").map(decodeURIComponent);
  return { section, id: rest[0] || "", rest: rest.slice(1), path, query: new URLSearchParams(search) };
}

export function useRoute() {
  const [route, setRoute] = useState(current);
  useEffect(() => {
    const changed = () => setRoute(current());
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return route;
}
