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

const meta = (name) => document.querySelector(`meta[name="${name}"]`)?.content || "";
