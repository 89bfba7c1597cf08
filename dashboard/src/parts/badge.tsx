const GOOD = new Set([
  "connected",
  "accepted",
  "success",
  "approved",
  "closed",
  "allow",
  "healthy",
  "intact",
  "done",
  "listed",
]);
const BAD = new Set([
  "failed",
  "failure",
  "denied",
  "deny",
  "permission_denied",
  "open",
  "changed",
  "timeout",
  "circuit_open",
  "unhealthy",
]);

/** A word about a state, in the colour of how good it is. */
export function Badge({ state }: { readonly state: string }) {
  const tone = GOOD.has(state) ? "good" : BAD.has(state) ? "bad" : "warn";
  return <span class={`badge ${tone}`}>{state.replaceAll("_", " ")}</span>;
}
