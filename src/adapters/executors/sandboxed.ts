import { compileFunction } from "node:vm";
import { ArsenalError, fixable } from "../../errors/arsenal-error.ts";
import type { Executor } from "../../execute/executor.port.ts";
import { SANDBOX_LIMITS, type Sandbox, type SandboxLimits, type SandboxOutcome } from "../../execute/sandbox.port.ts";
import type { Handler } from "../../tool/handler.ts";
import { RISK_LEVELS, type RiskLevel, type Tool, type ToolSource } from "../../tool/tool.ts";
import { directExecutor } from "./direct.ts";

/** The sandbox, and the tools that run in it. */
export interface SandboxedSettings {
  readonly sandbox: Sandbox;
  /** The sources whose tools run in the sandbox. Defaults to `function`, because handlers of other sources only call a server. */
  readonly sources?: readonly ToolSource[];
  /** The lowest risk of tools that run in the sandbox. Defaults to `low`, which means all tools. */
  readonly fromRisk?: RiskLevel;
  readonly limits?: Partial<SandboxLimits>;
}

/**
 * Runs handlers in a sandbox. The handler's source text is sent to the sandbox, so it cannot use anything else from its file. Other tools run in this
 * process.
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
      // Only this part of a handler's context can be serialised.
      const { auxdata, traceId, spanId, attempt } = context;
      const isConfined = RISK_LEVELS.indexOf(tool.riskLevel) >= RISK_LEVELS.indexOf(fromRisk);
      if (handler === undefined || !isConfined) return here.run(request);
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
    // Parses the text as an expression without running it. Fails for a method or a native function.
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
