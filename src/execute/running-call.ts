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

export interface RunningCall {
  readonly call: ToolCall;
  readonly ids: CallIds;
  readonly principal: Principal;
  readonly queuedAt: number;
  readonly steps: { policy?: StepTime; queue?: StepTime; attempts?: AttemptTime[] };
  /** True if the arguments are so large that each step over them runs in its own turn of the event loop. */
  isLarge?: boolean;
  tool?: Tool;
  /** The id of the tool with the requested name, if the caller may not see it. */
  hiddenId?: string | undefined;
  audited?: AuditedArguments | undefined;
}

/** A call with a known tool and valid arguments, ready for the guard and the handler. */
export interface CheckedCall extends RunningCall {
  readonly tool: Tool;
  readonly handler: Handler | undefined;
  readonly ensemble: EnsembleSettings | undefined;
  readonly limits: WaitLimits;
  readonly maxAttempts: number;
  /** The request to the guard, with the arguments as they reach the tool. */
  readonly request: AegisRequest;
}
