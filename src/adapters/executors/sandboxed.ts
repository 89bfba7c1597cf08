import { compileFunction } from "node:vm";
import { ArsenalError, fixable } from "../../errors/arsenal-error.ts";
import type { Executor } from "../../execute/executor.port.ts";
import { SANDBOX_LIMITS, type Sandbox, type SandboxLimits, type SandboxOutcome } from "../../execute/sandbox.port.ts";
import type { Handler } from "../../tool/handler.ts";
import { RISK_LEVELS, type RiskLevel, type Tool, type ToolSource } from "../../tool/tool.ts";
import { directExecutor } from "./direct.ts";

/** Which tools run in a sandbox, and in which. */
export interface SandboxedSettings {
  readonly sandbox: Sandbox;
  /** Tools from here are confined. Default `function`: handlers of other sources speak to a server, and do nothing themselves. */
  readonly sources?: readonly ToolSource[];
  /** Tools of this risk and above are confined. Default `low`: all of them. */
  readonly fromRisk?: RiskLevel;
  readonly limits?: Partial<SandboxLimits>;
}

/**
 * Runs handlers in a sandbox. The handler's text is sent there, so it must stand for itself: what it uses of the file it was written in, it
 * does not find. Tools that are not to be confined run in this process.
 *
 * @example
 * new ToolArsenal({ executors: [sandboxedExecutor({ sandbox: isolateSandbox(), fromRisk: "high" })] });
 */
export function sandboxedExecutor(settings: SandboxedSettings): Executor {
  const { sandbox, sources = ["function"], fromRisk = "low" } = settings;
  const limits = { ...SANDBOX_LIMITS, ...settings.limits };
  const here = directExecutor();
  const codes = new WeakMap<Handler, string>();

  return {
    name: "sandboxed",
    supports: (source) => sources.includes(source),
    async run(request) {
      const { tool, handler, context } = request;
      // What of a handler's context can be sent.
      const { auxdata, traceId, spanId, attempt } = context;
      const isConfined = RISK_LEVELS.indexOf(tool.riskLevel) >= RISK_LEVELS.indexOf(fromRisk);
      if (handler === undefined || !isConfined) return here.run(request);
      // The handler's text is read and checked once.
      const code = codes.get(handler) ?? toCode(handler, tool);
      codes.set(handler, code);
      const outcome = await sandbox.run({
        kind: "javascript",
        code,
        input: { arguments: request.arguments, context: { auxdata, traceId, spanId, attempt } },
        limits,
        signal: context.signal,
      });
      return toResult(outcome, tool, sandbox);
    },
  };
}

function toCode(handler: Handler, tool: Tool): string {
  const text = String(handler);
  try {
    // Reads the text as an expression without running it. A method, or a function of the runtime itself, is none.
    compileFunction(`return (${text});`);
  } catch (cause) {
    const problem = `The handler of ${tool.id} cannot be sent to a sandbox.`;
    const fix = "Write it as a function or an arrow function that uses nothing but its arguments.";
    throw fixable("SANDBOX_FAILED", problem, fix, { field: "handler", cause, beforeSend: true });
  }
  return `return (${text})(input.arguments, input.context);`;
}

function toResult({ status, result, reason = "" }: SandboxOutcome, { id }: Tool, { name }: Sandbox): unknown {
  switch (status) {
    case "ok":
      return result;
    case "failed":
      throw new ArsenalError("EXECUTION_FAILED", reason, { answered: true });
    case "timeout":
      throw new ArsenalError("TIMEOUT", `${id} was stopped in the sandbox "${name}". ${reason}`);
    case "killed":
      throw new ArsenalError("SANDBOX_FAILED", `${id} was stopped in the sandbox "${name}". ${reason}`);
  }
}
