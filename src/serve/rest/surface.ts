import { type Clock, systemClock } from "../../observe/clock.ts";
import { startLeasedWork } from "../../state/leased-work.ts";
import { lazySurface } from "../lazy-surface.ts";
import type { Surface, SurfaceContext } from "../surface.ts";
import { BASE } from "./base.ts";

/** Interval at which one of the processes that share the approvals searches for expired ones. */
const PRUNE_MS = 60_000;

/** Serves `/api/v1`: the arsenal for programs that use neither MCP nor A2A. */
export function restSurface(context: SurfaceContext, clock: Clock = systemClock): Surface {
  const { arsenal, replica } = context;
  // Counting approvals expires old ones, so the audit log records the expiry even if no caller lists approvals.
  const prune = { name: "prune", everyMs: PRUNE_MS, run: () => arsenal.approvals.count() };
  const endPruning = startLeasedWork(replica.state.leases, clock, prune);
  const surface = lazySurface({
    name: "rest",
    routes: [
      { path: "/openapi.json", refusals: "problem+json" },
      { path: "/docs", open: true, refusals: "problem+json" },
      { path: `${BASE}/`, drainsItself: true, refusals: "problem+json" },
      { path: BASE, drainsItself: true, refusals: "problem+json" },
    ],
    addresses: [
      [`${BASE}/tools`, "The REST API."],
      ["/openapi.json", "The description of the REST API, as OpenAPI.", "page"],
      ["/docs", "The same description as a page, with forms to try it.", "page"],
      [`${BASE}/approvals`, "Calls that wait for a person's approval."],
    ],
    load: async () => (await import("./serve-operations.ts")).serveOperations(context),
  });
  return {
    ...surface,
    async close() {
      await endPruning();
      await surface.close?.();
    },
  };
}
