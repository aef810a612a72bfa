// What is shown stands in the address, #/conversation/ID or #/contact/ID, so links to it can be sent.

export const conversationLink = (id) => `#/conversation/${encodeURIComponent(id)}`;
export const contactLink = (id) => `#/contact/${encodeURIComponent(id)}`;
export const gapLink = (id) => `/admin#/gaps/${encodeURIComponent(id)}`;
export const ticketsLink = (query) => `/admin#/tickets?${new URLSearchParams(query)}`;
export const ticketLink = (number) => `/admin#/tickets/${encodeURIComponent(number)}`;

// {page, id}, empty where the address names nothing of ours.
export function current() {
  const found = /^#\/(conversation|contact)\/([^/?]+)$/.exec(location.hash);
  try { return found ? { page: found[1], id: decodeURIComponent(found[2]) } : { page: "", id: "" }; } catch { return { page: "", id: "" }; }
}

export function replace(hash) {
  if (location.hash !== hash) history.replaceState(null, "", hash || location.pathname + location.search);
}
