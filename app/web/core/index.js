// What the package gives; index.d.ts says what each part is.
export { ApiError, client, events } from "./api.js";
export { Conversation } from "./conversation.js";
