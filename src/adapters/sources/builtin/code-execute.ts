import { ArsenalError, fixable } from "../../../errors/arsenal-error.ts";
import { SANDBOX_LIMITS } from "../../../execute/sandbox.port.ts";
import type { OfferedTool } from "../../../register/source.port.ts";
import { isolateSandbox } from "../../sandboxes/isolate/isolate.ts";
import { argumentsOf } from "./tool-parts.ts";
import type { CodeSettings } from "./settings.ts";

/** Sandboxes that run code as a process of this user. Such code could end any other process of the user. */
const TOO_OPEN: ReadonlySet<string> = new Set(["none", "subprocess"]);

/** Defines `code_execute`: JavaScript in a sandbox, without files or network. */
export function codeExecute({ sandbox = isolateSandbox(), limits }: CodeSettings = {}): OfferedTool {
  if (TOO_OPEN.has(sandbox.name)) {
    const problem = `code.sandbox is ${sandbox.name}, and code in this sandbox can end the gateway.`;
    const fix = "Use isolateSandbox(), bubblewrapSandbox() or dockerSandbox().";
    throw fixable("CONFIG_INVALID", problem, fix, { field: "code.sandbox", value: sandbox.name });
  }
  const bounds = { ...SANDBOX_LIMITS, ...limits };
  return {
    draft: {
      name: "code_execute",
      sourceName: "code-execute",
      description: "Run JavaScript code in a sandbox and get what it returns and prints",
      extendedDescription:
        "The code is the body of an async function with the parameter input. What it returns must be JSON data. There are no files, no network and no modules.",
      examples: ["compute the first 20 primes with code", "run this JavaScript"],
      category: "code",
      parameters: argumentsOf(
        {
          code: { type: "string", description: "Body of an async JavaScript function; return the result" },
          input: { description: "JSON data that the code gets as input" },
        },
        "code",
      ),
      capabilities: ["execute_code"],
      riskLevel: "high",
      annotations: { readOnly: false, openWorld: false },
      timeoutMs: bounds.timeoutMs + 5_000,
    },
    async handler(args, { signal }) {
      const { code, input } = args as { readonly code: string; readonly input?: unknown };
      const job = { kind: "javascript", code, input, limits: bounds, signal } as const;
      const { status, result, stdout, stderr, reason } = await sandbox.run(job);
      if (status === "ok") return { result: result ?? null, stdout, stderr };
      const printed = stdout === "" && stderr === "" ? "" : `\nIt had printed:\n${`${stdout}${stderr}`.slice(-2_000)}`;
      const errorCode = status === "failed" ? "EXECUTION_FAILED" : "SANDBOX_FAILED";
      throw new ArsenalError(errorCode, `${reason}${printed}`, { answered: true });
    },
  };
}
