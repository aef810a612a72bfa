// A search of conversations that asks for nothing in particular: those that a person had and that are over.
export const NOTHING = Object.freeze({ q: "", label: "", agent_id: "", standing: "ended", outcome: "", priority: "", since: "", until: "", days: "" });
