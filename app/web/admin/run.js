// A background job that is begun here and waited for.
import { server } from "./server.js";

const AGAIN = 500;  // ms between two looks at a run

// Resolves once the run is over; throws what went wrong with it.
export async function finished(run) {
  let seen = run;
  while (seen.state === "queued" || seen.state === "running") {
    await new Promise((done) => { setTimeout(done, AGAIN); });
    seen = await server.get(`/api/v1/jobs/runs/${seen.id}`);
  }
  if (seen.error) throw new Error(seen.error.message);
}
