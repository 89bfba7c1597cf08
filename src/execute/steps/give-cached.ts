import type { RunningEngine } from "../engine.ts";
import { closedBefore, type Outcome } from "../outcome.ts";
import type { CheckedCall } from "../running-call.ts";
import type { Rates } from "./admission.ts";
import { givenUp, type Permission } from "./ask-aegis.ts";
import { notAudited } from "./audit-call.ts";
import { guardOutcome } from "./guard-outcome.ts";

/** Returns a cached result. It is counted, guarded and audited like a fresh one, but does not wait for its turn or affect the tool's health. */
export async function giveCached(
  cached: Outcome,
  checked: CheckedCall,
  { obligations }: Permission,
  rates: Rates,
  engine: RunningEngine,
): Promise<Outcome> {
  const { tool, limits } = checked;
  const { aegis, settings } = engine;
  const { maxResultBytes } = settings;
  const problem = await engine.audit?.refusal(checked.call.toolset);
  if (problem !== undefined) return notAudited(tool, problem);
  const limited = await engine.admissions.takeRates(checked, rates);
  if (limited !== undefined) return limited;
  if (engine.closed) return closedBefore(tool);
  return givenUp(tool, limits) ?? guardOutcome(cached, undefined, { tool, obligations, aegis, maxResultBytes });
}
