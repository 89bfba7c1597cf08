import { fixable } from "../errors/arsenal-error.ts";
import { CONTENT_TYPES, expositionFor, toExposition } from "../observe/metrics/exposition.ts";
import type { MetricRegistry } from "../observe/metrics/registry.ts";
import { familiesFor } from "../observe/metrics/tenant-families.ts";
import { type Administration, hasRole } from "./administration.ts";
import { answerText } from "./http/answer.ts";
import { answerWithProblem, refuseMethodWithProblem, requestIdOf, toProblem } from "./http/problem.ts";
import type { HttpExchange, Surface } from "./surface.ts";

/**
 * The metrics at `/metrics`, and who may read them. A caller who belongs to a tenant gets only that tenant's series, unless the metrics are public.
 */
export interface ServedMetrics extends Pick<MetricRegistry, "collect"> {
  /** True if anyone who can connect may read the metrics. Otherwise a caller needs the role `operator` or `metrics`. */
  readonly isOpen: boolean;
}

const PATH = "/metrics";

/** Serves `/metrics` for Prometheus: in the text format, or as OpenMetrics if the caller accepts it. */
export function metricsSurface({
  metrics,
  administration,
}: {
  readonly metrics?: ServedMetrics;
  readonly administration?: Pick<Administration, "operatorRole"> | undefined;
}): Surface {
  async function read({ request, response, principal }: HttpExchange): Promise<void> {
    if (request.method !== "GET" && request.method !== "HEAD")
      return refuseMethodWithProblem(request, response, "GET, HEAD");
    const mayRead = hasRole(principal, "operator", administration) || principal.roles.includes("metrics");
    if (metrics?.isOpen !== true && !mayRead) {
      const problem = `"${principal.id}" lacks the role "metrics" and cannot read metrics.`;
      const fix = 'Give the caller the role "metrics" or "operator", or set server.metrics to open.';
      const error = fixable("PERMISSION_DENIED", problem, fix);
      return answerWithProblem(response, toProblem(error, requestIdOf(request)));
    }
    const format = expositionFor(request.headers.accept);
    const families = (await metrics?.collect()) ?? [];
    const shown = metrics?.isOpen === true ? families : familiesFor(principal.tenant, families);
    const page = toExposition(shown, format);
    answerText(response, 200, page, { "content-type": CONTENT_TYPES[format], "cache-control": "no-store" });
  }

  return {
    name: "metrics",
    routes: [{ path: PATH, ...(metrics?.isOpen === true && { open: true }), refusals: "problem+json", handle: read }],
    addresses: [[PATH, "Metrics for Prometheus.", "page"]],
  };
}
