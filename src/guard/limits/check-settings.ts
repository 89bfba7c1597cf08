import { fixable } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";
import type { AegisSettings } from "../aegis.ts";
import { isPositive } from "../weigh-call.ts";

/** Throws CONFIG_INVALID if a setting of the guard cannot be used. */
export function checkAegisSettings({
  maxRequestsPerMinute,
  rates,
  confirmationTimeoutS,
  selfApproval,
}: AegisSettings): void {
  const check = (name: string, value: unknown, fix: string, isRight = isPositive(value)): void => {
    const field = `security.${name}`;
    if (!isRight) throw fixable("CONFIG_INVALID", `${field} is ${showValue(value)}.`, fix, { field, value });
  };
  if (maxRequestsPerMinute !== undefined)
    check("max_requests_per_minute", maxRequestsPerMinute, "Write a number above 0, such as 60.");
  for (const [whose, calls] of Object.entries(rates ?? {}))
    check(`rates.${whose}`, calls, "Write a number of calls a minute, such as 600.");
  check("confirmation_timeout_s", confirmationTimeoutS, "Write a number of seconds above 0, such as 600.");
  check("self_approval", selfApproval, 'Write "never" or "local".', ["never", "local"].includes(selfApproval));
}
