import type { AegisRequest } from "../guard/aegis.ts";
import type { AuditedArguments } from "../guard/audit.port.ts";
import type { Principal } from "../guard/principal.ts";
import type { AttemptTime, StepTime } from "../observe/events.ts";
import type { Handler } from "../tool/handler.ts";
import type { Tool } from "../tool/tool.ts";
import type { ToolCall } from "./call.ts";
import type { WaitLimits } from "./steps/deadline.ts";
import type { EnsembleSettings } from "../register/source.port.ts";
import type { CallIds } from "./steps/handler-context.ts";

/** The state of one call so far. */
export interface RunningCall {
  readonly call: ToolCall;
  readonly ids: CallIds;
  readonly principal: Principal;
  readonly queuedAt: number;
  /** The times of the steps that have happened. */
  readonly steps: { policy?: StepTime; queue?: StepTime; attempts?: AttemptTime[] };
  /** True if its arguments are so large that each step over them is a turn of the event loop of its own. */
  isLarge?: boolean;
  tool?: Tool;
  /** The tool that the name matched, if the caller may not see it. */
  hiddenId?: string | undefined;
  audited?: AuditedArguments | undefined;
}

/** A call whose tool was found and whose arguments fit: all that asking the guard and running it need. */
export interface CheckedCall extends RunningCall {
  readonly tool: Tool;
  readonly handler: Handler | undefined;
  readonly ensemble: EnsembleSettings | undefined;
  readonly limits: WaitLimits;
  readonly maxAttempts: number;
  /** The request to the guard, with the arguments as they reach the tool. */
  readonly request: AegisRequest;
}
