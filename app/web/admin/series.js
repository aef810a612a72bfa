// Points of a series without holes: a time in which nothing happened is a point of zeros.
const LENGTH = { minute: 60e3, hour: 3600e3 };
const NOTHING = { count: 0, mean: 0, p50: 0, p95: 0, p99: 0 };

const quiet = (at) => ({ at, turns: 0, cached: 0, refused: 0, failed: 0, degraded: 0, outcomes: {}, degradations: {}, rejections: {}, limited: {}, llm: { calls: 0, prompt_tokens: 0, completion_tokens: 0 }, total_ms: NOTHING, first_token_ms: NOTHING, stages: {} });

export function filled(points, from, to, step) {
  const length = LENGTH[step];
  const known = new Map(points.map((point) => [Math.floor(Date.parse(point.at) / length), point]));
  const all = [];
  for (let place = Math.floor(from / length); place <= Math.floor(to / length); place += 1) all.push(known.get(place) || quiet(new Date(place * length).toISOString()));
  return all;
}
