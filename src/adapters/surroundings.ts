import type { Egress } from "../guard/egress/egress.ts";
import type { Secrets } from "../guard/secrets/secrets.ts";
import type { Clock } from "../observe/clock.ts";
import type { Emit } from "../observe/events.ts";
import type { MetricRegistry } from "../observe/metrics/registry.ts";
import type { Runs } from "../runs/runs.ts";

/** The dependencies of an adapter that connects to other machines, in addition to its settings. */
export interface Surroundings {
  readonly clock: Clock;
  readonly emit: Emit;
  /** The egress for all HTTP requests. */
  readonly egress: Egress;
  /** Resolves keys and passwords, which settings hold by reference. */
  readonly secrets: Secrets;
  /** The arsenal's metrics, counted from the first call on. Omitted outside an arsenal. */
  readonly metrics?: () => Promise<MetricRegistry>;
  /** Runs that outlive the process, loaded by the first call. Omitted outside an arsenal. */
  readonly runs?: () => Promise<Runs>;
  /** Defaults to the process environment. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
}
