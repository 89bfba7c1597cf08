import { sandboxes } from "../../adapters/sandboxes/manifest.ts";
import { MAX_TIMEOUT_MS } from "../../adapters/sources/mcp/settings.ts";
import { fixable } from "../../errors/arsenal-error.ts";
import type { Executor } from "../../execute/executor.port.ts";
import type { Sandbox } from "../../execute/sandbox.port.ts";
import type { ResolvedConfig } from "./resolve-config.ts";

export type ConfiguredExecutors = Awaited<ReturnType<typeof configuredExecutors>>;

export async function configuredExecutors({ execution, builtins }: ResolvedConfig) {
  const { enableSandbox, sandboxType } = execution;
  const load = async (name: keyof typeof sandboxes): Promise<Sandbox> => (await sandboxes[name]()).create();
  const forFunctions = enableSandbox && sandboxType !== "none" ? await load(sandboxType) : undefined;
  const codeSandbox = builtins.tools.includes("code-execute") ? await load(builtins.code.sandbox) : undefined;
  return {
    /** The executors for functions. Empty if functions run in this process. */
    executors: forFunctions ? [await executorIn(forFunctions)] : [],
    /** Runs the code of `code_execute`. Undefined if that tool is disabled. */
    codeSandbox,
    /** Rejects with CONFIG_INVALID if a sandbox in use does not work on this machine. */
    async check(): Promise<void> {
      if (forFunctions) await refuseAbsent(forFunctions, "execution.sandbox_type");
      if (codeSandbox) await refuseAbsent(codeSandbox, "builtins.code.sandbox");
    },
  };
}

async function executorIn(sandbox: Sandbox): Promise<Executor> {
  const { sandboxedExecutor } = await import("../../adapters/executors/sandboxed.ts");
  // A call's own deadline limits its time, like without a sandbox.
  return sandboxedExecutor({ sandbox, limits: { timeoutMs: MAX_TIMEOUT_MS } });
}

async function refuseAbsent(sandbox: Sandbox, field: string): Promise<void> {
  const works = await sandbox.available();
  if (works === true) return;
  const problem = `${field} is ${sandbox.name}, which does not work on this machine.`;
  throw fixable("CONFIG_INVALID", problem, works, { field, value: sandbox.name });
}
