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
  "active",
  "signed in",
]);
const BAD = new Set([
  "failed",
  "failure",
  "denied",
  "deny",
  "permission_denied",
  "open",
  "changed",
  "conflict",
  "timeout",
  "circuit_open",
  "unhealthy",
  "suspended",
  "expired",
  "used_up",
]);

/** Returns the colour of a state: good, bad, or in between. */
export function toneOf(state: string): "good" | "bad" | "warn" {
  if (GOOD.has(state)) return "good";
  return BAD.has(state) ? "bad" : "warn";
}

/** A state as coloured text. */
export function Badge({ state }: { readonly state: string }) {
  return <span class={`badge ${toneOf(state)}`}>{state.replaceAll("_", " ")}</span>;
}
