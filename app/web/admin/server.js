// The console's own client. Whoever is signed out in the middle of it is shown the sign-in form again.
import { client } from "../core/api.js";

const SIGNIN = "/api/v1/signin";
export const SIGNED_OUT = "yd-signed-out";

export const server = client({
  failed: (error) => { if (error.status === 401) dispatchEvent(new Event(SIGNED_OUT)); },
});

const quiet = client();

// {signed_in, keyless, roles, tenant, key_id, key_name, agent_id, by_provider}
export const whoami = (signal) => quiet.get(SIGNIN, {}, { signal });
export const signIn = (key) => quiet.post(SIGNIN, { key });
export const signOut = () => quiet.delete(SIGNIN);
