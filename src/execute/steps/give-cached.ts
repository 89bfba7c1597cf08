import type { RunningEngine } from "../engine.ts";
import { closedBefore, type Outcome } from "../outcome.ts";
import type { CheckedCall } from "../running-call.ts";
import type { CallBounds } from "./admission.ts";
import { givenUp, type Permission } from "./ask-aegis.ts";
import { notAudited } from "./audit-call.ts";
import { guardOutcome } from "./guard-outcome.ts";
import { measured, ofCached } from "./quotas.ts";

/** Returns a cached result. It is counted, guarded and audited like a new result, but takes no slot and does not affect the tool's health. */
export async function giveCached(
  cached: Outcome,
  checked: CheckedCall,
  { obligations }: Permission,
  bounds: CallBounds,
  engine: RunningEngine,
): Promise<Outcome> {
  const { tool, limits } = checked;
  const { aegis, settings } = engine;
  const { maxResultBytes } = settings;
  const problem = await engine.audit?.refusal(checked.call.toolset);
  if (problem !== undefined) return notAudited(tool, problem);
  const counted = measured(cached, checked, engine.quotas);
  const limited = await engine.admissions.takeRates(checked, ofCached(bounds, counted));
  if (limited !== undefined) return limited;
  if (engine.closed) return closedBefore(tool);
  return givenUp(tool, limits) ?? guardOutcome(counted, undefined, { tool, obligations, aegis, maxResultBytes });
}
