import type { Egress } from "../guard/egress/egress.ts";
import type { Secrets } from "../guard/secrets/secrets.ts";
import type { Clock } from "../observe/clock.ts";
import type { Emit } from "../observe/events.ts";
import type { MetricRegistry } from "../observe/metrics/registry.ts";

/** What `create` of an adapter that reaches other machines is given in addition to its settings. */
export interface Surroundings {
  readonly clock: Clock;
  readonly emit: Emit;
  /** The way out for everything that speaks HTTP. */
  readonly egress: Egress;
  /** Looks up keys and passwords, which settings hold by reference, when they are needed. */
  readonly secrets: Secrets;
  /** The metrics of the arsenal, which are counted from the first time somebody asks for them. Absent outside an arsenal. */
  readonly metrics?: () => Promise<MetricRegistry>;
  /** Defaults to the process environment. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
}
