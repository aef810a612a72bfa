// What is sent of the page that the customer looks at. The address goes without its query, which may hold secrets.

const MAX_TEXT = 20_000;
const MAX_HEADINGS = 30;

// how: "basic" (address, title, description), "full" (headings, structured data and text too) or "none".
export function pageContext(how) {
  if (how === "none") return null;
  const basic = { url: location.origin + location.pathname, title: document.title.slice(0, 500), description: meta("description").slice(0, 2000) };
  if (how !== "full") return basic;
  const main = document.querySelector("main, article, [role=main]") || document.body;
  const headings = [...main.querySelectorAll("h1, h2, h3")].slice(0, MAX_HEADINGS).map((heading) => heading.innerText.trim().slice(0, 500)).filter(Boolean);
  const json_ld = document.querySelector('script[type="application/ld+json"]')?.textContent.slice(0, MAX_TEXT) || "";
  return { ...basic, headings, json_ld, text: main.innerText.slice(0, MAX_TEXT) };
}

const KINDS = { documents: "document_ids", categories: "categories", tags: "tags", folders: "folders", products: "products", versions: "versions" };

// To which documents answers are narrowed: by attributes of the element (data-products="LX-200, LX-300"), else by what
// the site's page says (<meta name="yingda:products" content="LX-200">).
export function documentFilter(attributes) {
  const filter = {};
  for (const [name, field] of Object.entries(KINDS)) {
    const values = (attributes[name] ?? meta(`yingda:${name}`)).split(/[,，]/).map((value) => value.trim()).filter(Boolean);
    if (values.length) filter[field] = values;
  }
  return Object.keys(filter).length ? filter : undefined;
}

const meta = (name) => document.querySelector(`meta[name="${name}"]`)?.content || "";
