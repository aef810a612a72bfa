// What canned replies leave open: {顾客}, {客服}, {工单}, {网页}; the English names mean the same.
import { called } from "./parts.js";

const NAMES = { 顾客: "customer", customer: "customer", 客服: "agent", agent: "agent", 工单: "ticket", ticket: "ticket", 网页: "page", page: "page" };
const PLACE = new RegExp(`\\{(${Object.keys(NAMES).join("|")})\\}`, "g");
export const SHOWN = { zh: ["顾客", "客服", "工单", "网页"], en: ["customer", "agent", "ticket", "page"] };

// The text with what is known in its places; what is not known stays as it is, for a person to write.
export function filled(text, { session, contact, agent }) {
  const known = {
    customer: session.customer?.kind === "visitor" && !session.customer.given ? "" : called(session),
    agent,
    ticket: session.ticket || "",
    page: contact?.visits[0]?.title || "",
  };
  return text.replace(PLACE, (whole, name) => known[NAMES[name]] || whole);
}

// The first place that is still open, empty for none.
export const open = (text) => text.match(PLACE)?.[0] || "";
